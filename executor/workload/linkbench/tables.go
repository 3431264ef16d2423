package linkbench

import (
	"fmt"
	"strings"

	"dbmatrix/executor/workload/client"
)

// Names of the database and its tables. The original numbers its databases and
// has one.
const (
	database   = "linkdb0"
	linkTable  = "linktable"
	countTable = "counttable"
	nodeTable  = "nodetable"
	linkIndex  = "id1_type"
)

// A tableForm is how the tables are stored.
type tableForm struct {
	engine       string
	partitions   int64  // 0: unpartitioned
	compression  string // none, table or transparent
	keyBlockSize int64  // KiB, with compression = table
	covering     bool   // the secondary index has all columns
	wideCount    bool   // counts are BIGINT, as in the fork
}

// A table is one of the three.
type table struct {
	name       string
	columns    []column
	primary    []string // columns of the primary key
	family     string   // the primary key's column family in MyRocks
	partition  string   // the column that it is partitioned by
	compressed bool     // by compression = table
	indexes    []index
}

// A column is a column of a table: its name, and its type in MySQL and in
// PostgreSQL, which has no unsigned numbers and stores bytes as they are only in
// BYTEA.
type column struct{ name, mysql, postgres string }

// An index is a secondary index.
type index struct {
	name    string
	columns []string
	family  string
}

