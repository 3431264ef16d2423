package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dbmatrix/report"

	"github.com/google/go-cmp/cmp"
)

// faultyDefinition holds a fault of each kind, as <<what is wrong|what would be
// right>>.
const faultyDefinition = `
experiment {
  <<titel|title>> = "All kinds of faults"
}
<<tabel|table>> "extra" {
  phase   = "load"
  columns = ["ips.av"]
}
variable "rows" { default = 1000 }
server "base" { flavour = "mariadb" }
defaults {
  server = server.base
  my_cnf = { innodb_io_capacity = <<var.iops|var.rows>> }
}
axis "io" {
  level "buffered" { my_cnf = { innodb_flush_method = "fsync" } }
  level "direct" { my_cnf = { innodb_flush_method = axis.<<ioo|io>> == "direct" ? "O_DIRECT" : "fsync" } }
}
phase "load" {
  iterations = <<"two"|2>>
  workload "insert_benchmark" {
    step = "load"
    rows = <<"many"|var.rows>>
  }
}
phase "query" {
  workload "insert_benchmark" {
    step    = "<<qurey|query>>"
    seconds = 10
  }
}
phase "count" {
  workload "exec" {
    <<|command = ["true"]>>
    metric "waits" { regex = "waits (.*)" }
  }
}
table "speed" {
  phase   = "<<laod|load>>"
  columns = ["<<isp.av|ips.av>>", "qps@query"]
  rows    = ["<<oi|io>>"]
  column "sum" { value = <<col["ips.av"]|1>> + col["rss"] }
}
table "counted" {
  phase   = "count"
  columns = ["waits", "<<wiats|waits>>@count"]
}
text "words" { body = "${at("io=buffered", "ips.av", "load")} ${<<rnd|1>>}" }
chart "c" {
  <<|y = "ips.av">>
  kind  = "bar"
  phase = "load"
  x     = "io"
}
`

var faultMark = regexp.MustCompile(`<<([^|]*)\|([^>]*)>>`)

// TestFaultsAtOnce checks that the faults of names, of values and of the report are
// told at once, in the order of the file, and that each that is corrected takes its
// own diagnostic with it and brings up no other.
func TestFaultsAtOnce(t *testing.T) {
	marks := faultMark.FindAllString(faultyDefinition, -1)
	all := faultsOf(t, -1)
	if len(all) != len(marks) {
		t.Errorf("%d diagnostics of %d faults:\n%s", len(all), len(marks), strings.Join(all, "\n"))
	}
	for i, mark := range marks {
		got := faultsOf(t, i)
		gone := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(got, s) })
		if len(gone) != 1 || len(got) != len(all)-1 {
			t.Errorf("without %s: gone is %q\n(-all +then)\n%s", mark, gone, cmp.Diff(all, got))
		}
	}
}

// faultsOf returns what is told of the definition with all faults but one.
func faultsOf(t *testing.T, corrected int) []string {
	t.Helper()
	n := -1
	src := faultMark.ReplaceAllStringFunc(faultyDefinition, func(mark string) string {
		n++
		parts := faultMark.FindStringSubmatch(mark)
		if n == corrected {
			return parts[2]
		}
		return parts[1]
	})
	dir := t.TempDir()
	machine := filepath.Join(dir, "machine.hcl")
	for name, text := range map[string]string{"experiment.hcl": src, "machine.hcl": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := experimentOptions{machine: machine}
	exp, _, diags, err := o.read(t.Context(), dir)
	if err != nil || exp == nil {
		t.Fatalf("no experiment: %v, %v", err, diags)
	}
	cells, more := exp.Expand()
	var told []string
	for _, d := range slices.Concat(diags, more, report.Check(exp, cells)) {
		detail, _, _ := strings.Cut(d.Detail, " (In ")
		told = append(told, fmt.Sprintf("%d: %s: %s", d.Subject.Start.Line, d.Summary, detail))
	}
	slices.Sort(told)
	return told
}
