package matrix

import (
	"os"
	"path/filepath"
	"testing"
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
