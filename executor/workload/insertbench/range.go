package insertbench

import (
	"database/sql/driver"
	"strconv"

	"dbmatrix/executor/workload/client"
)

// A rangeQuery reads some rows of an index from a random place on.
type rangeQuery struct {
	index          string
	before, behind string // the statement around the random value
	value          value
	whole          int64   // the value, where it is a whole number
	price          float64 // or the price,
	hundredths     uint64  // which is so much
	args           []driver.Value
}

// A value is the column that a range begins in, whose values its own are drawn
// like.
type value int

const (
	cashRegister value = iota
	product
	price
	wholePrice
)

// rangeQueries returns the queries of a table, one for each secondary index that
// it has. They read the index alone.
func (c *config) rangeQueries(table string) []*rangeQuery {
	type form struct {
		columns, first, operator string
		value                    value
	}
	forms := []form{
		{"price,customerid", "price", ">=", price},
		{"cashregisterid,price,customerid", "cashregisterid", ">", cashRegister},
		{"price,dateandtime,customerid", "price", ">=", price},
	}
	if c.profile == modern {
		forms = []form{
			{"productid,customerid,price", "productid", ">=", product},
			{"cashregisterid,customerid,price", "cashregisterid", ">", cashRegister},
			{"price,dateandtime,customerid", "price", ">=", wholePrice},
		}
	}
	limit := " LIMIT " + strconv.FormatInt(c.rowsPerQuery, 10)
	var queries []*rangeQuery
	for i, index := range c.secondary() {
		f := forms[i]
		q := &rangeQuery{
			index:  index.name,
			before: "SELECT " + f.columns + " FROM " + table + c.byIndex(index.nameOn(table)) + " WHERE " + f.first + " " + f.operator + " ",
			behind: " ORDER BY " + f.columns + limit,
			value:  f.value,
		}
		q.args = []driver.Value{&q.whole}
		if f.value == price {
			q.args = []driver.Value{&q.price}
		}
		queries = append(queries, q)
	}
	return queries
}

func (q *rangeQuery) name() string { return q.index }

func (q *rangeQuery) find(*client.Conn) error { return nil }

// draw draws the value. A price with decimals is drawn as that of a row is.
func (q *rangeQuery) draw(g *generator) {
	switch q.value {
	case cashRegister:
		q.whole = int64(g.below(cashRegisters))
	case product:
		q.whole = int64(g.below(products))
	case price:
		q.hundredths = g.hundredths(g.below(customers))
		q.price = float64(q.hundredths) / 100
	case wholePrice:
		q.whole = int64(g.below(priceSpread))
	}
}

func (q *rangeQuery) append(b []byte) []byte {
	b = append(b, q.before...)
	if q.value == price {
		b = appendPrice(b, q.hundredths)
	} else {
		b = strconv.AppendInt(b, q.whole, 10)
	}
	return append(b, q.behind...)
}

func (q *rangeQuery) prepared() string { return q.before + "$1" + q.behind }

func (q *rangeQuery) arguments() []driver.Value { return q.args }
