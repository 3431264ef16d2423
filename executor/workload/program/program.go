package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// A Program is one execution of a program.
type Program struct {
	Name    string   // of its artifacts, such as pgbench-run.1
	Command []string // the program and its arguments, without the phase's prefix
	Dir     string   // it runs here; "" is the run's scratch directory
	Env     []string // "NAME=value", added to the target's
	Without []string // prefixes of the names of variables that it does not get from ours

	// Limit is how long it may take, 0 for as long as it likes. A program
	// that measures for a time has one: its last statements may wait for a
	// server that no longer answers.
	Limit time.Duration

	// Line takes each line that it prints, without its end. Lines of the two
	// streams come one at a time.
	Line func(stream Stream, line string)
}

// ErrLimit says that a program ran on beyond its limit.
var ErrLimit = errors.New("it did not end by itself")

// Find returns the path of a program: one with a slash is relative to source, the
// experiment's directory, any other is looked for on PATH.
func Find(source, name string) (string, error) {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		name = filepath.Join(source, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the program %s is not on this host, or cannot be executed", name)
	}
	return filepath.Abs(path)
}

// Run runs the program to its end. Where it fails, or ctx ends, the error says
// so and shows the last lines of what it printed. They are returned in any case,
// for errors that the lines themselves give rise to.
func (p *Program) Run(ctx context.Context, t workload.Target, r *workload.Recorder) (tail string, err error) {
	if t.Guard == nil {
		return "", errors.New("there is no guardian to run the program under")
	}
	command := append(append([]string{}, t.Prefix...), p.Command...)
	path, err := Find(t.Source, command[0])
	if err != nil {
		return "", err
	}
	if strings.ContainsRune(command[0], '/') {
		command[0] = path // it runs in another directory, and so may its script
	}
	dir := p.Dir
	if dir == "" {
		dir = t.Dir
	}
	added := append(append([]string{}, t.Env...), p.Env...)
	hide := newHider(added)
	if err := r.WriteArtifact(p.Name+".sh", hide.script(dir, added, command)); err != nil {
		return "", err
	}
	raw, err := r.Artifact(p.Name + ".txt")
	if err != nil {
		return "", err
	}
	out := &output{raw: raw, take: p.Line, hide: hide}
	if p.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Limit, ErrLimit)
		defer cancel()
	}
	cmd := &exec.Cmd{Path: path, Args: command, Dir: dir, Env: p.environ(added), Stdout: out.stream(Stdout), Stderr: out.stream(Stderr)}
	err = t.Guard(ctx, cmd)
	out.flush()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if err == nil && out.err != nil {
		err = fmt.Errorf("keeping its output: %w", out.err)
	}
	if closed := raw.Close(); err == nil && closed != nil {
		err = fmt.Errorf("keeping its output: %w", closed)
	}
	if err != nil && out.last() != "" {
		err = fmt.Errorf("%w\n%s", err, out.last())
	}
	return out.last(), err
}

// Hide returns a text, such as what a line gave rise to, without the values of
// secrets that the program had in its environment.
func (p *Program) Hide(t workload.Target, text string) string {
	return newHider(append(append([]string{}, t.Env...), p.Env...)).Replace(text)
}

// environ returns the whole environment of the program, with the variables that
// are added to ours.
func (p *Program) environ(added []string) []string {
	var env []string
	for _, variable := range os.Environ() {
		if !hasAnyPrefix(variable, p.Without) {
			env = append(env, variable)
		}
	}
	return append(env, added...)
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
