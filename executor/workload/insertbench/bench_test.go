package insertbench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

// BenchmarkRow is the making of one row's text.
func BenchmarkRow(b *testing.B) {
	g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}}
	buffer := make([]byte, 0, 64<<10)
	now := time.Now()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%100 == 0 {
			g.start(1, streamLoad, uint64(n/100))
			buffer = g.appendInsert(buffer[:0], "pi1", 100, now)
		}
	}
}

// TestNoAllocation holds the making of statements to no allocation at all.
func TestNoAllocation(t *testing.T) {
	g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}}
	c := config{indexes: 3, rowsPerQuery: 10}
	queries := c.rangeQueries("pi1")
	buffer := make([]byte, 0, 64<<10)
	now := time.Now()
	allocations := testing.AllocsPerRun(100, func() {
		g.start(1, streamLoad, 7)
		buffer = g.appendInsert(buffer[:0], "pi1", 100, now)
		for i := range queries {
			queries[i].draw(&g)
			buffer = queries[i].append(buffer[:0])
		}
	})
	if allocations > 0 {
		t.Errorf("a batch of rows and three queries took %v allocations", allocations)
	}
}

// BenchmarkLoad is a load of each profile, beside the same statements, made
// beforehand, piped through the server's own program, mariadb or psql. It reports
// rows per second, and what the client takes for a row: CPU time, and allocations;
// the rate in shares of the program's, and the CPU time in shares of the server's.
// They are medians of pairs, each of which runs one straight after the other.
func BenchmarkLoad(b *testing.B) {
	b.Run("mariadb", func(b *testing.B) {
		if _, err := exec.LookPath("mariadb"); err != nil {
			workloadtest.Missing(b, "the program mariadb")
		}
		target := workloadtest.Start(b, "--innodb_log_file_size=512M")
		loads(b, target, "mariadb", "--no-defaults", "-uroot", "-S"+target.Socket, database)
	})
	b.Run("postgres", func(b *testing.B) {
		psql := filepath.Join(workloadtest.PostgresPrograms(b), "psql")
		target := workloadtest.StartPostgres(b, "max_wal_size=4GB")
		loads(b, target, psql, "-X", "-q", "-h", filepath.Dir(target.Socket), "-U", target.User, database)
	})
}

// loads loads a server, and pipes the statements through a program.
func loads(b *testing.B, target workload.Target, program ...string) {
	const rows, pairs = 300000, 5
	pid := workloadtest.PID(b, target)
	for _, step := range []string{stepLoad, stepFill} {
		w := benchmark{config: loadConfig(b, target, step, rows)}
		statements := filepath.Join(b.TempDir(), "load.sql")
		writeStatements(b, &w, statements, rows)
		b.Run(step, func(b *testing.B) {
			var rates, cpus, allocations, rateRatios, cpuRatios []float64
			for b.Loop() {
				for range pairs {
					l := load(b, &w, target, pid)
					rates, cpus = append(rates, l.rate), append(cpus, l.client.Seconds()*1e6/rows)
					allocations = append(allocations, float64(l.allocations)/rows)
					rateRatios = append(rateRatios, l.rate/pipedRate(b, &w, target, statements, program))
					cpuRatios = append(cpuRatios, l.client.Seconds()/l.server.Seconds())
				}
			}
			b.ReportMetric(median(rates), "rows/s")
			b.ReportMetric(median(cpus), "client-us/row")
			b.ReportMetric(median(allocations), "allocs/row")
			b.ReportMetric(median(rateRatios), "rate/program")
			b.ReportMetric(median(cpuRatios), "cpu/server")
		})
	}
}

// A loaded is what a load took.
type loaded struct {
	rate           float64 // rows a second
	client, server time.Duration
	allocations    uint64
}

