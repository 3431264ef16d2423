package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"

	"github.com/prometheus/procfs"
)

// keptFile marks the directory of a run that is kept for a human, beside its
// owner file. A later runner leaves it alone; `clean` removes it.
const keptFile = "kept"

// storageDirs returns the directories that data of the experiment may lie in.
func (e *executor) storageDirs() []string { return e.plan.Experiment.DataDirs() }

// endOrphans ends processes that outlived their runner and its guardian. They
// are found by the token in their environment, never by name or pid file.
func (e *executor) endOrphans(ctx context.Context) error {
	orphans, err := server.Orphans(e.storageDirs()...)
	if err != nil {
		return environmentError("looking for processes of an earlier runner: %w", err)
	}
	for _, o := range orphans {
		if err := o.End(ctx); err != nil {
			return environmentError("ending pid %d (%s), left by an earlier runner: %w", o.ID.PID, o.Command, err)
		}
		e.event(Event{Kind: Recovered, Message: fmt.Sprintf("ended pid %d, left by an earlier runner: %s", o.ID.PID, o.Command)})
	}
	return nil
}

// beginRunner records this process; attempts that an earlier one left running
// become interrupted.
func (e *executor) beginRunner(ctx context.Context) error {
	self, err := procfs.Self()
	if err != nil {
		return environmentError("looking at this process: %w", err)
	}
	stat, err := self.Stat()
	if err != nil {
		return environmentError("looking at this process: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return environmentError("reading the boot id: %w", err)
	}
	r := store.Runner{
		Experiment: e.experiment,
		Version:    factValue(e.deps.Facts, "dbmatrix.version"),
		Command:    strings.Join(server.MaskArguments(os.Args), " "),
		PID:        os.Getpid(),
		StartTicks: stat.Starttime,
		BootID:     boot,
	}
	id, interrupted, err := e.deps.Store.BeginRunner(ctx, r, func(old store.Runner) bool {
		return old.PID != r.PID && runnerAlive(old, r.BootID)
	})
	if err != nil {
		return e.recordError("recording this runner", err)
	}
	e.runner = id
	for _, i := range interrupted {
		where := "between phases"
		if i.Phase != "" {
			where = "in " + i.Phase
		}
		e.event(Event{Kind: Recovered, Message: fmt.Sprintf("%s, replicate %d, attempt %d was left running %s: now %s",
			cellName(i.Cell), i.Replicate, i.Number, where, i.Status)})
	}
	return nil
}

// bootID returns what tells this boot of the host from all others.
func bootID() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot)), err
}

// RunnerAlive reports whether a recorded runner of this host is still at work.
func RunnerAlive(r store.Runner) bool {
	boot, err := bootID()
	return err == nil && runnerAlive(r, boot)
}

// runnerAlive reports whether a recorded runner is the process that has its pid
// now.
func runnerAlive(r store.Runner, boot string) bool {
	if r.BootID != boot {
		return false
	}
	p, err := procfs.NewProc(r.PID)
	if err != nil {
		return false
	}
	stat, err := p.Stat()
	return err == nil && stat.Starttime == r.StartTicks && stat.State != "Z"
}

