package insertbench

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var deleteOperation = workload.Operation{Name: "delete", Calls: "deletes", Items: "rows_deleted", Rate: "dps"}

// lowEnds are the keys from which a client deletes, by table from 1. Its reader
// draws keys from there on.
type lowEnds []atomic.Int64

// newLowEnds returns the ends for a client that begins at the given keys.
func newLowEnds(lowest []int64) lowEnds {
	ends := make(lowEnds, len(lowest))
	for table, key := range lowest {
		ends[table].Store(key)
	}
	return ends
}

// lowest returns the lowest key of each table, from 1. Where nothing is deleted
// it is 0, as in the original.
func (b *benchmark) lowest(ctx context.Context, t workload.Target) ([]int64, error) {
	keys := make([]int64, b.tables+1)
	if !b.deletes {
		return keys, nil
	}
	err := client.Session(ctx, t, database, func(conn *client.Conn) error {
		for table := 1; table <= b.tables; table++ {
			key, found, err := endKey(conn, "MIN", table)
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("table %s has no rows: a phase with the step %s must come before", tableName(table), stepFill)
			}
			keys[table] = key
		}
		return nil
	})
	return keys, err
}

// endKey returns the MIN or MAX of a table's keys, and whether it has any.
func endKey(conn *client.Conn, end string, table int) (int64, bool, error) {
	key, err := conn.Int("SELECT COALESCE(" + end + "(transactionid), -1) FROM " + tableName(table))
	return key, key >= 0, err
}

// A deleter is one client's means to delete.
type deleter struct {
	schedule
	conn      *client.Conn
	track     *workload.Track
	policy    *client.Policy
	ends      lowEnds
	resync    int64    // deletes from a table after which its lowest key is read; 0 is never
	loops     []int64  // deletes since then, by table from 1
	names     []string // of tables
	statement []byte
	append    func(b []byte, table string, from, rows int64) []byte // appendDelete, in the server's words
}

// newDeleter makes the deleter of the n-th client, from 0.
func (b *benchmark) newDeleter(conn *client.Conn, r *workload.Recorder, n int, ends lowEnds) *deleter {
	return &deleter{
		schedule: b.newSchedule(r),
		conn:     conn,
		track:    r.Track(deleteOperation, n+1),
		policy:   client.NewPolicy(r, b.allowed),
		ends:     ends,
		resync:   b.resync,
		loops:    make([]int64, b.tables+1),
		names:    b.tableNames(),
		append:   b.appendDelete,
	}
}

// delete deletes as many rows as each batch has, until the batches or the time
// end.
func (d *deleter) delete(gate *client.Gate, batches iter.Seq[batch]) error {
	defer func() {
		d.abreast.leave()
		d.track.Finish(d.recorder.Elapsed())
	}()
	for one := range batches {
		intended, more := d.next(gate)
		if !more {
			return nil
		}
		if err := d.find(one.table); err != nil {
			return err
		}
		if err := d.send(one, d.begin(intended)); err != nil {
			return fmt.Errorf("deleting from %s: %w", d.names[one.table], err)
		}
	}
	return nil
}

// find reads the lowest key of a table when it is time to. A table that is empty
// at the moment keeps the one that it had.
func (d *deleter) find(table int) error {
	if d.resync > 0 && d.loops[table] >= d.resync {
		key, found, err := endKey(d.conn, "MIN", table)
		if err != nil {
			return err
		}
		if found {
			d.ends[table].Store(key)
		}
		d.loops[table] = 0
	}
	d.loops[table]++
	return nil
}

// send deletes the rows of one batch, again where the server rolled it back.
func (d *deleter) send(one batch, intended time.Duration) error {
	end := &d.ends[one.table]
	d.statement = d.append(d.statement[:0], d.names[one.table], end.Load(), one.rows)
	affected, err := d.policy.Send(d.track, func() (int64, error) { return d.conn.ExecBytes(d.statement) })
	if err == client.ErrSkipped {
		return nil
	}
	if err != nil {
		return err
	}
	end.Add(one.rows)
	d.track.Done(affected, intended, d.recorder.Elapsed())
	return nil
}

// appendDelete writes the DELETE of the lowest rows of a table from a key on.
func (c *config) appendDelete(b []byte, table string, from, rows int64) []byte {
	b = append(append(b, "DELETE FROM "...), table...)
	if c.postgres { // which knows no limit of a DELETE
		b = append(append(b, " WHERE transactionid IN (SELECT transactionid FROM "...), table...)
	}
	b = strconv.AppendInt(append(b, " WHERE transactionid >= "...), from, 10)
	b = strconv.AppendInt(append(b, " ORDER BY transactionid ASC LIMIT "...), rows, 10)
	if c.postgres {
		b = append(b, ')')
	}
	return b
}
