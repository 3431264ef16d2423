package insertbench

import (
	"fmt"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var insertOperation = workload.Operation{Name: "insert", Calls: "inserts", Items: "rows_inserted", Rate: "ips"}

// A writer is one client's means to insert.
type writer struct {
	config    *config
	seed      int64
	share     share
	conn      *client.Conn
	recorder  *workload.Recorder
	track     *workload.Track
	policy    *client.Policy
	pacer     workload.Pacer
	generator generator
	statement []byte
	sent      int64   // batches
	rows      []int64 // inserted, by table from 1
}

// newWriter makes the writer of the n-th client, from 0.
func (b *benchmark) newWriter(conn *client.Conn, t workload.Target, r *workload.Recorder, n int, text []byte) *writer {
	return &writer{
		config:    &b.config,
		seed:      t.Seed,
		share:     b.share(n),
		conn:      conn,
		recorder:  r,
		track:     r.Track(insertOperation, n+1),
		policy:    client.NewPolicy(r, b.allowed),
		pacer:     workload.Pacer{Rate: b.insertRate, Each: b.rowsPerCommit},
		generator: generator{text: text, shape: b.data},
		rows:      make([]int64, b.tables+1),
	}
}

// insert waits until the next batch is due and inserts it. The generator must
// stand at the batch's start. It reports false where the run was stopped.
func (w *writer) insert(gate *client.Gate, table int, rows int64) (bool, error) {
	wait, intended := w.pacer.Pace(w.recorder.Elapsed(), w.sent)
	gate.Sleep(wait)
	if gate.Stopped() {
		return false, nil
	}
	w.statement = w.generator.appendInsert(w.statement[:0], tableName(table), rows, time.Now())
	if w.pacer.Rate <= 0 {
		intended = w.recorder.Elapsed() // making the statement is no response time
	}
	w.sent++
	for try := 1; ; try++ {
		affected, err := w.conn.ExecBytes(w.statement)
		verdict, err := w.policy.Judge(err, try)
		switch verdict {
		case client.Done:
			if affected != rows {
				return false, fmt.Errorf("table %s: %d rows sent, %d inserted", tableName(table), rows, affected)
			}
			w.track.Done(rows, intended, w.recorder.Elapsed())
			w.rows[table] += rows
			return true, nil
		case client.Skip:
			return true, nil
		case client.Fail:
			return false, fmt.Errorf("inserting into %s: %w", tableName(table), err)
		}
	}
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
