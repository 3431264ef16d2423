package executor

import (
	"errors"
	"os"
	"strings"
	"testing"

	"dbmatrix/executor/server"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

func TestCheckRefusesWhatCannotRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(e *executor, p *matrix.Phase)
		want   string
		host   bool // it is this host's fault
	}{
		"workload of a coming version": {func(e *executor, _ *matrix.Phase) { e.deps.Workloads[0].Built = false }, `the workload "fake" is not built`, false},
		"unknown workload":             {func(e *executor, _ *matrix.Phase) { e.deps.Workloads = nil }, `the workload "fake" is not built`, false},
		"vacuum":                       {func(_ *executor, p *matrix.Phase) { p.Settle = &matrix.Settle{Vacuum: true} }, "settle { vacuum } is for PostgreSQL", false},
		"warm-up": {func(e *executor, p *matrix.Phase) {
			p.Warmup = 1
			e.deps.Workloads[0].WarmUp = false
		}, "cannot warm up", false},
		"absent build": {func(_ *executor, p *matrix.Phase) { p.Settings.Server.Build.Absent = "no such file" }, `server "one" is not on this host: no such file`, true},
		"no program": {func(e *executor, _ *matrix.Phase) {
			e.deps.Workloads[0].Needs = func(matrix.Args, string) error { return errors.New("install the package sysbench") }
		}, `phase "p": install the package sysbench`, true},
		"a file for the artifacts": {func(e *executor, _ *matrix.Phase) { mustWrite(e.artifactsDir()) }, "artifacts is no directory", true},
		"a file for the templates": {func(e *executor, _ *matrix.Phase) { mustWrite(e.plan.Experiment.DataDir + "/templates") }, "templates is no directory", true},
		"a foreign directory for the template": {func(e *executor, _ *matrix.Phase) {
			key, err := server.InitKey(e.plan.Runs[0].Cell.Phases[0].Settings)
			if err == nil {
				err = os.MkdirAll(e.plan.Experiment.DataDir+"/templates/"+key, 0o755)
			}
			if err != nil {
				panic(err)
			}
		}, "has no owner file of dbmatrix", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			defer h.close()
			plan := h.plan(oneServer + phase("p", do("work")))
			plan.Experiment.DataDir = reachableDir(t)
			if os.Geteuid() == 0 { // a server does not run as root
				plan.Runs[0].Phases[0].Phase.Settings.Server.User = "nobody"
			}
			e := &executor{plan: plan, pending: plan.Runs, reached: map[string]bool{}, deps: Deps{Store: h.store, Workloads: []workload.Type{h.workload()}}}
			if err := e.check(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(e, plan.Runs[0].Phases[0].Phase)
			err := e.check()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q in it", err, c.want)
			}
			var env *EnvironmentError
			if errors.As(err, &env) != c.host {
				t.Errorf("%T", err)
			}
		})
	}
}

// A program that stands before the server or the workload, or is a sampler's, must be
// there before anything begins.
func TestCheckProgramsBesideTheWorkload(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	plan := h.plan(oneServer + phase("p", do("work"), `sample { exec = [{ name = "s", command = ["no-such-program"], every = "1s" }] }`))
	e := &executor{plan: plan, pending: plan.Runs, reached: map[string]bool{}, deps: Deps{Store: h.store, Workloads: []workload.Type{h.workload()}}}
	err := e.check()
	var env *EnvironmentError
	if !errors.As(err, &env) || !strings.Contains(err.Error(), `phase "p": the program no-such-program is not on this host`) {
		t.Errorf("got %v", err)
	}
}

// mustWrite makes an empty file.
func mustWrite(path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		panic(err)
	}
}

// reachableDir makes a directory that every user reaches, unlike t.TempDir.
func reachableDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dbmatrix-test-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestSelection(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	plan := h.plan(twoLevels + phase("load", do("load")) + phase("query", work))
	status := func(a, b matrix.Status) {
		plan.Runs[0].Status, plan.Runs[1].Status = a, b
	}
	for name, c := range map[string]struct {
		s    Selection
		a, b matrix.Status
		want int
	}{
		"all":              {Selection{}, matrix.New, matrix.Stale, 2},
		"done stays":       {Selection{}, matrix.Done, matrix.Interrupted, 1},
		"failures stay":    {Selection{}, matrix.Failed, matrix.Hung, 0},
		"failures on call": {Selection{Statuses: []matrix.Status{matrix.Failed}}, matrix.Failed, matrix.New, 1},
		"fresh":            {Selection{Fresh: true}, matrix.Done, matrix.Failed, 2},
		"one cell":         {Selection{Cells: []string{"a=x"}}, matrix.New, matrix.New, 1},
		"pattern":          {Selection{Cells: []string{"a=*"}}, matrix.New, matrix.New, 2},
	} {
		t.Run(name, func(t *testing.T) {
			status(c.a, c.b)
			runs, err := c.s.Pending(plan)
			if err != nil || len(runs) != c.want {
				t.Errorf("%d runs, %v; want %d", len(runs), err, c.want)
			}
		})
	}
	for _, bad := range []Selection{{Cells: []string{"a=z"}}, {Cells: []string{"["}}, {Until: "lod"}} {
		if _, err := bad.Pending(plan); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
