package client

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/executor/workload"
)

// PrimaryKey is the name of the index of a primary key, as MySQL calls it.
const PrimaryKey = "PRIMARY"

// A Table is the form of a table: what it was to be, or what the server has. Of
// what a server does not know in a CREATE TABLE, it may leave out a part without
// a word.
type Table struct {
	Engine       string // in lower case; of PostgreSQL the access method, heap
	Compression  string // none, table or transparent
	KeyBlockSize int64  // KiB, with compression = table; else 0

	// Method is RANGE, HASH or KEY, by which the table is partitioned, Key
	// the column, and Bounds the upper end of each partition; "" is none.
	Method, Key string
	Bounds      []string

	Indexes map[string][]string // columns by the name of the index, see PrimaryKey

	// Definition is the statements that would make the table.
	Definition string
}

// Check reports an error that tells what of the table, as it is, is not as it was
// to be. Definitions are not compared.
func (t *Table) Check(want Table) error {
	return workload.Join(t.checkForm(want), t.checkPartitions(want), t.checkIndexes(want))
}

func (t *Table) checkForm(want Table) error {
	switch {
	case t.Engine != want.Engine:
		return fmt.Errorf("the engine is %s, not %s", t.Engine, want.Engine)
	case t.Compression != want.Compression:
		return fmt.Errorf("the compression is %s, not %s", t.Compression, want.Compression)
	case t.KeyBlockSize != want.KeyBlockSize:
		return fmt.Errorf("the key block size is %d, not %d", t.KeyBlockSize, want.KeyBlockSize)
	}
	return nil
}

func (t *Table) checkPartitions(want Table) error {
	if len(t.Bounds) != len(want.Bounds) {
		return fmt.Errorf("it has %d partitions, not %d", len(t.Bounds), len(want.Bounds))
	}
	if t.Method != want.Method || t.Key != want.Key {
		return fmt.Errorf("it is partitioned by %s (%s), not by %s (%s)", t.Method, t.Key, want.Method, want.Key)
	}
	for i, bound := range t.Bounds {
		if bound != want.Bounds[i] {
			return fmt.Errorf("partition %d ends at %q, not at %q", i, bound, want.Bounds[i])
		}
	}
	return nil
}

func (t *Table) checkIndexes(want Table) error {
	if len(t.Indexes) != len(want.Indexes) {
		return fmt.Errorf("it has %d indexes, not %d", len(t.Indexes), len(want.Indexes))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Indexes)) {
		if !slices.Equal(t.Indexes[name], want.Indexes[name]) {
			return fmt.Errorf("index %s has the columns %q, not %q", name, t.Indexes[name], want.Indexes[name])
		}
	}
	return nil
}

// Table reads the form of a table back from the server. The schema of MySQL and
// MariaDB is the database.
func (c *Conn) Table(schema, name string) (Table, error) {
	read := c.mysqlTable
	if c.Postgres() {
		read = c.postgresTable
	}
	t, err := read(schema, name)
	if err != nil {
		return Table{}, fmt.Errorf("reading the form of table %s.%s: %w", schema, name, err)
	}
	return t, nil
}

func (c *Conn) mysqlTable(schema, name string) (Table, error) {
	where := fmt.Sprintf(" WHERE table_schema = '%s' AND table_name = '%s'", schema, name)
	_, form, err := c.Rows("SELECT engine, row_format, create_options FROM information_schema.tables" + where)
	if err != nil {
		return Table{}, err
	}
	if len(form) != 1 {
		return Table{}, errors.New("it is not in information_schema.tables")
	}
	t := Table{Engine: strings.ToLower(form[0][0])}
	t.readCompression(strings.ToLower(form[0][1]), strings.ToLower(form[0][2]))
	_, parts, err := c.Rows("SELECT partition_method, partition_expression, partition_description FROM information_schema.partitions" + where +
		" AND partition_name IS NOT NULL ORDER BY partition_ordinal_position")
	if err != nil {
		return Table{}, err
	}
	for _, part := range parts {
		// The quotes are those of the server's sql_mode.
		t.Method, t.Key = part[0], strings.Trim(part[1], "`\"")
		bound := part[2]
		if t.Method != "RANGE" {
			bound = ""
		}
		t.Bounds = append(t.Bounds, bound)
	}
	_, columns, err := c.Rows("SELECT index_name, column_name FROM information_schema.statistics" + where + " ORDER BY index_name, seq_in_index")
	if err != nil {
		return Table{}, err
	}
	t.readIndexes(columns)
	_, shown, err := c.Rows("SHOW CREATE TABLE " + schema + "." + name)
	if err != nil {
		return Table{}, err
	}
	t.Definition = shown[0][1] + ";\n"
	return t, nil
}

