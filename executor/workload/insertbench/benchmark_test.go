package insertbench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

type block = workloadtest.Block

var small = block{"step": "load", "tables": 4, "rows": 4002, "rows_per_commit": 100}

// TestMariaDB runs all that one server can be used for, one after the other.
func TestMariaDB(t *testing.T) {
	target := workloadtest.Start(t, "--lock_wait_timeout=1", "--innodb_lock_wait_timeout=1")
	for _, test := range []struct {
		name string
		run  func(*testing.T, workload.Target)
	}{
		{"conformance", conformance},
		{"loaded data", loadedData},
		{"forms", forms},
		{"classic", func(t *testing.T, target workload.Target) {
			classicPhases(t, target, block{"tables": 2, "rows": 10000, "seconds": 1})
		}},
		{"modern", func(t *testing.T, target workload.Target) { modernPhases(t, target, block{}, 100, 500, 1000) }},
		{"modern conformance", modernConformance},
		{"modern data", modernData},
		{"sharing a table", sharedTable},
		{"rate missed", rateMissed},
		{"paced load", pacedLoad},
		{"errors", faults},
		{"server gone", serverGone}, // the last one
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, target) })
	}
}

// conformance checks what holds for all workloads: the rows are a function
// of the seed, whatever the clients, the engine's form or the size of a batch
// of clients.
func conformance(t *testing.T, target workload.Target) {
	columns := "COUNT(*), SUM(cashregisterid), SUM(customerid), SUM(productid), SUM(CRC32(data)), SUM(CRC32(CONCAT(cashregisterid, customerid, productid, ROUND(price, 2), data)))"
	var tables []string
	for n := range 4 {
		tables = append(tables, "SELECT "+columns+" FROM ib."+tableName(n+1))
	}
	workloadtest.Suite{
		Type:    Type(),
		Prepare: small,
		Others: []block{
			{"clients": 1}, {"clients": 2}, {"clients": 16},
			{"partitions": 3}, {"compression": "table"}, {"secondary_indexes": 0},
		},
		Seed:       block{"seed": 2},
		Data:       strings.Join(tables, " UNION ALL "),
		Work:       block{"step": "query", "tables": 4, "rows": 4002, "insert_rate": 1000, "seconds": 60},
		Interrupts: 6,
	}.Run(t, target)
}

