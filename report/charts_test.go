package report

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report/chart"
)

// TestChartPoints checks the numbers of charts against those of tables over the
// same results.
func TestChartPoints(t *testing.T) {
	doc := buildModel(t, madeUp)
	charts := map[string]*Chart{}
	for _, c := range doc.Charts() {
		charts[c.Name] = c
	}
	type point struct {
		panel, series string
		x             float64
		y             float64 // -1: missing
		low, high     float64
	}
	tests := []struct {
		chart string
		want  []point // some of the points
		count int
	}{
		{"load", []point{{"", "c0", 0, 10002, 10001, 10003}, {"", "c1", 1, 13002, 13001, 13003}}, 4},
		{"relative", []point{{"clients = 1", "inno", 0, 1, 810. / 820, 830. / 820}, {"clients = 1", "rocks", 0, -1, 0, 0}, {"clients = 4", "rocks", 0, 3320. / 1320, 3310. / 1320, 3330. / 1320}}, 8},
		{"iterations", []point{{"clients = 1", "inno.c0", 1, 920, 910, 930}, {"clients = 1", "inno.c0", 2, 820, 810, 830}, {"clients = 1", "rocks.c0", 2, -1, 0, 0}}, 16},
		{"clients", []point{{"", "inno.c0", 1, 2, 1, 3}, {"", "inno.c1", 4, 2, 1, 3}}, 8},
		{"over time", []point{{"compression = c0", "inno", 1, 10000, 0, 0}, {"compression = c0", "inno", 6, -1, 0, 0}, {"compression = c1", "rocks", 0, -1, 0, 0}}, 31},
		// user 8+i%3, system 10+i%3, iowait 10+i%3, idle 8+i%3, steal 9+i%3
		{"cpu", []point{{"", "inno", 1.003, 100 * 18. / 45, 0, 0}, {"", "rocks", 2.003, 100 * 20. / 50, 0, 0}}, 20},
	}
	for _, tt := range tests {
		t.Run(tt.chart, func(t *testing.T) {
			d := charts[tt.chart].Drawing
			count := 0
			got := map[[2]string]map[float64]point{}
			for _, panel := range d.Panels {
				for _, p := range panel.Points {
					count++
					at := [2]string{panel.Title, d.Series[p.Series]}
					if got[at] == nil {
						got[at] = map[float64]point{}
					}
					y := p.Y
					if p.Missing {
						y = -1
					}
					got[at][p.X] = point{at[0], at[1], p.X, y, p.Low, p.High}
				}
			}
			if count != tt.count {
				t.Errorf("%d points, want %d", count, tt.count)
			}
			for _, want := range tt.want {
				if diff := cmp.Diff(want, got[[2]string{want.panel, want.series}][want.x], cmp.AllowUnexported(point{}), nearlyEqual()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		})
	}
}

// nearlyEqual takes numbers for equal that differ by rounding.
func nearlyEqual() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return a == b || (a-b)*(a-b) < 1e-18*(a*a+b*b) })
}

// TestChartFaults checks what a definition whose chart cannot be drawn is told, and
// that a partial report leaves out what only lacks results.
func TestChartFaults(t *testing.T) {
	define := func(body string) string { return "chart \"c\" {\n phase = \"query\"\n" + body + "\n}\n" }
	const never = `Chart that cannot be drawn: Chart "c" `
	tests := []struct {
		name, blocks string
		want         string
		partial      string // with Input.Partial
	}{
		{"nothing measured", define("kind = \"bar\"\n x = \"engine\"\n y = \"tps\""),
			never + `has nothing to draw: not one of its 8 points has a value (6 of 8 rows: tps was not recorded).`,
			`Chart left out: Chart "c" has nothing to draw: not one of its 8 points has a value (6 of 8 rows: tps was not recorded).`},
		{"nothing let through", define("kind = \"bar\"\n x = \"engine\"\n y = \"qps\"\n only = axis.clients == \"1\" && axis.clients == \"4\""),
			never + `has nothing to draw: no row has a point in it.`,
			`Chart left out: Chart "c" has nothing to draw: no row has a point in it.`},
		{"no readings", define("kind = \"line\"\n x = \"time\"\n y = \"qps\""),
			never + `has nothing to draw: not one of its 8 points has a value (7 of 8 rows: no readings over time were recorded).`,
			`Chart left out: Chart "c" has nothing to draw: not one of its 8 points has a value (7 of 8 rows: no readings over time were recorded).`},
		{"bars over time", define("kind = \"bar\"\n x = \"time\"\n y = \"qps\""), never + `has x = "time", which only a line shows.`, ""},
		{"bars on a logarithmic axis", define("kind = \"bar\"\n x = \"engine\"\n y = \"qps\"\n log = true"),
			never + `has bars on a logarithmic axis; bars stand on zero, which such an axis does not have. Use kind line or box, or leave out log.`, ""},
		{"boxes with a baseline", define("kind = \"box\"\n x = \"engine\"\n y = \"qps\"\n baseline = { engine = \"inno\" }"),
			never + `compares readings with a baseline; only bars, and lines over an axis or iterations, can be relative.`, ""},
		{"a baseline beside the chart", define("kind = \"bar\"\n x = \"engine\"\n y = \"qps\"\n series = [\"clients\"]\n baseline = { compression = \"c0\" }"),
			`Baseline that is not shown: The baseline of chart "c" is a level of compression, which is neither its x nor one of its series or facets.`, ""},
		{"one of all iterations", define("kind = \"line\"\n x = \"iteration\"\n y = \"qps\"\n iteration = 2"),
			never + `shows all iterations (x) and one of them (iteration).`, ""},
		{"a filter that is no condition", define("kind = \"bar\"\n x = \"engine\"\n y = \"qps\"\n only = axis.engine"),
			"Filter that is no condition: `only` of chart \"c\" is string; it must be true or false.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, tt.blocks)
			in := Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval, Readings: madeUpReadings}
			check := func(want string) {
				t.Helper()
				doc, diags := Build(in)
				var got []string
				for _, d := range diags {
					got = append(got, d.Summary+": "+d.Detail)
				}
				if !slices.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
				if diags.HasErrors() == in.Partial {
					t.Errorf("partial is %t, and the report has these: %s", in.Partial, diags)
				}
				if len(doc.Charts()) > 0 {
					t.Error("the document has the chart all the same")
				}
			}
			check(tt.want)
			if tt.partial != "" {
				in.Partial = true
				check(tt.partial)
			}
		})
	}
}

