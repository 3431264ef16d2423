package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// cleanOptions are the flags of clean.
type cleanOptions struct {
	experimentOptions
	results bool
	yes     bool
}

// newCleanCommand removes what dbmatrix made.
func newCleanCommand(s *streams) *cobra.Command {
	var o cleanOptions
	c := &cobra.Command{
		Use:   "clean PATH",
		Short: "Remove data directories, templates and snapshots that dbmatrix made",
		Long: `Removes the data directories and snapshots of the experiment and the templates
beside them. Directories without an owner file of dbmatrix are left alone. Results
stay, unless --results is said; so do the empty folders and the lock file in them,
for which another run may be waiting.` + exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return clean(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	c.Flags().BoolVar(&o.results, "results", false, "remove the results and artifacts too, after asking")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	return c
}

// clean removes what dbmatrix made for an experiment.
func clean(ctx context.Context, s *streams, o *cleanOptions, path string) error {
	exp, err := o.load(ctx, s, path)
	if err != nil {
		return err
	}
	if o.results {
		if err := o.askResults(s, exp); err != nil {
			return err
		}
	}
	release, err := lockForCleaning(exp)
	if err != nil {
		return err
	}
	defer release()
	if err := cleanData(ctx, s, exp); err != nil {
		return err
	}
	if o.results {
		return cleanResults(ctx, s, exp)
	}
	return nil
}

// askResults asks before results are removed.
func (o *cleanOptions) askResults(s *streams, exp *matrix.Experiment) error {
	if o.yes {
		return nil
	}
	if !isTerminal(s.in) {
		return exit(exitUsage, errors.New("removing results needs an answer, and there is no terminal: say --yes if that is meant"))
	}
	ok, err := askYes(s, fmt.Sprintf("Remove %s and its artifacts? What was measured is lost.", shorten(recordPath(exp))))
	if err != nil {
		return err
	}
	if !ok {
		return silent(exitUsage)
	}
	return nil
}

// lockForCleaning keeps runners away.
func lockForCleaning(exp *matrix.Experiment) (func(), error) {
	host, err := server.LockHost()
	if err != nil {
		return nil, exit(exitEnvironment, fmt.Errorf("locking this host: %w", err))
	}
	locks := []*server.Lock{host}
	release := func() {
		for _, l := range locks {
			_ = l.Close() // the kernel gives it up with the process at the latest
		}
	}
	if _, err := os.Stat(exp.DataDir); err == nil {
		data, err := server.LockDir(exp.DataDir)
		if err != nil {
			release()
			return nil, exit(exitEnvironment, fmt.Errorf("locking %s: %w", exp.DataDir, err))
		}
		locks = append(locks, data)
	}
	return release, nil
}

// cleanData removes directories, from the record first.
func cleanData(ctx context.Context, s *streams, exp *matrix.Experiment) error {
	if err := forgetSnapshots(ctx, exp); err != nil {
		// The space may be needed all the more; the next run looks for itself
		// which snapshots are there.
		fmt.Fprintf(s.err, "Warning: %v; the data directories are removed all the same\n", err)
	}
	removed, freed := 0, uint64(0)
	for _, dir := range exp.DataDirs() {
		found, err := ownDirectories(dir, exp)
		if err != nil {
			return exit(exitEnvironment, err)
		}
		for _, l := range found {
			freed += allocated(l.Dir)
			if err := server.Remove(l); err != nil {
				return exit(exitEnvironment, fmt.Errorf("removing %s: %w", l.Dir, err))
			}
			removed++
			if s.verbose {
				fmt.Fprintf(s.err, "removed %s\n", shorten(l.Dir))
			}
		}
	}
	if !s.quiet {
		fmt.Fprintf(s.err, "%s removed, %s freed\n", directories(removed), formatBytes(freed))
	}
	return nil
}

// directories counts directories.
func directories(n int) string {
	if n == 1 {
		return "1 directory"
	}
	return fmt.Sprintf("%d directories", n)
}

// allocated returns how many bytes the files below a directory take on their
// disks. What cannot be looked at counts nothing.
func allocated(dir string) uint64 {
	var sum uint64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			sum += uint64(st.Blocks) * 512
		}
		return nil
	})
	return sum
}

