package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"dbmatrix/executor/server"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"

	"golang.org/x/sys/unix"
)

// check judges, before anything is touched, whether this host and this version
// of dbmatrix can execute the pending runs.
func (e *executor) check() error {
	seen := map[*matrix.Phase]bool{} // equal phases of cells are one value
	for _, run := range e.pending {
		for _, p := range e.opts.Selection.phases(run) {
			if seen[p.Phase] {
				continue
			}
			seen[p.Phase] = true
			if err := e.checkPhase(run, p.Phase); err != nil {
				return err
			}
		}
	}
	return e.checkPlaces()
}

// checkPlaces judges whether what dbmatrix will write to is its own: something else
// may have the name of one of its folders.
func (e *executor) checkPlaces() error {
	folders := []string{e.artifactsDir()}
	for _, dir := range e.storageDirs() {
		for _, kind := range []string{server.KindRun, server.KindTemplate, server.KindSnapshot} {
			folders = append(folders, filepath.Join(dir, kind+"s"))
		}
	}
	for _, dir := range folders {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
			return environmentError("%s is no directory, and dbmatrix needs one there: move it away", dir)
		}
	}
	if err := writableFolder(e.artifactsDir()); err != nil {
		return environmentError("artifacts cannot be kept: %w; make it this user's, or run as its owner", err)
	}
	if slices.ContainsFunc(e.pending, func(run *matrix.Run) bool { return firstServer(run) != nil }) {
		if err := server.CheckSockets(); err != nil {
			return &EnvironmentError{err}
		}
	}
	for _, run := range e.pending {
		if firstServer(run) == nil {
			continue
		}
		key, err := server.InitKey(run.Cell.Phases[0].Settings)
		if err != nil {
			continue // the run itself tells
		}
		template := server.Layout{Dir: filepath.Join(e.plan.Experiment.DataDir, server.KindTemplate+"s", key)}
		if _, err := template.Exists(); err != nil {
			return environmentError("the template of server %q cannot be used: %w; move it away", serverName(run), err)
		}
	}
	return nil
}

// writableFolder returns an error where this process may not make files in a folder
// that is there.
func writableFolder(dir string) error {
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return &fs.PathError{Op: "writing to", Path: dir, Err: err}
}

// checkPhase judges one phase of a run.
func (e *executor) checkPhase(run *matrix.Run, p *matrix.Phase) error {
	t := e.workloadType(p.Workload.Type)
	switch {
	case t == nil || !t.Built || t.New == nil:
		return usageError("phase %q: the workload %q is not built into this version of dbmatrix; it can be planned, not run", p.Block, p.Workload.Type)
	case p.Warmup > 0 && !t.WarmUp:
		return usageError("phase %q: the workload %q cannot warm up", p.Block, p.Workload.Type)
	}
	s := p.Settings.Server
	if p.Settle != nil && p.Settle.Vacuum && (s == nil || s.Build.Absent == "" && s.Build.Flavour != "postgres") {
		return usageError("phase %q: settle { vacuum } is for PostgreSQL; %s has no such server: vacuum = build.flavour == \"postgres\"", p.Block, cellText(run))
	}
	if len(p.Sample.Status) > 0 && (s == nil || s.Build.Absent == "" && !hasStatus(s.Build.Flavour)) {
		return usageError("phase %q: sample { status } reads the counters of MySQL and MariaDB; %s has no such server", p.Block, cellText(run))
	}
	if t.Needs != nil {
		if err := t.Needs(p.Workload.Args, e.plan.Experiment.Dir); err != nil {
			return environmentError("phase %q: %w", p.Block, err)
		}
	}
	for _, source := range p.Sources() {
		if source.Absent() {
			return environmentError("phase %q: the %s is not on this host: install it, or choose other cells with --cell", p.Block, strings.Replace(source.Name, ".", " ", 1))
		}
	}
	if s == nil {
		return nil
	}
	if s.Build.Absent != "" {
		return environmentError("%s: server %q is not on this host: %s; name it in machine.hcl, or choose other cells with --cell", cellText(run), s.Name, s.Build.Absent)
	}
	for _, dir := range storagePlaces(e.plan.Experiment.DataDir, p.Settings) {
		// The check asks the kernel, by a process of the server's user.
		key := s.Name + "\x00" + dir
		if e.reached[key] {
			continue
		}
		e.reached[key] = true
		if err := server.CheckAccount(s, dir); err != nil {
			return environmentError("%s: server %q cannot work in %s: %w", cellText(run), s.Name, dir, err)
		}
	}
	return nil
}

// storagePlaces returns the directories that a phase's data lies in.
func storagePlaces(dataDir string, s *matrix.Settings) []string {
	places := []string{dataDir}
	for _, st := range s.Storage {
		if st.Dir != "" && !slices.Contains(places, st.Dir) {
			places = append(places, st.Dir)
		}
	}
	return places
}

// workloadType returns the named type, or nil.
func (e *executor) workloadType(name string) *workload.Type {
	for i := range e.deps.Workloads {
		if e.deps.Workloads[i].Name == name {
			return &e.deps.Workloads[i]
		}
	}
	return nil
}

// usageError returns a *UsageError.
func usageError(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}
