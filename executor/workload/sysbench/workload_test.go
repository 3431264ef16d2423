package sysbench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

type block = workloadtest.Block

// with returns the block with further attributes.
func with(b block, more block) block {
	all := block{}
	for _, one := range []block{b, more} {
		for name, value := range one {
			all[name] = value
		}
	}
	return all
}

func needSysbench(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sysbench"); err != nil {
		workloadtest.Missing(t, "sysbench")
	}
}

func TestArguments(t *testing.T) {
	target := workload.Target{Socket: "/run/s", User: "root", Seed: 7, Source: "/exp", Iteration: 1}
	for _, test := range []struct {
		block block
		want  string
	}{
		{block{"step": "prepare", "script": "oltp_read_only", "tables": 8, "table_size": 100000, "engine": "rocksdb"},
			"--threads=1 --rand-seed=7 --db-driver=mysql --mysql-socket=/run/s --mysql-user=root --mysql-db=sbtest --mysql-ignore-errors=1213,1020,1205" +
				" --tables=8 --table_size=100000 --mysql_storage_engine=rocksdb oltp_read_only prepare"},
		{block{"step": "run", "script": "oltp_read_only"},
			"--threads=1 --time=10 --events=0 --report-interval=1 --percentile=99 --histogram=on --rand-seed=7" +
				" --db-driver=pgsql --pgsql-host=/run/x --pgsql-port=5433 --pgsql-user=postgres --pgsql-db=sbtest --tables=1 --table_size=10000 oltp_read_only run"},
		{block{"step": "run", "lua": "a.lua", "threads": 16, "rate": 100, "allow_errors": []int{1062}},
			"--threads=16 --time=10 --events=0 --report-interval=1 --percentile=99 --histogram=on --rate=100 --rand-seed=7" +
				" --db-driver=mysql --mysql-socket=/run/s --mysql-user=root --mysql-db=sbtest --mysql-ignore-errors=1213,1020,1205,1062 /exp/a.lua run"},
		{block{"step": "run", "script": "fileio", "options": map[string]string{"file-total-size": "1G", "file-test-mode": "rndrd", "file-fsync-all": "true"}},
			"--threads=1 --time=10 --events=0 --report-interval=1 --percentile=99 --histogram=on --rand-seed=7" +
				" --file-fsync-all=on --file-test-mode=rndrd --file-total-size=1G fileio run"},
	} {
		c, faults := decode(workloadtest.Args(t, Type(), test.block), matrix.Build{})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		on := target
		if strings.Contains(test.want, "pgsql") {
			on.Flavour, on.Socket, on.User = postgres, "/run/x/.s.PGSQL.5433", "postgres"
		}
		got := strings.Join(c.arguments(on, c.step, 10*time.Second), " ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.block, diff)
		}
	}
}

func TestRandSeed(t *testing.T) {
	seen := map[int64]bool{}
	for _, seed := range []int64{-1 << 63, -1, 0, 1, 2, 1<<31 - 1, 1<<63 - 1} {
		for iteration := range 3 {
			got := randSeed(workload.Target{Seed: seed, Iteration: iteration})
			if got <= 0 || got >= 1<<31 {
				t.Errorf("seed %d, iteration %d: %d is no positive number of 31 bits", seed, iteration, got)
			}
			seen[got] = true
		}
	}
	if got := randSeed(workload.Target{Seed: 7, Iteration: 1}); got != 7 {
		t.Errorf("seed 7 is %d in the first iteration", got)
	}
	if len(seen) < 15 {
		t.Errorf("only %d different seeds", len(seen))
	}
}

func TestServerTests(t *testing.T) {
	needSysbench(t)
	t.Setenv("PGOPTIONS", "-c default_transaction_read_only=on") // must not reach the program
	for name, start := range map[string]func(testing.TB, ...string) workload.Target{
		"mariadb": workloadtest.Start, "postgres": workloadtest.StartPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			target := start(t)
			t.Run("run", func(t *testing.T) { serverTests(t, target) })
			t.Run("bundled", func(t *testing.T) { bundled(t, target) })
			t.Run("conformance", func(t *testing.T) { conform(t, target, "innodb") })
		})
	}
	t.Run("myrocks", func(t *testing.T) { conform(t, workloadtest.StartRocksDB(t), "rocksdb") })
}

