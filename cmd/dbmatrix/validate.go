package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

// newValidateCommand checks an experiment.
func newValidateCommand(s *streams) *cobra.Command {
	var o experimentOptions
	c := &cobra.Command{
		Use:   "validate PATH",
		Short: "Check an experiment without touching anything",
		Long: `Decodes the experiment, expands all of its cells and evaluates every setting of
every phase and the columns of the report. All faults of all files are printed at
once, and none that only follows from another.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return validate(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	return c
}

// validate checks the experiment at path and says how large it is.
func validate(ctx context.Context, s *streams, o *experimentOptions, path string) error {
	exp, cells, err := o.check(ctx, s, path)
	if err != nil {
		return err
	}
	if !s.quiet {
		name := exp.Name
		if filepath.Ext(path) == ".hcl" { // a single file, whose experiment is called as its directory
			name = path
		}
		fmt.Fprintf(s.err, "%s is valid: %s, %s\n", name,
			count(len(cells), "cell"), count(len(cells)*exp.Replicates, "run"))
	}
	return nil
}

// count words a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