// factValue returns the value of a named fact, or "".
func factValue(facts []store.Fact, name string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// recover undoes what an earlier runner could not: its setup commands, its
// half-made and abandoned directories, snapshots that were never recorded.
func (e *executor) recover(ctx context.Context) error {
	setups, err := e.deps.Store.OpenSetups(ctx, e.experiment)
	if err != nil {
		return e.recordError("reading what is still set up", err)
	}
	for _, s := range setups {
		if err := e.undoLeft(ctx, s); err != nil {
			return err
		}
	}
	known, err := e.deps.Store.Snapshots(ctx, e.experiment)
	if err != nil {
		return e.recordError("reading the snapshots", err)
	}
	if known, err = e.forgetMissing(ctx, known); err != nil {
		return err
	}
	if err := e.findContinuations(ctx); err != nil {
		return err
	}
	if err := e.removeLeftovers(known); err != nil {
		return err
	}
	e.snapshots = newSnapshotCollection(known, e.plan)
	return nil
}

// undoLeft undoes a setup that an earlier runner left. Where its teardown fails the
// host is not as it was, unless it has been booted since, or somebody says that it is:
// what was set up may be gone already.
func (e *executor) undoLeft(ctx context.Context, s store.Setup) error {
	err := e.undo(ctx, s)
	if err == nil {
		e.event(Event{Kind: Recovered, Message: fmt.Sprintf("undid the setup of %s, replicate %d", cellName(s.Cell), s.Replicate)})
		return nil
	}
	boot, berr := bootID()
	if berr != nil || boot == s.BootID && !e.opts.AcceptEnvironment {
		return undoByHand(s.Cell, err)
	}
	e.event(Event{Kind: Notice, Message: fmt.Sprintf("the setup of %s counts as undone: %s", cellName(s.Cell), err)})
	if err := e.deps.Store.EndSetup(ctx, s.ID); err != nil {
		return e.recordError("recording a teardown", err)
	}
	return nil
}

// forgetMissing takes snapshots whose directory is gone off the record.
func (e *executor) forgetMissing(ctx context.Context, known []store.Snapshot) ([]store.Snapshot, error) {
	var there []store.Snapshot
	for _, s := range known {
		_, err := os.Lstat(s.Path)
		if err == nil {
			there = append(there, s)
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, environmentError("looking for a snapshot: %w", err)
		}
		if err := e.deps.Store.RemoveSnapshot(ctx, s.Path); err != nil {
			return nil, e.recordError("recording that a snapshot is gone", err)
		}
		e.event(Event{Kind: Recovered, Message: "the snapshot " + s.Path + " is gone; what needs it is executed again"})
	}
	return there, nil
}

// removeLeftovers removes directories of this experiment that no record stands
// for.
func (e *executor) removeLeftovers(known []store.Snapshot) error {
	half, err := server.Leftovers(e.storageDirs()...)
	if err != nil {
		return environmentError("looking for leftovers: %w", err)
	}
	for _, dir := range e.storageDirs() {
		abandoned, err := e.abandoned(dir, known)
		if err != nil {
			return environmentError("looking for leftovers in %s: %w", dir, err)
		}
		half = append(half, abandoned...)
	}
	for _, l := range half {
		err := server.Remove(l)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went with its other half, on another storage
		}
		if err != nil {
			return environmentError("removing what an earlier runner left: %w", err)
		}
		e.event(Event{Kind: Recovered, Message: "removed " + l.Dir + ", left by an earlier runner"})
	}
	return nil
}

// abandoned returns the directories of runs, unless kept, and of unrecorded
// snapshots of this experiment in a storage directory. No run is under way when
// it is called.
func (e *executor) abandoned(dir string, known []store.Snapshot) ([]server.Layout, error) {
	var found []server.Layout
	listed, err := server.Listed(dir, server.KindRun, server.KindSnapshot)
	if err != nil {
		return nil, err
	}
	for _, path := range listed {
		owner, err := server.ReadOwner(path)
		if errors.Is(err, server.ErrForeign) {
			e.event(Event{Kind: Notice, Message: err.Error()})
			continue
		}
		if err != nil {
			return nil, err
		}
		recorded := slices.ContainsFunc(known, func(s store.Snapshot) bool {
			return filepath.Base(s.Path) == filepath.Base(path)
		})
		_, kept := os.Lstat(filepath.Join(path, keptFile))
		if owner.Experiment == e.plan.Experiment.Dir && !recorded && kept != nil && !e.goesOn(path) {
			found = append(found, server.Layout{Dir: path, Roles: owner.Roles})
		}
	}
	return found, nil
}
