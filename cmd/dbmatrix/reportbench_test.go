package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// A large experiment: 10,000 runs with 60 metrics, and 20 million readings.
const (
	benchDown       = 100 // levels of one axis
	benchOver       = 20  // and of the other
	benchReplicates = 5
	benchMetrics    = 60
	benchSeries     = 20 // of each run
	benchReadings   = 100
)

// benchExperiment is the definition: ten tables and five charts.
func benchExperiment() string {
	var b strings.Builder
	fmt.Fprintf(&b, `experiment {
  name       = "large"
  replicates = %d
}
axis "down" { levels = range(1, %d) }
axis "over" { levels = range(1, %d) }
defaults { server = server.mariadb }
phase "load" {
  workload "sql" { statements = ["SELECT ${axis.down}, ${axis.over}"] }
}
`, benchReplicates, benchDown+1, benchOver+1)
	for i := range 10 {
		fmt.Fprintf(&b, "table \"t%d\" {\n  phase = \"load\"\n%s\n}\n", i, []string{
			`  columns = ["ips", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "size", "rss", "rmb/s", "wmb/s", "cpu"]`,
			"  columns = [\"ips\", \"wkb/i\"]\n  rows = [\"down\"]\n  across = [\"over\"]\n  interval = true",
			"  columns = [\"ips\"]\n  baseline = { over = \"1\" }\n  column \"rel\" {\n    of = \"ips\"\n    relative = true\n  }",
			"  columns = [\"ips\"]\n  aggregate = \"median\"\n  column \"both\" { value = col[\"ips\"] / col[\"wkb/i\"] }",
			"  columns = [\"ips\", \"cpu\"]\n  rows = [\"down\"]\n  sort = [\"-ips\"]\n  geomean = true",
		}[i%5])
	}
	for i, body := range []string{
		"kind = \"bar\"\n  x = \"over\"\n  y = \"ips\"\n  series = []",
		"kind = \"bar\"\n  x = \"down\"\n  y = \"wkb/i\"\n  series = []",
		"kind = \"line\"\n  x = \"down\"\n  y = \"cpu\"\n  series = [\"over\"]\n  log = true",
		"kind = \"line\"\n  x = \"time\"\n  y = \"ips\"\n  series = [\"over\"]\n  only = axis.down == \"1\"",
		"kind = \"box\"\n  x = \"over\"\n  y = \"cpu\"\n  only = axis.down == \"1\"",
	} {
		fmt.Fprintf(&b, "chart \"c%d\" {\n  phase = \"load\"\n  %s\n}\n", i, body)
	}
	return b.String()
}

// benchRows are the results, made inside the database: the store's own methods
// sync each step to the device, which is not what is measured here.
var benchRows = []string{
	`INSERT INTO attempt (id, run_id, number, runner_id, fingerprint_id, phases, status, began_ns, ended_ns)
	 SELECT r.id, r.id, 1, (SELECT id FROM runner), c.fingerprint_id, 1, 'ok', 1, 2 FROM run r JOIN cell c ON c.id = r.cell_id`,
	`INSERT INTO phase (id, attempt_id, ordinal, block, name, workload, workload_version, fingerprint_id, planned, finished, status, began_ns, ended_ns, seconds)
	 SELECT id, id, 1, 'load', 'load', 'sql', 1, fingerprint_id, 1, 1, 'ok', 1, 2, 100 FROM attempt`,
	`INSERT INTO iteration (id, phase_id, number, status, began_ns, ended_ns) SELECT id, id, 1, 'ok', 1, 2 FROM phase`,
	`INSERT INTO metric SELECT i.id, n.id, CASE n.name WHEN 'secs' THEN 100 ELSE 1000 + (i.id * 7919 * n.id) % 5000 + 0.25 END
	 FROM iteration i CROSS JOIN metric_name n`,
	fmt.Sprintf(`INSERT INTO series (id, iteration_id, metric_name_id, instance) SELECT i.id * 1000 + n.id, i.id, n.id, ''
	 FROM iteration i CROSS JOIN metric_name n WHERE n.id <= %d`, benchSeries),
	fmt.Sprintf(`WITH RECURSIVE second (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM second WHERE n < %d)
	 INSERT INTO reading SELECT s.id, 1000 * second.n, 1000 + (s.id * second.n) %% 977 FROM series s CROSS JOIN second`, benchReadings),
	`INSERT INTO fact SELECT a.id, s.id FROM attempt a CROSS JOIN setting s WHERE s.name LIKE 'host.%'`,
}

