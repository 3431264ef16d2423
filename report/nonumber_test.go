package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

// TestNoNumber checks that a formula without a finite result has no number, and that
// the footnote names the formula and what is wrong with it.
func TestNoNumber(t *testing.T) {
	tests := []struct{ value, want string }{
		{`pow(10, 400)`, `a = pow(10, 400) has no number here: it is beyond the largest one`},
		{`-pow(10, 400)`, `a = -pow(10, 400) has no number here: it is beyond the largest one`},
		{`1e300 * 1e300`, `a = 1e300 * 1e300 has no number here: it is beyond the largest one`},
		{`col["qps"] / 0`, `a = col["qps"] / 0 divides by 0, which is 0`},
		{`0 / col["errors"]`, `a = 0 / col["errors"] divides by col["errors"], which is 0`},
		{`1 + col["qps"] / (col["errors"] * 2)`, `a = 1 + col["qps"] / (col["errors"] * 2) divides by (col["errors"] * 2), which is 0`},
		{`col["qps"] % col["errors"]`, `a = col["qps"] % col["errors"] divides by col["errors"], which is 0`},
		{`ratio(1, 0)`, `a = ratio(1, 0) divides by 0, which is 0`},
		{`ratio(1, 0) - ratio(1, 0)`, `a = ratio(1, 0) - ratio(1, 0) divides by 0, which is 0`},
		{`ratio(at("qps"), at("errors"))`, `a = ratio(at("qps"), at("errors")) divides by at("errors"), which is 0`},
		{`"${col["qps"] / col["errors"]} a second"`, `a = "${col["qps"] / col["errors"]} a second" divides by col["errors"], which is 0`},
		{`format("%.1f", 1 / col["errors"])`, `a = format("%.1f", 1 / col["errors"]) divides by col["errors"], which is 0`},
		{`col["wal_gb"] / col["errors"]`, `wal_gb was not recorded`},
		{`log(col["errors"], 10)`, `a = log(col["errors"], 10) has no value here: `},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			lines, warnings := tableLines(t, `
  phase   = "query"
  only    = axis.clients == "4" && axis.engine == "inno"
  legend  = false
  column "qps" { format = "%.0f" }
  column "a" { value = `+tt.value+` }`, nil)
			text := strings.Join(lines, "\n")
			if !strings.Contains(text, "1310 X") || !strings.Contains(text, tt.want) || len(warnings) > 0 {
				t.Errorf("%s\n%q does not say %q", text, warnings, tt.want)
			}
			if strings.Contains(text, "Inf") || strings.Contains(text, "NaN") || strings.Contains(text, " inf") {
				t.Errorf("an infinite number is printed:\n%s", text)
			}
		})
	}
}

// TestZeroBaseline checks a column relative to nothing, a column of the library that
// divides by nothing, and a text.
func TestZeroBaseline(t *testing.T) {
	lines, _ := tableLines(t, `
  phase    = "query"
  only     = axis.compression == "c0" && axis.engine == "inno"
  legend   = false
  baseline = { clients = "1" }
  columns  = ["r/q", "errors"]
  column "rel" {
    of       = "errors"
    relative = true
  }`, func(attempts []Attempt) {
		for i := range attempts {
			for j := range attempts[i].Phases {
				m := &attempts[i].Phases[j].Metrics
				m.put("queries", 0)
				m.put("errors", float64(i))
			}
		}
	})
	want := []string{
		"engine = inno, compression = c0, host = small host",
		"r/q errors rel clients", "X 0 1.00 1", "X 1 X[1] 4",
		"[1] rel of the baseline is 0, which nothing can be divided by",
		"* r/q = disk_reads / queries divides by 0",
		"* compared with clients = 1; too few runs to test (4 a side are needed)",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	exp, cells := loadBlocks(t, `text "x" { body = "${at("engine=inno,compression=c0,clients=4,host=only", "qps", "query", 2) / 0} a second" }`+"\n")
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: clean(cells), Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	if got := doc.Blocks[0].Text.Markdown; got != `(The text "x" is left out: something in it is divided by 0.)` {
		t.Errorf("text %q", got)
	}
}

// TestRangesOfNumbers checks that the ends of a range are written alike.
func TestRangesOfNumbers(t *testing.T) {
	tests := []struct {
		details []string
		want    string
	}{
		{[]string{"1.11695e+06 pages", "1.11725e+06 pages"}, "settle: 1116950 to 1117250 pages"},
		{[]string{"950000 pages", "1.11725e+06 pages"}, "settle: 950000 to 1117250 pages"},
		{[]string{"1e-05 s of 3", "0.5 s of 3"}, "settle: 0.00001 to 0.50000 s of 3"},
		{[]string{"9 %", "10.5 %"}, "settle: 9.0 to 10.5 %"},
		{[]string{"1.5e+06 pages", "1.5e+06 pages"}, "settle: 1500000 pages"},
		{[]string{"of re-run abc1e+05x", "of re-run abc1e+05x"}, "settle: of re-run abc1e+05x"},
	}
	for _, tt := range tests {
		lines, _ := tableLines(t, `
  phase   = "query"
  only    = axis.compression == "c0" && axis.engine == "inno"
  legend  = false
  columns = ["qps"]`, func(attempts []Attempt) {
			for i, detail := range tt.details {
				attempts[i].Phases[2].Flags = []matrix.Flag{{Name: "settle", Detail: detail}}
			}
		})
		if last := lines[len(lines)-1]; last != "* "+tt.want {
			t.Errorf("%q is told as %q, want %q", tt.details, last, tt.want)
		}
	}
}
