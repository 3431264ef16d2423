package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// initialExperiment is the experiment that init writes.
//
//go:embed init.hcl
var initialExperiment []byte

// newInitCommand writes a first experiment.
func newInitCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Write a small commented experiment that runs on this host",
		Long: `Writes DIR/experiment.hcl: a small experiment with comments that runs on this
host in about a minute. A file that is there already is not touched.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return initExperiment(s, args[0])
		},
	}
}

// initExperiment writes the first experiment into a directory.
func initExperiment(s *streams, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return exit(exitEnvironment, fmt.Errorf("making the experiment's directory: %w", err))
	}
	path := filepath.Join(dir, "experiment.hcl")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return exit(exitUsage, fmt.Errorf("%s is there already; it was not touched", path))
	}
	if err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing the experiment: %w", err))
	}
	if _, err := f.Write(initialExperiment); err != nil {
		return errors.Join(exit(exitEnvironment, fmt.Errorf("writing %s: %w", path, err)), f.Close())
	}
	if err := f.Close(); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing %s: %w", path, err))
	}
	fmt.Fprintf(s.err, "Wrote %s. Next:\n  dbmatrix plan %s\n  dbmatrix run %s\n  dbmatrix report %s\n", path, dir, dir, dir)
	return nil
}
