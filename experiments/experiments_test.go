// Package experiments_test checks the experiments that come with dbmatrix: each
// is a definition that validates on a host with none of its builds.
package experiments_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/server"
	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/insertbench"
	"dbmatrix/executor/workload/sqlscript"
	"dbmatrix/executor/workload/sysbench"
	"dbmatrix/matrix"
)

// definitions are all experiments here, with the number of their cells and with
// their tables and charts, at each scale that they have.
var definitions = []struct {
	name     string
	scale    string // "" where the experiment has one scale
	cells    int
	sections []string
}{
	{"quickstart", "", 15, []string{"summary"}},
	{"binaries", "", 13, []string{"by-binary", "by-compression"}},
	{"linkbench-io-bound", "small", 14, nil},
	{"linkbench-io-bound", "published", 14, []string{"rates-by-binary", "rates-by-config", "sizes", "load", "partitioned"}},
	{"linkbench-cached", "small", 16, nil},
	{"linkbench-cached", "published", 16, []string{"p0.c0", "p0.c1", "p1.c0", "p1.c1", "load", "hour-12"}},
	{"linkbench-single-threaded", "small", 17, nil},
	{"linkbench-single-threaded", "published", 17, []string{"p0.c0", "p0.c1", "p1.c0", "p1.c1", "relative"}},
	{"linkbench-dio", "small", 6, nil},
	{"linkbench-dio", "published", 6, []string{"load", "query-12h"}},
	{"insert-benchmark-dio", "small", 5, nil},
	{"insert-benchmark-dio", "published", 5, []string{"load", "scan", "query-1", "query-5", "query-4", "oltp-16x1000", "oltp-16x100"}},
	{"transparent-compression", "small", 4, nil},
	{"transparent-compression", "published", 4, []string{"fb56-vs-orig578", "old-style-vs-transparent", "drop"}},
	{"full-page-writes", "small", 19, nil},
	{"full-page-writes", "published", 19, []string{"tps-wal", "wal-volume", "tps"}},
	{"tpcc-buffer-pool", "small", 5, nil},
	{"tpcc-buffer-pool", "published", 8, []string{"tpm"}},
	{"tpcc-cache", "small", 2, nil},
	{"tpcc-cache", "published", 2, []string{"run", "tpm"}},
	{"oltp-cache", "small", 4, nil},
	{"oltp-cache", "published", 4, []string{"tps"}},
	{"durability", "small", 6, nil},
	{"durability", "published", 6, []string{"tps"}},
	{"concurrency-tickets", "small", 35, nil},
	{"concurrency-tickets", "published", 49, []string{"qps"}},
	{"threads-running", "small", 6, nil},
	{"threads-running", "published", 1, []string{"running"}},
	{"fileio-layouts", "small", 16, nil},
	{"fileio-layouts", "published", 20, []string{"mb"}},
	{"fsync-rate", "small", 2, nil},
	{"fsync-rate", "published", 2, []string{"fsync"}},
}

// TestDefinitions loads and expands each experiment as a host would that has
// none of its builds.
func TestDefinitions(t *testing.T) {
	for _, tt := range definitions {
		t.Run(tt.name+" "+tt.scale, func(t *testing.T) {
			exp, cells := expand(t, tt.name, tt.scale)
			if len(cells) != tt.cells {
				t.Errorf("%d cells, want %d", len(cells), tt.cells)
			}
			if exp.Title == "" {
				t.Error("no title")
			}
			var sections []string
			for _, b := range exp.Report {
				sections = append(sections, b.BlockName())
			}
			if diff := cmp.Diff(tt.sections, sections); tt.sections != nil && diff != "" {
				t.Errorf("tables and charts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryExperimentIsListed fails where a folder here is not in definitions.
func TestEveryExperimentIsListed(t *testing.T) {
	files, err := filepath.Glob("*/experiment.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Dir(file)
		listed := false
		for _, d := range definitions {
			listed = listed || d.name == name
		}
		if !listed {
			t.Errorf("experiment %s is not in the table of this test", name)
		}
	}
}

// TestPublishedCells compares the cells of the published scale with those that
// were published.
func TestPublishedCells(t *testing.T) {
	files, err := filepath.Glob("*/published.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 7 {
		t.Errorf("%d published files, want 7", len(files))
	}
	for _, file := range files {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			want := publishedCells(t, file)
			_, cells := expand(t, name, "published")
			var got []string
			for _, c := range cells {
				var levels []string
				for _, l := range c.Levels {
					levels = append(levels, l.Axis+"="+l.Name)
				}
				got = append(got, cellName(levels))
			}
			sort.Strings(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("cells (-published +planned):\n%s", diff)
			}
		})
	}
}

// publishedCells returns the cells of a published.csv, sorted: its axes are the
// columns before phase, but for one called matrix; an empty level is none.
func publishedCells(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	head := records[0]
	axes := head[:slices.Index(head, "phase")]
	var cells []string
	for _, record := range records[1:] {
		var levels []string
		for i, axis := range axes {
			if axis != "matrix" && record[i] != "" {
				levels = append(levels, axis+"="+record[i])
			}
		}
		if name := cellName(levels); !slices.Contains(cells, name) {
			cells = append(cells, name)
		}
	}
	sort.Strings(cells)
	return cells
}

// cellName names a cell whatever the order of its axes.
func cellName(levels []string) string {
	sort.Strings(levels)
	return strings.Join(levels, " ")
}

// expand loads an experiment at a scale and returns it with its cells. Any
// diagnostic fails the test: a definition that comes with dbmatrix has none.
func expand(t *testing.T, name, scale string) (*matrix.Experiment, []*matrix.Cell) {
	t.Helper()
	machine := filepath.Join(t.TempDir(), "machine.hcl")
	if err := os.WriteFile(machine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := matrix.LoadOptions{
		Path:    name,
		Machine: machine,
		Host:    matrix.Host{CPUs: 2, Memory: 8},
	}
	if scale != "" {
		o.Vars = []matrix.VarValue{{Name: "scale", Value: scale}}
	}
	types := append([]workload.Type{insertbench.Type(), sqlscript.Type(), sysbench.Type()}, workload.Schemas()...)
	for _, w := range types {
		o.Workloads = append(o.Workloads, w.WorkloadType)
	}
	for _, f := range server.Flavours() {
		o.Dialects = append(o.Dialects, f.Dialect())
	}
	exp, _, diags := matrix.Load(context.Background(), o)
	for _, d := range diags {
		t.Errorf("loading: %v", d)
	}
	if exp == nil {
		t.FailNow()
	}
	cells, diags := exp.Expand()
	for _, d := range diags {
		t.Errorf("expanding: %v", d)
	}
	return exp, cells
}
