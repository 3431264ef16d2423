package report

import (
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// TestBenchfmtMedians reads what Benchfmt wrote with the package that benchstat
// reads it with, summarizes it as benchstat does, and compares the medians with
// those of the table.
func TestBenchfmtMedians(t *testing.T) {
	doc, err := buildModel(t, madeUp).Only("load", "median", "pivot")
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]float64{}
	in := benchfmt.NewReader(strings.NewReader(rendered(t, doc, "benchfmt")), "model.bench")
	for in.Scan() {
		switch r := in.Result().(type) {
		case *benchfmt.Result:
			for _, v := range r.Values {
				key := strings.Join([]string{string(r.Name), r.GetConfig("engine"), r.GetConfig("compression"), r.GetConfig("clients"), v.Unit}, " ")
				samples[key] = append(samples[key], v.Value)
			}
		case *benchfmt.SyntaxError:
			t.Errorf("%s", r)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	// From the tables' own text: the median of an odd number of runs is the
	// run that is shown.
	want := map[string]float64{
		"Load inno c0  ips":    10002,
		"Load rocks c1  ips":   13002,
		"Median inno   qps":    1810,
		"Median rocks   qps":   3820,
		"Pivot inno c1 4 qps":  2320,
		"Pivot inno c1 4 gain": 1010,
		"Pivot rocks c0 4 rel": 3320. / 1310,
	}
	for key, median := range want {
		sample := benchmath.NewSample(samples[key], &benchmath.DefaultThresholds)
		if len(samples[key]) == 0 {
			t.Errorf("%s: no values", key)
		} else if got := benchmath.AssumeNothing.Summary(sample, confidence).Center; got != median {
			t.Errorf("%s: median %g of %v, want %g", key, got, samples[key], median)
		}
	}
	if got := samples["Pivot rocks c0 1 qps"]; got != nil {
		t.Errorf("the runs that crashed have the values %v", got)
	}
}

func TestBenchfmtNames(t *testing.T) {
	for axis, want := range map[string]string{"engine": "engine", "Flush Method": "flush-method", "a:b": "a-b", "1st": "axis-1st"} {
		if got := benchKey(axis); got != want {
			t.Errorf("benchKey(%q) = %q, want %q", axis, got, want)
		}
	}
	for table, want := range map[string]string{"load": "Load", "over time": "Over_time", "1k": "1k", "ßa": "_ßa"} {
		if got := benchName(table); got != want {
			t.Errorf("benchName(%q) = %q, want %q", table, got, want)
		}
	}
}
