package insertbench

import (
	"context"
	"errors"
	"fmt"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// load makes the tables and fills them.
func (b *benchmark) load(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if err := b.createTables(ctx, t, r); err != nil {
		return err
	}
	conns, err := client.OpenAll(ctx, t, database, b.clients)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	text := newRandomText(t.Seed)
	writers := make([]*writer, len(conns))
	clients := make([]tracks, len(conns))
	workers := make([]client.Worker, len(conns))
	for i, conn := range conns {
		if err := b.prepare(conn); err != nil {
			return err
		}
		w := b.newWriter(conn, t, r, insertOperation, i, text)
		writers[i], clients[i].inserts = w, w.track
		workers[i] = client.Worker{Conn: conn, Work: func(gate *client.Gate) error {
			if err := w.write(gate, b.fill(b.share(i), streamLoad, b.loadRows)); err != nil {
				return err
			}
			return b.endBulk(conn)
		}}
	}
	r.Expect(insertOperation.Name, b.rows, 0)
	if err := client.Run(ctx, r.Begin, r.End, workers); err != nil {
		return err
	}
	if err := keepIntervals(r, clients); err != nil {
		return err
	}
	if b.verify {
		err := client.Session(ctx, t, database, func(conn *client.Conn) error { return b.countRows(conn, writers, func(int) int64 { return 0 }) })
		if err != nil {
			return err
		}
	}
	return b.judgeRate(r)
}

// createTables makes the database and its tables anew and checks that they are
// what was asked for.
func (b *benchmark) createTables(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	create := "CREATE DATABASE " + database
	if !b.postgres {
		create += " CHARACTER SET latin1" // one on all builds: the values are ASCII
	}
	err := client.Session(ctx, t, "", func(conn *client.Conn) error {
		if err := conn.DDL("DROP DATABASE IF EXISTS " + database); err != nil {
			return err
		}
		return conn.DDL(create)
	})
	if err != nil {
		return err
	}
	return client.Session(ctx, t, database, func(conn *client.Conn) error {
		for n := 1; n <= b.tables; n++ {
			for _, statement := range b.createTable(n, t.Flavour) {
				if err := conn.DDL(statement); err != nil {
					return err
				}
			}
		}
		return b.keepTables(conn, r, b.early())
	})
}

// schema returns where in the database the tables are.
func (c *config) schema() string {
	if c.postgres {
		return "public"
	}
	return database
}

// byIndex returns what makes a query read a table by an index. PostgreSQL chooses
// for itself.
func (c *config) byIndex(index string) string {
	if c.postgres {
		return ""
	}
	return " FORCE INDEX (" + index + ")"
}

// prepare sets up the session of a connection that inserts.
func (b *benchmark) prepare(conn *client.Conn) error {
	var settings []string
	if !b.uniqueChecks {
		settings = append(settings, "unique_checks = 0")
	}
	if b.bulkLoad && b.step == stepFill {
		settings = append(settings, "rocksdb_bulk_load = 1")
	}
	for _, setting := range settings {
		if _, err := conn.Exec("SET SESSION " + setting); err != nil {
			return fmt.Errorf("setting %s: %w", setting, err)
		}
	}
	return nil
}

// endBulk ends a bulk load, which is part of it: only then are its rows there to
// be read.
func (b *benchmark) endBulk(conn *client.Conn) error {
	if !b.bulkLoad {
		return nil
	}
	_, err := conn.Exec("SET SESSION rocksdb_bulk_load = 0")
	return err
}

// countRows checks that each table has the rows that it had and those that the
// writers inserted. It reads the primary key, which a load leaves in the cache
// as far as it fits.
func (b *benchmark) countRows(conn *client.Conn, writers []*writer, had func(table int) int64) error {
	var faults []error
	var total int64
	for n := 1; n <= b.tables; n++ {
		want := had(n)
		for _, w := range writers {
			want += w.rows[n]
		}
		got, err := b.countTable(conn, n)
		if err != nil {
			return err
		}
		if got != want {
			faults = append(faults, fmt.Errorf("table %s has %d rows, not the %d that were inserted", tableName(n), got, want))
		}
		total += got
	}
	if total == 0 {
		faults = append(faults, errors.New("no row was loaded"))
	}
	return workload.Join(faults...)
}

// countTable returns the number of rows of the n-th table.
func (c *config) countTable(conn *client.Conn, n int) (int64, error) {
	return conn.Int("SELECT COUNT(*) FROM " + tableName(n) + c.byIndex(client.PrimaryKey))
}
