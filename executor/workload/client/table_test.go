package client_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// mysqlTables reads tables of several forms back.
func mysqlTables(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE DATABASE d", "USE d",
		"CREATE TABLE plain (id INT PRIMARY KEY, a INT, b INT, KEY ab (a, b)) ENGINE=InnoDB",
		"CREATE TABLE packed (id INT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4",
		"CREATE TABLE punched (id INT) ENGINE=InnoDB PAGE_COMPRESSED=1",
		"CREATE TABLE ranges (id INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
		"CREATE TABLE keyed (id INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY KEY (id) PARTITIONS 2")
	id := map[string][]string{client.PrimaryKey: {"id"}}
	readBack(t, conn, "d", map[string]client.Table{
		"plain":   {Engine: "innodb", Compression: "none", Indexes: map[string][]string{client.PrimaryKey: {"id"}, "ab": {"a", "b"}}},
		"packed":  {Engine: "innodb", Compression: "table", KeyBlockSize: 4, Indexes: map[string][]string{}},
		"punched": {Engine: "innodb", Compression: "transparent", Indexes: map[string][]string{}},
		"ranges":  {Engine: "innodb", Compression: "none", Method: "RANGE", Key: "id", Bounds: []string{"10", "MAXVALUE"}, Indexes: id},
		"keyed":   {Engine: "innodb", Compression: "none", Method: "KEY", Key: "id", Bounds: []string{"", ""}, Indexes: id},
	})
}

// postgresTables is mysqlTables for PostgreSQL.
func postgresTables(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE SCHEMA d", "CREATE TABLE d.plain (id INT PRIMARY KEY, a INT, time INT)", "CREATE INDEX ab ON d.plain (a, time) INCLUDE (id)",
		"CREATE TABLE d.ranges (id BIGSERIAL PRIMARY KEY) PARTITION BY RANGE (id)",
		"CREATE TABLE d.ranges_p0 PARTITION OF d.ranges FOR VALUES FROM (0) TO (10)",
		"CREATE TABLE d.ranges_p1 PARTITION OF d.ranges FOR VALUES FROM (10) TO (MAXVALUE)",
		"CREATE TABLE d.hashed (id INT PRIMARY KEY) PARTITION BY HASH (id)",
		"CREATE TABLE d.hashed_p0 PARTITION OF d.hashed FOR VALUES WITH (MODULUS 1, REMAINDER 0)")
	id := map[string][]string{client.PrimaryKey: {"id"}}
	readBack(t, conn, "d", map[string]client.Table{
		"plain":  {Engine: "heap", Compression: "none", Indexes: map[string][]string{client.PrimaryKey: {"id"}, "ab": {"a", "time"}}},
		"ranges": {Engine: "heap", Compression: "none", Method: "RANGE", Key: "id", Bounds: []string{"10", "MAXVALUE"}, Indexes: id},
		"hashed": {Engine: "heap", Compression: "none", Method: "HASH", Key: "id", Bounds: []string{""}, Indexes: id},
	})
	ranges, err := conn.Table("d", "ranges")
	if err != nil {
		t.Fatal(err)
	}
	want := "CREATE TABLE d.ranges (\n  id bigint DEFAULT nextval('d.ranges_id_seq'::regclass) NOT NULL,\n  PRIMARY KEY (id)\n) PARTITION BY RANGE (id);\n" +
		"CREATE TABLE ranges_p0 PARTITION OF d.ranges FOR VALUES FROM ('0') TO ('10');\n" +
		"CREATE TABLE ranges_p1 PARTITION OF d.ranges FOR VALUES FROM ('10') TO (MAXVALUE);\n"
	if diff := cmp.Diff(want, ranges.Definition); diff != "" {
		t.Error(diff)
	}
}

func readBack(t *testing.T, conn *client.Conn, schema string, tables map[string]client.Table) {
	t.Helper()
	for name, want := range tables {
		got, err := conn.Table(schema, name)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(client.Table{}, "Definition")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !strings.HasPrefix(got.Definition, "CREATE TABLE") {
			t.Errorf("%s: the definition is %q", name, got.Definition)
		}
		if err := got.Check(want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := conn.Table(schema, "absent"); err == nil {
		t.Error("a table that is not there was read")
	}
}

// TestCheckTable checks that every difference is found.
func TestCheckTable(t *testing.T) {
	table := func(change func(*client.Table)) client.Table {
		one := client.Table{
			Engine: "innodb", Compression: "table", KeyBlockSize: 8, Method: "RANGE", Key: "id", Bounds: []string{"10", "MAXVALUE"},
			Indexes: map[string][]string{client.PrimaryKey: {"id"}, "ab": {"a", "b"}},
		}
		change(&one)
		return one
	}
	want := table(func(*client.Table) {})
	for _, test := range []struct {
		change func(*client.Table)
		want   string
	}{
		{func(*client.Table) {}, ""},
		{func(t *client.Table) { t.Engine = "rocksdb" }, "the engine is rocksdb, not innodb"},
		{func(t *client.Table) { t.Compression = "none" }, "the compression is none, not table"},
		{func(t *client.Table) { t.KeyBlockSize = 4 }, "the key block size is 4, not 8"},
		{func(t *client.Table) { t.Method = "HASH" }, "it is partitioned by HASH (id), not by RANGE (id)"},
		{func(t *client.Table) { t.Bounds = nil }, "it has 0 partitions, not 2"},
		{func(t *client.Table) { t.Bounds = []string{"11", "MAXVALUE"} }, `partition 0 ends at "11", not at "10"`},
		{func(t *client.Table) { delete(t.Indexes, "ab") }, "it has 1 indexes, not 2"},
		{func(t *client.Table) { t.Indexes["ab"] = []string{"b", "a"} }, `index ab has the columns ["b" "a"], not ["a" "b"]`},
	} {
		got := ""
		one := table(test.change)
		if err := one.Check(want); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("the error is %q, want %q", got, test.want)
		}
	}
}
