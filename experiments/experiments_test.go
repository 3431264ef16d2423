// Package experiments_test checks the experiments that come with dbmatrix: each
// is a definition that validates on a host with none of its builds.
package experiments_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A scale is one value of an experiment's variable scale, with what it plans.
type scale struct {
	name  string // "" where the experiment has no such variable
	cells int
	runs  int // 0: as many as cells
}

// definitions are all experiments here, with the scales that they have.
var definitions = map[string][]scale{
	"quickstart":                {{"", 15, 0}},
	"binaries":                  {{"", 13, 0}},
	"engines":                   {{"", 12, 0}},
	"insert-benchmark":          {{"tiny", 3, 0}, {"small", 3, 0}},
	"linkbench-io-bound":        {{"tiny", 14, 0}, {"small", 14, 0}, {"published", 14, 0}},
	"linkbench-cached":          {{"tiny", 16, 0}, {"small", 16, 0}, {"published", 16, 0}},
	"linkbench-single-threaded": {{"tiny", 17, 0}, {"small", 17, 0}, {"published", 17, 0}},
	"linkbench-dio":             {{"tiny", 6, 0}, {"small", 6, 0}, {"published", 6, 0}},
	"insert-benchmark-dio":      {{"tiny", 5, 0}, {"small", 5, 0}, {"published", 5, 0}},
	"transparent-compression":   {{"tiny", 13, 0}, {"small", 13, 0}, {"published", 4, 0}},
	"full-page-writes":          {{"tiny", 19, 0}, {"small", 19, 0}, {"published", 19, 0}},
	"tpcc-buffer-pool":          {{"tiny", 2, 0}, {"small", 5, 0}, {"published", 8, 0}},
	"tpcc-cache":                {{"tiny", 3, 0}, {"small", 3, 0}, {"published", 2, 0}},
	"oltp-cache":                {{"small", 4, 0}, {"published", 4, 0}},
	"durability":                {{"tiny", 6, 0}, {"small", 6, 30}, {"published", 6, 0}},
	"concurrency-tickets":       {{"tiny", 6, 0}, {"small", 12, 60}, {"published", 49, 0}},
	"threads-running":           {{"small", 6, 0}, {"published", 1, 0}},
	"fileio-layouts":            {{"tiny", 16, 0}, {"small", 16, 80}, {"published", 20, 0}},
	"fsync-rate":                {{"tiny", 8, 0}, {"small", 12, 60}, {"published", 2, 0}},
}

// TestDefinitions plans each experiment as a host would that has none of its
// builds.
func TestDefinitions(t *testing.T) {
	dbmatrix := build(t)
	for name, scales := range definitions {
		for _, sc := range scales {
			t.Run(name+" "+sc.name, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, dbmatrix, name, sc.name)
				if len(p.Cells) != sc.cells {
					t.Errorf("%d cells, want %d", len(p.Cells), sc.cells)
				}
				if want := max(sc.runs, sc.cells); len(p.Runs) != want {
					t.Errorf("%d runs, want %d", len(p.Runs), want)
				}
				for _, r := range p.Runs {
					if r.Status != "new" {
						t.Errorf("%s is %s, want new: %s", r.Cell, r.Status, r.Reason)
					}
				}
			})
		}
	}
}

// TestEveryExperimentIsListed fails where a folder here is not in definitions.
func TestEveryExperimentIsListed(t *testing.T) {
	files, err := filepath.Glob("*/experiment.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Dir(file); definitions[name] == nil {
			t.Errorf("experiment %s is not in the table of this test", name)
		}
	}
}

// TestWhatThePublishedScaleTakes checks that a plan of the original says what it
// would take, by what is known of the originals: weeks and a terabyte, or a day
// and some gigabytes.
func TestWhatThePublishedScaleTakes(t *testing.T) {
	dbmatrix := build(t)
	tests := []struct {
		name    string
		hours   float64
		atLeast uint64 // bytes
		atMost  uint64
	}{
		{"linkbench-io-bound", 14 * 24, 1100e9, 1600e9},
		{"linkbench-cached", 16 * 12, 22e9, 30e9},
		{"linkbench-single-threaded", 17, 2.2e9, 4e9},
		{"linkbench-dio", 6 * 12, 650e9, 800e9},
		{"insert-benchmark-dio", 5 * 10000 / 3600., 400e9, 450e9},
		{"transparent-compression", 2*140 + 2*24, 90e9, 140e9},
		{"full-page-writes", (8*300 + 8*900 + 3*900) / 3600., 1e9, 4e9},
		{"tpcc-cache", 2, 90e9, 120e9},
		{"tpcc-buffer-pool", 8, 18e9, 45e9},
		{"fsync-rate", 200 / 3600., 50e9, 60e9},
		{"fileio-layouts", 1, 50e9, 120e9},
		{"durability", 0.5, 1e9, 6e9},
		{"concurrency-tickets", 49 * 60 / 3600., 1e9, 4e9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sum := planOf(t, dbmatrix, tt.name, "published").Summary
			if got := sum.Seconds / 3600; math.Abs(got-tt.hours) > 0.01 {
				t.Errorf("%.2f hours, want %.2f", got, tt.hours)
			}
			if sum.PeakBytes < tt.atLeast || sum.PeakBytes > tt.atMost {
				t.Errorf("%d bytes of disk, want %d to %d", sum.PeakBytes, tt.atLeast, tt.atMost)
			}
		})
	}
}

