package sysbench

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func read(t testing.TB, path string) *report {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	for _, line := range strings.Split(string(text), "\n") {
		r.line(line)
	}
	return &r
}

// TestReports reads recorded output and holds all numbers to golden files. Those
// of 1.0 are of the program itself; those of 1.1 are written after its forms.
func TestReports(t *testing.T) {
	paths, err := filepath.Glob("testdata/*-1.?.txt")
	if err != nil || len(paths) < 8 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := read(t, path)
			script, _, _ := strings.Cut(filepath.Base(path), "-")
			c := config{script: map[string]string{"oltp": "oltp_read_write", "rate": "oltp_point_select"}[script]}
			if c.script == "" {
				c.script = script
			}
			if err := r.check(c.required()); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, name := range slices.Sorted(maps.Keys(r.values)) {
				fmt.Fprintf(&got, "%s %v\n", name, r.values[name])
			}
			for _, i := range r.intervals {
				fmt.Fprintf(&got, "%vs %v\n", i.at, i.rates)
			}
			for _, p := range []float64{50, 95, 99} {
				ms, ok := r.latency(p)
				fmt.Fprintf(&got, "p%g %v %v\n", p, ms, ok)
			}
			golden := strings.TrimSuffix(path, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLatency compares the percentile that the program prints with ours of its
// histogram.
func TestLatency(t *testing.T) {
	for name, printed := range map[string]float64{"oltp-1.0.txt": 0, "rate-1.0.txt": 0, "cpu-1.0.txt": 0, "fileio-1.0.txt": 0} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "99th percentile:")
		if _, err := fmt.Sscan(rest, &printed); err != nil {
			t.Fatal(err)
		}
		got, ok := read(t, filepath.Join("testdata", name)).latency(99)
		if !ok || math.Abs(got-printed) > 0.0051 {
			t.Errorf("%s: the 99th percentile is %v, the program prints %v", name, got, printed)
		}
	}
}

// TestBrokenReports cuts a report short at every line, and spoils it in other
// ways: none of it may pass.
func TestBrokenReports(t *testing.T) {
	whole, err := os.ReadFile("testdata/oltp-1.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(whole), "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "sum:") })
	required := (&config{script: "oltp_read_write"}).required()
	for n := range end {
		var r report
		for _, line := range lines[:n] {
			r.line(line)
		}
		if r.check(required) == nil {
			t.Fatalf("the report passes when it ends before line %d, %q", n+1, lines[n])
		}
	}
	for _, test := range []struct{ from, to, want string }{
		{"[ 2s ] thds", "[ 2s ] threads", "[ 2s ] threads"},
		{"[ 2s ]", "[ 2s", "a line of no known form"},
		{"Threads started!", "Threads", "did not start"},
		{"SQL statistics:", "FATAL: out of cheese\nSQL statistics:", "FATAL: out of cheese"},
		{"transactions:  ", "deeds:  ", "does not say transactions"},
		{"(580.04 per sec.)", "(580.04 a second)", "does not say"},
		{"avg:", "mean:", "does not say lat_mean"},
	} {
		var r report
		text := strings.ReplaceAll(string(whole), test.from, test.to)
		if text == string(whole) {
			t.Fatalf("%q is not in the report", test.from)
		}
		for _, line := range strings.Split(text, "\n") {
			r.line(line)
		}
		if err := r.check(required); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q for %q: the error is %v, want %q", test.to, test.from, err, test.want)
		}
	}
	if err := read(t, "testdata/fatal-rc0.txt").check(nil); err == nil || !strings.Contains(err.Error(), "Cannot open file") {
		t.Errorf("a report with FATAL: the error is %v", err)
	}
}

// FuzzReport checks that no output makes the reader panic.
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
		var r report
		for _, line := range strings.Split(text, "\n") {
			r.line(line)
		}
		if r.check(nil) == nil && r.work() <= 0 {
			t.Error("a report without work passes")
		}
		for _, p := range []float64{0, 50, 100} {
			r.latency(p)
		}
	})
}
