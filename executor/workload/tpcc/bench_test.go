package tpcc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

type block = workloadtest.Block

// needProgram returns the path of go-tpc.
func needProgram(t *testing.T) string {
	t.Helper()
	own, err := filepath.Abs("../../../bin/go-tpc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go-tpc", own} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	workloadtest.Missing(t, "go-tpc")
	return ""
}

// flavours are those that the program speaks to.
var flavours = []string{"mariadb", postgres}

func TestBenchmark(t *testing.T) {
	path := needProgram(t)
	t.Setenv("PGOPTIONS", "-c default_transaction_read_only=on") // must not reach the program
	for _, flavour := range flavours {
		t.Run(flavour, func(t *testing.T) { loadAndRun(t, workloadtest.StartListening(t, flavour), path) })
	}
}

func loadAndRun(t *testing.T, target workload.Target, path string) {
	common := func(step string, more block) block {
		b := block{"step": step, "warehouses": 1, "clients": 2, "program": path}
		for name, value := range more {
			b[name] = value
		}
		return b
	}
	load := common("load", block{"partitions": 1, "partition_type": "list_by_range"})
	interrupt(t, target, load)
	result := workloadtest.Do(t, Type(), target, load) // over a part of it
	// 5 to 15 lines for each of 30,000 orders, 10 in the mean.
	if got := workloadtest.Metric(t, result, "rows_inserted"); got < 299011+298000 || got > 299011+302000 {
		t.Errorf("%v rows inserted", got)
	}
	target.Warmup = time.Second
	result = workloadtest.Do(t, Type(), target, common("run", block{"seconds": 2}))
	target.Warmup = 0
	transactions, secs := workloadtest.Metric(t, result, "transactions"), workloadtest.Metric(t, result, "secs")
	tpm, tpmC := workloadtest.Metric(t, result, "tpm_reported"), workloadtest.Metric(t, result, "tpmC_reported")
	if secs < 1.9 || secs > 6 || transactions < 10 || tpmC <= 0 || tpm <= tpmC || tpm > 1.5*60*transactions/secs {
		t.Errorf("%v transactions in %v s, %v a minute, %v new orders a minute", transactions, secs, tpm, tpmC)
	}
	if got := workloadtest.Metric(t, result, "efficiency_reported") / tpmC * 12.86; got < 99 || got > 101 {
		t.Errorf("the efficiency is %v %% of tpmC / 12.86", got)
	}
	mean, most := workloadtest.Metric(t, result, "lat_new_order_mean"), workloadtest.Metric(t, result, "lat_new_order_max")
	if mean <= 0 || most < mean || most > secs {
		t.Errorf("new orders take %v s in the mean, %v at most", mean, most)
	}
	overTime := map[string]workload.Series{}
	for _, s := range result.Series {
		overTime[s.Name] = s
	}
	if tps, tpm := overTime["tps"], overTime["tpm"]; len(tps.Values) < 1 || len(tpm.Values) < 1 || tpm.Values[0] != 60*tps.Values[0] || tpm.Unit != unitPerMinute {
		t.Errorf("the series are %v", result.Series)
	}
	result = workloadtest.Do(t, Type(), target, common("check", nil))
	if got := workloadtest.Metric(t, result, "queries"); got != 11 {
		t.Errorf("%v conditions tested, want 11", got)
	}
	t.Run("interrupt", func(t *testing.T) {
		for _, b := range []block{common("run", nil), common("check", nil)} {
			interrupt(t, target, b)
		}
	})
	suite := workloadtest.Suite{Type: Type(), Work: common("run", nil)}
	suite.LoseConnections(t, target)
	suite.LoseServer(t, target)
}

func interrupt(t *testing.T, target workload.Target, b block) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, context.Canceled)
	defer cancel()
	began := time.Now()
	if _, err := workloadtest.Try(ctx, t, Type(), target, b); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: the error is %v, want the interrupt", b, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%v: it took %s to end", b, took)
	}
	if left := workloadtest.Processes(t, target); len(left) > 0 {
		t.Errorf("%v: the server still has the connections %v", b, left)
	}
}