// readCompression reads what the options of a table of InnoDB say.
func (t *Table) readCompression(format, options string) {
	switch {
	case format == "compressed":
		t.Compression = "table"
		if _, size, found := strings.Cut(options, "key_block_size="); found {
			size, _, _ = strings.Cut(size, " ")
			t.KeyBlockSize, _ = strconv.ParseInt(size, 10, 64) // 0 where it is none
		}
	case strings.Contains(options, "page_compressed"), strings.Contains(options, "compression="):
		t.Compression = "transparent"
	default:
		t.Compression = "none"
	}
}

// readIndexes reads rows of an index's name and a column, in their order.
func (t *Table) readIndexes(rows [][]string) {
	t.Indexes = map[string][]string{}
	for _, row := range rows {
		// PostgreSQL quotes what is a word of its language, such as time.
		t.Indexes[row[0]] = append(t.Indexes[row[0]], strings.Trim(row[1], `"`))
	}
}

// methods are the ways to partition, as pg_partitioned_table abbreviates them.
var methods = map[string]string{"r": "RANGE", "h": "HASH", "l": "LIST"}

func (c *Conn) postgresTable(schema, name string) (Table, error) {
	class := fmt.Sprintf("'%s.%s'::regclass", schema, name)
	t := Table{Engine: "heap", Compression: "none"}
	_, form, err := c.Rows("SELECT COALESCE(m.amname, ''), COALESCE(p.partstrat::text, ''), COALESCE(pg_get_partkeydef(c.oid), '') FROM pg_class c" +
		" LEFT JOIN pg_am m ON m.oid = c.relam LEFT JOIN pg_partitioned_table p ON p.partrelid = c.oid WHERE c.oid = " + class)
	if err != nil {
		return Table{}, err
	}
	if len(form) != 1 {
		return Table{}, errors.New("it is not in pg_class")
	}
	if form[0][0] != "" { // a partitioned table has none of its own
		t.Engine = form[0][0]
	}
	t.Method = methods[form[0][1]]
	if _, key, found := strings.Cut(form[0][2], "("); found {
		t.Key = strings.TrimSuffix(key, ")")
	}
	_, parts, err := c.Rows("SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid" +
		" WHERE i.inhparent = " + class + " ORDER BY c.oid")
	if err != nil {
		return Table{}, err
	}
	for _, part := range parts {
		t.Bounds = append(t.Bounds, upperBound(part[1]))
	}
	_, columns, err := c.Rows("SELECT CASE WHEN x.indisprimary THEN '" + PrimaryKey + "' ELSE c.relname END, pg_get_indexdef(x.indexrelid, n, true)" +
		" FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid, generate_series(1, x.indnkeyatts) AS n" +
		" WHERE x.indrelid = " + class + " AND x.indisvalid ORDER BY c.relname, n")
	if err != nil {
		return Table{}, err
	}
	t.readIndexes(columns)
	t.Definition, err = c.postgresDefinition(class, schema+"."+name, t, parts)
	return t, err
}

// upperBound returns the upper end of a partition whose bound the server writes
// as FOR VALUES FROM ('0') TO ('1000'), "" for one of another kind.
func upperBound(expression string) string {
	_, bound, found := strings.Cut(expression, " TO (")
	if !found {
		return ""
	}
	return strings.Trim(strings.TrimSuffix(bound, ")"), "'")
}

// postgresDefinition puts together what MySQL shows by itself.
func (c *Conn) postgresDefinition(class, name string, t Table, parts [][]string) (string, error) {
	_, columns, err := c.Rows("SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)" +
		" || COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END" +
		" FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum" +
		" WHERE a.attrelid = " + class + " AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum")
	if err != nil {
		return "", err
	}
	_, constraints, err := c.Rows("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = " + class + " AND contype <> 'n' ORDER BY conname")
	if err != nil {
		return "", err
	}
	_, indexes, err := c.Rows("SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = " + class + " AND NOT indisprimary ORDER BY indexrelid")
	if err != nil {
		return "", err
	}
	var lines []string
	for _, line := range append(columns, constraints...) {
		lines = append(lines, "  "+line[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n%s\n)", name, strings.Join(lines, ",\n"))
	if t.Method != "" {
		fmt.Fprintf(&b, " PARTITION BY %s (%s)", t.Method, t.Key)
	}
	b.WriteString(";\n")
	for _, part := range parts {
		fmt.Fprintf(&b, "CREATE TABLE %s PARTITION OF %s %s;\n", part[0], name, part[1])
	}
	for _, index := range indexes {
		b.WriteString(index[0] + ";\n")
	}
	return b.String(), nil
}

// Explain returns how the server says that it runs a query: the query, and below
// it the server's table.
func (c *Conn) Explain(query string) (string, error) {
	columns, rows, err := c.Rows("EXPLAIN " + query)
	if err != nil {
		return "", fmt.Errorf("explaining %s: %w", workload.Line(query), err)
	}
	var b strings.Builder
	b.WriteString(query + "\n" + strings.Join(columns, "\t") + "\n")
	for _, row := range rows {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	return b.String(), nil
}
