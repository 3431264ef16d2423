// Package experiments_test checks the experiments that come with dbmatrix: each
// is a definition that validates on a host with none of its builds.
package experiments_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// definitions are all experiments here, with the number of their cells at each
// scale that they have.
var definitions = []struct {
	name  string
	scale string // "" where the experiment has one scale
	cells int
}{
	{"quickstart", "", 15},
	{"binaries", "", 13},
	{"engines", "", 12},
	{"linkbench-io-bound", "small", 14},
	{"linkbench-io-bound", "published", 14},
	{"linkbench-cached", "small", 16},
	{"linkbench-cached", "published", 16},
	{"linkbench-single-threaded", "small", 17},
	{"linkbench-single-threaded", "published", 17},
	{"linkbench-dio", "small", 6},
	{"linkbench-dio", "published", 6},
	{"insert-benchmark-dio", "small", 5},
	{"insert-benchmark-dio", "published", 5},
	{"transparent-compression", "small", 4},
	{"transparent-compression", "published", 4},
	{"full-page-writes", "small", 19},
	{"full-page-writes", "published", 19},
	{"tpcc-buffer-pool", "small", 5},
	{"tpcc-buffer-pool", "published", 8},
	{"tpcc-cache", "small", 2},
	{"tpcc-cache", "published", 2},
	{"oltp-cache", "small", 4},
	{"oltp-cache", "published", 4},
	{"durability", "small", 6},
	{"durability", "published", 6},
	{"concurrency-tickets", "small", 35},
	{"concurrency-tickets", "published", 49},
	{"threads-running", "small", 6},
	{"threads-running", "published", 1},
	{"fileio-layouts", "small", 16},
	{"fileio-layouts", "published", 20},
	{"fsync-rate", "small", 2},
	{"fsync-rate", "published", 2},
}

// TestDefinitions plans each experiment as a host would that has none of its
// builds.
func TestDefinitions(t *testing.T) {
	dbmatrix := build(t)
	for _, tt := range definitions {
		t.Run(tt.name+" "+tt.scale, func(t *testing.T) {
			p := planOf(t, dbmatrix, tt.name, tt.scale)
			if len(p.Cells) != tt.cells {
				t.Errorf("%d cells, want %d", len(p.Cells), tt.cells)
			}
			for _, r := range p.Runs {
				if r.Status != "new" {
					t.Errorf("%s is %s, want new: %s", r.Cell, r.Status, r.Reason)
				}
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
	dbmatrix := build(t)
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
			var got []string
			for _, c := range planOf(t, dbmatrix, name, "published").Cells {
				var levels []string
				for axis, level := range c.Axes {
					if level != nil {
						levels = append(levels, axis+"="+*level)
					}
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

// A plan is what dbmatrix plan --format json prints, as far as it matters here.
type plan struct {
	Cells []struct {
		Key  string
		Axes map[string]*string // a level, or null where the cell has none
	}
	Runs []struct{ Cell, Status, Reason string }
}

// planOf plans an experiment with an empty machine file. A definition that comes
// with dbmatrix must not even draw a warning.
func planOf(t *testing.T, dbmatrix, name, scale string) plan {
	t.Helper()
	dir := t.TempDir()
	machine := filepath.Join(dir, "machine.hcl")
	if err := os.WriteFile(machine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A copy: results that were measured here are no matter of this test.
	if err := os.CopyFS(filepath.Join(dir, name), definitionOf(t, name)); err != nil {
		t.Fatal(err)
	}
	args := []string{"plan", filepath.Join(dir, name), "--machine", machine, "--format", "json"}
	if scale != "" {
		args = append(args, "--var", "scale="+scale)
	}
	var stdout, stderr bytes.Buffer
	c := exec.Command(dbmatrix, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("dbmatrix plan %s: %v\n%s", name, err, &stderr)
	}
	var p plan
	if err := json.Unmarshal(stdout.Bytes(), &p); err != nil {
		t.Fatalf("reading the plan of %s: %v", name, err)
	}
	return p
}

// definitionOf returns the files of an experiment that git has.
func definitionOf(t *testing.T, name string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	for _, file := range []string{"experiment.hcl", "published.csv"} {
		content, err := os.ReadFile(filepath.Join(name, file))
		if errors.Is(err, fs.ErrNotExist) && file != "experiment.hcl" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		files[file] = &fstest.MapFile{Data: content, Mode: 0o600}
	}
	return files
}

// build compiles dbmatrix and returns its path.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dbmatrix")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/dbmatrix").CombinedOutput(); err != nil {
		t.Fatalf("building dbmatrix: %v\n%s", err, out)
	}
	return path
}
