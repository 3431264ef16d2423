package matrix

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func expr(t *testing.T, src string) hcl.Expression {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(src), "expr.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return e
}

const scopeExperiment = `
variable "unit" { default = 2 }
locals {
  name  = "${axis.engine}/${label.size}"
  twice = param.rows * var.unit
}
defaults { server = server.inno }
axis "engine" {
  level "inno" { params = { rows = 5 } }
  level "rocks" { server = server.myrocks }
}
axis "size" {
  levels = [1, 2]
  label  = "size ${level}"
  my_cnf = { s = level }
}
matrix "m" {
  engine = "*"
  size   = [2]
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.rows
  }
}
table "t" {
  phase   = "load"
  columns = ["ips.av"]
  label {
    text = "${local.name} ${local.twice}"
  }
}
`

func TestEval(t *testing.T) {
	e, cells := expandText(t, scopeExperiment)
	inno, rocks := ScopeOf(cells[0]), ScopeOf(cells[1])
	imported := &Scope{Axes: map[string]string{"engine": "inno", "size": "7", "other": "x"}, Cell: "engine=inno,size=7", Matrix: "published"}
	extra := map[string]cty.Value{
		"col":  cty.ObjectVal(map[string]cty.Value{"ips.av": cty.NumberIntVal(10), "gone": cty.UnknownVal(cty.Number)}),
		"base": cty.ObjectVal(map[string]cty.Value{"ips.av": cty.NumberIntVal(4)}),
	}
	funcs := map[string]function.Function{"ratio": stdlib.DivideFunc}
	tests := []struct {
		name  string
		expr  string
		scope *Scope
		want  string
	}{
		{"axis, label, pos", `"${axis.engine} ${label.size} ${pos.size}"`, inno, `"inno size 2 1"`},
		{"a local that reads axis and label", `local.name`, rocks, `"rocks/size 2"`},
		{"a local that reads a param", `local.twice`, inno, `10`},
		{"a param", `param.rows + 1`, inno, `6`},
		{"a param that the cell does not set", `param.rows == null`, rocks, `true`},
		{"build", `"${build.name} ${build.flavour} ${build.version}"`, rocks, `"myrocks mariadb 10.11.19"`},
		{"cell", `"${cell.key} ${cell.matrix}"`, rocks, `"engine=rocks,size=2 m"`},
		{"var", `var.unit`, inno, `2`},
		{"columns and baseline", `col["ips.av"] / base["ips.av"]`, inno, `2.5`},
		{"a function of the report", `ratio(col["ips.av"], 4)`, inno, `2.5`},
		{"a function of the language beside it", `max(ratio(8, 4), 1)`, inno, `2`},
		{"a missing number makes a formula unknown", `col["gone"] + 1`, inno, `unknown`},
		{"and a condition", `col["gone"] > 1 ? "a" : "b"`, inno, `unknown`},
		{"and try() passes it on", `try(col["gone"], 0)`, inno, `unknown`},
		{"an import's row has its axes", `axis.engine`, imported, `"inno"`},
		{"and those that no level has", `axis.size`, imported, `"7"`},
		{"an import's row has no params", `param.rows == null`, imported, `true`},
		{"nor a build", `build.name == null`, imported, `true`},
		{"but a matrix", `cell.matrix`, imported, `"published"`},
		{"no row at all", `axis.engine == null && var.unit == 2`, nil, `true`},
		{"all axes at once", `[for a, l in axis : "${a}=${l}"]`, inno, `["engine=inno", "size=2"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, diags := e.Eval(expr(t, tt.expr), tt.scope, extra, funcs)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if got := show(v); got != tt.want {
				t.Errorf("%s is %s, want %s", tt.expr, got, tt.want)
			}
		})
	}
	t.Run("the label of a table", func(t *testing.T) {
		v, diags := e.Eval(e.Report[0].(*Table).Label.Text, inno, extra, nil)
		if diags.HasErrors() || show(v) != `"inno/size 2 10"` {
			t.Errorf("label is %s, %v", show(v), diags)
		}
	})
	t.Run("a fault has a place", func(t *testing.T) {
		_, diags := e.Eval(expr(t, `col["nothing"]`), inno, extra, nil)
		if !diags.HasErrors() || diags[0].Subject == nil {
			t.Errorf("diagnostics: %v, want an error with a range", diags)
		}
	})
}

// TestEvalAbsentBuild tests what a row sees of servers that no host has.
func TestEvalAbsentBuild(t *testing.T) {
	e, cells := expandText(t, "defaults { server = server.missing }"+loadPhase)
	v, diags := e.Eval(expr(t, `build.version`), ScopeOf(cells[0]), nil, nil)
	if diags.HasErrors() || v.IsKnown() {
		t.Errorf("build.version is %s, %v; want it unknown", show(v), diags)
	}
}

// TestReplicates tests that cell.replicate is each replicate's own.
func TestReplicates(t *testing.T) {
	p := planText(t, `
experiment { replicates = 3 }
defaults { server = server.inno }
axis "a" {
  levels = [1, 2]
  my_cnf = { a = level }
}
phase "load" {
  workload "bench" {
    step = "load"
    seed = 100 * (pos.a + 1) + cell.replicate
  }
}`, History{}, PlanOptions{})
	var got []string
	seen := map[Fingerprint]bool{}
	for _, r := range p.Runs {
		got = append(got, string(r.Cell.Key)+" "+lookPhase(r.Phases[0].Phase, "seed"))
		seen[r.Phases[0].Fingerprint] = true
	}
	want := []string{"a=1 101", "a=2 201", "a=1 102", "a=2 202", "a=1 103", "a=2 203"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seeds (-want +got):\n%s", diff)
	}
	if len(seen) != 6 {
		t.Errorf("%d fingerprints, want one for each run", len(seen))
	}
}

// TestAbsentBuild tests that an experiment validates on a host that has none of
// its builds, and that its runs are new, with the reason.
func TestAbsentBuild(t *testing.T) {
	p := planText(t, `
server "coming" {
  flavour     = "mysql"
  min_version = "9.9"
}
storage "array" {}
axis "server" {
  level "here" { server = server.inno }
  level "coming" { server = server.coming }
  level "nowhere" {
    server  = server.inno
    storage = storage.array
  }
}
defaults {
  params = { capacity = at_least(build.version, "9.8") ? 2000 : 1000, name = build.name }
  my_cnf = {
    capacity = param.capacity
    version  = build.version
    list     = ["a", build.version]
    plugin   = param.name == "coming" ? "x" : null
  }
}
phase "load" {
  when  = param.name != "gone"
  env   = { VERSION = build.version }
  setup = [["echo", build.version]]
  workload "bench" {
    step = "load"
    rows = param.capacity
  }
}
phase "query" {
  when = !at_least(build.version, "99.0")
  workload "bench" { step = "query" }
}`, History{}, PlanOptions{})
	for i, want := range []struct {
		reason string
		known  bool
	}{
		{"never run", true},
		{"server coming is not on this host: no machine file names it", false},
		{"storage array is not on this host", true},
	} {
		r := p.Runs[i]
		if r.Status != New || r.Reason != want.reason {
			t.Errorf("%s is %s (%s), want new (%s)", r.Cell.Key, r.Status, r.Reason, want.reason)
		}
		for _, ph := range r.Phases {
			if (ph.Fingerprint != "") != want.known {
				t.Errorf("%s: the fingerprint of phase %s is %q; known: want %v", r.Cell.Key, ph.Phase.Block, ph.Fingerprint, want.known)
			}
		}
	}
	if got := lookPhase(p.Runs[1].Phases[0].Phase, "my_cnf.plugin"); got != "x" {
		t.Errorf("option plugin is %q, want what does not hang on the build", got)
	}
	if p.Summary.ByStatus[New] != 3 {
		t.Errorf("statuses %v, want three new runs", p.Summary.ByStatus)
	}
}

// TestAbsentServerDiffers tests that cells which differ in absent builds alone
// are not taken for identical.
func TestAbsentServerDiffers(t *testing.T) {
	_, cells := expandText(t, `
server "one" { flavour = "mysql" }
server "two" { flavour = "mysql" }
axis "server" {
  level "one" { server = server.one }
  level "two" { server = server.two }
}`+loadPhase)
	if len(cells) != 2 {
		t.Errorf("%d cells, want 2", len(cells))
	}
}

// TestUndescribedFlavour tests that options of a flavour that nothing
// describes yet are kept as they are.
func TestUndescribedFlavour(t *testing.T) {
	_, cells := expandText(t, `
server "pg" { flavour = "postgres" }
defaults { server = server.pg }
axis "a" {
  level "on" { postgresql_conf = { full_page_writes = true } }
  level "off" { postgresql_conf = { full_page_writes = false } }
}`+loadPhase, func(o *LoadOptions) { o.Dialects = nil })
	var got []string
	for _, c := range cells {
		got = append(got, lookPhase(c.Phases[0], "postgresql_conf.full_page_writes"))
	}
	if strings.Join(got, " ") != "ON OFF" {
		t.Errorf("full_page_writes are %v, want ON and OFF", got)
	}
}
