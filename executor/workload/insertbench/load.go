package insertbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// load makes the tables and fills them.
func (b *benchmark) load(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	err := client.Session(ctx, t, "", func(conn *client.Conn) error { return b.createTables(conn, t, r) })
	if err != nil {
		return err
	}
	conns, err := client.OpenAll(ctx, t, database, b.clients)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	text := newRandomText(t.Seed)
	writers := make([]*writer, len(conns))
	workers := make([]client.Worker, len(conns))
	for i, conn := range conns {
		writers[i] = b.newWriter(conn, t, r, i, text)
		workers[i] = client.Worker{Conn: conn, Work: writers[i].load}
	}
	r.Expect(insertOperation.Name, b.rows, 0)
	if err := client.Run(ctx, r.Begin, r.End, workers); err != nil {
		return err
	}
	if b.verify {
		err := client.Session(ctx, t, database, func(conn *client.Conn) error { return b.countRows(conn, writers) })
		if err != nil {
			return err
		}
	}
	return b.judgeRate(r)
}

// load fills the writer's share of the tables, a batch of each in turn.
func (w *writer) load(gate *client.Gate) error {
	defer func() { w.track.Finish(w.recorder.Elapsed()) }()
	for batch, left := w.share.first, true; left; batch += w.share.stride {
		left = false
		for _, table := range w.share.tables {
			rows := min(w.config.rowsPerCommit, w.config.tableRows(table)-batch*w.config.rowsPerCommit)
			if rows <= 0 {
				continue
			}
			left = true
			w.generator.start(w.seed, streamLoad+uint64(table), uint64(batch))
			if more, err := w.insert(gate, table, rows); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// createTables makes the tables anew and checks that they are what was asked
// for.
func (b *benchmark) createTables(conn *client.Conn, t workload.Target, r *workload.Recorder) error {
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + database,
		// One character set on all builds: the values are ASCII.
		"CREATE DATABASE " + database + " CHARACTER SET latin1",
		"USE " + database,
	} {
		if err := conn.DDL(statement); err != nil {
			return err
		}
	}
	var shown strings.Builder
	for n := range b.tables {
		if err := conn.DDL(b.createTable(n+1, t.Flavour)); err != nil {
			return err
		}
		if err := b.checkTable(conn, n+1); err != nil {
			return fmt.Errorf("table %s is not what was asked for: %w", tableName(n+1), err)
		}
		_, rows, err := conn.Rows("SHOW CREATE TABLE " + tableName(n+1))
		if err != nil {
			return err
		}
		shown.WriteString(rows[0][1] + ";\n\n")
	}
	return r.WriteArtifact("tables.sql", shown.String())
}

// countRows checks that each table has the rows that the writers inserted. It
// reads the primary key, which a load leaves in the cache as far as it fits.
func (b *benchmark) countRows(conn *client.Conn, writers []*writer) error {
	var faults []error
	var total int64
	for n := 1; n <= b.tables; n++ {
		var want int64
		for _, w := range writers {
			want += w.rows[n]
		}
		got, err := countTable(conn, n)
		if err != nil {
			return err
		}
		if got != want {
			faults = append(faults, fmt.Errorf("table %s has %d rows after %d were inserted", tableName(n), got, want))
		}
		total += got
	}
	if total == 0 {
		faults = append(faults, errors.New("no row was loaded"))
	}
	return errors.Join(faults...)
}

// countTable returns the number of rows of the n-th table.
func countTable(conn *client.Conn, n int) (int64, error) {
	return conn.Int("SELECT COUNT(*) FROM " + tableName(n) + " FORCE INDEX (PRIMARY)")
}