// tables returns the definitions of all tables.
func (f *tableForm) tables() []table {
	count := "INT"
	if f.wideCount {
		count = "BIGINT"
	}
	return []table{
		{
			name: linkTable,
			columns: []column{
				{"id1", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"id2", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"link_type", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"visibility", "TINYINT NOT NULL DEFAULT 0", "SMALLINT NOT NULL DEFAULT 0"},
				{"data", "VARCHAR(255) NOT NULL DEFAULT ''", "BYTEA NOT NULL DEFAULT ''"},
				{"time", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"version", "INT UNSIGNED NOT NULL DEFAULT 0", "INT NOT NULL DEFAULT 0"},
			},
			primary: []string{"link_type", "id1", "id2"}, family: "cf_link_pk",
			partition: "id1", compressed: true,
			indexes: []index{f.linkIndex()},
		},
		{
			name: countTable,
			columns: []column{
				{"id", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"link_type", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"count", count + " UNSIGNED NOT NULL DEFAULT 0", count + " NOT NULL DEFAULT 0"},
				{"time", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
				{"version", "BIGINT UNSIGNED NOT NULL DEFAULT 0", "BIGINT NOT NULL DEFAULT 0"},
			},
			primary: []string{"id", "link_type"}, family: "cf_count_pk",
			partition: "id", compressed: true,
		},
		{
			// The data of nodes compresses to two thirds, not to a half:
			// it is not in the compressed row format.
			name: nodeTable,
			columns: []column{
				{"id", "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT", "BIGSERIAL"},
				{"type", "INT UNSIGNED NOT NULL", "INT NOT NULL"},
				{"version", "BIGINT UNSIGNED NOT NULL", "BIGINT NOT NULL"},
				{"time", "INT UNSIGNED NOT NULL", "INT NOT NULL"},
				{"data", "MEDIUMTEXT NOT NULL", "BYTEA NOT NULL"},
			},
			primary: []string{"id"}, family: "cf_node_pk",
			partition: "id",
		},
	}
}

func (f *tableForm) linkIndex() index {
	columns := []string{"id1", "link_type", "visibility", "time"}
	if f.covering {
		columns = append(columns, "id2", "version", "data")
	}
	return index{linkIndex, columns, "rev:cf_link_id1_type"}
}

// create returns the statements that make a table, with its secondary indexes
// or without, in the words of the server's flavour.
func (f *tableForm) create(t table, flavour string, indexes bool) []string {
	if flavour == "postgres" {
		return f.createPostgres(t, indexes)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s.%s (\n", database, t.name)
	for _, c := range t.columns {
		fmt.Fprintf(&b, "  %s %s,\n", c.name, c.mysql)
	}
	fmt.Fprintf(&b, "  PRIMARY KEY (%s)%s", strings.Join(t.primary, ", "), f.family(t.family))
	if indexes {
		for _, i := range t.indexes {
			fmt.Fprintf(&b, ",\n  KEY %s (%s)%s", i.name, strings.Join(i.columns, ", "), f.family(i.family))
		}
	}
	fmt.Fprintf(&b, "\n) ENGINE=%s DEFAULT CHARSET=latin1", f.engine)
	if f.engine == "rocksdb" {
		b.WriteString(" COLLATE=latin1_bin") // an index holds text of this collation as it is
	}
	if option := f.compressionOption(t, flavour); option != "" {
		b.WriteString(" " + option)
	}
	if f.partitions > 0 {
		fmt.Fprintf(&b, "\nPARTITION BY KEY (%s) PARTITIONS %d", t.partition, f.partitions)
	}
	return []string{b.String()}
}

// createPostgres is create for PostgreSQL: each partition is a table of its own.
func (f *tableForm) createPostgres(t table, indexes bool) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s.%s (\n", database, t.name)
	for _, c := range t.columns {
		fmt.Fprintf(&b, "  %s %s,\n", c.name, c.postgres)
	}
	fmt.Fprintf(&b, "  PRIMARY KEY (%s)\n)", strings.Join(t.primary, ", "))
	if f.partitions > 0 {
		fmt.Fprintf(&b, " PARTITION BY HASH (%s)", t.partition)
	}
	statements := []string{b.String()}
	for n := range f.partitions {
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s.%s_p%d PARTITION OF %[1]s.%[2]s FOR VALUES WITH (MODULUS %[4]d, REMAINDER %[3]d)",
			database, t.name, n, f.partitions))
	}
	if indexes {
		for _, i := range t.indexes {
			statements = append(statements, f.createIndex(t, i))
		}
	}
	return statements
}

// form returns the form that the server is to say a table has, with its secondary
// indexes or without.
func (f *tableForm) form(t table, flavour string, indexes bool) client.Table {
	form := client.Table{Engine: f.engine, Compression: "none", Indexes: map[string][]string{client.PrimaryKey: t.primary}}
	method := "KEY"
	if flavour == "postgres" {
		form.Engine, method = "heap", "HASH"
	}
	switch {
	case f.compression == "table" && t.compressed:
		form.Compression, form.KeyBlockSize = "table", f.keyBlockSize
	case f.compression == "transparent":
		form.Compression = "transparent"
	}
	if f.partitions > 0 {
		form.Method, form.Key, form.Bounds = method, t.partition, make([]string, f.partitions)
	}
	if indexes {
		for _, i := range t.indexes {
			form.Indexes[i.name] = i.columns
		}
	}
	return form
}

// check compares a table, as the server has it, with the form that it is to have,
// and returns it.
func (f *tableForm) check(conn *client.Conn, t table, flavour string, indexes bool) (client.Table, error) {
	got, err := conn.Table(database, t.name)
	if err != nil {
		return got, err
	}
	if err := got.Check(f.form(t, flavour, indexes)); err != nil {
		return got, fmt.Errorf("table %s is not what was asked for: %w", t.name, err)
	}
	return got, nil
}

// createIndex returns the statement that adds a secondary index.
func (f *tableForm) createIndex(t table, i index) string {
	return fmt.Sprintf("CREATE INDEX %s ON %s.%s (%s)%s", i.name, database, t.name, strings.Join(i.columns, ", "), f.family(i.family))
}

// family returns the comment that names a column family to MyRocks; rev: stands
// for one in reverse order, which lists of the newest links read forwards.
func (f *tableForm) family(name string) string {
	if f.engine != "rocksdb" {
		return ""
	}
	return fmt.Sprintf(" COMMENT '%s'", name)
}

func (f *tableForm) compressionOption(t table, flavour string) string {
	switch {
	case f.compression == "table" && t.compressed:
		return fmt.Sprintf("ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d", f.keyBlockSize)
	case f.compression == "transparent" && flavour == "mariadb":
		return "PAGE_COMPRESSED=1"
	case f.compression == "transparent":
		return "COMPRESSION='zlib'"
	}
	return ""
}
