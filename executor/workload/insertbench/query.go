package insertbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var queryOperation = workload.Operation{Name: "query", Calls: "queries", Rate: "qps"}

// query inserts and reads at once: each client has a connection that inserts at
// the set rate and one that reads as fast as it can.
func (b *benchmark) query(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	conns, err := client.OpenAll(ctx, t, database, 2*b.clients)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	text := newRandomText(t.Seed)
	if t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		discarded := workload.NewRecorder("", workload.Hooks{})
		if err := b.readAndWrite(ctx, t, discarded, conns, text, b.pass(0), t.Warmup); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
	}
	length := time.Duration(b.seconds) * time.Second
	r.Expect(queryOperation.Name, 0, length)
	if err := b.readAndWrite(ctx, t, r, conns, text, b.pass(t.Iteration), length); err != nil {
		return err
	}
	err = client.Attend(ctx, conns[0], func(conn *client.Conn) error { return b.keepPlans(conn, r) })
	if err != nil {
		return err
	}
	return b.judge(r)
}

// pass tells the random numbers of an iteration apart from those of others, the
// warm-up being iteration 0, and of phases with another rate or length: readers
// that asked for the same ranges again would find them in the cache.
func (c *config) pass(iteration int) uint64 {
	return mix(mix(uint64(iteration)) + math.Float64bits(c.insertRate) + uint64(c.seconds))
}

// readAndWrite runs all writers and readers for the given time.
func (b *benchmark) readAndWrite(ctx context.Context, t workload.Target, r *workload.Recorder, conns []*client.Conn, text []byte, pass uint64, length time.Duration) error {
	workers := make([]client.Worker, 0, len(conns))
	for i := range b.clients {
		w := b.newWriter(conns[2*i], t, r, i, text)
		q := b.newReader(conns[2*i+1], t, r, i)
		stream := mix(pass + uint64(i))
		workers = append(workers,
			client.Worker{Conn: w.conn, Work: func(gate *client.Gate) error { return w.keepWriting(gate, stream, length) }},
			client.Worker{Conn: q.conn, Work: func(gate *client.Gate) error { return q.keepReading(gate, stream, length) }})
	}
	return client.Run(ctx, r.Begin, r.End, workers)
}

// keepPlans keeps the plan of each query.
func (b *benchmark) keepPlans(conn *client.Conn, r *workload.Recorder) error {
	for _, q := range b.rangeQueries(tableName(1)) {
		statement := string(q.append(nil, &generator{}))
		if err := explain(conn, r, q.index, statement); err != nil {
			return err
		}
	}
	return nil
}

// judge reports an error where the phase did nothing, or too slowly.
func (b *benchmark) judge(r *workload.Recorder) error {
	result := r.Result()
	rows, _ := result.Metric(insertOperation.Items)
	queries, _ := result.Metric(queryOperation.Calls)
	if rows == 0 || queries == 0 {
		return fmt.Errorf("%v rows were inserted and %v queries run: a phase that did no work has no result", rows, queries)
	}
	return b.judgeRate(r)
}

// keepWriting inserts until the time is over: a batch that would be due later is
// not sent, and one that is late is sent as long as there is time.
func (w *writer) keepWriting(gate *client.Gate, stream uint64, length time.Duration) error {
	defer func() { w.track.Finish(w.recorder.Elapsed()) }()
	for i := 0; ; i++ {
		if w.recorder.Elapsed() >= length || w.pacer.Due(w.sent) >= length {
			return nil
		}
		w.generator.start(w.seed, streamWrite+stream, uint64(i))
		table := w.share.tables[i%len(w.share.tables)]
		if more, err := w.insert(gate, table, w.config.rowsPerCommit); err != nil || !more {
			return err
		}
	}
}

// A rangeQuery reads some rows of an index from a random place on.
type rangeQuery struct {
	index          string
	before, behind string // the statement around the random value
	price          bool   // the value is a price, else a cash register
}

// rangeQueries returns the queries of a table, one for each secondary index that
// it has. They read the index alone.
func (c *config) rangeQueries(table string) []rangeQuery {
	limit := " LIMIT " + strconv.FormatInt(c.rowsPerQuery, 10)
	from := " FROM " + table + " FORCE INDEX "
	all := []rangeQuery{
		{"marketsegment", "SELECT price,customerid" + from + "(marketsegment) WHERE price >= ",
			" ORDER BY price,customerid" + limit, true},
		{"registersegment", "SELECT cashregisterid,price,customerid" + from + "(registersegment) WHERE cashregisterid > ",
			" ORDER BY cashregisterid,price,customerid" + limit, false},
		{"pdc", "SELECT price,dateandtime,customerid" + from + "(pdc) WHERE price >= ",
			" ORDER BY price,dateandtime,customerid" + limit, true},
	}
	return all[:c.indexes]
}

// append writes the query with a random value. A price is drawn as that of a row
// is.
func (q *rangeQuery) append(b []byte, g *generator) []byte {
	b = append(b, q.before...)
	if q.price {
		b = appendPrice(b, g.hundredths(g.below(customers)))
	} else {
		b = strconv.AppendUint(b, g.below(cashRegisters), 10)
	}
	return append(b, q.behind...)
}

// A reader is one client's means to query.
type reader struct {
	seed      int64
	conn      *client.Conn
	recorder  *workload.Recorder
	track     *workload.Track
	policy    *client.Policy
	generator generator
	queries   []rangeQuery // of all tables of the client
	statement []byte
}

// newReader makes the reader of the n-th client, from 0.
func (b *benchmark) newReader(conn *client.Conn, t workload.Target, r *workload.Recorder, n int) *reader {
	q := &reader{
		seed:     t.Seed,
		conn:     conn,
		recorder: r,
		track:    r.Track(queryOperation, n+1),
		policy:   client.NewPolicy(r, b.allowed),
	}
	for _, table := range b.share(n).tables {
		q.queries = append(q.queries, b.rangeQueries(tableName(table))...)
	}
	return q
}

// keepReading queries until the time is over.
func (q *reader) keepReading(gate *client.Gate, stream uint64, length time.Duration) error {
	var read int64
	defer func() {
		q.track.Finish(q.recorder.Elapsed())
		q.recorder.Count("rows_read", read)
	}()
	q.generator.start(q.seed, streamRead+stream, 0)
	for !gate.Stopped() {
		started := q.recorder.Elapsed()
		if started >= length {
			return nil
		}
		query := &q.queries[q.generator.below(uint64(len(q.queries)))]
		q.statement = query.append(q.statement[:0], &q.generator)
		rows, err := q.send()
		if errors.Is(err, errSkipped) {
			continue
		}
		if err != nil {
			return fmt.Errorf("query of index %s: %w", query.index, err)
		}
		read += rows
		q.track.Done(1, started, q.recorder.Elapsed())
	}
	return nil
}

// errSkipped says that a statement failed in a way that the phase allows.
var errSkipped = errors.New("skipped")

// send sends the query, again where the server rolled it back.
func (q *reader) send() (int64, error) {
	for try := 1; ; try++ {
		rows, err := q.conn.QueryBytes(q.statement)
		verdict, err := q.policy.Judge(err, try)
		switch verdict {
		case client.Done:
			return rows, nil
		case client.Skip:
			return 0, errSkipped
		case client.Fail:
			return 0, err
		}
	}
}
