package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

// tableLines builds one table of the model from attempts, and returns the lines of
// its text below the headings, with the warnings.
func tableLines(t *testing.T, body string, spoil func(attempts []Attempt)) (lines, warnings []string) {
	t.Helper()
	exp, cells := loadBlocks(t, "table \"t\" {\n"+body+"\n}\n")
	exp.Replicates = 1
	attempts := clean(cells)
	if spoil != nil {
		spoil(attempts)
	}
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	for _, d := range diags {
		warnings = append(warnings, d.Summary+": "+d.Detail)
	}
	var b strings.Builder
	if err := Plain(&b, &Document{Blocks: doc.Blocks}, Options{}); err != nil {
		t.Fatal(err)
	}
	return tokenLines(b.String())[2:], warnings
}

// clean returns one attempt of each cell that nothing is to be said of.
func clean(cells []*matrix.Cell) []Attempt {
	var attempts []Attempt
	loads := map[matrix.Fingerprint]int64{}
	for i, c := range cells {
		a := madeUpAttempt(c, i, 1)
		from := c.Fingerprints[0]
		if loads[from] == 0 {
			loads[from] = a.ID
		}
		a.Phases[0].Origin = loads[from]
		a.Facts["load.seed"] = "1"
		attempts = append(attempts, a)
	}
	return attempts
}

