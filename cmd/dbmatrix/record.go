package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/executor"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// recordName is the file beside an experiment that holds what was measured.
const recordName = "results.db"

// isRecordFile reports whether a file of this name is one of a record, or the
// backup of one that was migrated.
func isRecordFile(name string) bool {
	end, ours := strings.CutPrefix(name, recordName)
	return ours && (slices.Contains(recordFiles, end) || strings.HasPrefix(end, "-v") && strings.HasSuffix(end, ".backup"))
}

// recordPath returns the path of an experiment's record.
func recordPath(exp *matrix.Experiment) string { return filepath.Join(exp.Dir, recordName) }

// openRecord opens an experiment's record for reading; it is nil where nothing
// was recorded yet.
func openRecord(ctx context.Context, exp *matrix.Experiment) (*store.Store, error) {
	s, err := store.OpenReadOnly(ctx, recordPath(exp))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit(exitEnvironment, err)
	}
	return s, nil
}

// isRecorded reports whether something was measured of the experiment in a
// directory. A record that cannot be read says its fault when it is opened to be
// shown.
func isRecorded(ctx context.Context, dir string) bool {
	s, err := store.OpenReadOnly(ctx, filepath.Join(dir, recordName))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer s.Close()
	experiments, err := s.Experiments(ctx)
	return err == nil && len(experiments) > 0
}

// needRecord opens an experiment's record for reading, and fails where nothing
// was recorded yet.
func needRecord(ctx context.Context, exp *matrix.Experiment) (*store.Store, error) {
	s, err := openRecord(ctx, exp)
	if err == nil && s == nil {
		err = exit(exitUsage, fmt.Errorf("nothing was measured yet: there is no %s; dbmatrix run makes it", shorten(recordPath(exp))))
	}
	return s, err
}

// writeRecord opens an experiment's record for writing.
func writeRecord(ctx context.Context, exp *matrix.Experiment) (*store.Store, error) {
	s, err := store.Open(ctx, recordPath(exp))
	if err != nil {
		return nil, exit(exitEnvironment, err)
	}
	return s, nil
}

// updateRecord brings a record that cannot be read as it is, of an older schema
// or broken off while it was made, up to date. One that is not there is left so.
func updateRecord(ctx context.Context, exp *matrix.Experiment) error {
	s, err := store.OpenReadOnly(ctx, recordPath(exp))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		if s, err = writeRecord(ctx, exp); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return exit(exitEnvironment, fmt.Errorf("closing %s: %w", recordPath(exp), err))
	}
	return nil
}

// history returns what was measured before, nothing where there is no record.
func history(ctx context.Context, s *store.Store, exp *matrix.Experiment) (matrix.History, error) {
	if s == nil {
		return matrix.History{}, nil
	}
	h, err := s.History(ctx, exp.Name, exp.Host.ID)
	if err != nil {
		return h, fmt.Errorf("reading what was measured before: %w", err)
	}
	if err := executor.MarkKept(exp, &h); err != nil {
		return h, exit(exitEnvironment, err)
	}
	return h, nil
}

// plan makes the plan of an experiment by its record.
func plan(ctx context.Context, exp *matrix.Experiment, cells []*matrix.Cell, o matrix.PlanOptions) (*matrix.Plan, error) {
	s, err := openRecord(ctx, exp)
	if err != nil {
		return nil, err
	}
	if s != nil {
		defer s.Close()
	}
	h, err := history(ctx, s, exp)
	if err != nil {
		return nil, err
	}
	p, err := exp.MakePlan(cells, h, o)
	if err != nil {
		return nil, err
	}
	return p, tellVariables(ctx, s, p)
}

// tellVariables says of stale runs which variables their command set, since
// without them nothing that was measured counts.
func tellVariables(ctx context.Context, s *store.Store, p *matrix.Plan) error {
	for _, r := range p.Runs {
		if s == nil || r.Status != matrix.Stale {
			continue
		}
		command, err := s.CommandOf(ctx, store.AttemptID(r.Attempt))
		if errors.Is(err, store.ErrNotFound) { // it was merged or imported
			continue
		}
		if err != nil {
			return fmt.Errorf("reading how it was measured: %w", err)
		}
		if set := variablesOf(command); set != "" {
			r.Reason += "; measured with " + set
		}
	}
	return nil
}

// variablesOf returns the flags of a command line that set variables.
func variablesOf(command string) string {
	var flags []string
	words := strings.Fields(command)
	for i, w := range words {
		name, _, _ := strings.Cut(w, "=")
		switch {
		case name != "--var" && name != "--var-file":
		case w != name:
			flags = append(flags, w)
		case i+1 < len(words):
			flags = append(flags, w+" "+words[i+1])
		}
	}
	return strings.Join(flags, " ")
}

// shorten makes a path relative to the working directory where that is shorter.
func shorten(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
