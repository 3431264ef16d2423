package insertbench

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// Operations of the step l.x. Its inserts have no rate: they are one batch.
var (
	batchOperation = workload.Operation{Name: "insert", Calls: "inserts", Items: "rows_added"}
	indexOperation = workload.Operation{Name: "index", Calls: "indexings"}
)

// makeIndexes inserts a batch into each table and makes its secondary indexes:
// one client for each table, or fewer where there are fewer clients.
func (b *benchmark) makeIndexes(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	shared := *b
	shared.clients, shared.insertRate = min(b.clients, b.tables), 0
	conns, err := client.OpenAll(ctx, t, database, shared.clients)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	text := newRandomText(t.Seed)
	writers := make([]*writer, len(conns))
	workers := make([]client.Worker, len(conns))
	for i, conn := range conns {
		w := shared.newWriter(conn, t, r, batchOperation, i, text)
		x := indexer{&shared.config, w, r.Track(indexOperation, i+1)}
		writers[i] = w
		workers[i] = client.Worker{Conn: conn, Work: func(gate *client.Gate) error { return x.run(gate, shared.share(i)) }}
	}
	r.Expect(indexOperation.Name, int64(b.tables*len(b.indexTable(1))), 0)
	if err := client.Run(ctx, r.Begin, r.End, workers); err != nil {
		return err
	}
	return client.Session(ctx, t, database, func(conn *client.Conn) error { return b.afterIndexes(conn, r, writers) })
}

// An indexer is one client of the step l.x.
type indexer struct {
	config *config
	writer *writer
	track  *workload.Track
}

func (x *indexer) run(gate *client.Gate, s share) error {
	rows := func(int) int64 { return x.config.rowsPerCommit }
	if err := x.writer.write(gate, x.config.fill(s, streamIndex, rows)); err != nil {
		return err
	}
	for _, table := range s.tables {
		for _, statement := range x.config.indexTable(table) {
			if gate.Stopped() {
				return nil
			}
			started := x.writer.recorder.Elapsed()
			if err := x.writer.conn.DDL(statement); err != nil {
				return err
			}
			x.track.Done(1, started, x.writer.recorder.Elapsed())
		}
	}
	return nil
}

// indexTable returns the statements that make the secondary indexes of the n-th
// table: one for all, but in MyRocks and PostgreSQL one for each. In MyRocks one
// for all needs memory for all.
func (c *config) indexTable(n int) []string {
	table := tableName(n)
	var clauses []string
	for _, i := range c.secondary() {
		if c.postgres {
			clauses = append(clauses, i.create(table))
			continue
		}
		clauses = append(clauses, "ADD INDEX "+i.nameOn(table)+" ("+strings.Join(i.columns, ", ")+")")
	}
	if c.postgres || len(clauses) == 0 {
		return clauses
	}
	if c.engine != "rocksdb" {
		clauses = []string{strings.Join(clauses, ", ")}
	}
	for i, clause := range clauses {
		clauses[i] = "ALTER TABLE " + table + " " + clause
	}
	return clauses
}

// afterIndexes checks the tables and records how many rows were indexed: as in
// the original those that the load was asked for, and the batch.
func (b *benchmark) afterIndexes(conn *client.Conn, r *workload.Recorder, writers []*writer) error {
	if err := b.keepTables(conn, r, b.secondary()); err != nil {
		return err
	}
	if b.verify {
		if err := b.countRows(conn, writers, b.loadRows); err != nil {
			return err
		}
	}
	indexed := b.rows
	for _, w := range writers {
		for _, rows := range w.rows {
			indexed += rows
		}
	}
	r.Metric(insertOperation.Items, workload.UnitCount, float64(indexed))
	r.Fact("rows_inserted", strconv.FormatInt(indexed, 10)+" rows were indexed; rows_added of them were inserted by this step")
	return nil
}

// keepTables checks that all tables are what was asked for, with these secondary
// indexes, and keeps their definitions.
func (b *benchmark) keepTables(conn *client.Conn, r *workload.Recorder, indexes []index) error {
	var shown strings.Builder
	for n := 1; n <= b.tables; n++ {
		table, err := conn.Table(b.schema(), tableName(n))
		if err != nil {
			return err
		}
		if err := table.Check(b.form(n, indexes)); err != nil {
			return fmt.Errorf("table %s is not what was asked for: %w", tableName(n), err)
		}
		shown.WriteString(table.Definition + "\n")
	}
	return r.WriteArtifact("tables.sql", shown.String())
}
