package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGeomean checks the row of geometric means in text, Markdown and a page, where
// it may be wrong: ratios without the row that they are to, columns with a hole,
// groups, levels across, tables on their side.
func TestGeomean(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"plain", `
  only    = axis.clients == "4" && axis.engine == "inno"
  columns = ["qps", "errors"]
  label { heading = "engine" }`, []string{"qps errors engine", "1310 0 c0", "2320 0 c1", "1743 X geomean", "no geometric mean: 2 rows without a number above 0"}},
		{"ratios", `
  only     = axis.clients == "4"
  baseline = { engine = "inno" }
  column "rel" {
    of       = "qps"
    relative = true
  }
  column "text" { cell = "{qps}" }`, []string{
			"rel text engine.compression", "1.00 1310 inno.c0", "1.00 2320 inno.c1", "2.53 3320 rocks.c0", "1.86 4310 rocks.c1", "2.17 geomean",
		}},
		{"levels across, one of which has no value", `
  only     = axis.engine == "rocks"
  rows     = ["compression"]
  across   = ["clients"]
  columns  = ["qps"]
  group_by = ["compression"]`, []string{
			"clients=1 clients=4", "qps qps compression", "X 3320 c0", ".", "3820 4310 c1", ".", "X 3783 geomean",
			"no geometric mean: 1 row without a number above 0",
		}},
		{"on its side", `
  only      = axis.clients == "4" && axis.engine == "inno"
  columns   = ["qps"]
  transpose = true
  label { heading = "token" }`, []string{"token c0 c1 geomean", "qps 1310 2320 1743"}},
	}
	marks := regexp.MustCompile(`\[\d+\]`) // they are tested elsewhere
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, "table \"t\" {\n  phase = \"query\"\n  geomean = true\n  legend = false\n"+tt.body+"\n}\n")
			doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval})
			failOn(t, exp.Files, diags)
			only, err := doc.Only("t")
			if err != nil {
				t.Fatal(err)
			}
			lines := tokenLines(marks.ReplaceAllString(rendered(t, only, "text"), ""))
			for _, want := range tt.want {
				if !slices.Contains(lines, want) {
					t.Errorf("no line %q in %q", want, lines)
				}
			}
			checkMarkdown(t, only)
		})
	}
}

// TestGeomeanAnywhere checks that the row is in the formats that are read by
// programs, and in none that would take it for a run.
func TestGeomeanAnywhere(t *testing.T) {
	exp, cells := loadBlocks(t, "table \"t\" {\n  phase = \"query\"\n  geomean = true\n  legend = false\n columns = [\"qps\"]\n rows = [\"clients\"]\n only = axis.engine == \"inno\"\n}\n")
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	got := map[string]bool{}
	for format := range Formats() {
		got[format] = strings.Contains(rendered(t, doc, format), "geomean")
	}
	want := map[string]bool{"text": true, "markdown": true, "html": true, "csv": true, "json": true, "benchfmt": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
