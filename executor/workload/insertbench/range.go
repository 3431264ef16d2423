package insertbench

import "strconv"

// A rangeQuery reads some rows of an index from a random place on.
type rangeQuery struct {
	index          string
	before, behind string // the statement around the random value
	value          value
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
func (c *config) rangeQueries(table string) []rangeQuery {
	limit := " LIMIT " + strconv.FormatInt(c.rowsPerQuery, 10)
	query := func(n int, columns, first, operator string, v value) rangeQuery {
		index := c.index(n).nameOn(table)
		return rangeQuery{
			index:  c.index(n).name,
			before: "SELECT " + columns + " FROM " + table + " FORCE INDEX (" + index + ") WHERE " + first + " " + operator + " ",
			behind: " ORDER BY " + columns + limit,
			value:  v,
		}
	}
	all := []rangeQuery{
		query(0, "price,customerid", "price", ">=", price),
		query(1, "cashregisterid,price,customerid", "cashregisterid", ">", cashRegister),
		query(2, "price,dateandtime,customerid", "price", ">=", price),
	}
	if c.profile == modern {
		all = []rangeQuery{
			query(0, "productid,customerid,price", "productid", ">=", product),
			query(1, "cashregisterid,customerid,price", "cashregisterid", ">", cashRegister),
			query(2, "price,dateandtime,customerid", "price", ">=", wholePrice),
		}
	}
	return all[:c.indexes]
}

// append writes the query with a random value. A price with decimals is drawn as
// that of a row is.
func (q *rangeQuery) append(b []byte, g *generator) []byte {
	b = append(b, q.before...)
	switch q.value {
	case cashRegister:
		b = strconv.AppendUint(b, g.below(cashRegisters), 10)
	case product:
		b = strconv.AppendUint(b, g.below(products), 10)
	case price:
		b = appendPrice(b, g.hundredths(g.below(customers)))
	case wholePrice:
		b = strconv.AppendUint(b, g.below(priceSpread), 10)
	}
	return append(b, q.behind...)
}
