package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

// TestCheck checks what is said of a definition before anything was measured.
func TestCheck(t *testing.T) {
	tests := []struct {
		name, blocks string
		want         []string
	}{
		{"nothing wrong", `table "t" {
  columns = ["ips@load", "qps@query", "rows_inserted@load", "p99.query@query"]
  column "a" { value = ratio(col["ips@load"], at("qps", "query")) }
}
text "x" { body = format("%d", at("engine=inno,compression=c0,clients=4,host=only", "qps", "query")) }
chart "c" {
  kind  = "bar"
  phase = "query"
  x     = "engine"
  y     = "qps"
}
`, nil},
		{"columns that nothing knows", `table "t" {
  phase   = "query"
  columns = ["qsp", "entirely different"]
  column "a" { value = col["rrs"] }
}
`, []string{
			`warning: Unknown column: There is no column "qsp", and no workload is known to record a metric of that name. Did you mean "qps"?`,
			"warning: Unknown column: There is no column \"entirely different\", and no workload is known to record a metric of that name. `dbmatrix columns` lists the columns.",
			`warning: Unknown column: There is no column "rrs", and no workload is known to record a metric of that name. Did you mean "r/s"?`,
		}},
		{"no phase", `table "t" {
  columns = ["qps"]
}
table "u" {
  column "a" { value = col["qps"] }
}
`, []string{
			`error: Column without a phase: Column "qps" does not say whose results it shows. Give it, or the table, a phase.`,
			`error: Column without a phase: Nothing says whose results "qps" shows in "u". Give the table a phase, or name it: at("qps", "PHASE").`,
		}},
		{"a cell in a token's place", `table "t" {
  phase = "query"
  column "a" { value = at("engine=inno", "qps") }
}
`, []string{`error: Error in function call: Call to function "at" failed: there is no phase "qps".`}},
		{"arguments of ratio()", `table "t" {
  phase = "query"
  column "a" { value = ratio(col["qps"]) }
}
`, []string{`error: Not enough function arguments: Function "ratio" expects 2 argument(s). Missing value for "b".`}},
		{"a text of a cell that is not there", `text "x" { body = "${at("engine=other", "qps", "query")}" }
`, []string{`error: Error in function call: Call to function "at" failed: there is no cell engine=other.`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, tt.blocks)
			var got []string
			for _, d := range Check(exp, cells) {
				severity := "warning: "
				if d.Severity == hcl.DiagError {
					severity = "error: "
				}
				got = append(got, severity+d.Summary+": "+d.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestPartial checks that a table with faults takes nothing else with it where a
// partial report is asked for.
func TestPartial(t *testing.T) {
	exp, cells := loadBlocks(t, `table "bad" {
  phase = "query"
  column "a" { value = at("qps", 1) }
}
table "good" {
  phase   = "query"
  columns = ["qps"]
}
text "worse" { body = "${at("engine=other", "qps", "query")}" }
`)
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval, Partial: true})
	if diags.HasErrors() || len(diags) != 2 || !strings.HasSuffix(diags[0].Detail, "What needs it is left out.") {
		t.Errorf("diagnostics: %v, want two warnings", diags)
	}
	if len(doc.Blocks) != 1 || doc.Table("good") == nil {
		t.Errorf("tables %q in %d blocks, want the good one alone", doc.Tables(), len(doc.Blocks))
	}
	if _, err := doc.Only("bad"); err == nil || err.Error() != `table "bad" cannot be made: its definition has faults` {
		t.Errorf("Only of a table with faults: %v", err)
	}
}

// TestUnknownSource checks that a source which is not there is one fault.
func TestUnknownSource(t *testing.T) {
	exp, cells := loadBlocks(t, "import \"p\" { file = \"good.csv\" }\ntable \"t\" {\n phase = \"query\"\n columns = [\"qps\"]\n}\n")
	_, diags := Build(Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Show: "foo"})
	if len(diags) != 1 || diags[0].Detail != `There is no source "foo"; the sources are own, p, all.` {
		t.Errorf("diagnostics: %v", diags)
	}
}
