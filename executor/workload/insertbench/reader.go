package insertbench

import (
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var queryOperation = workload.Operation{Name: "query", Calls: "queries", Rate: "qps"}

// A query is one kind of what a client asks for: rows of a range, or by their
// keys.
type query interface {
	name() string // of the index that it reads

	// find reads from the table what draw must know of it, when it is time to.
	find(*client.Conn) error

	// draw draws the random values of the next query.
	draw(*generator)

	// append writes the query with the values that were drawn.
	append([]byte) []byte

	// prepared returns the query with parameters, in PostgreSQL's form.
	prepared() string

	// arguments returns those of the prepared query: what was last drawn.
	arguments() []driver.Value
}

// A reader is one client's means to query.
type reader struct {
	seed      int64
	conn      *client.Conn
	recorder  *workload.Recorder
	track     *workload.Track
	policy    *client.Policy
	generator generator
	queries   []query        // of all tables of the client
	prepared  []*client.Stmt // of each of them; nil where queries are sent as text
	statement []byte
}

// newReader makes the reader of the n-th client, from 0. To PostgreSQL it speaks
// with prepared statements, to others with text, as the original does.
func (b *benchmark) newReader(conn *client.Conn, t workload.Target, r *workload.Recorder, n int, ends lowEnds) (*reader, error) {
	q := &reader{
		seed:     t.Seed,
		conn:     conn,
		recorder: r,
		track:    r.Track(queryOperation, n+1),
		policy:   client.NewPolicy(r, b.allowed),
	}
	for _, table := range b.share(n).tables {
		q.queries = append(q.queries, b.queries(table, &ends[table])...)
	}
	if !b.postgres {
		return q, nil
	}
	for _, one := range q.queries {
		statement, err := conn.Prepare(one.prepared())
		if err != nil {
			return nil, err
		}
		q.prepared = append(q.prepared, statement)
	}
	return q, nil
}

// queries returns those that the step sends to a table.
func (b *benchmark) queries(table int, low *atomic.Int64) []query {
	if b.step == stepPoint {
		return []query{b.pointQuery(table, low)}
	}
	var queries []query
	for _, q := range b.rangeQueries(tableName(table)) {
		queries = append(queries, q)
	}
	return queries
}

// read queries until the time is over.
func (q *reader) read(gate *client.Gate, stream uint64, length time.Duration) error {
	var read int64
	defer func() {
		q.track.Finish(q.recorder.Elapsed())
		q.recorder.Count("rows_read", read)
	}()
	q.generator.start(q.seed, stream, 0)
	for !gate.Stopped() && q.recorder.Elapsed() < length {
		n := int(q.generator.below(uint64(len(q.queries))))
		if err := q.queries[n].find(q.conn); err != nil {
			return err
		}
		q.queries[n].draw(&q.generator)
		started := q.recorder.Elapsed()
		rows, err := q.send(n)
		if err == client.ErrSkipped {
			continue
		}
		if err != nil {
			return fmt.Errorf("query of index %s: %w", q.queries[n].name(), err)
		}
		read += rows
		q.track.Done(1, started, q.recorder.Elapsed())
	}
	return nil
}

// send sends a query with the values that were drawn, again where the server
// rolled it back, and returns how many rows came.
func (q *reader) send(n int) (int64, error) {
	if q.prepared != nil {
		args := q.queries[n].arguments()
		return q.policy.Send(q.track, func() (int64, error) { return q.prepared[n].Query(args, nil) })
	}
	q.statement = q.queries[n].append(q.statement[:0])
	return q.policy.Send(q.track, func() (int64, error) { return q.conn.QueryBytes(q.statement) })
}