// benchRecord makes the experiment with its record, and returns its directory.
func benchRecord(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "large")
	if err := os.Mkdir(dir, 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "experiment.hcl"), []byte(benchExperiment()), 0o666); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	path := filepath.Join(dir, recordName)
	recordBenchPlan(b, dir, path)
	// A small cache: the peak of a program that is started counts from what the
	// one had that starts it.
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=OFF&_synchronous=OFF&_foreign_keys=off&_locking_mode=EXCLUSIVE&_cache_size=-20000")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec := func(query string, args ...any) {
		b.Helper()
		if _, err := db.ExecContext(b.Context(), query, args...); err != nil {
			b.Fatalf("%v in %s", err, query)
		}
	}
	for i := range benchMetrics {
		names := []string{"ips", "cpu_user", "cpu_system", "cpu_iowait", "cpu_idle", "cpu_steal", "rows_inserted", "secs", "disk_reads",
			"disk_read_bytes", "disk_write_bytes", "size_allocated", "server_rss"}
		name := fmt.Sprint("metric_", i)
		if i < len(names) {
			name = names[i]
		}
		exec("INSERT INTO metric_name (name, unit) VALUES (?, 's')", name)
	}
	for i := range 40 {
		exec("INSERT INTO setting (name, value) VALUES (?, 'as on all hosts')", fmt.Sprint("host.", i))
	}
	for _, query := range benchRows {
		exec(query)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d MB of results made in %.0f s", info.Size()>>20, time.Since(began).Seconds())
	return dir
}

// recordBenchPlan records the plan, and a runner for its attempts.
func recordBenchPlan(b *testing.B, dir, path string) {
	ctx := context.Background()
	s := &streams{out: os.Stdout, err: os.Stderr}
	exp, cells, err := new(experimentOptions).expand(ctx, s, dir)
	if err != nil {
		b.Fatal(err)
	}
	p, err := exp.MakePlan(cells, matrix.History{}, matrix.PlanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	record, err := store.Open(ctx, path)
	if err != nil {
		b.Fatal(err)
	}
	defer record.Close()
	id, err := record.RecordPlan(ctx, p)
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err := record.BeginRunner(ctx, store.Runner{Experiment: id, Version: "bench", Command: "bench", PID: 1, BootID: "none"}, func(store.Runner) bool { return false }); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReport is what the user of a large experiment waits for: a report of ten
// tables and five charts from 10,000 runs with 60 metrics, beside 20 million
// readings; less than 2 s and 300 MB are wanted.
func BenchmarkReport(b *testing.B) {
	dir := benchRecord(b)
	for _, format := range []string{"text", "html"} {
		b.Run(format, func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "report."+extensions[format])
			peak, cpu := int64(0), time.Duration(0)
			for b.Loop() {
				c := exec.CommandContext(b.Context(), "dbmatrix", "report", dir, "--format", format, "-q", "-o", out)
				c.Stderr = os.Stderr
				if err := c.Run(); err != nil {
					b.Fatal(err)
				}
				peak = max(peak, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
				cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			}
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(peak)/1024, "MB-resident")
		})
	}
}

// BenchmarkQuickstart is what the user of the first experiment waits for: its
// report, with results that are made up; less than 200 ms are wanted.
func BenchmarkQuickstart(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "quickstart")
	if err := os.Mkdir(dir, 0o777); err != nil {
		b.Fatal(err)
	}
	definition, err := os.ReadFile(filepath.Join("..", "..", "experiments", "quickstart", "experiment.hcl"))
	if err != nil {
		b.Fatal(err)
	}
	machine := filepath.Join(dir, "machine")
	for path, content := range map[string][]byte{filepath.Join(dir, "experiment.hcl"): definition, machine: nil} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	if err := recordMadeUp(b.Context(), dir, machine, 1, ""); err != nil {
		b.Fatal(err)
	}
	cpu := time.Duration(0)
	for b.Loop() {
		c := exec.CommandContext(b.Context(), "dbmatrix", "report", dir, "--machine", machine, "--partial", "-q", "-o", filepath.Join(dir, "report.txt"))
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
}
