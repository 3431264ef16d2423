package tpcc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// database holds the tables, and user is who the program connects as to MySQL and
// MariaDB.
const (
	database = "tpcc"
	user     = "dbmatrix_tpcc"
)

// A table is one of the nine, with the columns and keys that the program gives
// it: it leaves tables alone that are there.
type table struct {
	name      string
	columns   []string
	warehouse string // the column that it is partitioned by; "" is never
	primary   string // columns of the primary key; "" is none
	indexes   []index
}

// An index is a secondary index.
type index struct{ name, columns string }

// tables are the definitions of all tables.
var tables = []table{
	{
		name: "warehouse", warehouse: "w_id", primary: "w_id",
		columns: []string{
			"w_id INT NOT NULL", "w_name VARCHAR(10)", "w_street_1 VARCHAR(20)", "w_street_2 VARCHAR(20)", "w_city VARCHAR(20)",
			"w_state CHAR(2)", "w_zip CHAR(9)", "w_tax DECIMAL(4,4)", "w_ytd DECIMAL(12,2)",
		},
	},
	{
		name: "district", warehouse: "d_w_id", primary: "d_w_id, d_id",
		columns: []string{
			"d_id INT NOT NULL", "d_w_id INT NOT NULL", "d_name VARCHAR(10)", "d_street_1 VARCHAR(20)", "d_street_2 VARCHAR(20)",
			"d_city VARCHAR(20)", "d_state CHAR(2)", "d_zip CHAR(9)", "d_tax DECIMAL(4,4)", "d_ytd DECIMAL(12,2)", "d_next_o_id INT",
		},
	},
	{
		name: "customer", warehouse: "c_w_id", primary: "c_w_id, c_d_id, c_id",
		columns: []string{
			"c_id INT NOT NULL", "c_d_id INT NOT NULL", "c_w_id INT NOT NULL", "c_first VARCHAR(16)", "c_middle CHAR(2)", "c_last VARCHAR(16)",
			"c_street_1 VARCHAR(20)", "c_street_2 VARCHAR(20)", "c_city VARCHAR(20)", "c_state CHAR(2)", "c_zip CHAR(9)", "c_phone CHAR(16)",
			"c_since DATETIME", "c_credit CHAR(2)", "c_credit_lim DECIMAL(12,2)", "c_discount DECIMAL(4,4)", "c_balance DECIMAL(12,2)",
			"c_ytd_payment DECIMAL(12,2)", "c_payment_cnt INT", "c_delivery_cnt INT", "c_data VARCHAR(500)",
		},
		indexes: []index{{"idx_customer", "c_w_id, c_d_id, c_last, c_first"}},
	},
	{
		name: "history", warehouse: "h_w_id",
		columns: []string{
			"h_c_id INT NOT NULL", "h_c_d_id INT NOT NULL", "h_c_w_id INT NOT NULL", "h_d_id INT NOT NULL", "h_w_id INT NOT NULL",
			"h_date DATETIME", "h_amount DECIMAL(6,2)", "h_data VARCHAR(24)",
		},
		indexes: []index{{"idx_h_w_id", "h_w_id"}, {"idx_h_c_w_id", "h_c_w_id"}},
	},
	{
		name: "new_order", warehouse: "no_w_id", primary: "no_w_id, no_d_id, no_o_id",
		columns: []string{"no_o_id INT NOT NULL", "no_d_id INT NOT NULL", "no_w_id INT NOT NULL"},
	},
	{
		name: "orders", warehouse: "o_w_id", primary: "o_w_id, o_d_id, o_id",
		columns: []string{
			"o_id INT NOT NULL", "o_d_id INT NOT NULL", "o_w_id INT NOT NULL", "o_c_id INT", "o_entry_d DATETIME", "o_carrier_id INT",
			"o_ol_cnt INT", "o_all_local INT",
		},
		indexes: []index{{"idx_order", "o_w_id, o_d_id, o_c_id, o_id"}},
	},
	{
		name: "order_line", warehouse: "ol_w_id", primary: "ol_w_id, ol_d_id, ol_o_id, ol_number",
		columns: []string{
			"ol_o_id INT NOT NULL", "ol_d_id INT NOT NULL", "ol_w_id INT NOT NULL", "ol_number INT NOT NULL", "ol_i_id INT NOT NULL",
			"ol_supply_w_id INT", "ol_delivery_d DATETIME", "ol_quantity INT", "ol_amount DECIMAL(6,2)", "ol_dist_info CHAR(24)",
		},
	},
	{
		name: "stock", warehouse: "s_w_id", primary: "s_w_id, s_i_id",
		columns: []string{
			"s_i_id INT NOT NULL", "s_w_id INT NOT NULL", "s_quantity INT",
			"s_dist_01 CHAR(24)", "s_dist_02 CHAR(24)", "s_dist_03 CHAR(24)", "s_dist_04 CHAR(24)", "s_dist_05 CHAR(24)",
			"s_dist_06 CHAR(24)", "s_dist_07 CHAR(24)", "s_dist_08 CHAR(24)", "s_dist_09 CHAR(24)", "s_dist_10 CHAR(24)",
			"s_ytd INT", "s_order_cnt INT", "s_remote_cnt INT", "s_data VARCHAR(50)",
		},
	},
	{
		name: "item", primary: "i_id",
		columns: []string{"i_id INT NOT NULL", "i_im_id INT", "i_name VARCHAR(24)", "i_price DECIMAL(5,2)", "i_data VARCHAR(50)"},
	},
}

