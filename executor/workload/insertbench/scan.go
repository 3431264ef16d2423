package insertbench

import (
	"context"
	"errors"
	"fmt"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// A scan is a query that reads a whole index and returns nothing, since no
// customerid is negative.
type scan struct {
	index   string // primary reads the table itself
	columns string // that it selects
	first   string // the index's first column, none of which is negative
	order   string
}

// scans are the steps, in their order. The first comes again at the end, when
// the others have changed what is in the cache.
var scans = []scan{
	primaryScan,
	{"marketsegment", "price,customerid", "price", "price,customerid"},
	{"registersegment", "cashregisterid,price,customerid", "cashregisterid", "cashregisterid,price,customerid"},
	{"pdc", "price,dateandtime,customerid", "price", "price,dateandtime,customerid"},
	primaryScan,
}

// primary is the name of the scan, and of the queries, by the primary key.
const primary = client.PrimaryKey

var primaryScan = scan{index: primary, columns: "transactionid,data,customerid"}

// statement returns the scan of a table.
func (c *config) statement(s scan, table string) string {
	if s.index == primary {
		return "SELECT " + s.columns + " FROM " + table + " WHERE customerid < 0"
	}
	return "SELECT " + s.columns + " FROM " + table + c.byIndex(s.index) +
		" WHERE " + s.first + " >= 0 AND customerid < 0 ORDER BY " + s.order
}

var scanOperation = workload.Operation{Name: "scan", Calls: "queries"}

// scan runs one of the scans over all tables at once, each on a connection of
// its own unless there are fewer clients.
func (b *benchmark) scan(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if t.Step < 1 || t.Step > len(scans) {
		return fmt.Errorf("there is no step %d", t.Step)
	}
	s := scans[t.Step-1]
	if err := b.hasIndex(s.index); err != nil {
		return err
	}
	shared := b.config
	shared.clients = min(b.clients, b.tables)
	conns, err := client.OpenAll(ctx, t, database, shared.clients)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	workers := make([]client.Worker, len(conns))
	for i, conn := range conns {
		reader := scanner{conn, r, r.Track(scanOperation, i+1), &shared, s, shared.share(i).tables}
		workers[i] = client.Worker{Conn: conn, Work: reader.run}
	}
	r.Fact("scan", s.index)
	r.Expect(scanOperation.Name, int64(b.tables), 0)
	if err := client.Run(ctx, r.Begin, r.End, workers); err != nil {
		return err
	}
	return client.Attend(ctx, conns[0], func(conn *client.Conn) error { return b.afterScan(conn, r, s) })
}

// hasIndex reports an error where the tables were made without the index.
func (b *benchmark) hasIndex(name string) error {
	for _, i := range secondaryIndexes[b.indexes:] {
		if i.name == name {
			return fmt.Errorf("scan of index %s: the tables have only %d secondary indexes; load them with secondary_indexes = 3", name, b.indexes)
		}
	}
	return nil
}

// afterScan keeps the plan and records how many rows were read: those that the
// tables have, since the queries read all and return none. They are counted
// once for all steps, by way of the primary key, which the first step has just
// read too.
func (b *benchmark) afterScan(conn *client.Conn, r *workload.Recorder, s scan) error {
	if err := explain(conn, r, "scan "+s.index, b.statement(s, tableName(1))); err != nil {
		return err
	}
	if b.scanned == 0 {
		for n := 1; n <= b.tables; n++ {
			rows, err := b.countTable(conn, n)
			if err != nil {
				return err
			}
			b.scanned += rows
		}
	}
	if b.scanned == 0 {
		return errors.New("the tables have no rows")
	}
	r.Metric("rows_read", workload.UnitCount, float64(b.scanned))
	return nil
}

// A scanner is one client of a scan.
type scanner struct {
	conn     *client.Conn
	recorder *workload.Recorder
	track    *workload.Track
	config   *config
	scan     scan
	tables   []int
}

func (s *scanner) run(gate *client.Gate) error {
	for _, table := range s.tables {
		if gate.Stopped() {
			return nil
		}
		started := s.recorder.Elapsed()
		rows, err := s.conn.Query(s.config.statement(s.scan, tableName(table)), nil)
		if err != nil {
			return fmt.Errorf("scanning %s: %w", tableName(table), err)
		}
		if rows != 0 {
			return fmt.Errorf("scanning %s: %d rows have a negative customerid: the data is not the benchmark's", tableName(table), rows)
		}
		s.track.Done(1, started, s.recorder.Elapsed())
	}
	return nil
}

// explain keeps the server's plan of a query.
func explain(conn *client.Conn, r *workload.Recorder, name, query string) error {
	plan, err := conn.Explain(query)
	if err != nil {
		return err
	}
	r.Plan(name, plan)
	return nil
}