func load(b *testing.B, w *benchmark, target workload.Target, pid int) loaded {
	var l loaded
	var before, after runtime.MemStats
	r := workload.NewRecorder("", workload.Hooks{
		// What the asking takes is not the client's.
		Begin: func(time.Time) {
			l.server = workloadtest.CPU(b, pid)
			runtime.ReadMemStats(&before)
			l.client = self(b)
		},
		End: func(time.Time) {
			l.client = self(b) - l.client
			runtime.ReadMemStats(&after)
			l.server = workloadtest.CPU(b, pid) - l.server
		},
	})
	if err := w.Run(b.Context(), target, r); err != nil {
		b.Fatal(err)
	}
	result := r.Result()
	l.rate, l.allocations = float64(w.rows)/result.End.Sub(result.Start).Seconds(), after.Mallocs-before.Mallocs
	return l
}

// pipedRate returns the rows that a program inserts in a second which reads the
// statements.
func pipedRate(b *testing.B, w *benchmark, target workload.Target, statements string, program []string) float64 {
	makeTables(b, w, target)
	in, err := os.Open(statements)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	cmd := exec.CommandContext(b.Context(), program[0], program[1:]...)
	cmd.Stdin = in
	started := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatal(err, string(out))
	}
	return float64(w.rows) / time.Since(started).Seconds()
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func loadConfig(t testing.TB, target workload.Target, step string, rows int) config {
	c, faults := decode(arguments(t, block{"step": step, "rows": rows, "verify": false}), matrix.Build{Flavour: target.Flavour})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

func arguments(t testing.TB, b block) matrix.Args { return workloadtest.Args(t, Type(), b) }

func makeTables(t testing.TB, w *benchmark, target workload.Target) {
	if err := w.createTables(t.Context(), target, workload.NewRecorder("", workload.Hooks{})); err != nil {
		t.Fatal(err)
	}
}

func writeStatements(t testing.TB, w *benchmark, path string, rows int64) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	g := generator{text: newRandomText(1), shape: w.data, whole: w.profile == modern}
	var buffer []byte
	for batch := range rows / w.rowsPerCommit {
		g.start(1, streamLoad+1, uint64(batch))
		buffer = append(g.appendInsert(buffer[:0], tableName(1), w.rowsPerCommit, time.Now()), ";\n"...)
		if _, err := out.Write(buffer); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

func self(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkPacedWriter is a writer at 1,000 rows a second for a minute, while
// readers keep the server busy. It reports by how much the rate was missed.
func BenchmarkPacedWriter(b *testing.B) {
	target := workloadtest.Start(b)
	workloadtest.Do(b, Type(), target, block{"step": "load", "rows": 200000})
	for b.Loop() {
		result := workloadtest.Do(b, Type(), target, block{"step": "query", "rows": 200000, "clients": 1, "insert_rate": 1000, "seconds": 60})
		achieved := workloadtest.Metric(b, result, "achieved_rate")
		b.ReportMetric(100*(1-achieved/1000), "%missed")
		b.ReportMetric(workloadtest.Metric(b, result, "queries")/60, "queries/s")
	}
}

// BenchmarkMemory is the memory that 64 clients take, beside what the process
// had before.
func BenchmarkMemory(b *testing.B) {
	target := workloadtest.Start(b)
	workloadtest.Do(b, Type(), target, block{"step": "load", "rows": 64000, "tables": 64})
	for b.Loop() {
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		resident := rss(b)
		w, err := newWorkload(arguments(b, block{"step": "query", "rows": 64000, "tables": 64, "insert_rate": 100, "seconds": 5}))
		if err != nil {
			b.Fatal(err)
		}
		r := workload.NewRecorder("", workload.Hooks{End: func(time.Time) {
			runtime.ReadMemStats(&during)
			b.ReportMetric(float64(rss(b)-resident)/1e6, "rss-MB")
		}})
		if err := w.Run(b.Context(), target, r); err != nil {
			b.Log(err)
		}
		b.ReportMetric(float64(during.HeapAlloc-before.HeapAlloc)/1e6, "heap-MB")
	}
}

// rss returns the process's resident memory in bytes.
func rss(t testing.TB) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err, strconv.Quote(string(text)))
	}
	return resident * int64(os.Getpagesize())
}
