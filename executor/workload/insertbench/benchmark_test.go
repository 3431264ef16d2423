package insertbench

import (
	"errors"
	"fmt"
	"maps"
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
		{"data", func(t *testing.T, target workload.Target) { loadedData(t, target, block{"partitions": 3}) }},
		{"forms", forms},
		{"classic", func(t *testing.T, target workload.Target) {
			classicPhases(t, target, block{"tables": 2, "rows": 10000, "seconds": 1})
		}},
		{"modern", func(t *testing.T, target workload.Target) { modernPhases(t, target, block{}, 100, 500, 1000) }},
		{"modern conformance", modernConformance},
		{"modern data", func(t *testing.T, target workload.Target) { modernData(t, target, block{}) }},
		{"sharing a table", sharedTable},
		{"long steps", longSteps},
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
	columns := "COUNT(*), SUM(cashregisterid), SUM(customerid), SUM(productid), SUM(" + checksum(target, "data") + "), SUM(" +
		checksum(target, "CONCAT(cashregisterid, customerid, productid, ROUND(CAST(price * 100 AS DECIMAL(12,2))), data)") + ")"
	var tables []string
	for n := range 4 {
		tables = append(tables, "SELECT "+columns+" FROM "+inDatabase(target, n+1))
	}
	others := []block{{"clients": 1}, {"clients": 2}, {"clients": 16}, {"partitions": 3}, {"secondary_indexes": 0}}
	if target.Flavour != "postgres" {
		others = append(others, block{"compression": "table"})
	}
	workloadtest.Suite{
		Type:       Type(),
		Database:   database,
		Prepare:    small,
		Others:     others,
		Seed:       block{"seed": 2},
		Data:       strings.Join(tables, " UNION ALL "),
		Work:       block{"step": "query", "tables": 4, "rows": 4002, "insert_rate": 1000, "seconds": 60},
		Interrupts: 6,
	}.Run(t, target)
}

// checksum returns an expression that is a number made of a text.
func checksum(target workload.Target, text string) string {
	if target.Flavour == "postgres" {
		return "HASHTEXT(" + text + ")"
	}
	return "CRC32(" + text + ")"
}

// inDatabase returns the name of the n-th table.
func inDatabase(target workload.Target, n int) string {
	if target.Flavour == "postgres" {
		return tableName(n) // of the database that the session is in
	}
	return database + "." + tableName(n)
}

// forms checks that the server has the tables that were asked for; the load
// itself compares them with what it wanted.
func forms(t *testing.T, target workload.Target) {
	forms := []block{
		{"partitions": 8, "later_rows": 4000, "rows": 10000},
		{"secondary_indexes": 1, "data_length_min": 4000, "data_length_max": 4000, "rows": 300},
	}
	if target.Flavour != "postgres" {
		forms = append(forms, block{"compression": "table", "key_block_size": 4}, block{"compression": "transparent", "partitions": 2})
	}
	for _, form := range append(forms, block{"rows": 1}) {
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
	c := config{tables: 1, rows: 1000, engine: "innodb", partitions: 2, compression: "table", keyBlockSize: 8, indexes: 2, postgres: target.Flavour == "postgres"}
	b := &benchmark{config: c}
	got := fmt.Sprint(b.keepTables(conn, workload.NewRecorder("", workload.Hooks{}), b.secondary()))
	want := "table pi1 is not what was asked for: the compression is none, not table; it has 0 partitions, not 2; it has 4 indexes, not 3"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPostgres is what TestMariaDB is, for the server with other words.
func TestPostgres(t *testing.T) {
	target := workloadtest.StartPostgres(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, workload.Target)
	}{
		{"conformance", conformance},
		{"data", func(t *testing.T, target workload.Target) { loadedData(t, target, block{"partitions": 3}) }},
		{"forms", forms},
		{"classic", func(t *testing.T, target workload.Target) {
			classicPhases(t, target, block{"tables": 2, "rows": 10000, "partitions": 2, "seconds": 1})
		}},
		{"modern", func(t *testing.T, target workload.Target) { modernPhases(t, target, block{}, 100, 1000) }},
		{"modern, partitioned", func(t *testing.T, target workload.Target) { modernPhases(t, target, block{"partitions": 3}, 500) }},
		{"modern conformance", modernConformance},
		{"modern data", func(t *testing.T, target workload.Target) { modernData(t, target, block{}) }},
		{"sharing a table", sharedTable},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, target) })
	}
}

// TestMyRocks runs all steps on the other engine.
func TestMyRocks(t *testing.T) {
	target := workloadtest.StartRocksDB(t)
	loadedData(t, target, block{"engine": "rocksdb", "partitions": 3})
	modernData(t, target, block{"engine": "rocksdb"})
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
		// PostgreSQL chooses for itself.
		if plan := scan.Plans[0].Text; index != "PRIMARY" && target.Flavour != "postgres" && !strings.Contains(plan, index) {
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
		if !indexOnly(plan.Text) {
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
	execute("CREATE TRIGGER deadlock BEFORE INSERT ON pi1 FOR EACH ROW BEGIN SET @row = COALESCE(@row, 0) + 1; IF @row = 5 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'deadlock'; END IF; END")
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
