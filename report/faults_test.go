package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

// loadBlocks loads the experiment of the model with other report blocks.
func loadBlocks(t *testing.T, blocks string) (*matrix.Experiment, []*matrix.Cell) {
	t.Helper()
	model, err := os.ReadFile(filepath.Join("testdata", "model", "experiment.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	base, _, found := strings.Cut(string(model), `text "intro"`)
	if !found {
		t.Fatal("the model has no text block to cut at")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"experiment.hcl": base + blocks,
		"good.csv":       "engine,phase,ips\ninno,load,1\n",
		"bad.csv":        "engin,phase,ips\ninno,load,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return loadExperiment(t, dir, "")
}

// TestFaults checks what a definition whose report cannot be made is told, and
// that no block of it shows a number all the same.
func TestFaults(t *testing.T) {
	table := func(body string) string { return "table \"t\" {\n  phase = \"query\"\n" + body + "\n}\n" }
	tests := []struct {
		name, blocks string
		want         []string // summary and detail
	}{
		{"a column that refers to itself", table(`column "a" { value = col["b"] + 1 }` + "\n" + `column "b" { value = col["a"] + 1 }`),
			[]string{`Column that refers to itself: The value of column "a" depends on itself.`}},
		{"a sum of two units", table(`column "a" { value = (col["qps"] + col["rss"]) / 2 }` + "\n" + `column "b" { value = max(col["rss"] < col["qps@query"] ? 1 : 2, col["qps"] * col["rss"] - col["ips"]) }`),
			[]string{
				`Numbers of different units: The value of column "a" puts 1/s and GB together. Convert one of them by a product or a quotient first.`,
				`Numbers of different units: The value of column "b" puts GB and 1/s together. Convert one of them by a product or a quotient first.`,
			}},
		{"a value that is no number", table(`column "a" { value = col["qps"] > 1 }`),
			[]string{`Value that is no number: Column "a" is a bool; a column shows numbers or text.`}},
		{"a filter that is no condition", table("columns = [\"qps\"]\n only = axis.engine"),
			[]string{"Filter that is no condition: `only` of table \"t\" is string; it must be true or false."}},
		{"a column that nothing knows", table(`columns = ["qsp", "Rss", "entirely different"]`),
			[]string{
				`Unknown column: There is no column "qsp", and no result has a metric of that name. Did you mean "qps"?`,
				`Unknown column: There is no column "Rss", and no result has a metric of that name. Did you mean "rss"?`,
				"Unknown column: There is no column \"entirely different\", and no result has a metric of that name. `dbmatrix columns` lists the columns.",
			}},
		{"a column without a phase", "table \"t\" {\n columns = [\"qps\"]\n}\n",
			[]string{`Column without a phase: Column "qps" does not say whose results it shows. Give it, or the table, a phase.`}},
		{"rows of one label", table("columns = [\"qps\"]\n label { text = axis.engine }"),
			[]string{
				`Rows that look the same: Two rows of table "t" are labelled "inno". Name the axis that tells them apart in the label's text.`,
				`Rows that look the same: Two rows of table "t" are labelled "rocks". Name the axis that tells them apart in the label's text.`,
			}},
		{"a row of several labels", table("columns = [\"qps\"]\n rows = [\"engine\"]\n label { text = param.compression }"),
			[]string{
				`Row of several texts: The label of table "t" is "none" for one cell of a row and "table" for another. Name the axes that tell them apart in rows.`,
				`Rows that look the same: Two rows of table "t" are labelled "none". Name the axis that tells them apart in the label's text.`,
			}},
		{"an imported file with faults", "import \"p\" { file = \"bad.csv\" }\n",
			[]string{`Imported file with faults: DIR/bad.csv:1:1: "engin" is no axis of the experiment (is "engine" meant?); column tokens stand behind the column "phase"`}},
		{"arguments of at()", table(`column "a" { value = at("qps", 1) }`),
			[]string{`Error in function call: Call to function "at" failed: the second argument is the name of a phase.`}},
		{"a text of a cell that is not there", "text \"x\" { body = \"${at(\"engine=other\", \"qps\")}\" }\n",
			[]string{`Error in function call: Call to function "at" failed: there is no cell engine=other.`}},
		{"a relation of no column", "import \"p\" {\n file = \"good.csv\"\n check {\n  column = \"ips\"\n  formula = 1\n }\n}\n",
			[]string{`Relation that cannot be checked: A formula reads between 1 and 8 columns as col["name"]; this one reads 0.`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, tt.blocks)
			_, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval})
			var got []string
			for _, d := range diags {
				if d.Subject == nil || d.Subject.Filename == "" {
					t.Errorf("%s has no place", d.Summary)
				}
				got = append(got, strings.ReplaceAll(d.Summary+": "+d.Detail, exp.Dir, "DIR"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestSmallForms checks forms of tables that are too small for a golden file, by
// the words of their lines.
func TestSmallForms(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"a rule between groups, sorted by an axis", `
  only     = axis.clients == "4"
  columns  = ["qps"]
  sort     = ["-compression"]
  group {
    key   = axis.engine
    style = "rule"
  }`, []string{"qps engine.compression", "2320 inno.c1", "1310 inno.c0", "------------------------", "4310 rocks.c1", "3320 rocks.c0"}},
		{"columns by another name, and braces", `
  only = axis.clients == "4" && axis.engine == "inno"
  column "qps" { format = "%.1f/s" }
  column "same" { value = col[join("", ["q", "ps"])] * 2 }
  column "cell" { cell = "{{{qps}}}" }
  column "text" { value = "as ${axis.compression}" }`, []string{
			"qps same cell text compression", "1310.0/s 2620 {1310.0/s} as c0 c0", "2320.0/s 4640 {2320.0/s} as c1 c1",
		}},
		{"what is divided by nothing is no number", `
  only = axis.clients == "4" && axis.engine == "inno"
  column "a" { value = col["errors"] / col["errors"] }
  column "b" { value = ratio(col["qps"], col["errors"]) }`, []string{"a b compression", "X X c0", "X X c1"}},
		{"all axes across", `
  only    = axis.engine == "inno"
  across  = ["engine", "compression", "clients", "host"]
  rows    = []
  columns = ["qps"]`, []string{
			"inno", "c0 c1", "clients=1 clients=4 clients=1 clients=4", "small host small host small host small host", "qps qps qps qps", "820 1310 1820 2320",
		}},
		{"a label at the left, and levels across", `
  only    = axis.engine == "inno"
  rows    = ["compression"]
  across  = ["clients"]
  columns = ["qps"]
  missing = "-"
  label {
    heading = "inno"
    side    = "left"
  }`, []string{"clients=1 clients=4", "inno qps qps", "c0 820 1310", "c1 1820 2320"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, "table \"t\" {\n  phase = \"query\"\n"+tt.body+"\n}\n")
			doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval})
			failOn(t, exp.Files, diags)
			only, err := doc.Only("t")
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := Plain(&b, only, Options{Bare: true}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tokenLines(b.String())); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestOnly(t *testing.T) {
	doc := buildModel(t, madeUp)
	for name, want := range map[string]string{
		"pivto": `there is no table "pivto"; did you mean "pivot"?`,
		"zzz":   `there is no table "zzz"; the tables are load, grouped, pivot, transposed, sorted, median`,
	} {
		if _, err := doc.Only(name); err == nil || err.Error() != want {
			t.Errorf("Only(%q): %v, want %s", name, err, want)
		}
	}
	if err := Render(&strings.Builder{}, doc, "pdf", Options{}); err == nil || err.Error() != `there is no report format "pdf"; the formats are benchfmt, csv, html, json, markdown, text` {
		t.Errorf("an unknown format: %v", err)
	}
}
