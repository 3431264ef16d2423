package report

import "testing"

// TestFacts prints facts in a text: one that all runs share, one in which they
// differ, and one that nothing recorded.
func TestFacts(t *testing.T) {
	exp, cells := loadBlocks(t, `text "t" { body = "${fact("kernel")} / ${fact("load.seed")} / ${fact("none")}" }
`)
	attempts := clean(cells)
	for i := range attempts {
		attempts[i].Facts = map[string]string{"kernel": "6.1", "load.seed": "1"}
	}
	attempts[0].Facts["load.seed"] = "2"
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	if got, want := doc.Blocks[0].Text.Markdown, "6.1 / 1, 2 / "; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
}