// loadedData checks the rows against the benchmark's specification.
func loadedData(t *testing.T, target workload.Target) {
	const rows, tables = 80001, 2
	workloadtest.Do(t, Type(), target, block{"step": "load", "tables": tables, "rows": rows})
	conn, err := client.Open(t.Context(), target, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	number := func(query string) float64 {
		t.Helper()
		text, err := conn.Text(query)
		if err != nil {
			t.Fatal(err)
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for n, want := range []float64{40001, 40000} {
		if got := number("SELECT COUNT(*) FROM " + tableName(n+1)); got != want {
			t.Errorf("table %s has %v rows, want %v", tableName(n+1), got, want)
		}
	}
	// Means of uniform values over n rows lie within 5 standard errors.
	const count = 40001
	for _, test := range []struct {
		expression  string
		least, most float64 // of single values
		mean, sigma float64
	}{
		{"transactionid", 1, count, (count + 1) / 2.0, 0},
		{"cashregisterid", 0, 999, 499.5, 1000 / math.Sqrt(12)},
		{"customerid", 0, 99999, 49999.5, 100000 / math.Sqrt(12)},
		{"productid", 0, 9999, 4999.5, 10000 / math.Sqrt(12)},
		{"price", 0, 1005, 502.495, 1000 / math.Sqrt(12)},
		{"price * 100 - customerid", 0, 500, 250, 500 / math.Sqrt(12)},
		{"LENGTH(data)", 10, 20, 15, math.Sqrt(10)},
	} {
		const slack = 0.02 // of a float price in hundredths
		if least := number("SELECT MIN(" + test.expression + ") FROM pi1"); least < test.least-slack {
			t.Errorf("%s: the least is %v, want %v or more", test.expression, least, test.least)
		}
		if most := number("SELECT MAX(" + test.expression + ") FROM pi1"); most > test.most+slack {
			t.Errorf("%s: the greatest is %v, want %v or less", test.expression, most, test.most)
		}
		mean := number("SELECT AVG(" + test.expression + ") FROM pi1")
		if off := math.Abs(mean - test.mean); off > 5*test.sigma/math.Sqrt(count)+slack {
			t.Errorf("%s: the mean is %v, want %v", test.expression, mean, test.mean)
		}
	}
	// The price is mostly the customer: corr = sigma(customer)/sigma(price x 100).
	correlation := number(`SELECT (AVG(price * customerid) - AVG(price) * AVG(customerid)) /
		(STDDEV_POP(price) * STDDEV_POP(customerid)) FROM pi1`)
	if correlation < 0.9999 {
		t.Errorf("price and customerid have a correlation of %v, want above 0.9999", correlation)
	}
	// Of a value of length n the last floor(n * 3/8) characters are random.
	letters := number("SELECT AVG(data LIKE CONCAT(REPEAT('a', LENGTH(data) - FLOOR(LENGTH(data) * 3 / 8)), '%')) FROM pi1")
	if letters != 1 {
		t.Errorf("%v of the values begin with their share of letters a, want all", letters)
	}
	distinct := number("SELECT COUNT(DISTINCT RIGHT(data, 7)) FROM pi1 WHERE LENGTH(data) = 20")
	if all := number("SELECT COUNT(*) FROM pi1 WHERE LENGTH(data) = 20"); distinct < 0.99*all {
		t.Errorf("%v of %v random parts differ, want nearly all", distinct, all)
	}
	if batches := number("SELECT MAX(n) FROM (SELECT COUNT(DISTINCT dateandtime) AS n FROM pi1 GROUP BY (transactionid - 1) DIV 100) AS b"); batches != 1 {
		t.Errorf("a batch has up to %v times, want one", batches)
	}
	if both := number("SELECT COUNT(*) FROM pi1 JOIN pi2 USING (transactionid) WHERE pi1.customerid = pi2.customerid"); both > 10 {
		t.Errorf("%v rows of the two tables have the same customer, want about one", both)
	}
}

// forms checks that the server has the tables that were asked for; the load
// itself compares them with what it wanted.
func forms(t *testing.T, target workload.Target) {
	for _, form := range []block{
		{"partitions": 8, "later_rows": 4000, "rows": 10000},
		{"compression": "table", "key_block_size": 4},
		{"compression": "transparent", "partitions": 2},
		{"secondary_indexes": 1, "data_length_min": 4000, "data_length_max": 4000, "rows": 300},
		{"rows": 1},
	} {
		all := block{"step": "load", "rows": 1000}
		for name, value := range form {
			all[name] = value
		}
		workloadtest.Do(t, Type(), target, all)
	}
	conn, err := client.Open(t.Context(), target, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// What differs from the wish must be found.
	c := config{tables: 1, rows: 1000, engine: "innodb", partitions: 2, compression: "table", keyBlockSize: 8, indexes: 2}
	b := &benchmark{config: c}
	got := fmt.Sprint(b.checkTable(conn, 1, b.secondary()))
	want := "the compression is not table: row format Dynamic, options \n" +
		"it has 0 partitions, not 2\n" +
		"it has 4 indexes, not 3"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMyRocks runs all steps on the other engine.
func TestMyRocks(t *testing.T) {
	target := workloadtest.StartRocksDB(t)
	classicPhases(t, target, block{"tables": 2, "rows": 10000, "engine": "rocksdb", "seconds": 1})
	modernPhases(t, target, block{"engine": "rocksdb", "partitions": 3, "unique_checks": false}, 500)
	bulk := block{"tables": 2, "rows": 10000, "engine": "rocksdb", "bulk_load": true}
	run(t, target, bulk, block{"step": "l.i0"})
	run(t, target, bulk, block{"step": "l.x"})
}

// TestMySQL runs all steps on a build of the other flavour, whose words for
// compression differ.
func TestMySQL(t *testing.T) {
	target := workloadtest.StartMySQL(t)
	classicPhases(t, target, block{"tables": 2, "rows": 10000, "compression": "table", "partitions": 2, "seconds": 1})
	modernPhases(t, target, block{"compression": "transparent", "partitions": 2}, 500)
}

// run runs a step that may miss its rate: on a busy host a second is too short
// to catch up in.
func run(t *testing.T, target workload.Target, blocks ...block) workload.Result {
	t.Helper()
	all := block{}
	for _, b := range blocks {
		maps.Copy(all, b)
	}
	result, err := workloadtest.Try(t.Context(), t, Type(), target, all)
	if err != nil && !errors.As(err, new(*workload.SLAError)) {
		t.Fatalf("%v: %v", all, err)
	}
	return result
}

// classicPhases runs all steps of the classic profile and checks what they
// record.
func classicPhases(t *testing.T, target workload.Target, common block) {
	t.Helper()
	step := func(name string, more block) workload.Result {
		t.Helper()
		return run(t, target, block{"step": name}, common, more)
	}
	load := step("load", nil)
	if got := workloadtest.Metric(t, load, "rows_inserted"); got != 10000 {
		t.Errorf("%v rows inserted, want 10000", got)
	}
	if got := workloadtest.Metric(t, load, "inserts"); got != 100 {
		t.Errorf("%v inserts, want 100", got)
	}
	for target.Step = 1; target.Step <= len(scans); target.Step++ {
		scan := step("scan", nil)
		if got := workloadtest.Metric(t, scan, "rows_read"); got != 10000 {
			t.Errorf("scan %d read %v rows, want 10000", target.Step, got)
		}
		index := scans[target.Step-1].index
		if plan := scan.Plans[0].Text; index != "PRIMARY" && !strings.Contains(plan, index) {
			t.Errorf("scan %d does not use the index %s:\n%s", target.Step, index, plan)
		}
	}
	query := step("query", block{"insert_rate": 1000, "rows_per_commit": 50})
	rows := workloadtest.Metric(t, query, "rows_inserted")
	if rows > 2000 || rows == 0 {
		t.Errorf("%v rows inserted in a second at a rate of 2000", rows)
	}
	if got := workloadtest.Metric(t, query, "target_rate"); got != 2000 {
		t.Errorf("the target rate is %v, want 2000", got)
	}
	if len(query.Plans) != len(secondaryIndexes) {
		t.Errorf("%d plans are kept, want 3", len(query.Plans))
	}
	for _, plan := range query.Plans {
		// In the words of MariaDB and of MySQL.
		if !strings.Contains(plan.Text, "Using index") && !strings.Contains(plan.Text, "Covering index") {
			t.Errorf("query of index %s does not read the index alone:\n%s", plan.Query, plan.Text)
		}
	}
	read := workloadtest.Metric(t, query, "rows_read") / workloadtest.Metric(t, query, "queries")
	if read < 9 || read > 10 {
		t.Errorf("a query read %v rows, want a little under 10", read)
	}
}

// rateMissed asks for more than a server can do.
func rateMissed(t *testing.T, target workload.Target) {
	workloadtest.Do(t, Type(), target, small)
	result, err := workloadtest.Try(t.Context(), t, Type(), target,
		block{"step": "query", "tables": 4, "rows": 4002, "insert_rate": 1e7, "seconds": 1})
	var missed *workload.SLAError
	if !errors.As(err, &missed) {
		t.Fatalf("the error is %v, want an SLAError", err)
	}
	if missed.Target != 4e7 || missed.Achieved != workloadtest.Metric(t, result, "achieved_rate") {
		t.Errorf("the error has the rates %+v; the result has %v", *missed, result.Metrics)
	}
}

// pacedLoad checks that a load keeps a rate too.
func pacedLoad(t *testing.T, target workload.Target) {
	result, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": "load", "tables": 2, "rows": 1000, "insert_rate": 1000, "rows_per_commit": 10})
	if missed := new(workload.SLAError); err != nil && !errors.As(err, &missed) {
		t.Fatal(err)
	}
	// The last batch of 500 rows is due after 490 of them.
	if secs := workloadtest.Metric(t, result, "secs"); secs < 0.49 {
		t.Errorf("500 rows a table at 1000 a second took %v s", secs)
	}
	if got := workloadtest.Metric(t, result, "target_rate"); got != 2000 {
		t.Errorf("the target rate is %v, want 2000", got)
	}
}

// faults checks that no error of the server is lost.
func faults(t *testing.T, target workload.Target) {
	query := block{"step": "query", "tables": 1, "rows": 1000, "insert_rate": 100, "seconds": 2}
	workloadtest.Do(t, Type(), target, block{"step": "load", "rows": 1000})
	conn, err := client.Open(t.Context(), target, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	execute := func(statement string) {
		t.Helper()
		if _, err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	execute("CREATE TRIGGER refuse BEFORE INSERT ON pi1 FOR EACH ROW SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'no more'")
	if _, err := workloadtest.Try(t.Context(), t, Type(), target, query); err == nil || !strings.Contains(err.Error(), "no more") {
		t.Errorf("the error is %v, want that of the trigger", err)
	}
	allowed := block{"allow_errors": []int{31001}}
	for name, value := range query {
		allowed[name] = value
	}
	if _, err := workloadtest.Try(t.Context(), t, Type(), target, allowed); err == nil || !strings.Contains(err.Error(), "did no work") {
		t.Errorf("with all inserts refused the error is %v, want that no work was done", err)
	}
	execute("DROP TRIGGER refuse")
	execute("CREATE TRIGGER deadlock BEFORE INSERT ON pi1 FOR EACH ROW BEGIN IF RAND() < 0.02 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'deadlock'; END IF; END")
	result := workloadtest.Do(t, Type(), target, query)
	if workloadtest.Metric(t, result, "deadlocks") == 0 {
		t.Error("no deadlock was counted")
	}
	if got := workloadtest.Metric(t, result, "rows_inserted"); got != 200 {
		t.Errorf("%v rows inserted, want 200", got)
	}
}

// serverGone checks that a server that dies ends the phase with an error.
func serverGone(t *testing.T, target workload.Target) {
	workloadtest.Do(t, Type(), target, small)
	conn, err := client.Open(t.Context(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	shutdown := make(chan error, 1)
	w, err := Type().New(workloadtest.Args(t, Type(), block{"step": "query", "tables": 4, "rows": 4002, "seconds": 30}))
	if err != nil {
		t.Fatal(err)
	}
	r := workload.NewRecorder(t.TempDir(), workload.Hooks{Begin: func(time.Time) {
		go func() {
			_, err := conn.Exec("SHUTDOWN")
			shutdown <- err
		}()
	}})
	if err := w.Run(t.Context(), target, r); err == nil {
		t.Error("the server was shut down, and the phase ended without an error")
	}
	if err := <-shutdown; err != nil {
		t.Error(err)
	}
}
