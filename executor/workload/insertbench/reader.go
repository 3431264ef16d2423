package insertbench

import (
	"fmt"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var queryOperation = workload.Operation{Name: "query", Calls: "queries", Rate: "qps"}

// A reader is one client's means to query.
type reader struct {
	seed      int64
	conn      *client.Conn
	recorder  *workload.Recorder
	track     *workload.Track
	policy    *client.Policy
	generator generator
	ranges    []rangeQuery // of all tables of the client
	points    []pointQuery // in place of ranges
	statement []byte
}

// newReader makes the reader of the n-th client, from 0.
func (b *benchmark) newReader(conn *client.Conn, t workload.Target, r *workload.Recorder, n int, ends lowEnds) *reader {
	q := &reader{
		seed:     t.Seed,
		conn:     conn,
		recorder: r,
		track:    r.Track(queryOperation, n+1),
		policy:   client.NewPolicy(r, b.allowed),
	}
	for _, table := range b.share(n).tables {
		if b.step == stepPoint {
			q.points = append(q.points, b.pointQuery(table, &ends[table]))
			continue
		}
		q.ranges = append(q.ranges, b.rangeQueries(tableName(table))...)
	}
	return q
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
		what, err := q.draw()
		if err != nil {
			return err
		}
		started := q.recorder.Elapsed()
		rows, err := q.policy.Send(func() (int64, error) { return q.conn.QueryBytes(q.statement) })
		if err == client.ErrSkipped {
			continue
		}
		if err != nil {
			return fmt.Errorf("query of index %s: %w", what, err)
		}
		read += rows
		q.track.Done(1, started, q.recorder.Elapsed())
	}
	return nil
}

// draw makes the statement of the next query and returns the index that it
// reads.
func (q *reader) draw() (string, error) {
	if len(q.points) > 0 {
		point := &q.points[q.generator.below(uint64(len(q.points)))]
		if err := point.find(q.conn); err != nil {
			return "", err
		}
		q.statement = point.append(q.statement[:0], &q.generator)
		return primary, nil
	}
	query := &q.ranges[q.generator.below(uint64(len(q.ranges)))]
	q.statement = query.append(q.statement[:0], &q.generator)
	return query.index, nil
}