// makeTables makes the database and its tables anew, and lets the program in.
func (c *config) makeTables(ctx context.Context, t workload.Target) error {
	err := client.Session(ctx, t, "", func(conn *client.Conn) error {
		return define(conn, createDatabase(t.Flavour))
	})
	if err != nil {
		return err
	}
	return client.Session(ctx, t, database, func(conn *client.Conn) error {
		for i := range tables {
			if err := define(conn, c.createTable(&tables[i], t.Flavour)); err != nil {
				return err
			}
		}
		for i := range tables {
			if err := c.checkTable(conn, &tables[i]); err != nil {
				return fmt.Errorf("table %s: %w", tables[i].name, err)
			}
		}
		return nil
	})
}

func define(conn *client.Conn, statements []string) error {
	for _, statement := range statements {
		if err := conn.DDL(statement); err != nil {
			return err
		}
	}
	return nil
}

// createDatabase returns the statements that make the database anew. MySQL and
// MariaDB need not let root in over TCP; PostgreSQL has the same users everywhere.
func createDatabase(flavour string) []string {
	statements := []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database}
	if flavour != postgres {
		account := "'" + user + "'@'127.0.0.1'"
		statements = append(statements, "DROP USER IF EXISTS "+account, "CREATE USER "+account, "GRANT ALL ON "+database+".* TO "+account)
	}
	return statements
}

// createTable returns the statements that make a table.
func (c *config) createTable(t *table, flavour string) []string {
	if flavour == postgres {
		return c.createPostgresTable(t)
	}
	parts := append([]string{}, t.columns...)
	if t.primary != "" {
		parts = append(parts, "PRIMARY KEY ("+t.primary+")")
	}
	for _, i := range t.indexes {
		parts = append(parts, "INDEX "+i.name+" ("+i.columns+")")
	}
	statement := "CREATE TABLE " + t.name + " (" + strings.Join(parts, ", ") + ") ENGINE=" + c.engine
	switch {
	case c.compression == "table":
		statement += fmt.Sprintf(" ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d", c.keyBlockSize)
	case c.compression == "transparent" && flavour == "mariadb":
		statement += " PAGE_COMPRESSED=1"
	case c.compression == "transparent":
		statement += " COMPRESSION='zlib'"
	}
	if c.partitioned(t) {
		statement += " " + c.partitionClause(t.warehouse)
	}
	return []string{statement}
}

