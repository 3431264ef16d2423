package pgbench

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

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload/program"
)

var update = flag.Bool("update", false, "write the golden files anew")

// read reads recorded output, in which both streams are one.
func read(text string) *report {
	var r report
	for _, line := range strings.Split(text, "\n") {
		s := program.Stdout
		if strings.HasPrefix(line, "progress: ") || strings.HasPrefix(line, "pgbench: ") || strings.HasPrefix(line, "starting vacuum") {
			s = program.Stderr
		}
		r.line(s, line)
	}
	return &r
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReports reads recorded output and holds all numbers to golden files. Those
// of 15 and 17 are of the program itself; older ones are written after its
// documentation.
func TestReports(t *testing.T) {
	for _, name := range []string{"run-9.4", "rate-13", "run-14", "run-15", "rate-15", "scripts-15", "run-17", "rate-17", "scripts-17"} {
		t.Run(name, func(t *testing.T) {
			r := read(file(t, name+".txt"))
			if err := r.check(); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, key := range slices.Sorted(maps.Keys(r.values)) {
				fmt.Fprintf(&got, "%s %v\n", key, r.values[key])
			}
			fmt.Fprintf(&got, "each second %v\n", r.rates())
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(file(t, name+".golden"), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCutShort cuts reports short at every line: only a report whose rates are
// printed is whole.
func TestCutShort(t *testing.T) {
	for _, name := range []string{"run-9.4.txt", "rate-13.txt", "run-15.txt", "rate-17.txt"} {
		lines := strings.Split(file(t, name), "\n")
		last := slices.IndexFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "tps = ") && !strings.Contains(l, "including")
		})
		for n := range last {
			if read(strings.Join(lines[:n], "\n")).check() == nil {
				t.Fatalf("%s passes when it ends before line %d, %q", name, n+1, lines[n])
			}
		}
		if err := read(strings.Join(lines[:last+1], "\n")).check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBrokenReports(t *testing.T) {
	for _, test := range []struct{ file, from, to, want string }{
		{"run-15.txt", "progress: 2.0 s", "progress: two s", "a line of no known form: progress: two s"},
		{"run-15.txt", ", 0 failed\n", ", 0 failed, 3 lost\n", "a line of no known form: progress: 1.0 s"},
		{"run-15.txt", "number of threads: 2", "number of threads: some", "a line of no known form: number of threads: some"},
		{"run-15.txt", "(without initial connection time)", "(with everything)", "a line of no known form: tps = 2455.089361 (with everything)"},
		{"run-15.txt", "tps = 2455.089361", "tps = nan", "a line of no known form: tps = nan"},
		{"run-15.txt", "latency average = 0.814 ms\n", "", "does not say lat_mean"},
		{"run-15.txt", "processed: 7353", "processed: 0", "no transaction was done"},
		{"scripts-15.txt", "processed: 50/50", "processed: 49/50", "only 49 of 50 transactions were done"},
		{"abort-15.txt", "", "", "pgbench: error: client 1 script 0 aborted in command 0 query 0: ERROR:  division by zero"},
		{"abort-17.txt", "", "", "Run was aborted; the above results are incomplete"},
		{"nothing-15.txt", "", "", "client 0 script 0 aborted"},
		{"run-14.txt", "starting vacuum...end.", "pgbench: fatal: could not", "pgbench: fatal: could not"},
		{"run-9.4.txt", "starting vacuum...end.", "Client 0 aborted in state 8: ERROR", "Client 0 aborted in state 8"},
	} {
		whole := file(t, test.file)
		text := strings.Replace(whole, test.from, test.to, 1)
		if text == whole && test.from != "" {
			t.Fatalf("%q is not in %s", test.from, test.file)
		}
		if err := read(text).check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %q for %q: the error is %v, want %q", test.file, test.to, test.from, err, test.want)
		}
	}
}

// TestStall checks that a line which is late fills the seconds before it.
func TestStall(t *testing.T) {
	r := read("progress: 1.0 s, 10.0 tps, lat 1.0 ms stddev 0.1, 0 failed\n" +
		"progress: 4.0 s, 3.0 tps, lat 1.0 ms stddev 0.1, 0 failed\n" +
		"progress: 5.0 s, 0.0 tps, lat -nan ms stddev -nan, 0 failed")
	if len(r.faults) > 0 {
		t.Fatal(r.faults)
	}
	if diff := cmp.Diff([]float64{10, 3, 3, 3, 0}, r.rates()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzReport checks that no output makes the reader panic, and that none passes
// without work and a rate.
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
		r.rates()
		if r.check() != nil {
			return
		}
		if _, ok := r.values["tps"]; !ok || r.values["transactions"] <= 0 {
			t.Error("a report without work passes")
		}
	})
}

func TestParseLogLine(t *testing.T) {
	for line, want := range map[string]string{
		"0 199 2241 0 1175850568 995598":                "client 0, 1175850568.995598, 2.241ms, done true",
		"3 1 1500 0 1175850569 5 12":                    "client 3, 1175850569.000005, 1.5ms, done true",
		"0 81 4621 0 1412881037 912698 3005 2":          "client 0, 1412881037.912698, 4.621ms, done true",
		"0 84 skipped 0 1412881037 912698 2.5":          "client 0, 1412881037.912698, 0s, done false",
		"3 0 serialization 0 1499414498 26 9":           "client 3, 1499414498.000026, 0s, done false",
		"0 199 2241 0 1175850568":                       "fault",
		"0 199 2241 0 1175850568 1000000":               "fault",
		"0 199 2241 0 1175850568 995598 1 1 1":          "fault",
		"-1 199 2241 0 1175850568 995598":               "fault",
		"0 199 lost 0 1175850568 995598":                "fault",
		"0 199 9223372036854775807 0 1175850568 995598": "fault",
		"0 199 2241 0 99999999999999999999 995598":      "fault",
		"":                              "fault",
		"1 2 3 0 9223372036854775807 1": "fault",
		"99999999999 199 2241 0 1175850568 995598":       "fault",
		"client 0 sent nothing at all in the whole time": "fault",
	} {
		got := "fault"
		if client, end, took, done, err := parseLogLine(line); err == nil {
			got = fmt.Sprintf("client %d, %d.%06d, %s, done %v", client, end.Unix(), end.Nanosecond()/1000, took, done)
		}
		if got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
}

func FuzzParseLogLine(f *testing.F) {
	f.Add("0 199 2241 0 1175850568 995598")
	f.Fuzz(func(t *testing.T, line string) {
		client, end, took, _, err := parseLogLine(line)
		if err == nil && (client < 0 || took < 0 || end.Unix() < 0) {
			t.Errorf("%q is client %d, %s, %s", line, client, end, took)
		}
	})
}
