package insertbench

import (
	"fmt"
	"strings"
)

// database holds the benchmark's tables.
const database = "ib"

// dataColumn is the length of the column data, in bytes.
const dataColumn = 4000

// An index is a secondary index of the classic form.
type index struct {
	name    string
	columns []string
}

// secondaryIndexes are made in this order; a table may have the first few.
var secondaryIndexes = []index{
	{"marketsegment", []string{"price", "customerid"}},
	{"registersegment", []string{"cashregisterid", "price", "customerid"}},
	{"pdc", []string{"price", "dateandtime", "customerid"}},
}

// tableName returns the name of the n-th table, from 1.
func tableName(n int) string { return fmt.Sprintf("pi%d", n) }

// tableRows returns how many rows the n-th table gets in the load: an equal
// share, and one of the rows that are left over.
func (c *config) tableRows(n int) int64 {
	tables := int64(c.tables)
	rows := c.rows / tables
	if int64(n) <= c.rows%tables {
		rows++
	}
	return rows
}

// rowsPerPartition returns how many values of transactionid each partition but
// the last one spans: all rows of the experiment, and the 100 more that the
// original counts for its index step, over the partitions of all tables.
func (c *config) rowsPerPartition() int64 {
	return (c.rows + c.laterRows + 100) / c.partitions / int64(c.tables)
}

// createTable returns the definition of the n-th table, in the words of the
// server's flavour.
func (c *config) createTable(n int, flavour string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `CREATE TABLE %s (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(%d),
  PRIMARY KEY (transactionid)`, tableName(n), dataColumn)
	for _, i := range secondaryIndexes[:c.indexes] {
		fmt.Fprintf(&b, ",\n  INDEX %s (%s)", i.name, strings.Join(i.columns, ", "))
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
