package insertbench

import (
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
	keys  int64         // of one query
	low   *atomic.Int64 // the lowest key, as far as the deleter knows
	high  int64         // above the highest, as far as the reader knows
	asked int           // queries since it was read
}

func (c *config) pointQuery(table int, low *atomic.Int64) pointQuery {
	return pointQuery{table: table, keys: c.rowsPerQuery, low: low}
}

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

// append writes the query with random keys, from the low end up to the high end,
// which is not among them.
func (q *pointQuery) append(b []byte, g *generator) []byte {
	low := q.low.Load()
	width := uint64(max(1, q.high-low)) // deletes may be beyond what the reader knows
	b = append(append(b, "SELECT transactionid,productid,data FROM "...), tableName(q.table)...)
	b = append(b, " WHERE transactionid IN ("...)
	for i := range q.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, low+int64(g.below(width)), 10)
	}
	return append(b, ')')
}
