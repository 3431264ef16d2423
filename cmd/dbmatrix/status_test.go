package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/prometheus/procfs"
)

// TestStatusOfRunner tests what status and show say of an attempt under way, by
// whether its runner is still there.
func TestStatusOfRunner(t *testing.T) {
	self, err := procfs.Self()
	if err != nil {
		t.Fatal(err)
	}
	stat, err := self.Stat()
	if err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	at := store.Runner{Version: "test", PID: os.Getpid(), StartTicks: stat.Starttime, BootID: strings.TrimSpace(string(boot))}
	later, rebooted := at, at
	later.StartTicks--
	rebooted.BootID = "another"
	tests := []struct {
		name    string
		runner  store.Runner
		status  matrix.Status
		summary string
	}{
		{"at work", at, store.Running, "1 running, 1 new"},
		{"killed, its pid taken by another", later, matrix.Interrupted, "1 new, 1 interrupted"},
		{"gone with a reboot", rebooted, matrix.Interrupted, "1 new, 1 interrupted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			leaveRunning(t, dir, tt.runner)
			ctx := context.Background()
			o := experimentOptions{machine: filepath.Join(dir, "machine")}
			exp, cells, err := o.expand(ctx, &streams{out: io.Discard, err: io.Discard}, dir)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := status(ctx, exp, cells)
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Runs[0].Status; got != tt.status {
				t.Errorf("status %s, want %s", got, tt.status)
			}
			if got := byStatus(doc.Summary.ByStatus); got != tt.summary {
				t.Errorf("summary %q, want %q", got, tt.summary)
			}
			var out strings.Builder
			s := &streams{out: &out, err: io.Discard}
			if err := showCell(ctx, s, &showOptions{experimentOptions: o}, dir, "n=1"); err != nil {
				t.Fatal(err)
			}
			if want := "attempt 1: " + string(tt.status); !strings.Contains(out.String(), want) {
				t.Errorf("show does not say %q:\n%s", want, out.String())
			}
		})
	}
}

// leaveRunning records an attempt under way of the first cell of an experiment in
// dir.
func leaveRunning(t *testing.T, dir string, r store.Runner) {
	t.Helper()
	const text = `
axis "n" { levels = [1, 2] }
phase "load" {
  workload "sysbench" {
    script  = "fileio"
    step    = "prepare"
    options = { file-num = axis.n, file-total-size = "8M" }
  }
}
`
	ctx := context.Background()
	for name, content := range map[string]string{"e.hcl": text, "machine": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := experimentOptions{machine: filepath.Join(dir, "machine")}
	exp, cells, err := o.expand(ctx, &streams{out: io.Discard, err: os.Stderr}, dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := exp.MakePlan(cells, matrix.History{}, matrix.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := writeRecord(ctx, exp)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r.Experiment, err = s.RecordPlan(ctx, p); err != nil {
		t.Fatal(err)
	}
	runner, _, err := s.BeginRunner(ctx, r, func(store.Runner) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := s.BeginAttempt(ctx, store.AttemptStart{Experiment: r.Experiment, Runner: runner, Cell: cells[0].Key, Replicate: 1, Phases: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeginPhase(ctx, store.PhaseStart{Attempt: id, Ordinal: 1, Phase: cells[0].Phases[0], Fingerprint: cells[0].Fingerprints[0], Inputs: cells[0].Phases[0].Inputs}); err != nil {
		t.Fatal(err)
	}
}

// What was measured with another value of a variable is stale without it, and plan
// and status say what is to be set.
func TestVariablesOfStaleRuns(t *testing.T) {
	v := newLight(t)
	v.text = strings.Replace(lightExperiment, "phase", "variable \"n\" {\n  default = 1\n}\nphase", 1)
	v.text = strings.Replace(v.text, "echo n=1", "echo n=${var.n}", 1)
	v.n--
	v.grow()
	for _, step := range []struct{ args, want string }{
		{"run --var n=7", "1 done"},
		{"plan", "measured with --var n=7"},
		{"status", "measured with --var n=7"},
		{"plan --var n=7", "done"},
	} {
		cmd, out := v.command(nil, append(strings.Fields(step.args), v.dir)...)
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), step.want) {
			t.Errorf("%s: %v, want %q\n%s", step.args, err, step.want, out)
		}
	}
}

func TestVariablesOf(t *testing.T) {
	for command, want := range map[string]string{
		"dbmatrix run e": "",
		"dbmatrix run --var n=7 e --var=m=x --var-file v.hcl --variant": "--var n=7 --var=m=x --var-file v.hcl",
		"dbmatrix run e --var": "",
	} {
		if got := variablesOf(command); got != want {
			t.Errorf("%q sets %q, want %q", command, got, want)
		}
	}
}

// TestRunningSeconds checks that a phase under way is not said to last as long as its
// attempt.
func TestRunningSeconds(t *testing.T) {
	now := time.Now()
	a := &store.Attempt{Cell: "n=1", Replicate: 1, Number: 2, Status: store.Running, Began: now.Add(-46 * time.Second), Phases: []store.Phase{
		{Name: "load", Status: matrix.OK, Began: now.Add(-40 * time.Second), Planned: 1},
		{Name: "query", Status: store.Running, Stage: "measuring", Began: now.Add(-5 * time.Second), Planned: 1},
	}}
	var out strings.Builder
	if err := printStatus(&out, statusJSON{Running: []runningJSON{runningDocument(a, now)}}); err != nil {
		t.Fatal(err)
	}
	if want := "attempt 2 for 46s: query measuring, iteration 1 of 1, for 5s\n"; !strings.Contains(out.String(), want) {
		t.Errorf("status does not say %q:\n%s", want, out.String())
	}
}
