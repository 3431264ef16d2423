package tpcc

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload/program"
)

var update = flag.Bool("update", false, "write the golden files anew")

// read reads recorded output, in which both streams are one. The first line of
// an interval tells a second more.
func read(text string, allowed ...string) *report {
	r := &report{allowed: allowed}
	at, last := 300*time.Millisecond, ""
	for _, line := range strings.Split(text, "\n") {
		s := program.Stdout
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "goroutine ") {
			s = program.Stderr
		}
		if name, ok := strings.CutPrefix(line, "[Current] "); ok {
			if name, _, _ = strings.Cut(name, " "); name <= last || last == "" {
				at += time.Second
			}
			last = name
		}
		r.line(s, line, at)
	}
	return r
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReports reads output that was recorded of the program and holds all
// numbers to golden files.
func TestReports(t *testing.T) {
	for _, name := range []string{"run", "errors", "run-postgres", "errors-postgres"} {
		r := read(file(t, name+".txt"))
		if err := r.checkRun(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got bytes.Buffer
		for _, key := range slices.Sorted(maps.Keys(r.values)) {
			fmt.Fprintf(&got, "%s %v\n", key, r.values[key])
		}
		for _, key := range slices.Sorted(maps.Keys(r.summary)) {
			fmt.Fprintf(&got, "%s %+v\nin each second %v\n", key, r.summary[key], r.perSecond(key))
		}
		fmt.Fprintf(&got, "all %d\nin each second %v\n", r.transactions(), r.perSecond(""))
		fmt.Fprintf(&got, "deadlocks %d, lock waits %d, conflicts %d, errors %d, unnamed %d\n", r.deadlocks, r.lockWaits, r.conflicts, r.errors, r.unnamed)
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(file(t, name+".golden"), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := read(file(t, "prepare.txt")).checkLoad(); err != nil {
		t.Errorf("prepare: %v", err)
	}
}

// TestCutShort cuts output short at every line.
func TestCutShort(t *testing.T) {
	for name, check := range map[string]func(*report) error{"run.txt": (*report).checkRun, "errors.txt": (*report).checkRun, "errors-postgres.txt": (*report).checkRun, "prepare.txt": (*report).checkLoad} {
		lines := strings.Split(strings.TrimSuffix(file(t, name), "\n"), "\n")
		for n := range lines {
			if check(read(strings.Join(lines[:n], "\n"))) == nil {
				t.Fatalf("%s passes when it ends before line %d, %q", name, n+1, lines[n])
			}
		}
	}
}

func TestBrokenReports(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"tpmC: ", "tpm: ", "a line of no known form: tpm: "},
		{"efficiency: ", "eff: ", "a line of no known form: tpmC: "},
		{"Takes(s): ", "Took(s): ", "a line of no known form: [Current] DELIVERY - Took(s)"},
		{"[Summary] NEW_ORDER", "[Summary] NEW_ORDERS", "it has a rate of new orders, and no new order"},
		{", Max(ms): 11.0", ", Max(ms): NaN", "a line of no known form: [Current] DELIVERY"},
		{"Finished\n", "", "does not say Finished"},
		{"Finished\n", "failed to ping db, err dial tcp\nFinished\n", "a line of no known form: failed to ping db"},
		{"Finished\n", "panic: number warehouses 2 must >= partition 3\nFinished\n", "panic: number warehouses"},
		{"Finished\n", "[2026-11-30 10:58:13] execute run failed, err exec SELECT 1\nFROM t failed Error 1146 (42S02): Table 't' doesn't exist\nFinished\n",
			"execute run failed, err exec SELECT 1 FROM t failed Error 1146 (42S02): Table"},
		{"Finished\n", "[2026-11-30 10:58:13] execute run failed, err exec SELECT 1 failed pq: division by zero\nFinished\n", "pq: division by zero"},
		{"Finished\n", "[2026-11-30 10:58:13] execute run failed, err sql: no rows in result set\nFinished\n", "sql: no rows in result set"},
		{"Finished\n", "execute run failed, err driver: bad connection\nFinished\n", "a line of no known form: execute run failed"},
		{"Finished\n", "exec statement error: Error 1114 (HY000): The table 'stock' is full, try again later...\nFinished\n", "The table 'stock' is full"},
		{"Finished\n", "Error: unknown flag: --weight\nFinished\n", "a line of no known form: Error: unknown flag"},
	} {
		whole := file(t, "run.txt")
		text := strings.Replace(whole, test.from, test.to, 1)
		if text == whole {
			t.Fatalf("%q is not in the report", test.from)
		}
		if err := read(text).checkRun(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q for %q: the error is %v, want %q", test.to, test.from, err, test.want)
		}
	}
}

// TestErrors counts errors that may be, also such as go over several lines.
func TestErrors(t *testing.T) {
	text := strings.Replace(file(t, "run.txt"), "Finished\n", ""+
		"[2026-11-30 10:58:13] execute run failed, err exec UPDATE a failed Error 1213 (40001): Deadlock found\n"+
		"[2026-11-30 10:58:13] execute run failed, err exec SELECT a\n  FROM b\n  WHERE c failed Error 1205 (HY000): Lock wait timeout exceeded\n"+
		"[2026-11-30 10:58:14] execute run failed, err Error 1062: Duplicate entry\n"+
		"[2026-11-30 10:58:14] execute run failed, err exec SELECT failed Error 1020 (HY000): Record has changed since last read in table 'district'; try restarting transaction\n"+
		"[2026-11-30 10:58:14] execute run failed, err exec SELECT a\nFROM b failed pq: deadlock detected\n"+
		"[2026-11-30 10:58:14] execute run failed, err pq: could not serialize access due to concurrent update\n"+
		"[2026-11-30 10:58:14] execute run failed, err exec UPDATE stock SET s_quantity = ? failed pq: current transaction is aborted, commands ignored until end of transaction block\n"+
		"exec statement error: pq: canceling statement due to lock timeout, try again later...\n"+
		"exec statement error: Error 1213 (40001): Deadlock found, try again later...\n"+
		"Finished\n", 1)
	r := read(text, "1062")
	if err := r.checkRun(); err != nil {
		t.Fatal(err)
	}
	if r.deadlocks != 3 || r.lockWaits != 2 || r.conflicts != 2 || r.errors != 1 || r.unnamed != 1 {
		t.Errorf("%d deadlocks, %d lock waits, %d conflicts, %d errors, %d unnamed; want 3, 2, 2, 1, 1", r.deadlocks, r.lockWaits, r.conflicts, r.errors, r.unnamed)
	}
}

// TestStall checks that an interval without a line is one in which nothing was
// done.
func TestStall(t *testing.T) {
	r := &report{}
	for _, one := range []struct {
		at   time.Duration
		name string
	}{{1100 * time.Millisecond, "DELIVERY"}, {1100 * time.Millisecond, "PAYMENT"}, {4100 * time.Millisecond, "PAYMENT"}, {5100 * time.Millisecond, "STOCK_LEVEL"}, {5101 * time.Millisecond, "DELIVERY_ERR"}} {
		r.current(one.name, 10, one.at)
	}
	if diff := cmp.Diff([]float64{20, 0, 0, 10, 10, 0}, r.perSecond("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzReport checks that no output makes the reader panic, and that none passes
// without new orders.
func FuzzReport(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txt")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := read(text)
		r.perSecond("")
		if r.checkRun() == nil && r.transactions() <= 0 {
			t.Error("a report without work passes")
		}
	})
}
