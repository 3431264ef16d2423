package matrix

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
)

// TestReportBlocks tests how the blocks of a report are decoded.
func TestReportBlocks(t *testing.T) {
	p := planFiles(t, `
defaults { server = server.inno }
axis "engine" {
  levels = ["inno", "rocks"]
  my_cnf = { e = level }
}
axis "size" {
  levels = [1, 2]
  my_cnf = { s = level }
}`+loadPhase+queryPhase+`
table "plain" { columns = ["ips@load", "qps@query.2", "a@b.c@query"] }
table "full" {
  title     = "Rates of ${var.name}"
  phase     = "query"
  iteration = 2
  rows      = ["engine"]
  across    = ["size"]
  transpose = true
  only      = axis.size != "2"
  baseline  = { engine = "inno", size = null }
  missing   = "X"
  source    = "published"
  aggregate = "median"
  interval  = true
  geomean   = true
  legend    = false
  sort      = ["-rate", "engine"]
  columns   = ["qps.av"]
  column "rate" {
    of        = "ips.av"
    phase     = "load"
    iteration = 1
    format    = "%.1f%%"
    heading   = ["2h", "ips"]
    relative  = true
    divisor   = 1024
  }
  column "share" {
    value   = col["rate"] / at("qps.av", "query")
    heading = "share"
  }
  column "cell" { cell = "${col["rate"]}" }
  column "qps.99" {}
  group {
    key     = axis.engine
    heading = "engine ${axis.engine}"
    order   = ["rocks", "inno"]
    style   = "rule"
  }
  label {
    heading = ""
    text    = label.engine
    side    = "left"
  }
}
table "grouped" {
  phase    = "load"
  columns  = ["ips"]
  group_by = ["engine"]
  source   = "all"
}
chart "c" {
  kind      = "box"
  title     = "Chart"
  phase     = "load"
  iteration = 1
  x         = "engine"
  y         = "ips.av"
  series    = ["size"]
  facet     = ["engine"]
  only      = pos.size == 0
  log       = true
  baseline  = { engine = "rocks" }
  width     = 640
}
chart "time" {
  kind  = "line"
  phase = "load"
  x     = "time"
  y     = "ips"
}
text "note" { body = "It takes ${at("secs", "load")} s." }
import "published" {
  file = "published.csv"
  check {
    column  = "r/i"
    formula = col["r/s"] / col["ips"]
    phase   = "load"
  }
}
variable "name" { default = "x" }
`, map[string]string{"published.csv": "engine,ips\n"}, History{}, PlanOptions{})
	ignore := cmpopts.IgnoreTypes(hcl.Range{})
	present := cmp.Transformer("present", func(e hcl.Expression) bool { return e != nil })
	is := expr(t, "1")
	file := p.Experiment.Dir + "/published.csv"
	want := []ReportBlock{
		&Table{Name: "plain", Label: Label{Side: "right"}, Source: "own", Aggregate: "run", Legend: true, Columns: []Column{
			{Label: "ips@load", Of: "ips", Phase: "load"}, {Label: "qps@query.2", Of: "qps", Phase: "query", Iteration: 2},
			{Label: "a@b.c@query", Of: "a@b.c", Phase: "query"}}},
		&Table{Name: "full", Title: is, Phase: "query", Iteration: 2, Rows: []string{"engine"}, Across: []string{"size"}, Transpose: true, Only: is,
			Baseline: map[string]string{"engine": "inno"}, Missing: "X", Source: "published", Aggregate: "median", Interval: true, Geomean: true,
			Sort: []SortKey{{"rate", true}, {"engine", false}},
			Columns: []Column{
				{Label: "qps.av", Of: "qps.av"},
				{Label: "rate", Of: "ips.av", Phase: "load", Iteration: 1, Format: "%.1f%%", Heading: []string{"2h", "ips"}, Relative: true, Divisor: 1024},
				{Label: "share", Value: is, Heading: []string{"share"}}, {Label: "cell", Cell: is}, {Label: "qps.99", Of: "qps.99"}},
			Group: &Group{Key: is, Heading: is, Order: []string{"rocks", "inno"}, Style: "rule"},
			Label: Label{HasHead: true, Text: is, Side: "left"}},
		&Table{Name: "grouped", Phase: "load", Columns: []Column{{Label: "ips", Of: "ips"}}, Group: &Group{Axes: []string{"engine"}, Style: "line"},
			Label: Label{Side: "right"}, Source: "all", Aggregate: "run", Legend: true},
		&Chart{Name: "c", Kind: "box", Title: "Chart", Phase: "load", Iteration: 1, X: "engine", Y: "ips.av", Series: []string{"size"}, Facet: []string{"engine"},
			Only: is, Log: true, Baseline: map[string]string{"engine": "rocks"}, Width: 640},
		&Chart{Name: "time", Kind: "line", Phase: "load", X: "time", Y: "ips"},
		&Text{Name: "note", Body: is},
		&Import{Name: "published", File: file, Checks: []ImportCheck{{Column: "r/i", Formula: is, Phase: "load"}}},
	}
	if diff := cmp.Diff(want, p.Experiment.Report, ignore, present); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	for _, b := range p.Experiment.Report {
		if b.DefRange().Start.Line < 2 || b.BlockName() == "" {
			t.Errorf("block %q is at %v", b.BlockName(), b.DefRange())
		}
	}
}

func TestFormat(t *testing.T) {
	const ugly, good = "experiment {\ntitle=\"x\"\n  replicates =  3\n}\n", "experiment {\n  title      = \"x\"\n  replicates = 3\n}\n"
	if got := string(Format([]byte(ugly))); got != good {
		t.Errorf("formatted:\n%s", got)
	}
	if file, diags := ParseFile("x.hcl", []byte("\ufeff"+good)); diags.HasErrors() || file == nil {
		t.Errorf("a file with a byte order mark: %v", diags)
	}
	_, diags := ParseFile("x.hcl", []byte("experiment {\n=======\n}\n"))
	if len(diags) != 1 || diags[0].Subject.Start.Line != 2 {
		t.Errorf("a file with a conflict marker: %v", diags)
	}
}
