package report

import (
	"math"
	"path/filepath"
	"testing"

	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
)

// TestWorse checks what counts as worse, by the direction of a column.
func TestWorse(t *testing.T) {
	known := func(x float64) Value { return Value{Number: x, Known: true} }
	tests := []struct {
		name string
		pair Pair
		want float64
		ok   bool
	}{
		{"a rate fell", Pair{Direction: Higher, A: known(100), B: known(90)}, 10, true},
		{"a rate rose", Pair{Direction: Higher, A: known(100), B: known(150)}, -50, true},
		{"a rate vanished", Pair{Direction: Higher, A: known(100), B: known(0)}, 100, true},
		{"a size grew", Pair{Direction: Lower, A: known(100), B: known(125)}, 25, true},
		{"a size appeared", Pair{Direction: Lower, A: known(0), B: known(1)}, math.Inf(1), true},
		{"nothing and nothing", Pair{Direction: Lower, A: known(0), B: known(0)}, 0, true},
		{"no direction", Pair{A: known(1), B: known(2)}, 0, false},
		{"no number", Pair{Direction: Lower, A: known(1)}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.pair.Worse()
			if math.Abs(got-tt.want) > 1e-9 || ok != tt.ok {
				t.Errorf("got %v, %v; want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestCompareShared compares cells that share one load: the load is the same
// measurement, the query is not.
func TestCompareShared(t *testing.T) {
	exp, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	in := Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval}
	shared := 0
	for _, axis := range exp.Axes {
		def := &matrix.Table{Name: "t", Phase: "load", Columns: []matrix.Column{{Label: "ips", Of: "ips"}}}
		c, diags := Compare(in, def, axis.Name, "")
		failOn(t, exp.Files, diags)
		for _, p := range c.Pairs {
			if p.Shared {
				shared++
				if p.Tested || p.Significant {
					t.Errorf("%s: one measurement was compared with itself: %+v", axis.Name, p)
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no pair shares its load")
	}
}

// TestCompareRecords compares a record with itself: no difference is significant.
func TestCompareRecords(t *testing.T) {
	exp, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	in := Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval}
	def := &matrix.Table{Name: "t", Phase: "query", Columns: []matrix.Column{{Label: "qps", Of: "qps"}}}
	c, diags := CompareRecords(in, in, def)
	failOn(t, exp.Files, diags)
	if len(c.Pairs) == 0 {
		t.Fatal("no cell was compared with itself")
	}
	for _, p := range c.Pairs {
		if diff := cmp.Diff(p.A, p.B); diff != "" || p.Significant || p.RunsA != p.RunsB {
			t.Errorf("%+v: %s", p, diff)
		}
	}
}
