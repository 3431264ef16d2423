package insertbench

import (
	"fmt"
	"strings"
)

// database holds the benchmark's tables.
const database = "ib"

// dataColumn is the length of the column data, in bytes.
const dataColumn = 4000

// An index is a secondary index.
type index struct {
	name    string
	columns []string
	prefix  bool // the name on a table begins with that of the table
}

// nameOn returns the name of the index on a table.
func (i index) nameOn(table string) string {
	if i.prefix {
		return table + "_" + i.name
	}
	return i.name
}

// secondaryIndexes of the classic profile are made in this order; a table may
// have the first few.
var secondaryIndexes = []index{
	{"marketsegment", []string{"price", "customerid"}, false},
	{"registersegment", []string{"cashregisterid", "price", "customerid"}, false},
	{"pdc", []string{"price", "dateandtime", "customerid"}, false},
}

// modernIndexes are those of the modern profile.
var modernIndexes = []index{
	{"marketsegment", []string{"productid", "customerid", "price"}, true},
	{"registersegment", []string{"cashregisterid", "customerid", "price"}, true},
	{"pdc", []string{"price", "dateandtime", "customerid"}, true},
}

// index returns the n-th secondary index of the profile, from 0.
func (c *config) index(n int) index {
	if c.profile == modern {
		return modernIndexes[n]
	}
	return secondaryIndexes[n]
}

// secondary returns the secondary indexes of a table.
func (c *config) secondary() []index {
	if c.profile == modern {
		return modernIndexes[:c.indexes]
	}
	return secondaryIndexes[:c.indexes]
}

// early returns those of them that the tables are made with.
func (c *config) early() []index {
	if c.profile == modern {
		return nil
	}
	return c.secondary()
}

// tableName returns the name of the n-th table, from 1.
func tableName(n int) string { return fmt.Sprintf("pi%d", n) }

// rowsPerPartition returns how many values of transactionid each partition but
// the last one spans: all rows of the experiment, and the 100 more that the
// original counts for its index step, over the partitions of all tables.
func (c *config) rowsPerPartition() int64 {
	return (c.rows + c.insertRows + c.laterRows + 100) / c.partitions / int64(c.tables)
}

// createTable returns the definition of the n-th table, in the words of the
// server's flavour.
func (c *config) createTable(n int, flavour string) string {
	price := "FLOAT"
	if c.profile == modern {
		price = "INT"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `CREATE TABLE %s (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price %s NOT NULL,
  data VARCHAR(%d),
  PRIMARY KEY (transactionid)`, tableName(n), price, dataColumn)
	for _, i := range c.early() {
		fmt.Fprintf(&b, ",\n  INDEX %s (%s)", i.nameOn(tableName(n)), strings.Join(i.columns, ", "))
	}
	fmt.Fprintf(&b, "\n) ENGINE=%s", c.engine)
	if option := c.compressionOption(flavour); option != "" {
		b.WriteString(" " + option)
	}
	c.partitionClause(&b)
	return b.String()
}

// compressionOption returns the table option that asks for the compression.
func (c *config) compressionOption(flavour string) string {
	switch {
	case c.compression == "table":
		return fmt.Sprintf("ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d", c.keyBlockSize)
	case c.compression == "transparent" && flavour == "mariadb":
		return "PAGE_COMPRESSED=1"
	case c.compression == "transparent":
		return "COMPRESSION='zlib'"
	}
	return ""
}

func (c *config) partitionClause(b *strings.Builder) {
	if c.partitions == 0 {
		return
	}
	b.WriteString("\nPARTITION BY RANGE (transactionid) (")
	for i := range c.partitions - 1 {
		fmt.Fprintf(b, "\n  PARTITION p%d VALUES LESS THAN (%d),", i, (i+1)*c.rowsPerPartition())
	}
	fmt.Fprintf(b, "\n  PARTITION p%d VALUES LESS THAN MAXVALUE\n)", c.partitions-1)
}
