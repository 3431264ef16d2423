package insertbench

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// mix does all that clients do to tables that are there: each inserts, and where
// the step is one of that kind deletes, queries and holds transactions open, on
// a connection for each.
func (b *benchmark) mix(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	lowest, err := b.lowest(ctx, t)
	if err != nil {
		return err
	}
	conns, err := client.OpenAll(ctx, t, database, b.clients*b.connections())
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	m := mixer{benchmark: b, target: t, conns: conns, text: newRandomText(t.Seed), lowest: lowest}
	if t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		discarded := workload.NewRecorder("", workload.Hooks{})
		if err := m.run(ctx, discarded, 0, t.Warmup); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
		if m.lowest, err = b.lowest(ctx, t); err != nil {
			return err
		}
	}
	length := b.longest
	if b.reads() {
		length = time.Duration(b.seconds) * time.Second
		r.Expect(queryOperation.Name, 0, length)
	} else {
		r.Expect(insertOperation.Name, b.stepRows(), 0)
	}
	if err := m.run(ctx, r, t.Iteration, length); err != nil {
		return err
	}
	if err := keepIntervals(r, m.tracks); err != nil {
		return err
	}
	err = client.Attend(ctx, conns[0], func(conn *client.Conn) error { return b.keepPlans(conn, r, m.lowest) })
	if err != nil {
		return err
	}
	return b.judge(r)
}

// connections returns how many a client has.
func (c *config) connections() int {
	n := 1
	for _, also := range []bool{c.deletes, c.reads(), c.hold > 0} {
		if also {
			n++
		}
	}
	return n
}

// pass tells the random numbers of an iteration apart from those of others, the
// warm-up being iteration 0, and of phases with another step, rate or length:
// readers that asked for the same ranges again would find them in the cache.
func (c *config) pass(iteration int) uint64 {
	step := uint64(slices.Index(modernSteps, c.step) + 1)
	return mix(mix(uint64(iteration)) + math.Float64bits(c.insertRate) + uint64(c.seconds) + step<<40)
}

// A mixer runs the clients of a step.
type mixer struct {
	*benchmark
	target workload.Target
	conns  []*client.Conn
	text   []byte
	lowest []int64 // keys, by table from 1
	tracks []tracks
}

// run runs all clients once: for the given time or, in a step that ends when its
// rows are inserted, until then, and no longer than the time unless that is 0.
func (m *mixer) run(ctx context.Context, r *workload.Recorder, iteration int, length time.Duration) error {
	var workers []client.Worker
	left := m.conns
	m.tracks = nil
	pass := m.pass(iteration)
	for i := range m.clients {
		mine := left[:m.connections()]
		left = left[len(mine):]
		of, err := m.client(r, i, mine, pass, length)
		if err != nil {
			return err
		}
		workers = append(workers, of...)
	}
	return client.Run(ctx, r.Begin, r.End, workers)
}

// client returns the workers of the n-th client, from 0, one for each of its
// connections.
func (m *mixer) client(r *workload.Recorder, n int, conns []*client.Conn, pass uint64, length time.Duration) ([]client.Worker, error) {
	next := func() *client.Conn {
		conn := conns[0]
		conns = conns[1:]
		return conn
	}
	ends, over := newLowEnds(m.lowest), make(chan struct{})
	stream := mix(pass + uint64(n))
	batches := m.batches(n, pass, stream)

	w := m.newWriter(next(), m.target, r, insertOperation, n, m.text)
	if err := m.prepare(w.conn); err != nil {
		return nil, err
	}
	w.length = length
	mine := tracks{inserts: w.track}
	workers := []client.Worker{{Conn: w.conn, Work: func(gate *client.Gate) error {
		defer close(over)
		return w.write(gate, batches)
	}}}
	if m.deletes {
		d := m.newDeleter(next(), r, n, ends)
		d.length = length
		mine.deletes = d.track
		w.abreast, d.abreast = newAbreast()
		workers = append(workers, client.Worker{Conn: d.conn, Work: func(gate *client.Gate) error { return d.delete(gate, batches) }})
	}
	if m.reads() {
		q, err := m.newReader(next(), m.target, r, n, ends)
		if err != nil {
			return nil, err
		}
		mine.queries = q.track
		workers = append(workers, client.Worker{Conn: q.conn, Work: func(gate *client.Gate) error { return q.read(gate, streamRead+stream, length) }})
	}
	if m.hold > 0 {
		h := holder{next(), m.share(n).tables[0], m.hold, over}
		workers = append(workers, client.Worker{Conn: h.conn, Work: h.run})
	}
	m.tracks = append(m.tracks, mine)
	return workers, nil
}

// batches returns what the n-th client inserts. Where rows end the step they do
// not depend on how many clients there are.
func (m *mixer) batches(n int, pass, stream uint64) iter.Seq[batch] {
	if m.reads() {
		return m.endless(m.share(n), streamWrite+stream)
	}
	rows := func(table int) int64 { return m.split(m.stepRows(), table) }
	return m.fill(m.share(n), streamWrite+pass, rows)
}

// keepPlans keeps the plan of each query, and of the delete.
func (b *benchmark) keepPlans(conn *client.Conn, r *workload.Recorder, lowest []int64) error {
	const table = 1
	if b.deletes {
		statement := b.appendDelete(nil, tableName(table), lowest[table], b.rowsPerCommit)
		if err := explain(conn, r, deleteOperation.Name, string(statement)); err != nil {
			return err
		}
	}
	if !b.reads() {
		return nil
	}
	ends := newLowEnds(lowest)
	for _, q := range b.queries(table, &ends[table]) {
		if err := q.find(conn); err != nil {
			return err
		}
		q.draw(&generator{})
		if err := explain(conn, r, q.name(), string(q.append(nil))); err != nil {
			return err
		}
	}
	return nil
}

// judge reports an error where the phase did nothing, or too slowly.
func (b *benchmark) judge(r *workload.Recorder) error {
	result := r.Result()
	operations := []workload.Operation{insertOperation}
	if b.deletes {
		operations = append(operations, deleteOperation)
	}
	if b.reads() {
		operations = append(operations, queryOperation)
	}
	for _, o := range operations {
		if done, _ := result.Metric(o.Calls); done == 0 {
			return fmt.Errorf("the phase did no work: of the operation %s none was done, so that there is no result", o.Name)
		}
	}
	return b.judgeRate(r)
}
