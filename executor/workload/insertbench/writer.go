package insertbench

import (
	"fmt"
	"iter"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var insertOperation = workload.Operation{Name: "insert", Calls: "inserts", Items: "rows_inserted", Rate: "ips"}

// A writer is one client's means to insert.
type writer struct {
	schedule
	seed      int64
	conn      *client.Conn
	track     *workload.Track
	policy    *client.Policy
	generator generator
	statement []byte
	names     []string // of tables
	rows      []int64  // inserted, by table from 1
}

// newWriter makes the writer of the n-th client, from 0, whose inserts are
// recorded as that operation.
func (b *benchmark) newWriter(conn *client.Conn, t workload.Target, r *workload.Recorder, o workload.Operation, n int, text []byte) *writer {
	return &writer{
		schedule:  b.newSchedule(r),
		seed:      t.Seed,
		conn:      conn,
		track:     r.Track(o, n+1),
		policy:    client.NewPolicy(r, b.allowed),
		generator: generator{text: text, shape: b.data, whole: b.profile == modern},
		names:     b.tableNames(),
		rows:      make([]int64, b.tables+1),
	}
}

// newSchedule returns the schedule of a client's inserts, which is that of its
// deletes too.
func (b *benchmark) newSchedule(r *workload.Recorder) schedule {
	return schedule{recorder: r, pacer: workload.Pacer{Rate: b.insertRate, Each: b.rowsPerCommit}}
}

// write inserts the batches until they or the time end.
func (w *writer) write(gate *client.Gate, batches iter.Seq[batch]) error {
	defer func() {
		w.abreast.leave()
		w.track.Finish(w.recorder.Elapsed())
	}()
	for one := range batches {
		intended, more := w.next(gate)
		if !more {
			return nil
		}
		w.generator.start(w.seed, one.stream, one.number)
		w.statement = w.generator.appendInsert(w.statement[:0], w.names[one.table], one.rows, time.Now())
		if err := w.insert(one, w.begin(intended)); err != nil {
			return fmt.Errorf("inserting into %s: %w", w.names[one.table], err)
		}
	}
	return nil
}

// insert sends the statement of a batch, again where the server rolled it back.
func (w *writer) insert(one batch, intended time.Duration) error {
	affected, err := w.policy.Send(w.track, func() (int64, error) { return w.conn.ExecBytes(w.statement) })
	if err == client.ErrSkipped {
		return nil
	}
	if err != nil {
		return err
	}
	if affected != one.rows {
		return fmt.Errorf("%d rows were sent, %d inserted", one.rows, affected)
	}
	w.track.Done(one.rows, intended, w.recorder.Elapsed())
	w.rows[one.table] += one.rows
	return nil
}

// judgeRate records, where there is a rate to keep, that rate and the one that
// was achieved, and reports whether it was kept.
func (b *benchmark) judgeRate(r *workload.Recorder) error {
	if b.insertRate <= 0 {
		return nil
	}
	result := r.Result()
	rows, _ := result.Metric(insertOperation.Items)
	target := b.insertRate * float64(b.clients)
	achieved := rows / result.End.Sub(result.Start).Seconds()
	r.Metric("target_rate", workload.UnitRate, target)
	r.Metric("achieved_rate", workload.UnitRate, achieved)
	if achieved < workload.SLAShare*target {
		return &workload.SLAError{Target: target, Achieved: achieved, What: "inserts"}
	}
	return nil
}