func serverTests(t *testing.T, target workload.Target) {
	prepare := block{"step": "prepare", "script": "oltp_read_write", "tables": 2, "table_size": 1000}
	for range 2 { // the second time over the first
		result := workloadtest.Do(t, Type(), target, prepare)
		if got := workloadtest.Metric(t, result, "rows_inserted"); got != 2000 {
			t.Errorf("%v rows inserted, want 2000", got)
		}
	}
	dir := t.TempDir()
	w, err := Type().New(workloadtest.Args(t, Type(), with(prepare, block{"step": "run", "threads": 2, "seconds": 2})))
	if err != nil {
		t.Fatal(err)
	}
	r := workload.NewRecorder(dir, workload.Hooks{})
	target.Warmup = time.Second
	if err := w.Run(t.Context(), target, r); err != nil {
		t.Fatal(err)
	}
	result := r.Result()
	tps, transactions, secs := workloadtest.Metric(t, result, "tps"), workloadtest.Metric(t, result, "transactions"), workloadtest.Metric(t, result, "secs")
	if tps <= 0 || secs < 1.9 || secs > 3 {
		t.Errorf("%v transactions, %v a second, in %v s; want a window of 2 s", transactions, tps, secs)
	}
	if off := transactions/secs/tps - 1; off < -0.05 || off > 0.05 {
		t.Errorf("%v transactions in %v s are not the %v a second that are printed", transactions, secs, tps)
	}
	if got := workloadtest.Metric(t, result, "queries") / transactions; got < 19 || got > 21 {
		t.Errorf("a transaction has %v queries, want 20", got)
	}
	mean, p50, most := workloadtest.Metric(t, result, "lat_transaction_mean"), workloadtest.Metric(t, result, "lat_transaction_p50"), workloadtest.Metric(t, result, "lat_transaction_max")
	if p50 <= 0 || mean <= 0 || most < mean || most > secs {
		t.Errorf("response times: mean %v, median %v, longest %v", mean, p50, most)
	}
	if len(result.Series) != 2 || len(result.Histograms) != 1 {
		t.Errorf("%d series and %d histograms, want tps, qps, and one", len(result.Series), len(result.Histograms))
	}
	if progress := r.Progress(); float64(progress.Count) < transactions/3 {
		t.Errorf("the progress saw %d of %v transactions", progress.Count, transactions)
	}
	if diff := cmp.Diff([]string{"sysbench-run.1.sh", "sysbench-run.1.txt"}, result.Artifacts); diff != "" {
		t.Error(diff)
	}
	script, err := os.ReadFile(filepath.Join(dir, "sysbench-run.1.sh"))
	if err != nil || !strings.Contains(string(script), "--threads=2 --time=2") {
		t.Errorf("the command is kept as %q, %v", script, err)
	}
	target.Warmup = 0
	workloadtest.Do(t, Type(), target, with(prepare, block{"step": "cleanup"}))
	if _, err := workloadtest.Try(t.Context(), t, Type(), target, with(prepare, block{"step": "run"})); err == nil || !strings.Contains(err.Error(), "FATAL") {
		t.Errorf("run after cleanup: the error is %v", err)
	}
}

// bundled runs each of the bundled tests that need a server, and a script of
// one's own.
func bundled(t *testing.T, target workload.Target) {
	own := `function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT COUNT(*) FROM sbtest1") end
`
	if err := os.WriteFile(filepath.Join(target.Source, "own.lua"), []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	common := block{"tables": 2, "table_size": 200, "threads": 2}
	var names []string
	for script, is := range scripts {
		if is.tables {
			names = append(names, script)
		}
	}
	slices.Sort(names)
	workloadtest.Do(t, Type(), target, with(common, block{"step": "prepare", "script": names[0]}))
	for _, script := range names {
		result := workloadtest.Do(t, Type(), target, with(common, block{"step": "run", "script": script, "seconds": 0, "events": 20}))
		if got := workloadtest.Metric(t, result, "transactions"); got != 20 {
			t.Errorf("%s: %v transactions, want 20", script, got)
		}
	}
	result := workloadtest.Do(t, Type(), target, with(common, block{"step": "run", "lua": "own.lua", "seconds": 0, "events": 20}))
	if got := workloadtest.Metric(t, result, "queries"); got != 20 {
		t.Errorf("%v queries of the script, want 20", got)
	}
	workloadtest.Do(t, Type(), target, block{"step": "prepare", "script": "bulk_insert", "threads": 2})
	result = workloadtest.Do(t, Type(), target, block{"step": "run", "script": "bulk_insert", "threads": 2, "seconds": 0, "events": 20})
	if got := workloadtest.Metric(t, result, "events"); got != 20 {
		t.Errorf("%v events of bulk_insert, want 20", got)
	}
}

// conform runs the suite. The program does not seed prepare: what it makes is
// alike each time, not the same.
func conform(t *testing.T, target workload.Target, engine string) {
	suite := workloadtest.Suite{
		Type: Type(), Database: database,
		Prepare:    block{"step": "prepare", "script": "oltp_read_write", "table_size": 3000, "engine": engine},
		Others:     []block{{"tables": 2, "threads": 2}, {"seed": 2}},
		Data:       "SELECT COUNT(*), MIN(id), MAX(id), MIN(LENGTH(c)), MAX(LENGTH(pad)), MIN(k) >= 1, MAX(k) <= 3000 FROM sbtest1",
		Work:       block{"step": "run", "script": "oltp_read_write", "table_size": 3000, "threads": 2, "seconds": 60},
		Interrupts: 6,
	}
	suite.Run(t, target)
	suite.LoseServer(t, target)
}

func TestWithoutServer(t *testing.T) {
	needSysbench(t)
	target := workload.Target{Dir: t.TempDir(), Guard: workloadtest.Guard, Iteration: 1, Seed: 1}
	file := block{"script": "fileio", "seconds": 1, "options": map[string]string{"file-total-size": "8M", "file-num": "2", "file-test-mode": "rndrw"}}
	workloadtest.Do(t, Type(), target, with(file, block{"step": "prepare"}))
	result := workloadtest.Do(t, Type(), target, with(file, block{"step": "run"}))
	for _, name := range []string{"file_reads", "file_writes", "file_fsyncs", "file_read_bytes", "file_write_bytes", "lat_event_p99"} {
		if workloadtest.Metric(t, result, name) <= 0 {
			t.Errorf("%s is not above 0", name)
		}
	}
	workloadtest.Do(t, Type(), target, with(file, block{"step": "cleanup"}))
	entries, err := os.ReadDir(target.Dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("cleanup left %v, %v", entries, err)
	}
	result = workloadtest.Do(t, Type(), target, block{"script": "cpu", "step": "run", "seconds": 0, "events": 100})
	if got := workloadtest.Metric(t, result, "events"); got != 100 {
		t.Errorf("%v events, want 100", got)
	}
	workloadtest.Do(t, Type(), target, block{"script": "memory", "step": "run", "seconds": 1, "options": map[string]string{"memory-total-size": "64M"}})
}

func TestAbsentProgram(t *testing.T) {
	target := workload.Target{Dir: t.TempDir(), Guard: workloadtest.Guard}
	_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"script": "cpu", "step": "run", "program": "sysbench-that-is-not-there"})
	if err == nil || !strings.Contains(err.Error(), "install the package sysbench") {
		t.Errorf("the error is %v", err)
	}
}

