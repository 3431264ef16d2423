package insertbench

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"sync/atomic"

	"dbmatrix/executor/workload/client"
)

// findEvery is after how many point queries the highest key is read anew.
const findEvery = 100

// A pointQuery reads some rows of a table by random keys. Not all of them need
// be there.
type pointQuery struct {
	table int
	text  string  // before the keys
	keys  []int64 // of one query
	args  []driver.Value
	low   *atomic.Int64 // the lowest key, as far as the deleter knows
	high  int64         // above the highest, as far as the reader knows
	asked int           // queries since it was read
}

func (c *config) pointQuery(table int, low *atomic.Int64) *pointQuery {
	q := &pointQuery{
		table: table, text: "SELECT transactionid,productid,data FROM " + tableName(table) + " WHERE transactionid IN (",
		keys: make([]int64, c.rowsPerQuery), low: low,
	}
	for i := range q.keys {
		q.args = append(q.args, &q.keys[i])
	}
	return q
}

func (q *pointQuery) name() string { return primary }

// find reads the highest key of the table when it is time to.
func (q *pointQuery) find(conn *client.Conn) error {
	if q.asked%findEvery == 0 {
		high, found, err := endKey(conn, "MAX", q.table)
		if err != nil {
			return err
		}
		if !found && q.high == 0 {
			return fmt.Errorf("table %s has no rows: a phase with the step %s must come before", tableName(q.table), stepFill)
		}
		q.high = max(q.high, high)
	}
	q.asked++
	return nil
}

// draw draws the keys, from the low end up to the high end, which is not among
// them.
func (q *pointQuery) draw(g *generator) {
	low := q.low.Load()
	width := uint64(max(1, q.high-low)) // deletes may be beyond what the reader knows
	for i := range q.keys {
		q.keys[i] = low + int64(g.below(width))
	}
}

func (q *pointQuery) append(b []byte) []byte {
	b = append(b, q.text...)
	for i, key := range q.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, key, 10)
	}
	return append(b, ')')
}

func (q *pointQuery) prepared() string {
	text := q.text
	for i := range q.keys {
		if i > 0 {
			text += ","
		}
		text += "$" + strconv.Itoa(i+1)
	}
	return text + ")"
}

func (q *pointQuery) arguments() []driver.Value { return q.args }