// TestChartOfFailures checks that a chart whose runs have failed costs the report
// nothing but itself, and that its place says why.
func TestChartOfFailures(t *testing.T) {
	const rocks = "engine=rocks,compression=c0,clients=1,host=only"
	tests := []struct {
		name, only, baseline string
		runs                 int // of the three that failed, how many are recorded
		want                 string
	}{
		{"all", `axis.engine == "rocks" && axis.compression == "c0" && axis.clients == "1"`, "", 3, "nothing to draw: all 3 runs failed"},
		{"some", `axis.engine == "rocks" && axis.compression == "c0" && axis.clients == "1"`, "", 1,
			"nothing to draw: 1 of 3 runs failed, and the others have no result"},
		{"baseline", `axis.compression == "c0" && axis.clients == "1"`, `baseline = { engine = "rocks" }`, 3,
			"nothing to draw: all 3 runs of the baseline failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, fmt.Sprintf("chart \"c\" {\n kind = \"bar\"\n phase = \"query\"\n x = \"engine\"\n y = \"qps\"\n only = %s\n %s\n}\n"+
				"table \"t\" {\n phase = \"query\"\n columns = [\"qps\"]\n}\n", tt.only, tt.baseline))
			attempts := slices.DeleteFunc(madeUp(cells), func(a Attempt) bool { return a.Cell == rocks && a.Replicate > tt.runs })
			doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval, Readings: madeUpReadings})
			failOn(t, exp.Files, diags)
			if doc.Table("t") == nil || len(doc.Charts()) > 0 {
				t.Error("the report has no table, or the chart all the same")
			}
			if got, want := doc.Blocks[0].Text.Markdown, `(The chart "c" is left out: `+tt.want+`.)`; got != want {
				t.Errorf("in the chart's place stands %q, want %q", got, want)
			}
			if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return strings.HasPrefix(d.Detail, `Chart "c" has `+tt.want) }) {
				t.Errorf("no warning says so: %s", diags)
			}
		})
	}
}

