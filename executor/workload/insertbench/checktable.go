package insertbench

import (
	"errors"
	"fmt"
	"strings"

	"dbmatrix/executor/workload/client"
)

// checkTable reads the definition of the n-th table, which is to have these
// secondary indexes, back from the server: what a server does not know in a
// CREATE TABLE it may leave out without a word.
func (b *benchmark) checkTable(conn *client.Conn, n int, indexes []index) error {
	return errors.Join(b.checkForm(conn, n), b.checkPartitions(conn, n), checkIndexes(conn, n, indexes))
}

// checkForm checks engine and compression.
func (b *benchmark) checkForm(conn *client.Conn, n int) error {
	_, rows, err := conn.Rows("SELECT engine, row_format, create_options FROM information_schema.tables" + whereTable(n))
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return errors.New("it is not in information_schema.tables")
	}
	engine, format, options := rows[0][0], rows[0][1], strings.ToLower(rows[0][2])
	if !strings.EqualFold(engine, b.engine) {
		return fmt.Errorf("the engine is %s, not %s", engine, b.engine)
	}
	compressed := strings.EqualFold(format, "compressed")
	paged := strings.Contains(options, "page_compressed") || strings.Contains(options, "compression=")
	if compressed != (b.compression == "table") || paged != (b.compression == "transparent") {
		return fmt.Errorf("the compression is not %s: row format %s, options %s", b.compression, format, rows[0][2])
	}
	if size := fmt.Sprintf("key_block_size=%d", b.keyBlockSize); b.compression == "table" && !strings.Contains(options, size) {
		return fmt.Errorf("the options %q do not have %s", rows[0][2], size)
	}
	return nil
}

// checkPartitions checks the upper bounds of the partitions.
func (b *benchmark) checkPartitions(conn *client.Conn, n int) error {
	_, rows, err := conn.Rows("SELECT partition_description FROM information_schema.partitions" + whereTable(n) +
		" AND partition_name IS NOT NULL ORDER BY partition_ordinal_position")
	if err != nil {
		return err
	}
	if int64(len(rows)) != b.partitions {
		return fmt.Errorf("it has %d partitions, not %d", len(rows), b.partitions)
	}
	for i, row := range rows {
		want := "MAXVALUE"
		if i < len(rows)-1 {
			want = fmt.Sprint(int64(i+1) * b.rowsPerPartition())
		}
		if row[0] != want {
			return fmt.Errorf("partition p%d ends at %s, not %s", i, row[0], want)
		}
	}
	return nil
}

// checkIndexes checks the columns of each index.
func checkIndexes(conn *client.Conn, n int, indexes []index) error {
	_, rows, err := conn.Rows("SELECT index_name, column_name FROM information_schema.statistics" + whereTable(n) +
		" ORDER BY index_name, seq_in_index")
	if err != nil {
		return err
	}
	got := map[string][]string{}
	for _, row := range rows {
		got[row[0]] = append(got[row[0]], row[1])
	}
	want := append([]index{{name: primary, columns: []string{"transactionid"}}}, indexes...)
	if len(got) != len(want) {
		return fmt.Errorf("it has %d indexes, not %d", len(got), len(want))
	}
	for _, i := range want {
		name := i.nameOn(tableName(n))
		if columns := strings.Join(got[name], ", "); columns != strings.Join(i.columns, ", ") {
			return fmt.Errorf("index %s has the columns %q, not %q", name, columns, strings.Join(i.columns, ", "))
		}
	}
	return nil
}

// whereTable selects the n-th table in a view of information_schema.
func whereTable(n int) string {
	return fmt.Sprintf(" WHERE table_schema = '%s' AND table_name = '%s'", database, tableName(n))
}