// TestNotes checks what is said of doubtful numbers, and where.
func TestNotes(t *testing.T) {
	flag := func(all []Attempt) {
		for i := range all {
			for j := range all[i].Phases {
				all[i].Phases[j].Flags = []matrix.Flag{{Name: "foreign_cpu", Detail: fmt.Sprintf("others took %d.0 %%", 10*(i+1))}}
			}
		}
	}
	tests := []struct {
		name, body string
		spoil      func([]Attempt)
		want       []string
	}{
		{"a doubt of every row is said once", `
  phase   = "query"
  only    = axis.clients == "4" && axis.engine == "inno"
  columns = ["qps", "p99.query"]
  legend  = false`, flag, []string{
			"engine = inno, clients = 4, host = small host",
			"qps p99.query compression", "1310 1.00 c0", "2310 1.00 c1",
			"* foreign cpu: others took 20.0 to 40.0 %",
		}},
		{"also with intervals", `
  phase    = "query"
  only     = axis.clients == "4" && axis.engine == "inno"
  columns  = ["qps"]
  interval = true
  legend   = false`, flag, []string{
			"engine = inno, clients = 4, host = small host",
			"qps qps lo..hi compression", "1310 n=1 c0", "2310 n=1 c1",
			"* foreign cpu: others took 20.0 to 40.0 %",
		}},
		{"and where the table is transposed", `
  phase     = "query"
  only      = axis.clients == "4" && axis.engine == "inno"
  columns   = ["qps", "p99.query"]
  transpose = true
  legend    = false`, flag, []string{
			"engine = inno, clients = 4, host = small host",
			"compression c0 c1", "qps 1310 2310", "p99.query 1.00 1.00",
			"* foreign cpu: others took 20.0 to 40.0 %",
		}},
		{"a load that rows share is one measurement", `
  only    = axis.compression == "c0" && axis.engine == "inno"
  columns = ["ips@load", "qps@query"]
  legend  = false`, nil, []string{
			"engine = inno, compression = c0, host = small host",
			"ips@load qps@query clients", "10001 810 1", "10001 1310 4",
			"* ips@load: load ran once for several cells, which show the one measurement",
		}},
		{"why a percentile is missing", `
  phase   = "query"
  only    = axis.compression == "c0" && axis.engine == "inno"
  columns = ["qps", "qps.99"]
  legend  = false`, nil, []string{
			"engine = inno, compression = c0, host = small host",
			"qps qps.99 clients", "810 X 1", "1310 X 4",
			"* qps.99 was not recorded: it takes a phase of at least 10 intervals",
		}},
		{"a phase that went on after an interruption", `
  phase   = "query"
  only    = axis.compression == "c0" && axis.engine == "inno"
  columns = ["qps"]
  legend  = false`, func(all []Attempt) {
			all[0].Phases[2].Flags = []matrix.Flag{{Name: "continued", Detail: "it was interrupted after iteration 1"}}
		}, []string{
			"engine = inno, compression = c0, host = small host",
			"qps clients", "810[1] 1", "1310 4", "[1] continued: it was interrupted after iteration 1",
		}},
		{"a missed rate is told in words", `
  phase   = "query"
  only    = axis.compression == "c0" && axis.engine == "inno"
  columns = ["qps"]
  legend  = false`, func(all []Attempt) {
			all[0].Phases[2].Status, all[0].Phases[2].Message = matrix.SLAMissed, "insert_benchmark query: achieved 9 of 10"
		}, []string{
			"engine = inno, compression = c0, host = small host",
			"qps clients", "810[1] 1", "1310 4", "[1] query missed its rate: achieved 9 of 10",
		}},
		{"the legend names the baseline and prints expressions", `
  phase    = "query"
  rows     = ["clients"]
  only     = axis.compression == "c0" && axis.engine == "inno"
  columns  = ["qps"]
  baseline = { clients = "1" }
  column "rel" {
    of       = "qps"
    relative = true
  }
  column "double" { value = 2 * col["qps"] }`, nil, []string{
			"engine = inno, compression = c0, host = small host",
			"qps rel double clients", "810 1.00 1620 1", "1310 1.62 2620 4",
			"* compared with clients = 1; too few runs to test (4 a side are needed)",
			"qps queries per second, all clients, average of the phase",
			"rel qps relative to clients = 1",
			`double 2 * col["qps"]`,
		}},
		{"a label's heading names the axes that it shows", `
  phase   = "query"
  only    = axis.compression == "c0"
  columns = ["qps"]
  legend  = false
  label { text = "${label.clients} clients" }
  group {
    key   = axis.engine
    style = "heading"
  }`, nil, []string{
			"compression = c0, host = small host",
			"qps clients", "inno", "810 1 clients", "1310 4 clients", "rocks", "2810 1 clients", "3310 4 clients",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, warnings := tableLines(t, tt.body, tt.spoil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if len(warnings) > 0 {
				t.Errorf("warnings: %q", warnings)
			}
		})
	}
}

// TestRowRemarks checks that a row is told its own numbers where a footnote gives
// their range.
func TestRowRemarks(t *testing.T) {
	exp, cells := loadBlocks(t, "table \"t\" {\n phase = \"query\"\n columns = [\"qps\"]\n}\n")
	exp.Replicates = 1
	attempts := clean(cells)
	for i := range attempts {
		attempts[i].Phases[2].Flags = []matrix.Flag{{Name: "swap", Detail: fmt.Sprintf("%d pages", i)}}
	}
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	for i, r := range doc.Table("t").Rows {
		if want := []string{fmt.Sprintf("swap: %d pages", i)}; !slices.Equal(r.Remarks, want) {
			t.Errorf("row %s: %q, want %q", r.Label, r.Remarks, want)
		}
	}
}

// TestIdleBaseline checks the warning of a baseline that nothing is compared with.
func TestIdleBaseline(t *testing.T) {
	_, warnings := tableLines(t, `
  phase    = "query"
  columns  = ["qps"]
  baseline = { clients = "1" }`, nil)
	want := []string{`Baseline that nothing is compared with: Table "t" has a baseline, but no column that uses it. Give a column relative = true, or read base["..."] in its value.`}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSeeds checks that the seeds of replicates are no difference between rows, and
// that others are.
func TestSeeds(t *testing.T) {
	for _, tt := range []struct {
		seeds []string // of the first and the second replicate, and of another cell's first
		want  bool
	}{{[]string{"1", "2", "1"}, true}, {[]string{"1", "2", "3"}, false}} {
		var runs []*run
		for i, seed := range tt.seeds {
			runs = append(runs, &run{replicate: i%2 + 1, attempt: &Attempt{Facts: map[string]string{"load.seed": seed}}})
		}
		if got := seedOfReplicate("load.seed", runs); got != tt.want {
			t.Errorf("seeds %q: %v, want %v", tt.seeds, got, tt.want)
		}
		if seedOfReplicate("kernel", runs) {
			t.Error("a kernel is no seed")
		}
	}
}