// TestStandIn runs programs that misbehave as sysbench can.
func TestStandIn(t *testing.T) {
	good, err := filepath.Abs("testdata/oltp-1.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	fatal, err := filepath.Abs("testdata/fatal-rc0.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, script, want string }{
		{"well", "cat " + good, ""},
		{"fatal with status 0", "cat " + fatal, "Cannot open file"},
		{"good report, status 1", "cat " + good + "; exit 1", "exit status 1"},
		{"cut short", "head -c 300 " + good, "cut short"},
		{"nothing", "true", "did not start"},
		{"a signal", "head -20 " + good + "; kill -SEGV $$", "segmentation fault"},
		{"no end of line", "printf 'Threads started!\\nFATAL: half'", "FATAL: half"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := runStandIn(t.Context(), t, test.script)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, context.Canceled)
	defer cancel()
	started := time.Now()
	if err := runStandIn(ctx, t, "sleep 60"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want the interrupt", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

// runStandIn runs a shell script in place of the program.
func runStandIn(ctx context.Context, t *testing.T, script string) error {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sysbench")
	text := "#!/bin/sh\n[ \"$1\" = --version ] && { echo sysbench 0; exit; }\n" + script + "\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	target := workload.Target{Dir: t.TempDir(), Guard: workloadtest.Guard, Iteration: 1}
	_, err := workloadtest.Try(ctx, t, Type(), target, block{"script": "cpu", "step": "run", "program": program})
	return err
}

func TestPrefix(t *testing.T) {
	needSysbench(t)
	target := workload.Target{Dir: t.TempDir(), Guard: workloadtest.Guard, Iteration: 1, Prefix: []string{"nice", "-n", "1"}}
	dir := t.TempDir()
	w, err := Type().New(workloadtest.Args(t, Type(), block{"script": "cpu", "step": "run", "seconds": 0, "events": 10}))
	if err != nil {
		t.Fatal(err)
	}
	r := workload.NewRecorder(dir, workload.Hooks{})
	if err := w.Run(t.Context(), target, r); err != nil {
		t.Fatal(err)
	}
	script, _ := os.ReadFile(filepath.Join(dir, "sysbench-run.1.sh"))
	if path, _ := exec.LookPath("sysbench"); !strings.Contains(string(script), "\nnice -n 1 "+path+" ") {
		t.Errorf("the command is %s", script)
	}
	if !slices.ContainsFunc(r.Result().Facts, func(f workload.Fact) bool { return f.Name == "sysbench" && strings.HasPrefix(f.Value, "sysbench ") }) {
		t.Errorf("the facts %v lack the version", r.Result().Facts)
	}
}

// A program that is not there is told of before anything is made.
func TestNeeds(t *testing.T) {
	args := workloadtest.Args(t, Type(), block{"step": "run", "script": "cpu", "program": "no-such-sysbench"})
	if err := Type().Needs(args, ""); err == nil || !strings.Contains(err.Error(), "install the package sysbench") {
		t.Errorf("got %v", err)
	}
}