// partitioned reports whether a table has partitions.
func (c *config) partitioned(t *table) bool { return t.warehouse != "" && c.partitions > 0 }

// partitionClause partitions by the number of the warehouse, as the program
// does.
func (c *config) partitionClause(column string) string {
	if c.partitioning == "hash" {
		return fmt.Sprintf("PARTITION BY HASH (%s) PARTITIONS %d", column, c.partitions)
	}
	var partitions []string
	for i := range c.partitions {
		var bounds string
		switch c.partitioning {
		case "range":
			bounds = fmt.Sprintf("LESS THAN (%d)", c.rangeStart(i+1))
		default:
			bounds = "IN (" + c.listed(i) + ")"
		}
		partitions = append(partitions, fmt.Sprintf("PARTITION p%d VALUES %s", i, bounds))
	}
	kind := "LIST"
	if c.partitioning == "range" {
		kind = "RANGE"
	}
	return fmt.Sprintf("PARTITION BY %s (%s) (%s)", kind, column, strings.Join(partitions, ", "))
}

// rangeStart returns the first warehouse of the i-th range.
func (c *config) rangeStart(i int64) int64 {
	return 1 + i*((c.warehouses+c.partitions-1)/c.partitions)
}

// listed returns the warehouses of the i-th list.
func (c *config) listed(i int64) string {
	if c.partitioning == "list_by_hash" {
		return numbers(i+1, c.warehouses, c.partitions)
	}
	first, next := share(i, c.warehouses, c.partitions), share(i+1, c.warehouses, c.partitions)
	return numbers(first+1, next, 1)
}

// share returns how many of n are in the first i of so many parts, of which the
// first are larger by one where they are not equal.
func share(i, n, parts int64) int64 { return i*(n/parts) + min(i, n%parts) }

// numbers lists every so manieth number from first to last.
func numbers(first, last, step int64) string {
	var list []string
	for n := first; n <= last; n += step {
		list = append(list, fmt.Sprint(n))
	}
	return strings.Join(list, ",")
}

// checkTable reads a table's definition back from the server: what a server does
// not know in a CREATE TABLE it may leave out without a word.
func (c *config) checkTable(conn *client.Conn, t *table) error {
	if conn.Postgres() {
		return c.checkPostgresTable(conn, t)
	}
	where := fmt.Sprintf(" WHERE table_schema = '%s' AND table_name = '%s'", database, t.name)
	_, rows, err := conn.Rows("SELECT engine, row_format, create_options FROM information_schema.tables" + where)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return errors.New("it is not in information_schema.tables")
	}
	engine, format, options := rows[0][0], rows[0][1], strings.ToLower(rows[0][2])
	if !strings.EqualFold(engine, c.engine) {
		return fmt.Errorf("the engine is %s, not %s", engine, c.engine)
	}
	compressed := strings.EqualFold(format, "compressed")
	paged := strings.Contains(options, "page_compressed") || strings.Contains(options, "compression=")
	if compressed != (c.compression == "table") || paged != (c.compression == "transparent") {
		return fmt.Errorf("the compression is not %s: row format %s, options %s", c.compression, format, rows[0][2])
	}
	if size := fmt.Sprintf("key_block_size=%d", c.keyBlockSize); compressed && !strings.Contains(options, size) {
		return fmt.Errorf("the options %q do not have %s", rows[0][2], size)
	}
	return c.checkPartitions(conn, t, "SELECT COUNT(*) FROM information_schema.partitions"+where+" AND partition_name IS NOT NULL")
}

// checkPartitions checks how many partitions a table has; count is the question.
func (c *config) checkPartitions(conn *client.Conn, t *table, count string) error {
	want := int64(0)
	if c.partitioned(t) {
		want = c.partitions
	}
	got, err := conn.Int(count)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("it has %d partitions, not %d", got, want)
	}
	return nil
}
