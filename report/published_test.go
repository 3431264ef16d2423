package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"dbmatrix/matrix"
)

// published are the experiments whose result tables were published, with the
// number of those tables.
var published = map[string]int{
	"full-page-writes":          3,
	"insert-benchmark-dio":      7,
	"linkbench-cached":          4,
	"linkbench-dio":             2,
	"linkbench-io-bound":        3,
	"linkbench-single-threaded": 4,
	"transparent-compression":   2,
}

// TestPublishedTables makes each published table from the imported numbers, by
// the experiment's own definition, and compares it with the original.
func TestPublishedTables(t *testing.T) {
	for name, count := range published {
		t.Run(name, func(t *testing.T) {
			doc := buildPublished(t, name)
			files, err := filepath.Glob(filepath.Join("testdata", "published", name, "*.txt"))
			if err != nil || len(files) != count {
				t.Fatalf("%d expected tables, want %d (%v)", len(files), count, err)
			}
			for _, file := range files {
				table := strings.TrimSuffix(filepath.Base(file), ".txt")
				t.Run(table, func(t *testing.T) { comparePublished(t, doc, table, file) })
			}
		})
	}
}

func comparePublished(t *testing.T, doc *Document, table, file string) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	only, err := doc.Only(table)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := Render(&got, only, "text", Options{Bare: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tokenLines(string(want)), tokenLines(got.String())); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, got.String())
	}
}

// tokenLines returns the words of each line that is not blank: alignment does
// not count.
func tokenLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines
}

// buildPublished builds the report of an experiment at its published scale from
// the numbers in its published.csv.
func buildPublished(t *testing.T, name string) *Document {
	t.Helper()
	exp, cells := loadExperiment(t, filepath.Join("..", "experiments", name), "published")
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Show: "published", Partial: true})
	for _, d := range diags {
		if d.Severity == hcl.DiagWarning && strings.HasPrefix(d.Summary, "Chart") {
			continue // of a metric that the publication does not have
		}
		t.Errorf("unexpected diagnostic: %s", d)
	}
	return doc
}

// loadExperiment loads an experiment with workload types that take any
// attribute: a report does not look at them.
func loadExperiment(t testing.TB, path, scale string) (*matrix.Experiment, []*matrix.Cell) {
	t.Helper()
	composite := map[string]string{"rocksdb_default_cf_options": ";"}
	o := matrix.LoadOptions{
		Path: path, Host: matrix.Host{CPUs: 2, Memory: 24}, Machine: filepath.Join(t.TempDir(), "machine.hcl"),
		Dialects: []matrix.Dialect{
			{Flavour: "mysql", Attribute: "my_cnf", Separators: composite},
			{Flavour: "mariadb", Attribute: "my_cnf", Separators: composite},
			{Flavour: "postgres", Attribute: "postgresql_conf"},
		},
		Workloads: anyWorkloads(),
		Found:     []*matrix.Server{{Name: "mariadb", Mysqld: "/nowhere/mariadbd"}},
		Probe: func(context.Context, *matrix.Server) matrix.Build {
			return matrix.Build{Flavour: "mariadb", Version: "10.11.1", Content: "made up"}
		},
	}
	if err := os.WriteFile(o.Machine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if scale != "" {
		o.Vars = []matrix.VarValue{{Name: "scale", Value: scale}}
	}
	exp, files, diags := matrix.Load(context.Background(), o)
	failOn(t, files, diags)
	cells, diags := exp.Expand()
	failOn(t, files, diags)
	return exp, cells
}

func failOn(t testing.TB, files map[string]*hcl.File, diags hcl.Diagnostics) {
	t.Helper()
	if diags.HasErrors() {
		var text bytes.Buffer
		if err := hcl.NewDiagnosticTextWriter(&text, files, 120, false).WriteDiagnostics(diags); err != nil {
			t.Error(err)
		}
		t.Fatal(text.String())
	}
}

func anyWorkloads() []matrix.WorkloadType {
	attributes := []string{
		"step", "profile", "tables", "clients", "rows", "engine", "insert_rate", "seconds", "maxid1", "loaders", "partitions", "compression",
		"key_block_size", "requesters", "statements", "script", "scale", "mode", "threads", "after_load", "later_rows", "jobs", "time",
	}
	var types []matrix.WorkloadType
	for _, name := range []string{"insert_benchmark", "linkbench", "pgbench", "sql", "sysbench"} {
		w := matrix.WorkloadType{Name: name, Version: 1, Built: true}
		for _, a := range attributes {
			w.Attributes = append(w.Attributes, matrix.Attribute{Name: a, Type: cty.DynamicPseudoType})
		}
		types = append(types, w)
	}
	slices.SortFunc(types, func(a, b matrix.WorkloadType) int { return strings.Compare(a.Name, b.Name) })
	return types
}
