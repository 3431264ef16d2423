package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"dbmatrix/matrix"
)

// TestBenchstat gives an export to benchstat and compares what it finds in each
// pair of cells with what compare does: medians, their intervals, p.
func TestBenchstat(t *testing.T) {
	exp, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	const runs = 8
	exp.Replicates = runs
	attempts := scattered(cells, runs)
	def := &matrix.Table{Name: "t", Phase: "query", Iteration: 2, Columns: []matrix.Column{{Label: "qps", Of: "qps"}}}
	compared, diags := Compare(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval}, def, "compression", "")
	failOn(t, exp.Files, diags)
	var file bytes.Buffer
	if err := NewExport(exp, cells, "host-a", attempts).Benchfmt(&file); err != nil {
		t.Fatal(err)
	}
	found := runBenchstat(t, file.Bytes())
	samples := exported(t, file.Bytes())
	significant := 0
	for i, p := range compared.Pairs {
		row := compared.Tables[0].Rows[i]
		at := row.Levels["engine"] + " " + row.Levels["clients"]
		got := found[at]
		if !p.Tested || math.Abs(p.A.Number-got.a) > 1e-9 || math.Abs(p.B.Number-got.b) > 1e-9 {
			t.Errorf("%s: medians %g and %g, benchstat has %g and %g", at, p.A.Number, p.B.Number, got.a, got.b)
		}
		if want := fmt.Sprintf("p=%0.3f n=%d", p.P, runs); got.p != want {
			t.Errorf("%s: %s, benchstat has %s", at, want, got.p)
		}
		if p.Significant {
			significant++
		}
		if p.Significant == got.same {
			t.Errorf("%s: significant %t, and benchstat says the same is %t", at, p.Significant, got.same)
		}
		for j, level := range []string{"c0", "c1"} {
			want := benchmath.AssumeNothing.Summary(samples[at+" "+level], confidence)
			if c := row.Cells[j]; c.Bound != boundInterval || c.Low != want.Lo || c.High != want.Hi || c.Number != want.Center {
				t.Errorf("%s %s: %g in %g..%g, benchstat has %g in %g..%g", at, level, c.Number, c.Low, c.High, want.Center, want.Lo, want.Hi)
			}
		}
	}
	if len(compared.Pairs) != 4 || significant == 0 || significant == len(compared.Pairs) {
		t.Errorf("%d of %d pairs are significant: too little to tell", significant, len(compared.Pairs))
	}
}

// scattered makes runs whose rates vary, some cells' more than they differ.
func scattered(cells []*matrix.Cell, runs int) []Attempt {
	random := rand.New(rand.NewPCG(3, 4))
	var attempts []Attempt
	for i, c := range cells {
		for k := 1; k <= runs; k++ {
			rate := 1000 + 10*float64(i*i) + 100*random.Float64()
			attempts = append(attempts, Attempt{
				Source: Own, ID: int64(100*i + k), Cell: c.Key, Levels: levelsOf(c), Replicate: k, Number: 1, Status: matrix.OK, Counts: true,
				Phases: []PhaseResult{{
					Phase: "query", Block: "query", Iteration: 2, Status: matrix.OK, Fingerprint: c.Fingerprints[1],
					Metrics: metrics(map[string]float64{"secs": 1, "queries": rate}),
				}},
			})
		}
	}
	return attempts
}

// A found is what benchstat says of a pair.
type found struct {
	a, b float64
	same bool
	p    string
}

// runBenchstat builds benchstat at the version of its library and reads its table
// of queries per second, by engine and clients.
func runBenchstat(t *testing.T, file []byte) map[string]found {
	t.Helper()
	dir := t.TempDir()
	program, input := filepath.Join(dir, "benchstat"), filepath.Join(dir, "export.bench")
	if out, err := exec.Command("go", "build", "-mod=mod", "-o", program, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("building benchstat: %v\n%s", err, out)
	}
	if err := os.WriteFile(input, file, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-format", "csv", "-filter", ".unit:qps", "-table", ".name", "-row", "engine,clients", "-col", "compression", "-ignore", "host", input).Output()
	if err != nil {
		t.Fatalf("benchstat: %v", err)
	}
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]found{}
	for _, line := range lines {
		if len(line) < 7 || line[0] == "geomean" {
			continue
		}
		a, errA := strconv.ParseFloat(line[1], 64)
		b, errB := strconv.ParseFloat(line[3], 64)
		if errA == nil && errB == nil {
			all[line[0]] = found{a, b, line[5] == "~", line[6]}
		}
	}
	if len(all) == 0 {
		t.Fatalf("no line of benchstat could be read:\n%s", out)
	}
	return all
}

// exported reads the samples of an export as benchstat does.
func exported(t *testing.T, file []byte) map[string]*benchmath.Sample {
	t.Helper()
	values := map[string][]float64{}
	r := benchfmt.NewReader(bytes.NewReader(file), "export")
	for r.Scan() {
		if result, ok := r.Result().(*benchfmt.Result); ok {
			key := strings.Join([]string{result.GetConfig("engine"), result.GetConfig("clients"), result.GetConfig("compression")}, " ")
			if v, ok := result.Value("qps"); ok {
				values[key] = append(values[key], v)
			}
		}
	}
	samples := map[string]*benchmath.Sample{}
	for key, list := range values {
		samples[key] = benchmath.NewSample(list, &benchmath.DefaultThresholds)
	}
	return samples
}
