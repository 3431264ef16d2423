package execprog

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/program"
	"dbmatrix/matrix"
)

// A run is a phase that runs a program.
type run struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args)
	if len(faults) > 0 {
		return nil, fmt.Errorf("exec: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &run{c}, nil
}

// find returns the path of the program; source is the experiment's directory.
func (c *config) find(source string) (string, error) {
	path, err := program.Find(source, c.command[0])
	if err != nil {
		return "", fmt.Errorf("exec: %w: install it, or give its path in the attribute command", err)
	}
	return path, nil
}

// Run runs the program once and takes the metrics from what it printed.
func (w *run) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if t.Warmup > 0 {
		return fmt.Errorf("exec: a program cannot be warmed up: take warmup out of the phase")
	}
	path, err := w.find(t.Source)
	if err != nil {
		return err
	}
	seed := t.Seed
	if w.seed != nil {
		seed = *w.seed
	}
	r.Fact("seed", strconv.FormatInt(seed, 10))
	r.Fact("program", path)
	printed := &printed{keep: len(w.metrics) > 0}
	p := program.Program{
		Name:    fmt.Sprintf("exec.%d", t.Iteration),
		Command: append([]string{path}, w.command[1:]...),
		Dir:     w.dir,
		Env:     []string{"DBMATRIX_SEED=" + strconv.FormatInt(seed, 10)},
		Line:    printed.line,
	}
	if w.port {
		if t.Port == 0 {
			return fmt.Errorf("exec: port is set, and the server has none")
		}
		p.Env = append(p.Env, "DBMATRIX_PORT="+strconv.Itoa(t.Port))
	}
	if p.Dir != "" && !filepath.IsAbs(p.Dir) {
		p.Dir = filepath.Join(t.Source, p.Dir)
	}
	for _, name := range slices.Sorted(maps.Keys(w.env)) {
		p.Env = append(p.Env, name+"="+w.env[name])
	}
	r.Begin()
	tail, err := p.Run(ctx, t, r)
	r.End()
	if err != nil {
		return fmt.Errorf("exec %s: %w", w.command[0], err)
	}
	values, err := printed.find(w.metrics)
	if err != nil {
		return fmt.Errorf("exec %s: %s\n%s", w.command[0], p.Hide(t, err.Error()), tail)
	}
	for i, m := range w.metrics {
		r.Metric(m.name, m.unit, values[i])
	}
	return nil
}