// TestSmallScaleFits bounds what the small scale measures, loads and starts
// apart, so that all of them together take an hour and a half.
func TestSmallScaleFits(t *testing.T) {
	dbmatrix := build(t)
	var seconds float64
	for name, scales := range definitions {
		if len(scales) == 3 {
			seconds += planOf(t, dbmatrix, name, "small").Summary.Seconds
		}
	}
	if seconds < 1200 || seconds > 3600 {
		t.Errorf("the small scale measures for %.0f s in all, want 1200 to 3600", seconds)
	}
}

// TestResults compares each RESULTS.md with its definition: a report that lacks a
// title of the definition is older than it. RESULTS.md comes from "make
// experiments", which brings one for each experiment of its parts, or from what
// README.md says.
func TestResults(t *testing.T) {
	title := regexp.MustCompile(`(?m)\btitle += "([^"$]+)"`) // without what is evaluated
	image := regexp.MustCompile(`!\[[^]]*\]\(([^)]+)\)`)
	for name, scales := range definitions {
		written, err := os.ReadFile(filepath.Join(name, "RESULTS.md"))
		if len(scales) < 3 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		definition, err := os.ReadFile(filepath.Join(name, "experiment.hcl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(written), "\n")
		for _, want := range title.FindAllStringSubmatch(string(definition), -1) {
			if !slices.Contains(lines, "# "+want[1]) && !slices.Contains(lines, "## "+want[1]) {
				t.Errorf("%s/RESULTS.md has no %q: run the experiment again, or make its report", name, want[1])
			}
		}
		for _, link := range image.FindAllStringSubmatch(string(written), -1) {
			if _, err := os.Stat(filepath.Join(name, link[1])); err != nil {
				t.Errorf("a chart of %s/RESULTS.md: %v", name, err)
			}
		}
	}
}

// TestParts checks that "make experiments" runs each experiment once that has a
// small and a published scale and is made for this: all but those that README.md
// gives no part.
func TestParts(t *testing.T) {
	script, err := os.ReadFile("../scripts/experiments.sh")
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`(?s)parts=\((.*?)\)`).FindSubmatch(script)
	if parts == nil {
		t.Fatal("scripts/experiments.sh has no parts")
	}
	got := strings.Fields(strings.ReplaceAll(string(parts[1]), `"`, " "))
	sort.Strings(got)
	var want []string
	for name, scales := range definitions {
		if len(scales) == 3 {
			want = append(want, name)
		}
	}
	sort.Strings(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("experiments with a tiny, a small and a published scale, and those of the parts (-want +got):\n%s", diff)
	}
}

// TestEveryExperimentSaysWhatItIs checks that each folder has a README.md, and that
// README.md beside this test names it.
func TestEveryExperimentSaysWhatItIs(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range definitions {
		if _, err := os.Stat(filepath.Join(name, "README.md")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("README.md does not name %s", name)
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
	if len(files) != 8 {
		t.Errorf("%d published files, want 8", len(files))
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

// TestPublishedTables makes each table that was published, as its experiment
// stands and by the name of its file, and compares it with the original word by
// word.
func TestPublishedTables(t *testing.T) {
	dbmatrix := build(t)
	originals, err := filepath.Glob("../report/testdata/published/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(originals) != 25 {
		t.Errorf("%d published tables, want 25", len(originals))
	}
	for _, file := range originals {
		name, table := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name+" "+table, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, definitionOf(t, name)); err != nil {
				t.Fatal(err)
			}
			got, err := exec.Command(dbmatrix, "report", dir, "--table", table, "--format", "text").Output()
			if err != nil {
				t.Fatalf("dbmatrix report: %v", err)
			}
			if diff := cmp.Diff(words(string(want)), words(string(got))); diff != "" {
				t.Errorf("table (-published +made):\n%s", diff)
			}
		})
	}
}

// words returns the words of each line that is not blank.
func words(text string) [][]string {
	var lines [][]string
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) > 0 {
			lines = append(lines, w)
		}
	}
	return lines
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
	Runs    []struct{ Cell, Status, Reason string }
	Summary struct {
		Seconds   float64
		PeakBytes uint64 `json:"peak_bytes"`
	}
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

// definitionOf returns the files that an experiment is made of, without what was
// measured.
func definitionOf(t *testing.T, name string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	tracked, err := filepath.Glob(filepath.Join(name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tracked {
		if ext := filepath.Ext(file); ext != ".hcl" && ext != ".csv" && ext != ".sh" {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(file)] = &fstest.MapFile{Data: content, Mode: 0o700}
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