// TestChartFiles checks the names of chart files and what is in them.
func TestChartFiles(t *testing.T) {
	block := func(name string) string {
		return "chart \"" + name + "\" {\n kind = \"bar\"\n phase = \"query\"\n x = \"engine\"\n y = \"qps\"\n}\n"
	}
	exp, cells := loadBlocks(t, block("a b")+block("a/b")+block("A-B"))
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	files, err := doc.ChartFiles(Options{Charts: "img", ChartFormat: "png"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(&b); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	if diff := cmp.Diff([]string{"img/a-b.png", "img/a-b-2.png", "img/A-B-3.png"}, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if markdown := rendered(t, doc, "markdown"); !strings.Contains(markdown, "](charts/a-b-2.svg)") {
		t.Errorf("the document does not link charts/a-b-2.svg:\n%s", markdown)
	}
	if _, err := doc.ChartFiles(Options{ChartFormat: "gif"}); err == nil {
		t.Error("no error for charts as gif")
	}
}

// TestThinned checks that a long line keeps its extremes, its gaps and its order.
func TestThinned(t *testing.T) {
	var points []chart.Point
	for i := range 10_000 {
		points = append(points, chart.Point{X: float64(i), Y: 100 + float64(i%7), Missing: i == 4321})
	}
	points[1234].Y, points[8765].Y = 0, 1e6 // a stall and a spike
	got := thinned(points, 800)
	if len(got) > 2*800+1 {
		t.Errorf("%d points are left, want 2 for each of 800 pixels at most", len(got))
	}
	found := map[float64]bool{}
	for _, p := range got {
		if diff := cmp.Diff(points[int(p.X)], p); diff != "" {
			t.Fatalf("a point that was not there: %s", diff)
		}
		found[p.X] = true
	}
	for _, x := range []float64{1234, 4321, 8765} {
		if !found[x] {
			t.Errorf("the point at %g is lost", x)
		}
	}
}

// TestLongPhase checks that long times are in minutes.
func TestLongPhase(t *testing.T) {
	exp, cells := loadBlocks(t, "chart \"c\" {\n kind = \"line\"\n phase = \"load\"\n x = \"time\"\n y = \"ips\"\n}\n")
	readings := func(int64, ...string) ([]matrix.Series, error) {
		return []matrix.Series{{Metric: "ips", Readings: []matrix.Reading{{At: time.Hour, Value: 1}, {At: 3 * time.Hour, Value: 2}}}}, nil
	}
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval, Readings: readings})
	failOn(t, exp.Files, diags)
	d := doc.Charts()[0].Drawing
	if d.X.Title != "time (min)" || d.Panels[0].Points[1].X != 180 {
		t.Errorf("the last point is at %g on %q, want 180 on time (min)", d.Panels[0].Points[1].X, d.X.Title)
	}
}

// TestChartsFromStore draws readings that went through a record.
func TestChartsFromStore(t *testing.T) {
	exp, cells := loadBlocks(t, "chart \"c\" {\n kind = \"line\"\n phase = \"load\"\n x = \"time\"\n y = \"ips\"\n only = axis.clients == \"1\"\n}\n")
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recordLoad(t, s, exp, cells)
	attempts, err := FromStore(t.Context(), s, exp.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval, Readings: ReadingsFrom(t.Context(), s)})
	failOn(t, exp.Files, diags)
	var got []chart.Point
	for _, p := range doc.Charts()[0].Drawing.Panels[0].Points {
		if p.X > 0 { // the other cells were not run
			got = append(got, p)
		}
	}
	if diff := cmp.Diff([]chart.Point{{X: 1, Y: 100}, {X: 2, Missing: true}, {X: 3, Y: 300}}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// recordLoad records one run of the first cell: a load with three readings.
func recordLoad(t *testing.T, s *store.Store, exp *matrix.Experiment, cells []*matrix.Cell) {
	t.Helper()
	ctx, c := t.Context(), cells[0]
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id, err := s.RecordPlan(ctx, &matrix.Plan{Experiment: exp, Cells: cells, Runs: []*matrix.Run{{Position: 1, Cell: c, Replicate: 1}}})
	check(err)
	runner, _, err := s.BeginRunner(ctx, store.Runner{Experiment: id}, func(store.Runner) bool { return true })
	check(err)
	attempt, _, err := s.BeginAttempt(ctx, store.AttemptStart{Experiment: id, Runner: runner, Cell: c.Key, Replicate: 1, Phases: 1})
	check(err)
	phase, err := s.BeginPhase(ctx, store.PhaseStart{
		Attempt: attempt, Ordinal: 1, Phase: c.Phases[0], Fingerprint: c.Fingerprints[0], Inputs: func() []matrix.Input { return nil },
	})
	check(err)
	_, err = s.FinishIteration(ctx, phase, store.Iteration{
		Number: 1, Status: matrix.OK, Metrics: []matrix.Metric{{Name: "secs", Unit: "s", Value: 3}},
		Series: []matrix.Series{{Metric: "ips", Unit: "1/s", Readings: []matrix.Reading{
			{At: time.Second, Value: 100}, {At: 2 * time.Second, Value: math.NaN()}, {At: 3 * time.Second, Value: 300},
		}}},
	})
	check(err)
	check(s.FinishPhase(ctx, phase, store.PhaseEnd{Status: matrix.OK, Seconds: 3}))
	check(s.FinishAttempt(ctx, attempt, matrix.OK, ""))
}

// TestChartPerMinute checks that a chart of a rate a minute has it by the unit of
// its column, and not as it was recorded.
func TestChartPerMinute(t *testing.T) {
	exp, cells := loadBlocks(t, `chart "c" {
  kind  = "bar"
  phase = "query"
  x     = "engine"
  y     = "tpm"
  only  = axis.clients == "1" && axis.compression == "c0"
}
`)
	exp.Replicates = 1
	attempts := clean(cells)
	for i := range attempts {
		m := &attempts[i].Phases[2].Metrics
		*m = nil
		m.put("secs", 30)
		m.put("transactions", float64(100*(i+1)))
	}
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	d := doc.Charts()[0].Drawing
	var got []float64
	for _, p := range d.Panels[0].Points {
		got = append(got, p.Y)
	}
	if diff := cmp.Diff([]float64{200, 1000}, got, nearlyEqual()); diff != "" || d.Y.Title != "tpm (1/min)" {
		t.Errorf("the axis is %q; its points: -want +got\n%s", d.Y.Title, diff)
	}
}
