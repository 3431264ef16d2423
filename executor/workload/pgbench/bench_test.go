package pgbench

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
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

// ask returns the first value of a query on the benchmark's database.
func ask(t *testing.T, target workload.Target, query string) string {
	t.Helper()
	var text string
	err := client.Session(t.Context(), target, database, func(conn *client.Conn) (err error) {
		text, err = conn.Text(query)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func TestBenchmark(t *testing.T) {
	t.Setenv("PGOPTIONS", "-c default_transaction_read_only=on") // must not reach the program
	target := workloadtest.StartPostgres(t)
	wide := block{"step": "init", "fillfactor": 90, "partitions": 2, "after_load": []string{"ALTER TABLE pgbench_accounts ALTER filler TYPE char(120)"}}
	for range 2 { // the second time over the first
		result := workloadtest.Do(t, Type(), target, wide)
		if got := workloadtest.Metric(t, result, "rows_inserted"); got != 100011 {
			t.Errorf("%v rows inserted, want 100011", got)
		}
	}
	for query, want := range map[string]string{
		"SELECT count(*)::text FROM pgbench_accounts":                                                                           "100000",
		"SELECT count(*)::text FROM pg_inherits WHERE inhparent = 'pgbench_accounts'::regclass":                                 "2",
		"SELECT reloptions::text FROM pg_class WHERE relname = 'pgbench_accounts_1'":                                            "{fillfactor=90}",
		"SELECT (atttypmod - 4)::text FROM pg_attribute WHERE attrelid = 'pgbench_accounts_1'::regclass AND attname = 'filler'": "120",
		"SELECT (relallvisible > 0 AND reltuples > 0)::text FROM pg_class WHERE relname = 'pgbench_accounts_1'":                 "true",
	} {
		if got := ask(t, target, query); got != want {
			t.Errorf("%s is %s, want %s", query, got, want)
		}
	}
	t.Run("time", func(t *testing.T) { timed(t, target) })
	t.Run("response times", func(t *testing.T) { responseTimes(t, target) })
	t.Run("rate", func(t *testing.T) { rated(t, target) })
	t.Run("scripts", func(t *testing.T) { scripts(t, target) })
	t.Run("conformance", func(t *testing.T) { conform(t, target) })
}

func timed(t *testing.T, target workload.Target) {
	target.Warmup = time.Second
	dir := t.TempDir()
	w, err := Type().New(workloadtest.Args(t, Type(), block{"step": "run", "mode": "prepared", "clients": 2, "threads": 2, "seconds": 2}))
	if err != nil {
		t.Fatal(err)
	}
	r := workload.NewRecorder(dir, workload.Hooks{})
	if err := w.Run(t.Context(), target, r); err != nil {
		t.Fatal(err)
	}
	result := r.Result()
	tps, transactions, secs := workloadtest.Metric(t, result, "tps"), workloadtest.Metric(t, result, "transactions"), workloadtest.Metric(t, result, "secs")
	if secs < 1.9 || secs > 4 || transactions < tps || transactions > 2.5*tps {
		t.Errorf("%v transactions, %v a second, in %v s", transactions, tps, secs)
	}
	// The history was emptied after the warm-up, and each transaction adds a row.
	if got := ask(t, target, "SELECT count(*)::text FROM pgbench_history"); got != strconv.Itoa(int(transactions)) {
		t.Errorf("the history has %s rows of %v transactions", got, transactions)
	}
	// After a checkpoint the first change of each page is logged whole.
	if wal := workloadtest.Metric(t, result, "wal_bytes"); wal < 300*transactions || wal < 1e6 {
		t.Errorf("%v bytes of log for %v transactions", wal, transactions)
	}
	for name, most := range map[string]float64{"errors": 0, "deadlocks": 0, "lat_transaction_mean": 1, "lat_transaction_stddev": 1, "connect_secs": 1} {
		if got := workloadtest.Metric(t, result, name); got < 0 || got > most {
			t.Errorf("%s is %v", name, got)
		}
	}
	if len(result.Series) != 1 || len(result.Series[0].Values) == 0 {
		t.Errorf("the series are %v, want tps", result.Series)
	}
	if diff := cmp.Diff([]string{"pgbench-run.1.sh", "pgbench-run.1.txt"}, result.Artifacts); diff != "" {
		t.Error(diff)
	}
	kept, _ := os.ReadFile(filepath.Join(dir, "pgbench-run.1.sh"))
	if want := "-n -M prepared -c 2 -j 2 -P 1 -T 2 --failures-detailed --random-seed=1 -b tpcb-like -h "; !strings.Contains(string(kept), want) {
		t.Errorf("the command is kept as %s, want %s", kept, want)
	}
}

func responseTimes(t *testing.T, target workload.Target) {
	result := workloadtest.Do(t, Type(), target, block{"step": "run", "builtin": "select-only", "clients": 2, "seconds": 1, "response_times": true})
	p50, p99, longest := workloadtest.Metric(t, result, "lat_transaction_p50"), workloadtest.Metric(t, result, "lat_transaction_p99"), workloadtest.Metric(t, result, "lat_transaction_max")
	if p50 <= 0 || p99 < p50 || longest < p99 {
		t.Errorf("response times: median %v, p99 %v, longest %v", p50, p99, longest)
	}
	if len(result.Histograms) != 1 || float64(result.Histograms[0].Hist.TotalCount()) != workloadtest.Metric(t, result, "transactions") {
		t.Errorf("the histograms are %v", result.Histograms)
	}
	clients := 0
	for _, s := range result.Series {
		if s.Name == "tps" {
			clients++
		}
	}
	if clients != 3 { // of two clients and of both
		t.Errorf("%d series of rates, want 3", clients)
	}
	if left, _ := os.ReadDir(target.Dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func rated(t *testing.T, target workload.Target) {
	slow := block{"step": "run", "builtin": "select-only", "rate": 200, "latency_limit": 1000, "max_tries": 3, "seconds": 1}
	result := workloadtest.Do(t, Type(), target, slow)
	if got := workloadtest.Metric(t, result, "achieved_rate"); got < 120 || got > 300 {
		t.Errorf("%v transactions a second, 200 were asked for", got)
	}
	for _, name := range []string{"schedule_lag_mean", "retries", "transactions_skipped", "transactions_late"} {
		workloadtest.Metric(t, result, name)
	}
	_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": "run", "rate": 1e6, "transactions": 500})
	var sla *workload.SLAError
	if !errors.As(err, &sla) {
		t.Errorf("a rate that cannot be kept: the error is %v", err)
	}
}

func scripts(t *testing.T, target workload.Target) {
	for name, text := range map[string]string{
		"a.sql": "SELECT :n;\n", "fault.sql": "SELECT 1/0;\n",
	} {
		if err := os.WriteFile(filepath.Join(target.Source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result := workloadtest.Do(t, Type(), target, block{"step": "run", "scripts": []string{"a.sql"}, "variables": map[string]string{"n": "7"}, "transactions": 20, "clients": 2})
	if got := workloadtest.Metric(t, result, "transactions"); got != 40 {
		t.Errorf("%v transactions, want 40", got)
	}
	_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": "run", "scripts": []string{"fault.sql"}, "transactions": 20})
	if err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("a statement that fails: the error is %v", err)
	}
}

func conform(t *testing.T, target workload.Target) {
	suite := workloadtest.Suite{
		Type: Type(), Database: database,
		Prepare:    block{"step": "init"},
		Others:     []block{{"partitions": 3, "partition_method": "hash"}, {"unlogged": true, "foreign_keys": true}},
		Data:       "SELECT COUNT(*), SUM(hashtext(concat(aid, bid, abalance, filler))::bigint) FROM pgbench_accounts",
		Work:       block{"step": "run", "clients": 4, "seconds": 60},
		Interrupts: 6,
	}
	suite.Run(t, target)
	suite.LoseServer(t, target)
}

func TestArguments(t *testing.T) {
	target := workload.Target{Socket: "/run/x/.s.PGSQL.5433", User: "postgres", Seed: 7, Source: "/exp", Iteration: 2}
	for _, test := range []struct {
		block  block
		major  int
		length time.Duration
		want   string
	}{
		{block{"step": "run"}, 9, 0, "-n -M simple -c 1 -j 1 -P 1 -T 60 -b tpcb-like -h /run/x -p 5433 -U postgres pgbench"},
		{block{"step": "run", "transactions": 10, "scripts": []string{"a.sql", "/b.sql"}, "variables": map[string]string{"b": "2", "a": "1"}}, 17, 0,
			"-n -M simple -c 1 -j 1 -P 1 -t 10 --failures-detailed --exit-on-abort --random-seed=1000010 -D a=1 -D b=2 -f /exp/a.sql -f /b.sql -h /run/x -p 5433 -U postgres pgbench"},
		{block{"step": "run", "transactions": 10, "rate": 0.5, "latency_limit": 2.5, "max_tries": 2, "response_times": true}, 11, 1500 * time.Millisecond,
			"-n -M simple -c 1 -j 1 -P 1 -T 2 -R 0.5 -L 2.5 --max-tries=2 -l --random-seed=1000010 -b tpcb-like -h /run/x -p 5433 -U postgres pgbench"},
		{block{"step": "init", "scale": 100, "partitions": 4, "partition_method": "hash", "foreign_keys": true, "unlogged": true}, 15, 0,
			"-i -s 100 -F 100 --partitions=4 --partition-method=hash --foreign-keys --unlogged-tables -h /run/x -p 5433 -U postgres pgbench"},
	} {
		c, faults := decode(workloadtest.Args(t, Type(), test.block), matrix.Build{})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		args := c.initArguments(target)
		if c.step == stepRun {
			args = c.runArguments(target, test.major, test.length)
		}
		if diff := cmp.Diff(test.want, strings.Join(args, " ")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.block, diff)
		}
	}
}

func TestNeeds(t *testing.T) {
	absent := workloadtest.Args(t, Type(), block{"step": "run", "program": "pgbench-that-is-not-there"})
	if err := Type().Needs(absent, ""); err == nil || !strings.Contains(err.Error(), "postgresql-contrib") {
		t.Errorf("an absent program: the error is %v", err)
	}
	if err := Type().Needs(workloadtest.Args(t, Type(), block{"step": "run"}), ""); err != nil {
		t.Errorf("the server's own program: the error is %v", err)
	}
}

func TestRandomSeed(t *testing.T) {
	seen := map[int64]bool{}
	for _, seed := range []int64{-1 << 63, -1, 0, 1, 2, 1<<31 - 1, 1<<63 - 1} {
		for iteration := range 3 {
			got := randomSeed(workload.Target{Seed: seed, Iteration: iteration})
			if got < 0 || got >= 1<<31 {
				t.Errorf("seed %d, iteration %d: %d is no number of 31 bits", seed, iteration, got)
			}
			seen[got] = true
		}
	}
	if len(seen) != 12 { // four seeds differ in 31 bits
		t.Errorf("%d different seeds, want 12", len(seen))
	}
}

func TestWALPosition(t *testing.T) {
	for version, want := range map[string]string{"9.4.26": "pg_xlog", "10.0.0": "pg_wal", "17.12.0": "pg_wal"} {
		if got := walPosition(version); !strings.Contains(got, want) {
			t.Errorf("%s is asked by %s", version, got)
		}
	}
}

func TestCheck(t *testing.T) {
	postgres := matrix.Build{Flavour: "postgres", Version: "15.18.0"}
	for _, test := range []struct {
		block block
		build matrix.Build
		want  []string
	}{
		{block{"step": "init", "scale": 100}, postgres, nil},
		{block{"step": "run"}, matrix.Build{}, nil},
		{block{"step": "run", "threads": 2}, matrix.Build{Flavour: "mariadb"}, []string{"threads: more threads than clients", ": pgbench runs against PostgreSQL"}},
		{block{"step": "init", "fillfactor": 9, "scale": 0}, postgres, []string{"scale: 0 is too small", "fillfactor: 9 is too small"}},
		{block{"step": "init", "fillfactor": 101, "partitions": 10001}, postgres, []string{"fillfactor: more than all", "partitions: too many"}},
		{block{"step": "run", "rate": 0, "latency_limit": -1, "scripts": []string{}}, postgres, []string{"rate: no rate", "latency_limit: no limit", "scripts: no script is named"}},
		{block{"step": "run", "variables": map[string]string{"a=b": "1"}, "transactions": 1.5}, postgres, []string{"transactions: 1.5 is no whole number", `variables: "a=b" is no name of a variable`}},
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

// TestStandIn runs programs that misbehave as pgbench can.
func TestStandIn(t *testing.T) {
	good, _ := filepath.Abs("testdata/run-15.txt")
	for _, test := range []struct{ name, script, want string }{
		{"aborted, status 0", "cat " + filepath.Dir(good) + "/abort-15.txt", "division by zero"},
		{"a good report, status 2", "cat " + good + "; exit 2", "exit status 2"},
		{"cut short", "head -c 300 " + good, "cut short"},
		{"nothing", "true", "cut short"},
		{"another program", "VERSION", "is no pgbench: it says"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pgbench")
			words := "pgbench (PostgreSQL) 15.18"
			if test.script == "VERSION" {
				words, test.script = "psql (PostgreSQL) 15.18", "true"
			}
			text := "#!/bin/sh\n[ \"$1\" = --version ] && { echo '" + words + "'; exit; }\n" + test.script + "\n"
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			c, _ := decode(workloadtest.Args(t, Type(), block{"step": "run", "program": path}), matrix.Build{})
			b := &benchmark{c}
			target := workload.Target{Dir: t.TempDir(), Guard: workloadtest.Guard, Iteration: 1}
			found, version, err := b.look(t.Context(), target)
			if err == nil {
				_, err = b.execute(t.Context(), target, workload.NewRecorder("", workload.Hooks{}), found, version, 0)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
