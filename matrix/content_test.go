package matrix

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

// A run whose program is gone is not stale: there is nothing to measure with.
func TestProgramThatIsGone(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	program := filepath.Join(bin, "bench")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "phase \"run\" {\n  workload \"exec\" { command = [\"bench\"] }\n}\n"
	before := planText(t, text, History{}, PlanOptions{})
	source := before.Runs[0].Phases[0].Phase.Sources()[0]
	if got := ContentOf(source.Path()); got != source.Value || source.Name != "program.bench" {
		t.Errorf("%s was %s and is %s", source.Name, source.Value, got)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntrue\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := ContentOf(source.Path()); got == source.Value {
		t.Errorf("another program has the content %s of the first", got)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if got := ContentOf(source.Path()); got != notOnHost {
		t.Errorf("a program that is gone has the content %s", got)
	}
	after := planText(t, text, record(before), PlanOptions{})
	if r := after.Runs[0]; r.Status != New || r.Reason != "program bench is not on this host" {
		t.Errorf("the run is %s (%s)", r.Status, r.Reason)
	}
}

// besideText has a program before the server, one before the workload, and a
// sampler that is given a file of the experiment.
const besideText = `
server "pinned" {
  mysqld = "/opt/mariadbd"
  prefix = ["./pin.sh", "0-3"]
}
defaults {
  server = server.pinned
  prefix = ["gently", "-n", "5"]
}
phase "run" {
  workload "bench" { step = "load" }
  sample {
    exec = [{ name = "stacks", command = ["./stacks.sh", "-n", "stacks.conf", "/proc/version", "{dir}"], every = "10s" }]
  }
}
`

// What runs beside the workload is known by its content: of a phase's prefixes and
// samplers a program that has changed makes the run stale.
func TestProgramsBesideTheWorkload(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	install := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "gently"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	install("one")
	with := func(name, text string) map[string]string {
		all := map[string]string{"pin.sh": "one", "stacks.sh": "one", "stacks.conf": "one", "5": "no file of a prefix"}
		if name != "" {
			all[name] = text
		}
		return all
	}
	plan := func(beside map[string]string, h History) *Plan {
		return planFiles(t, besideText, beside, h, PlanOptions{})
	}
	before := plan(with("", ""), History{})
	var names []string
	for _, s := range before.Runs[0].Phases[0].Phase.Sources() {
		names = append(names, s.Name)
		if got := ContentOf(s.Path()); got != s.Value || !strings.HasPrefix(got, "sha256:") {
			t.Errorf("%s was %s and is %s", s.Name, s.Value, got)
		}
	}
	if diff := cmp.Diff([]string{"program../pin.sh", "program.gently", "program../stacks.sh", "file.stacks.conf"}, names); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	for _, in := range before.Runs[0].Phases[0].Phase.Inputs() {
		if in.Name == "server.prefix" && in.Value != "./pin.sh 0-3" {
			t.Errorf("the prefix is recorded as %q: it holds the place of the experiment", in.Value)
		}
	}
	check := func(beside map[string]string, want string) {
		t.Helper()
		if got := shown(plan(beside, record(before)))[0]; !strings.HasPrefix(got, want) {
			t.Errorf("the run is%s, want%s", got, want)
		}
	}
	check(with("", ""), " 1: done [run done]")
	check(with("pin.sh", "two"), " 1: stale (program../pin.sh was sha256:")
	check(with("stacks.sh", "two"), " 1: stale (program../stacks.sh was sha256:")
	check(with("stacks.conf", "two"), " 1: stale (file.stacks.conf was sha256:")
	install("two")
	check(with("", ""), " 1: stale (program.gently was sha256:")
	if err := os.Remove(filepath.Join(bin, "gently")); err != nil {
		t.Fatal(err)
	}
	check(with("", ""), " 1: new (program gently is not on this host)")
}

// A program of a prefix or a sampler that should lie in the experiment and does not
// is a fault.
func TestProgramsThatAreNotThere(t *testing.T) {
	for _, missing := range []string{"pin.sh", "stacks.sh"} {
		beside := map[string]string{"exp/experiment.hcl": besideText, "exp/pin.sh": "", "exp/stacks.sh": ""}
		delete(beside, "exp/"+missing)
		e, _, diags := Load(context.Background(), testOptions(filepath.Join(files(t, beside), "exp")))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, diags = e.Expand()
		if !diags.HasErrors() || !strings.Contains(diags.Error(), "names ./"+missing+", which is not there") {
			t.Errorf("without %s: %v", missing, diags)
		}
	}
}

// A workload that runs the program of its server's build names that one: the one
// that lies beside the server's, else the one on PATH.
func TestProgramBesideTheServer(t *testing.T) {
	build, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	own, found := filepath.Join(build, "tool"), filepath.Join(bin, "tool")
	for _, path := range []string{own, found} {
		if err := os.WriteFile(path, []byte(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	change := func(o *LoadOptions) {
		probe := o.Probe
		o.Probe = func(ctx context.Context, s *Server) Build {
			b := probe(ctx, s)
			b.Dir = build
			return b
		}
		o.Workloads = append(o.Workloads, WorkloadType{Name: "tooled", Version: 1, Built: true,
			Attributes: []Attribute{{Name: "program", Type: cty.String, Program: true, Beside: "tool"}}})
	}
	source := func(workload string) Source {
		t.Helper()
		p := planText(t, "defaults { server = server.inno }\nphase \"run\" {\n  workload \"tooled\" { "+workload+" }\n}\n", History{}, PlanOptions{}, change)
		sources := p.Runs[0].Phases[0].Phase.Sources()
		if len(sources) != 1 || sources[0].Value != ContentOf(sources[0].Path()) {
			t.Fatalf("the sources are %v", sources)
		}
		return sources[0]
	}
	if got := source(""); got.Path() != own || got.Name != "program.tool" {
		t.Errorf("%s is at %s, want %s", got.Name, got.Path(), own)
	}
	if got := source(`program = "` + found + `"`); got.Path() != found {
		t.Errorf("the program that is named is at %s, want %s", got.Path(), found)
	}
	before := source("")
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if got := source(""); got.Path() != found || before.Path() != found || before.Value == got.Value {
		t.Errorf("without its own it is at %s and was at %s, with the contents %s and %s", got.Path(), before.Path(), got.Value, before.Value)
	}
	if err := os.Remove(found); err != nil {
		t.Fatal(err)
	}
	if got := source(""); !got.Absent() {
		t.Errorf("without any it is at %s", got.Path())
	}
}