// TestConditions makes a warehouse of a few rows and breaks each condition.
func TestConditions(t *testing.T) {
	t.Run("mariadb", func(t *testing.T) { breakConditions(t, workloadtest.Start(t)) })
	t.Run("postgres", func(t *testing.T) { breakConditions(t, workloadtest.StartPostgres(t)) })
}

func breakConditions(t *testing.T, target workload.Target) {
	c := config{warehouses: 1, engine: "innodb", compression: "none"}
	conn := makeTables(t, target, &c)
	// One order is delivered, and one is new. Both are the customer's, who has
	// paid 10.
	sound := []string{
		"INSERT INTO warehouse (w_id, w_ytd) VALUES (1, 10)",
		"INSERT INTO district (d_w_id, d_id, d_ytd, d_next_o_id) VALUES (1, 1, 10, 3)",
		"INSERT INTO customer (c_w_id, c_d_id, c_id, c_balance, c_ytd_payment) VALUES (1, 1, 1, -3, 10)",
		"INSERT INTO history (h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount) VALUES (1, 1, 1, 1, 1, 10)",
		"INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt) VALUES (1, 1, 1, 1, 5, 2), (1, 1, 2, 1, NULL, 1)",
		"INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_delivery_d, ol_amount) VALUES (1, 1, 1, 1, 1, NOW(), 4), (1, 1, 1, 2, 1, NOW(), 3), (1, 1, 2, 1, 1, NULL, 99)",
		"INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 2)",
	}
	for _, test := range []struct {
		broken []int
		breaks string
	}{
		{nil, "SELECT 1"},
		{[]int{1, 9}, "UPDATE district SET d_ytd = 11"},
		{[]int{1, 8}, "UPDATE warehouse SET w_ytd = 11"},
		{[]int{2}, "UPDATE district SET d_next_o_id = 4"},
		{[]int{2, 5}, "DELETE FROM new_order; INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 1)"},
		{[]int{5}, "DELETE FROM new_order"},
		{[]int{3}, "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 0)"},
		{[]int{4, 6}, "DELETE FROM order_line WHERE ol_o_id = 2"},
		{[]int{6}, "UPDATE orders SET o_ol_cnt = 3 - o_ol_cnt"},
		{[]int{7}, "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_o_id = 2; UPDATE customer SET c_balance = c_balance + 99"},
		{[]int{8, 9, 10}, "UPDATE history SET h_amount = 9"},
		{[]int{10, 12}, "UPDATE customer SET c_balance = 0"},
		{[]int{12}, "UPDATE customer SET c_ytd_payment = 0"},
	} {
		for i := range tables {
			if _, err := conn.Exec("DELETE FROM " + tables[i].name); err != nil {
				t.Fatal(err)
			}
		}
		for _, statement := range append(append([]string{}, sound...), strings.Split(test.breaks, ";")...) {
			if _, err := conn.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		var broken []int
		for i := range conditions {
			if conditions[i].loaded {
				continue
			}
			if err := conditions[i].check(conn, 1); err != nil {
				if !strings.Contains(err.Error(), fmt.Sprintf("warehouse 1 breaks condition 3.3.2.%d of the specification in 1 places", conditions[i].number)) &&
					!strings.Contains(err.Error(), "in 2 places") {
					t.Errorf("%s: the error is %v", test.breaks, err)
				}
				broken = append(broken, conditions[i].number)
			}
		}
		if diff := cmp.Diff(test.broken, broken); diff != "" {
			t.Errorf("%s: broken conditions (-want +got):\n%s", test.breaks, diff)
		}
	}
	// The twelfth of the load is that 2100 orders of a district are old.
	if err := c.checkConditions(conn, true, func() {}); err == nil {
		t.Error("the conditions of the load hold of two orders")
	}
	if err := c.checkRows(conn); err == nil || !strings.Contains(err.Error(), "table district has 1 rows, not 10") {
		t.Errorf("the rows of a load: %v", err)
	}
}

// makeTables makes the tables and returns a connection to their database.
func makeTables(t *testing.T, target workload.Target, c *config) *client.Conn {
	t.Helper()
	if err := c.makeTables(t.Context(), target); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	conn, err := client.Open(t.Context(), target, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestTables makes the tables in all forms and reads them back.
func TestTables(t *testing.T) {
	t.Run("mariadb", func(t *testing.T) {
		allTables(t, workloadtest.Start(t), []config{
			{compression: "none", partitions: 3, partitioning: "hash"},
			{compression: "none", partitions: 3, partitioning: "range"},
			{compression: "table", keyBlockSize: 4, partitions: 4, partitioning: "list_by_hash"},
			{compression: "transparent", partitions: 3, partitioning: "list_by_range"},
		})
	})
	t.Run("postgres", func(t *testing.T) {
		allTables(t, workloadtest.StartPostgres(t), []config{
			{compression: "none", partitions: 3, partitioning: "hash"},
			{compression: "none", partitions: 3, partitioning: "range"},
			{compression: "none", partitions: 4, partitioning: "list_by_hash"},
			{compression: "none", partitions: 3, partitioning: "list_by_range"},
		})
	})
}

func allTables(t *testing.T, target workload.Target, configs []config) {
	for _, c := range configs {
		c.engine, c.warehouses = "innodb", 7
		conn := makeTables(t, target, &c)
		// Every warehouse has its place.
		for w := range c.warehouses {
			if _, err := conn.Exec(fmt.Sprintf("INSERT INTO warehouse (w_id) VALUES (%d)", w+1)); err != nil {
				t.Errorf("%s: %v", c.partitioning, err)
			}
		}
		if err := (&config{engine: "innodb", compression: "none"}).checkTable(conn, &tables[0]); err == nil {
			t.Errorf("%v passes for an unpartitioned table", c)
		}
		conn.Close()
	}
}

func TestPartitionClause(t *testing.T) {
	for kind, want := range map[string]string{
		"hash":          "PARTITION BY HASH (w) PARTITIONS 3",
		"range":         "PARTITION BY RANGE (w) (PARTITION p0 VALUES LESS THAN (4), PARTITION p1 VALUES LESS THAN (7), PARTITION p2 VALUES LESS THAN (10))",
		"list_by_hash":  "PARTITION BY LIST (w) (PARTITION p0 VALUES IN (1,4,7), PARTITION p1 VALUES IN (2,5), PARTITION p2 VALUES IN (3,6))",
		"list_by_range": "PARTITION BY LIST (w) (PARTITION p0 VALUES IN (1,2,3), PARTITION p1 VALUES IN (4,5), PARTITION p2 VALUES IN (6,7))",
	} {
		c := config{warehouses: 7, partitions: 3, partitioning: kind}
		if diff := cmp.Diff(want, c.partitionClause("w")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestArguments(t *testing.T) {
	c, faults := decode(workloadtest.Args(t, Type(), block{"step": "run", "warehouses": 200, "clients": 16, "weight": []int{20, 20, 20, 20, 20}}), matrix.Build{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	b := benchmark{c}
	for _, test := range []struct{ flavour, command, want string }{
		{"mysql", "prepare", "tpcc prepare -H 127.0.0.1 -P 3307 -U dbmatrix_tpcc --conn-params tls=false -D tpcc --warehouses 200 -T 16" +
			" --no-check --retry-count 10 --retry-interval 100ms"},
		{postgres, "run", "tpcc run -H 127.0.0.1 -P 3307 -d postgres -U pg --conn-params sslmode=disable&lc_messages=C -D tpcc --warehouses 200 -T 16" +
			" --time 1m0s --interval 1s --ignore-error --max-measure-latency 1h --weight 20,20,20,20,20"},
	} {
		got := strings.Join(b.arguments(workload.Target{Flavour: test.flavour, User: "pg", Port: 3307}, test.command, time.Minute), " ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestCheck(t *testing.T) {
	mariadb := matrix.Build{Flavour: "mariadb", Version: "10.11.19"}
	for _, test := range []struct {
		block block
		build matrix.Build
		want  []string
	}{
		{block{"step": "load", "warehouses": 200, "partitions": 200, "compression": "table", "key_block_size": 4}, mariadb, nil},
		{block{"step": "run", "weight": []int{100, 0, 0, 0, 0}}, matrix.Build{}, nil},
		{block{"step": "load", "partitions": 10, "partition_type": "range"}, matrix.Build{Flavour: postgres}, nil},
		{block{"step": "load", "engine": "rocksdb", "allow_errors": []int{1}}, matrix.Build{Flavour: postgres},
			[]string{"engine: PostgreSQL has no engine rocksdb", "allow_errors: go-tpc does not tell the state of an error of PostgreSQL"}},
		{block{"step": "load", "compression": "transparent"}, matrix.Build{Flavour: postgres}, []string{"compression: PostgreSQL does not compress tables"}},
		{block{"step": "load", "warehouses": 2, "partitions": 3}, mariadb, []string{"partitions: more partitions than warehouses"}},
		{block{"step": "load", "warehouses": 9000, "partitions": 9000}, mariadb, []string{"partitions: too many"}},
		{block{"step": "run", "weight": []int{50, 50}}, mariadb, []string{"weight: 2 shares"}},
		{block{"step": "run", "weight": []int{50, 50, 1, 1, 1}}, mariadb, []string{"weight: the shares make 103 %"}},
		{block{"step": "run", "weight": []int{0, 50, 25, 25, 0}}, mariadb, []string{"weight: no new orders"}},
		{block{"step": "run", "weight": []float64{44.5, 43.5, 4, 4, 4}}, mariadb, []string{"weight: 44.5 is no whole number", "weight: 43.5 is no whole number", "weight: the shares make 12 %"}},
		{block{"step": "load", "engine": "rocksdb", "compression": "transparent", "key_block_size": 8}, mariadb,
			[]string{"compression: transparent compression is InnoDB's", `key_block_size: only compression = "table" has one`}},
		{block{"step": "load", "compression": "table", "key_block_size": 3}, mariadb, []string{"key_block_size: no such page size"}},
	} {
		var got []string
		for _, f := range Type().Check(workloadtest.Args(t, Type(), test.block), test.build) {
			got = append(got, f.Attribute+": "+f.Summary)
			if !strings.HasSuffix(f.Detail, ".") {
				t.Errorf("%s: the way out is no sentence: %q", f.Summary, f.Detail)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.block, diff)
		}
	}
}

// TestStandIn runs programs that misbehave as go-tpc can.
func TestStandIn(t *testing.T) {
	good, err := filepath.Abs("testdata/run.txt")
	if err != nil {
		t.Fatal(err)
	}
	target := workloadtest.Start(t)
	for _, test := range []struct {
		name, script, want string
		port               int
	}{
		{"well", "cat " + good, "", 1},
		{"no port", "true", "the server has no port", 0},
		{"cut short", "head -n 24 " + good, "does not say tpmC", 1},
		{"nothing", "true", "does not say Finished", 1},
		{"status 2", "cat " + good + "; exit 2", "exit status 2", 1},
		{"an endless failure", "while :; do echo '[2026-11-30 10:58:13] execute run failed, err driver: bad connection'; echo; done", "driver: bad connection", 1},
		{"usage, status 0", "echo 'Error: unknown flag: --weight' >&2; echo Usage:", "a line of no known form: Usage:", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "go-tpc")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+test.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			target.Port = test.port
			_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": "run", "program": path})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
	target.Port = 1
	_, err = workloadtest.Try(t.Context(), t, Type(), target, block{"step": "run", "program": "go-tpc-that-is-not-there"})
	if err == nil || !strings.Contains(err.Error(), "install it by") {
		t.Errorf("an absent program: the error is %v", err)
	}
	absent := workloadtest.Args(t, Type(), block{"step": "load", "program": "go-tpc-that-is-not-there"})
	if err := Type().Needs(absent, ""); err == nil || !strings.Contains(err.Error(), "install it by") {
		t.Errorf("an absent program: before the start the error is %v", err)
	}
	if err := Type().Needs(workloadtest.Args(t, Type(), block{"step": "check", "program": "go-tpc-that-is-not-there"}), ""); err != nil {
		t.Errorf("the step check needs no program, and says %v", err)
	}
}