// ownDirectories returns the directories that dbmatrix made below dir: of this
// experiment, and templates, which belong to none.
func ownDirectories(dir string, exp *matrix.Experiment) ([]server.Layout, error) {
	found, err := server.Leftovers(dir)
	if err != nil {
		return nil, fmt.Errorf("looking into %s: %w", dir, err)
	}
	listed, err := server.Listed(dir, server.KindRun, server.KindSnapshot, server.KindTemplate)
	if err != nil {
		return nil, err
	}
	for _, path := range listed {
		if slices.ContainsFunc(found, func(l server.Layout) bool { return l.Dir == path }) {
			continue
		}
		owner, err := server.ReadOwner(path)
		if errors.Is(err, server.ErrForeign) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if owner.Experiment == exp.Dir || owner.Kind == server.KindTemplate {
			found = append(found, server.Layout{Dir: path, Roles: owner.Roles})
		}
	}
	return found, nil
}

// forgetSnapshots takes the snapshots of an experiment off its record.
func forgetSnapshots(ctx context.Context, exp *matrix.Experiment) error {
	if _, err := os.Stat(recordPath(exp)); err != nil {
		return nil // nothing was recorded
	}
	record, err := writeRecord(ctx, exp)
	if err != nil {
		return err
	}
	defer record.Close()
	id, err := record.Experiment(ctx, exp.Name, exp.Host.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	snapshots, err := record.Snapshots(ctx, id)
	if err != nil {
		return fmt.Errorf("reading the snapshots: %w", err)
	}
	for _, sn := range snapshots {
		if err := record.RemoveSnapshot(ctx, sn.Path); err != nil {
			return fmt.Errorf("recording that a snapshot goes: %w", err)
		}
	}
	return nil
}

// recordFiles are the ends of the names of a record's files: the database, what
// SQLite keeps beside it, the ballast, and the lock of runners.
var recordFiles = []string{"", "-wal", "-shm", "-journal", "-ballast", "-lock"}

// cleanResults removes the record, and the artifacts that it names. Nothing else
// is touched: what stays in artifacts/ is told of.
func cleanResults(ctx context.Context, s *streams, exp *matrix.Experiment) error {
	record, err := openRecord(ctx, exp)
	if err != nil {
		return err // it may be no record at all
	}
	if record == nil {
		if !s.quiet {
			fmt.Fprintln(s.err, "there are no results to remove")
		}
		return nil
	}
	artifacts, err := record.ArtifactPaths(ctx)
	if err = errors.Join(err, record.Close()); err != nil {
		return exit(exitEnvironment, fmt.Errorf("reading which artifacts there are: %w", err))
	}
	for _, path := range artifacts {
		removeArtifact(exp.Dir, path)
	}
	for _, end := range recordFiles {
		if err := os.Remove(recordPath(exp) + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return exit(exitEnvironment, fmt.Errorf("removing results: %w", err))
		}
	}
	if s.quiet {
		return nil
	}
	fmt.Fprintln(s.err, "results and artifacts removed")
	if _, err := os.Stat(filepath.Join(exp.Dir, "artifacts")); err == nil {
		fmt.Fprintf(s.err, "%s holds files that no result names; they stay\n", shorten(filepath.Join(exp.Dir, "artifacts")))
	}
	return nil
}

// removeArtifact removes a file, and the folders up to artifacts/ that it leaves
// empty. A path that leads out of the experiment is left alone.
func removeArtifact(dir, path string) {
	if !filepath.IsLocal(path) {
		return
	}
	for path != "." {
		if err := os.Remove(filepath.Join(dir, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // a folder with more in it
		}
		path = filepath.Dir(path)
	}
}
