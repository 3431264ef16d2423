package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// axesABC declares three axes whose levels all set something.
const axesABC = `
defaults { server = server.inno }
axis "a" {
  levels = [1, 2]
  my_cnf = { a = level }
}
axis "b" {
  levels = ["x", "y"]
  my_cnf = { b = level }
}
axis "c" {
  levels = [7, 8]
  my_cnf = { c = level }
}
`

func TestMatrices(t *testing.T) {
	tests := []struct {
		name string
		hcl  string // after axesABC and loadPhase
		want []CellKey
	}{
		{"no matrix is the product of all axes", ``, []CellKey{
			"a=1,b=x,c=7", "a=1,b=x,c=8", "a=1,b=y,c=7", "a=1,b=y,c=8",
			"a=2,b=x,c=7", "a=2,b=x,c=8", "a=2,b=y,c=7", "a=2,b=y,c=8",
		}},
		{"axes in the order they are declared, levels in the order they are listed", `
matrix "m" {
  b = ["y", "x"]
  a = [2, 1]
}`, []CellKey{"a=2,b=y", "a=2,b=x", "a=1,b=y", "a=1,b=x"}},
		{"a union, each combination once", `
matrix "first" { a = "*" }
matrix "second" {
  a = [2]
  b = ["x"]
}
matrix "third" { a = [2] }`, []CellKey{"a=1", "a=2", "a=2,b=x"}},
		{"zip walks in step", `
matrix "m" {
  a   = "*"
  b   = ["x", "x"]
  c   = "*"
  zip = [["a", "b"]]
}`, []CellKey{"a=1,b=x,c=7", "a=1,b=x,c=8", "a=2,b=x,c=7", "a=2,b=x,c=8"}},
		{"zip of axes that do not follow each other", `
matrix "m" {
  a   = "*"
  b   = "*"
  c   = "*"
  zip = [["c", "a"]]
}`, []CellKey{"a=1,b=x,c=7", "a=1,b=y,c=7", "a=2,b=x,c=8", "a=2,b=y,c=8"}},
		{"two zips", `
axis "d" {
  levels = ["u", "v"]
  my_cnf = { d = level }
}
matrix "m" {
  a   = "*"
  b   = "*"
  c   = "*"
  d   = "*"
  zip = [["a", "b"], ["c", "d"]]
}`, []CellKey{"a=1,b=x,c=7,d=u", "a=1,b=x,c=8,d=v", "a=2,b=y,c=7,d=u", "a=2,b=y,c=8,d=v"}},
		{"a zip that repeats a row yields it once", `
matrix "m" {
  a   = [1, 1, 2]
  b   = ["x", "x", "y"]
  zip = [["a", "b"]]
}`, []CellKey{"a=1,b=x", "a=2,b=y"}},
		{"top-level excludes reach every matrix, others their own", `
matrix "m" {
  a = "*"
  b = "*"
  exclude { when = axis.b == "y" }
}
matrix "n" {
  a = "*"
  c = [7]
}
exclude {
  when   = axis.a == "2" && axis.c != "7"
  reason = "too slow"
}`, []CellKey{"a=1,b=x", "a=1,c=7", "a=2,c=7"}},
		{"what one matrix excludes another may yield", `
matrix "m" {
  a = "*"
  exclude { when = axis.a == "2" }
}
matrix "n" { a = "*" }`, []CellKey{"a=1", "a=2"}},
		{"excludes by matrix, position and null", `
matrix "m" {
  a = "*"
  b = "*"
}
exclude { when = pos.a == 1 && cell.matrix == "m" && axis.c == null && label.b == "y" }`, []CellKey{"a=1,b=x", "a=1,b=y", "a=2,b=x"}},
		{"levels of an expression", `
matrix "m" {
  a = [for l in range(1, 3) : l if l > 1]
  b = concat(["x"], [])
}`, []CellKey{"a=2,b=x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, cells := expandText(t, axesABC+tt.hcl+loadPhase)
			if diff := cmp.Diff(tt.want, cellKeys(cells)); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			n, diags := e.Count()
			if diags.HasErrors() || n != len(tt.want) {
				t.Errorf("Count() = %d, %v, want %d", n, diags, len(tt.want))
			}
		})
	}
}

