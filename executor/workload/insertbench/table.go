package insertbench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/executor/workload/client"
)

// database holds the benchmark's tables.
const database = "ib"

// keyColumn is the primary key, by which tables are partitioned.
const keyColumn = "transactionid"

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

// secondary returns the secondary indexes of a table. In PostgreSQL the names of
// indexes are those of the whole database, not of their table.
func (c *config) secondary() []index {
	all := secondaryIndexes
	if c.profile == modern {
		all = modernIndexes
	}
	own := slices.Clone(all[:c.indexes])
	for i := range own {
		own[i].prefix = own[i].prefix || c.postgres
	}
	return own
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

// tableNames returns the names of all tables, by their numbers.
func (c *config) tableNames() []string {
	names := make([]string, c.tables+1)
	for n := range names {
		names[n] = tableName(n)
	}
	return names
}

// rowsPerPartition returns how many values of transactionid each partition but
// the last one spans: all rows of the experiment, and the 100 more that the
// original counts for its index step, over the partitions of all tables.
func (c *config) rowsPerPartition() int64 {
	return (c.rows + c.insertRows + c.laterRows + 100) / c.partitions / int64(c.tables)
}

// bounds returns the upper end of each partition.
func (c *config) bounds() []string {
	var bounds []string
	for i := range c.partitions {
		bound := "MAXVALUE"
		if i < c.partitions-1 {
			bound = strconv.FormatInt((i+1)*c.rowsPerPartition(), 10)
		}
		bounds = append(bounds, bound)
	}
	return bounds
}

// form is what the server is to have of the n-th table when it has these
// secondary indexes.
func (c *config) form(n int, indexes []index) client.Table {
	t := client.Table{
		Engine: c.engine, Compression: c.compression, KeyBlockSize: c.keyBlockSize, Bounds: c.bounds(),
		Indexes: map[string][]string{client.PrimaryKey: {keyColumn}},
	}
	if c.postgres {
		t.Engine = "heap"
	}
	if c.partitions > 0 {
		t.Method, t.Key = "RANGE", keyColumn
	}
	for _, i := range indexes {
		t.Indexes[i.nameOn(tableName(n))] = i.columns
	}
	return t
}

// createTable returns the statements that make the n-th table, in the words of
// the server's flavour.
func (c *config) createTable(n int, flavour string) []string {
	if c.postgres {
		return c.createPostgres(n)
	}
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
	return []string{b.String()}
}

// sequenceCache is how many keys a connection to PostgreSQL takes at once, as in
// the original. What it has not used when it ends is a gap.
const sequenceCache = 1000

// createPostgres is createTable for PostgreSQL, where each partition is a table
// and indexes have statements of their own.
func (c *config) createPostgres(n int) []string {
	price, table := "REAL", tableName(n)
	if c.profile == modern {
		price = "INT"
	}
	create := fmt.Sprintf(`CREATE TABLE %s (
  transactionid BIGSERIAL PRIMARY KEY,
  dateandtime TIMESTAMP WITHOUT TIME ZONE,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price %s NOT NULL,
  data VARCHAR(%d)
)`, table, price, dataColumn)
	if c.partitions > 0 {
		create += " PARTITION BY RANGE (transactionid)"
	}
	statements := []string{create}
	from := "0"
	for i, bound := range c.bounds() {
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s_p%d PARTITION OF %[1]s FOR VALUES FROM (%[3]s) TO (%[4]s)", table, i, from, bound))
		from = bound
	}
	statements = append(statements, fmt.Sprintf("ALTER SEQUENCE %s_transactionid_seq CACHE %d", table, sequenceCache))
	for _, i := range c.early() {
		statements = append(statements, i.create(table))
	}
	return statements
}

// create returns the statement that makes the index in PostgreSQL.
func (i index) create(table string) string {
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", i.nameOn(table), table, strings.Join(i.columns, ", "))
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
	bounds := c.bounds()
	for i, bound := range bounds[:len(bounds)-1] {
		fmt.Fprintf(b, "\n  PARTITION p%d VALUES LESS THAN (%s),", i, bound)
	}
	fmt.Fprintf(b, "\n  PARTITION p%d VALUES LESS THAN MAXVALUE\n)", len(bounds)-1)
}
