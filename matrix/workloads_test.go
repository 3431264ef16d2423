package matrix

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const execPhase = `
phase "run" {
  workload "exec" {
    command = ["./bench.sh", "README"]
    note    = "first"
    metric "tps" {
      regex = "tps = ([0-9.]+)"
      unit  = "1/s"
    }
    metric "errors" { regex = "errors: ([0-9]+)" }
  }
}
`

func TestNestedBlocks(t *testing.T) {
	program := map[string]string{"bench.sh": "#!/bin/sh\n", "README": "1\n"}
	plan := func(src string, files map[string]string, h History) *Plan {
		return planFiles(t, src, files, h, PlanOptions{})
	}
	before := plan(execPhase, program, History{})
	phase := before.Runs[0].Phases[0].Phase
	want := `[{name = "tps", regex = "tps = ([0-9.]+)", unit = "1/s"}, {name = "errors", regex = "errors: ([0-9]+)", unit = "count"}]`
	if got := show(phase.Workload.Args["metric"]); got != want {
		t.Errorf("metrics are %s\nwant %s", got, want)
	}
	var inputs []string
	for _, in := range phase.Inputs() {
		if strings.HasPrefix(in.Name, "program") || strings.HasPrefix(in.Name, "exec") {
			inputs = append(inputs, in.Name)
		}
	}
	if diff := cmp.Diff([]string{"exec.command", "exec.metric", "program../bench.sh"}, inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	tests := []struct {
		name  string
		text  []string
		files map[string]string
		want  string
	}{
		{"nothing", nil, nil, " 1: done [run done]"},
		{"an attribute outside of what is measured", []string{"first", "second"}, nil, " 1: done [run done]"},
		{"the program", nil, map[string]string{"bench.sh": "#!/bin/sh\ntrue\n", "README": "1\n"},
			" 1: stale (program../bench.sh was sha256:2a2f1e7aa3bb3b29, is sha256:"},
		{"a metric", []string{`unit  = "1/s"`, `unit  = "1/min"`}, nil, " 1: stale (exec.metric was [{name = \"tps\""},
		{"an argument of the program that is a file", nil, map[string]string{"bench.sh": "#!/bin/sh\n", "README": "2\n"}, " 1: done [run done]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := tt.files
			if files == nil {
				files = program
			}
			got := shown(plan(replaced(t, execPhase, tt.text), files, record(before)))[0]
			want, _, _ := strings.Cut(tt.want, "sha256:2a")
			if !strings.HasPrefix(got, want) {
				t.Errorf("the run is%s, want%s", got, want)
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	tests := []struct{ name, command, want string }{
		{"found on PATH", `["sh", "-c", "true"]`, "sha256:"},
		{"not installed", `["no-such-program-anywhere"]`, "not on this host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, cells := expandText(t, "phase \"run\" {\n  workload \"exec\" { command = "+tt.command+" }\n}\n")
			var got string
			for _, in := range cells[0].Phases[0].Inputs() {
				if strings.HasPrefix(in.Name, "program.") {
					got = in.Value
				}
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("the program is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestUnreadableFile tests that a file which cannot be read differs from all that
// can.
func TestUnreadableFile(t *testing.T) {
	d := newDecoder(t.Context(), LoadOptions{}, &source{dir: t.TempDir()}, &faults{})
	if got := d.contentOf(os.DevNull + "/x"); got != "unreadable" {
		t.Errorf("content is %q", got)
	}
}

// TestOpenParams tests params whose names are known only when they are
// evaluated.
func TestOpenParams(t *testing.T) {
	_, cells := expandText(t, `
variable "extra" { default = { rows = 7 } }
defaults {
  server = server.inno
  params = merge(var.extra, { more = 1 })
}
axis "a" {
  level "x" { params = { "${var.extra.rows == 7 ? "rate" : "rows"}" = 5 } }
  level "y" { params = null }
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.rows + param.more
    rate = param.rate
  }
}`)
	for _, tt := range []struct {
		cell       CellKey
		name, want string
	}{{"a=x", "rows", "8"}, {"a=x", "rate", "5"}, {"a=y", "rate", "-"}} {
		if got := look(cells, tt.cell, "load", tt.name); got != tt.want {
			t.Errorf("%s of %s are %s, want %s", tt.name, tt.cell, got, tt.want)
		}
	}
}

// TestWholeRoots tests expressions that read all names of a root.
func TestWholeRoots(t *testing.T) {
	_, cells := expandText(t, `
variable "unit" { default = 3 }
locals { one = 1 }
defaults {
  server = server.inno
  params = { p = 1, q = 2 }
}
axis "a" {
  levels = [1, 2]
  label  = "A${level}"
  my_cnf = { a = level }
}
axis "b" {
  levels = [3]
}
matrix "m" { a = "*" }
phase "load" {
  my_cnf = {
    axes   = join(",", [for name, level in axis : "${name}=${coalesce(level, "none")}"])
    labels = join(",", [for name, text in label : coalesce(text, "none")])
    places = sum([for name, n in pos : n == null ? 10 : n])
    params = sum([for name, v in param : v])
    vars   = sum(values(var)) + sum(values(local))
    cell   = "${cell["key"]} ${keys(cell)[0]}"
    build  = join(" ", values(build))
    host   = join(" ", keys(host))
    every  = length(server)
  }
  workload "bench" { step = "load" }
}`)
	want := map[string]string{
		"axes": "a=2,b=none", "labels": "A2,none", "places": "11", "params": "3", "vars": "4", "cell": "a=2 key",
		"build": "mariadb inno 10.11.19", "host": "cpus memory", "every": "5",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = look(cells, "a=2", "load", "my_cnf."+name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if got := look(cells, "a=1", "load", "my_cnf.axes"); got != "a=1,b=none" {
		t.Errorf("axes of the first cell are %q", got)
	}
}

// TestSettle tests the settings of a phase that are no overlay's.
func TestPhaseAttributes(t *testing.T) {
	_, cells := expandText(t, `
defaults { server = server.inno }
axis "a" {
  levels = [1, 2]
  params = { n = level }
}
phase "load" {
  iterations   = param.n
  warmup       = "${param.n}s"
  timeout      = param.n == 1 ? null : "1h"
  cache        = "warm"
  read_only    = true
  on_interrupt = "continue"
  snapshot {
    copy   = "reflink"
    share  = "replicates"
    budget = 4096
  }
  workload "bench" { step = "load" }
  settle {
    dirty_pages_pct = 10 * param.n
    checkpoint_age  = "1M"
    purge_history   = 0
    compaction      = true
    pause           = "2s"
  }
  sample {
    interval = "500ms"
    status   = ["Threads_running"]
    exec     = [{ name = "stacks", command = ["pmp", "-x"], every = "10s" }]
    extents  = true
  }
}`)
	p := cells[1].Phases[0]
	if p.Iterations != 2 || p.Warmup.String() != "2s" || p.Timeout.String() != "1h0m0s" || cells[0].Phases[0].Timeout != 0 {
		t.Errorf("iterations %d, warm-up %v, timeouts %v and %v", p.Iterations, p.Warmup, p.Timeout, cells[0].Phases[0].Timeout)
	}
	if p.Cache != CacheWarm || !p.ReadOnly || p.OnInterrupt != Continue {
		t.Errorf("cache %s, read-only %v, on interrupt %s", p.Cache, p.ReadOnly, p.OnInterrupt)
	}
	if diff := cmp.Diff(&SnapshotPolicy{ShareReplicates: true, Reflink: true, Budget: 4096}, p.Snapshot); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
	s := p.Settle
	if *s.DirtyPagesPct != 20 || *s.CheckpointAge != 1<<20 || *s.PurgeHistory != 0 || !s.Compaction || s.Vacuum || s.Pause.String() != "2s" || s.MaxWait.String() != "20m0s" {
		t.Errorf("settle %+v", s)
	}
	want := Sample{Interval: 5e8, Status: []string{"Threads_running"}, Exec: []SampleCommand{{"stacks", []string{"pmp", "-x"}, 1e10}}, Extents: true}
	if diff := cmp.Diff(want, p.Sample); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
}