func TestExclusions(t *testing.T) {
	e, cells := expandText(t, axesABC+`
matrix "m" {
  a = "*"
  b = "*"
  exclude {
    when   = axis.b == "y"
    reason = "y is slow"
  }
}
exclude {
  when   = axis.a == "2"
  reason = "2 is slow"
}`+loadPhase)
	var got []string
	for _, x := range e.Exclusions() {
		got = append(got, fmt.Sprintf("%s|%s|%d|line %d", x.Matrix, x.Reason, x.Removed, x.Range.Start.Line))
	}
	// The cell a=2,b=y is removed by both, and counted by both.
	want := []string{"m|y is slow|2|line 19", "|2 is slow|2|line 24"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exclusions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]CellKey{"a=1,b=x"}, cellKeys(cells)); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestMatrixParams(t *testing.T) {
	const phase = `
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.rows
  }
}`
	t.Run("they lie over the axes, and agree where both yield a cell", func(t *testing.T) {
		_, cells := expandText(t, axesABC+`
matrix "m" {
  a      = "*"
  params = { rows = 5 }
}
matrix "n" {
  a      = [2]
  params = { rows = 2 + 3 }
}
matrix "o" { c = [7] }
`+phase)
		got := map[CellKey]string{}
		for _, c := range cells {
			got[c.Key] = c.Matrix + " " + lookPhase(c.Phases[0], "rows")
		}
		if diff := cmp.Diff(map[CellKey]string{"a=1": "m 5", "a=2": "m 5", "c=7": "o 1000"}, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
	t.Run("they do not override an axis", func(t *testing.T) {
		e, diags := loadText(t, axesABC+`
axis "d" {
  level "u" { params = { rows = 1 } }
}
matrix "m" {
  d      = "*"
  params = { rows = 5 }
}
`+phase)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, diags = e.Expand()
		if !strings.Contains(fmt.Sprint(diags), "Set differently by two overlays") {
			t.Errorf("diagnostics: %v, want a conflict", diags)
		}
	})
}

func TestCellLevels(t *testing.T) {
	e, cells := expandText(t, `
defaults { server = server.inno }
axis "a" {
  label = "the A"
  level "x" {
    label       = ""
    description = "as it comes"
    my_cnf      = { a = 1 }
  }
  level "y" {
    label  = null
    my_cnf = { a = 2 }
  }
}
axis "b" {
  levels = [4, 5]
  label  = "${level} of ${axis.a}"
  my_cnf = { b = level }
}
matrix "m" {
  a = "*"
  b = [5]
}`+loadPhase)
	want := []CellLevel{{Axis: "a", Name: "y", Text: "y", Pos: 1}, {Axis: "b", Name: "5", Text: "5 of y", Pos: 1}}
	if diff := cmp.Diff(want, cells[1].Levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if l, ok := cells[0].Level("a"); !ok || l.Text != "" {
		t.Errorf("level of a: %+v, %v; want one with an empty label", l, ok)
	}
	if _, ok := cells[0].Level("c"); ok {
		t.Error("the cell has a level on an axis that there is not")
	}
	a := e.Axes[0]
	if a.Label != "the A" || a.Level("x").Label != "" || a.Level("y").Label != "y" || a.Level("x").Description != "as it comes" {
		t.Errorf("axis a: label %q, levels %+v, %+v", a.Label, a.Level("x"), a.Level("y"))
	}
	if a.Level("z") != nil {
		t.Error("axis a has a level z")
	}
}

// TestDynamicReport tests that blocks of the report may be dynamic.
func TestDynamicReport(t *testing.T) {
	e, _ := expandText(t, `
defaults { server = server.inno }`+loadPhase+`
dynamic "table" {
  for_each = ["t1", "t2"]
  labels   = [table.value]
  content {
    phase = "load"
    dynamic "column" {
      for_each = ["qps.av", "qps.99"]
      labels   = ["${table.value} ${column.value}"]
      content { of = column.value }
    }
  }
}
text "end" { body = "That is all." }
dynamic "chart" {
  for_each = ["ips.av"]
  labels   = ["c"]
  content {
    kind  = "line"
    phase = "load"
    x     = "time"
    y     = chart.value
  }
}`)
	var got []string
	for _, b := range e.Report {
		text := b.BlockName()
		if table, ok := b.(*Table); ok {
			for _, c := range table.Columns {
				text += fmt.Sprintf(" [%s: %s]", c.Label, c.Of)
			}
		}
		got = append(got, text)
	}
	want := []string{"t1 [t1 qps.av: qps.av] [t1 qps.99: qps.99]", "t2 [t2 qps.av: qps.av] [t2 qps.99: qps.99]", "end", "c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
