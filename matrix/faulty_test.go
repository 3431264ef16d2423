package matrix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

// faultyExperiments hold faults as <<what is wrong|what would be right>>.
var faultyExperiments = map[string]string{
	"every kind": `
experiment {
  <<titel|title>>      = "All kinds of faults"
  replicates = <<"three"|3>>
}
<<benchmark "x" {}|>>
variable "rows" { default = 1000 }
variable "clients" {
  type    = number
  default = <<"many"|16>>
}
locals { half = var.rows / <<"two"|2>> }
defaults {
  server = server.inno
  my_cnf = {
    innodb_io_capacity     = <<var.iops|var.rows>>
    innodb_io_capacity_max = <<[null, {}]|5>>
    sort_buffer_size       = "1<<X|M>>"
  }
  params = { half = local.half }
}
axis "dio" {
  level "off" { my_cnf = { innodb_flush_method = "fsync" } }
  level "on" {
    my_cnf = {
      innodb_flush_method = axis.<<di|dio>> == "on" ? "O_DIRECT" : "fsync"
      datadirs            = <<server.mysql98.version|1>>
    }
    <<sever = server.inno|>>
  }
}
axis "size" {
  levels = [1, 2]
  label  = format("%d", <<axis.sise|level>>)
  my_cnf = { innodb_size = level }
}
<<exclud|exclude>> {
  when = axis.dio == "on" && axis.size == <<"3"|"2">>
}
phase "load" {
  workload "bench" {
    step = "<<laod|load>>"
    rows = <<"many"|var.rows>>
  }
}
phase "scan" {
  iterations = <<0|1>>
  timeout    = "<<1x|1m>>"
  workload "<<bensh|bench>>" {
    step = "scan"
    <<row|rows>> = <<parma.half|param.half>>
  }
}
phase "query" {
  workload "exec" {
    <<|command = ["true"]>>
    metric "waits" { regex = <<fromat("w")|"w">> }
  }
}
table "load" {
  phase   = "<<laod|load>>"
  columns = ["ips.av", "qps@<<qurey|query>>"]
  rows    = ["<<dido|dio>>"]
  column "sum" { value = col["ips.av"] + <<cool["x"]|1>> }
  label { text = <<lable.dio|label.dio>> }
  sort = ["<<-summ|-sum>>"]
}
chart "c" {
  phase = "load"
  <<|kind = "bar">>
  x     = "<<siz|size>>"
  y     = "ips.av"
}
`,
	"relations": `
defaults { server = server.inno }
axis "a" {
  level "1" { my_cnf = { sort_buffer_size = <<"2M"|"1M">> } }
}
axis "b" {
  level "1" { my_cnf = { sort_buffer_size = "1M" } }
}
phase "load" {
  workload "bench" {
    step = "load"
    <<rowz|rows>> = 5
  }
}
phase "next" {
  <<|restart = true>>
  my_cnf     = { join_buffer_size = 4096 }
  iterations = <<"x"|1>>
  workload "bench" { step = "load" }
}
`,
	"a level that lost an argument": `
axis "io" {
  level "a" { <<innodb_doublewrite = false|>> }
  level "b" { my_cnf = { innodb_doublewrite = <<axis.ioo|axis.io>> == "b" } }
}
axis "n" {
  levels = <<[1, var.nn]|[1]>>
  label  = "n"
  my_cnf = { innodb_size = level, innodb_page = <<local.x|level>> }
}
defaults { server = server.inno }
matrix "m" {
  io = ["a", <<"c"|"b">>]
  n  = "*"
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = <<"many"|2>>
  }
}
`,
	"what is lost takes nothing with it": `
<<axsis|axis>> "a" {
  level "x" { params = { n = 1 } }
  level "y" { params = { n = 2 } }
}
<<defualts|defaults>> { server = server.inno }
matrix "m" { <<aa|a>> = "*" }
exclude { when = axis.a == "x" && <<axis.z|1>> == 2 }
phase "load" {
  <<worklod|workload>> "bench" {
    <<stepp|step>> = "load"
    rows = param.<<m|n>>
  }
}
table "t" {
  <<colums|columns>> = ["ips.av"]
  <<fase|phase>> = "load"
}
`,
}

// inCells matches what a diagnostic says of how many cells it is about.
var inCells = regexp.MustCompile(` \(In [^()]*\.\)`)

var faultMark = regexp.MustCompile(`<<([^|]*)\|([^>]*)>>`)

// TestFaultsAtOnce checks that all faults of a definition are told at once, and that
// each that is corrected takes its own diagnostic with it and brings up no other.
func TestFaultsAtOnce(t *testing.T) {
	for name, src := range faultyExperiments {
		t.Run(name, func(t *testing.T) {
			marks := faultMark.FindAllStringIndex(src, -1)
			all := faultsOf(t, src, -1)
			if len(all) != len(marks) {
				t.Errorf("%d diagnostics of %d faults:\n%s", len(all), len(marks), strings.Join(all, "\n"))
			}
			for i, at := range marks {
				got := faultsOf(t, src, i)
				gone := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(got, s) })
				if len(gone) != 1 || len(got) != len(all)-1 {
					t.Errorf("without %s: gone is %q\n(-all +then)\n%s", src[at[0]:at[1]], gone, cmp.Diff(all, got))
				}
			}
		})
	}
}

// faultsOf returns what is told of an experiment with all faults but one.
func faultsOf(t *testing.T, src string, corrected int) []string {
	t.Helper()
	n := -1
	src = faultMark.ReplaceAllStringFunc(src, func(mark string) string {
		n++
		parts := faultMark.FindStringSubmatch(mark)
		if n == corrected {
			return parts[2]
		}
		return parts[1]
	})
	e, diags := loadText(t, src)
	if e == nil {
		t.Fatalf("no experiment: %v", diags)
	}
	_, more := e.Expand()
	var told []string
	for _, d := range slices.Concat(diags, more) {
		if d.Severity == hcl.DiagError {
			told = append(told, fmt.Sprintf("%d: %s: %s", d.Subject.Start.Line, d.Summary, inCells.ReplaceAllString(strings.ReplaceAll(d.Detail, d.Subject.Filename, "experiment.hcl"), "")))
		}
	}
	slices.Sort(told)
	return told
}
