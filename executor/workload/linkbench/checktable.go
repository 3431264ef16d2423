package linkbench

import (
	"errors"
	"fmt"
	"strings"

	"dbmatrix/executor/workload/client"
)

// check reads a table's definition back from the server: what a server does not
// know in a CREATE TABLE it may leave out without a word.
func (f *tableForm) check(conn *client.Conn, t table, indexes bool) error {
	return errors.Join(f.checkForm(conn, t), f.checkPartitions(conn, t), f.checkIndexes(conn, t, indexes))
}

// checkForm checks engine and compression.
func (f *tableForm) checkForm(conn *client.Conn, t table) error {
	_, rows, err := conn.Rows("SELECT engine, row_format, create_options FROM information_schema.tables" + whereTable(t))
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return errors.New("it is not in information_schema.tables")
	}
	engine, format, options := rows[0][0], rows[0][1], strings.ToLower(rows[0][2])
	if !strings.EqualFold(engine, f.engine) {
		return fmt.Errorf("the engine is %s, not %s", engine, f.engine)
	}
	compress := f.compression == "table" && t.compressed
	compressed := strings.EqualFold(format, "compressed")
	paged := strings.Contains(options, "page_compressed") || strings.Contains(options, "compression=")
	if compressed != compress || paged != (f.compression == "transparent") {
		return fmt.Errorf("the compression is not %s: row format %s, options %s", f.compression, format, rows[0][2])
	}
	if size := fmt.Sprintf("key_block_size=%d", f.keyBlockSize); compress && !strings.Contains(options, size) {
		return fmt.Errorf("the options %q do not have %s", rows[0][2], size)
	}
	return nil
}

// checkPartitions checks the number of partitions, and by what they are made.
func (f *tableForm) checkPartitions(conn *client.Conn, t table) error {
	_, rows, err := conn.Rows("SELECT partition_method, partition_expression FROM information_schema.partitions" + whereTable(t) +
		" AND partition_name IS NOT NULL")
	if err != nil {
		return err
	}
	if int64(len(rows)) != f.partitions {
		return fmt.Errorf("it has %d partitions, not %d", len(rows), f.partitions)
	}
	for _, row := range rows {
		// The quotes are those of the server's sql_mode.
		if column := strings.Trim(row[1], "`\""); row[0] != "KEY" || column != t.partition {
			return fmt.Errorf("it is partitioned by %s (%s), not by KEY (%s)", row[0], column, t.partition)
		}
	}
	return nil
}

// checkIndexes checks the columns of each index.
func (f *tableForm) checkIndexes(conn *client.Conn, t table, indexes bool) error {
	_, rows, err := conn.Rows("SELECT index_name, column_name FROM information_schema.statistics" + whereTable(t) +
		" ORDER BY index_name, seq_in_index")
	if err != nil {
		return err
	}
	got := map[string][]string{}
	for _, row := range rows {
		got[row[0]] = append(got[row[0]], row[1])
	}
	want := []index{{name: "PRIMARY", columns: t.primary}}
	if indexes {
		want = append(want, t.indexes...)
	}
	if len(got) != len(want) {
		return fmt.Errorf("it has %d indexes, not %d", len(got), len(want))
	}
	for _, i := range want {
		if columns := strings.Join(got[i.name], ", "); columns != strings.Join(i.columns, ", ") {
			return fmt.Errorf("index %s has the columns %q, not %q", i.name, columns, strings.Join(i.columns, ", "))
		}
	}
	return nil
}

// whereTable selects a table in a view of information_schema.
func whereTable(t table) string {
	return fmt.Sprintf(" WHERE table_schema = '%s' AND table_name = '%s'", database, t.name)
}
