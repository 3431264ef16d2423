package report

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"dbmatrix/matrix"
)

// madeUpExport exports the attempts of the model.
func madeUpExport(t *testing.T) *Export {
	t.Helper()
	exp, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	attempts := madeUp(cells)
	for i := range attempts {
		attempts[i].Levels, attempts[i].Counts = map[string]string{}, attempts[i].Status.Complete() && attempts[i].Withdrawn == ""
		for _, c := range cells {
			if c.Key == attempts[i].Cell {
				attempts[i].Levels = levelsOf(c)
			}
		}
	}
	return NewExport(exp, cells, "host-a", attempts)
}

// TestExportRoundTrip reads an exported file as an import: each number is the
// one that was recorded or computed, to the last digit.
func TestExportRoundTrip(t *testing.T) {
	e := madeUpExport(t)
	var b bytes.Buffer
	if err := e.CSV(&b); err != nil {
		t.Fatal(err)
	}
	back, err := ReadImport(&b, "old", "old.csv", e.Axes)
	if err != nil {
		t.Fatal(err)
	}
	standing := e.Standing()
	if len(back) != len(standing) {
		t.Fatalf("%d attempts came back of %d", len(back), len(standing))
	}
	numbers := 0
	for i, a := range standing {
		got := back[i]
		if got.Cell != a.Cell || got.Replicate != a.Replicate || got.Matrix != a.Matrix {
			t.Fatalf("got %s %d %q, want %s %d %q", got.Cell, got.Replicate, got.Matrix, a.Cell, a.Replicate, a.Matrix)
		}
		for k, p := range a.results() {
			want := map[string]float64{}
			for token, v := range values(Columns(), p.Metrics) {
				want[token] = v
			}
			have := map[string]float64{}
			for token, v := range got.Phases[k].Printed {
				have[token] = v.Number
			}
			numbers += len(have)
			if diff := cmp.Diff(want, have); diff != "" || got.Phases[k].Status != p.Status {
				t.Errorf("%s, %s: status %s, want %s; -want +got\n%s", a.Cell, p.Phase, got.Phases[k].Status, p.Status, diff)
			}
		}
	}
	if numbers == 0 {
		t.Error("no number was exported")
	}
}

// TestExportStanding checks which attempt of a run is exported.
func TestExportStanding(t *testing.T) {
	attempt := func(number int, status matrix.Status, counts bool) Attempt {
		return Attempt{Cell: "a=1", Replicate: 1, Number: number, Status: status, Counts: counts}
	}
	tests := []struct {
		name     string
		attempts []Attempt
		want     int // its number; 0: none
	}{
		{"the one that counts", []Attempt{attempt(1, matrix.OK, false), attempt(2, matrix.SLAMissed, true)}, 2},
		{"not a later failure", []Attempt{attempt(1, matrix.OK, true), attempt(2, matrix.Failed, false)}, 1},
		{"the newest failure where that is all", []Attempt{attempt(1, matrix.Crashed, false), attempt(2, matrix.Failed, false)}, 2},
		{"none where the result was withdrawn", []Attempt{attempt(1, matrix.OK, false), attempt(2, matrix.OK, false), attempt(3, matrix.Failed, false)}, 0},
		{"nothing that is under way", []Attempt{attempt(1, "running", false)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := 0
			for _, a := range (&Export{Attempts: tt.attempts}).Standing() {
				got = a.Number
			}
			if got != tt.want {
				t.Errorf("attempt %d stands, want %d", got, tt.want)
			}
		})
	}
}

// TestExportBenchfmt reads the benchmark format back.
func TestExportBenchfmt(t *testing.T) {
	e := madeUpExport(t)
	var b bytes.Buffer
	if err := e.Benchfmt(&b); err != nil {
		t.Fatal(err)
	}
	r := benchfmt.NewReader(strings.NewReader(b.String()), "export")
	results := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			results++
			if len(rec.Values) == 0 || !strings.Contains(string(rec.Name), "/iteration=") {
				t.Errorf("result %s has %d values", rec.Name, len(rec.Values))
			}
		}
	}
	if err := r.Err(); err != nil || results == 0 {
		t.Errorf("%d results, %v", results, err)
	}
}
