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

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// newMergeCommand merges records of other hosts into that of an experiment.
func newMergeCommand(s *streams) *cobra.Command {
	var o experimentOptions
	c := &cobra.Command{
		Use:   "merge PATH DB...",
		Short: "Merge results of other hosts into those of an experiment",
		Long: `Adds what other records have to the experiment's results.db, each DB in one
transaction. DB is a results.db or a directory that has one; it stays as it is,
and one of an older dbmatrix is migrated in a copy.

Results are kept by experiment and host and never mix: report, table, compare and
export show one host, which --host names. An attempt that is there already is not
added again, so a merge may be repeated. The files of the attempts are not copied:
the record expects those of a host in hosts/HOST/artifacts beside it.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return mergeRecords(c.Context(), s, &o, args[0], args[1:])
		},
	}
	o.addFlags(c.Flags())
	return c
}

// mergeRecords merges the records at paths into that of an experiment.
func mergeRecords(ctx context.Context, s *streams, o *experimentOptions, path string, paths []string) error {
	exp, err := o.load(ctx, s, path)
	if err != nil {
		return err
	}
	for i, p := range paths {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return exit(exitUsage, fmt.Errorf("there is no %s", p))
		}
		if err == nil && info.IsDir() {
			paths[i] = filepath.Join(p, recordName)
		}
	}
	record, err := writeRecord(ctx, exp)
	if err != nil {
		return err
	}
	defer record.Close()
	for _, p := range paths {
		merged, err := record.Merge(ctx, p)
		if err != nil {
			return exit(exitEnvironment, err)
		}
		fmt.Fprintf(s.out, "%s: %d attempts added, %d were there already\n", p, merged.Attempts, merged.Known)
	}
	return s.listHosts(ctx, record, exp)
}

// listHosts says whose results a record has of an experiment.
func (s *streams) listHosts(ctx context.Context, record *store.Store, exp *matrix.Experiment) error {
	have, err := record.Experiments(ctx)
	if err != nil {
		return err
	}
	var hosts, others []string
	for _, e := range have {
		switch {
		case e.Name == exp.Name:
			hosts = append(hosts, e.Host)
		case !slices.Contains(others, e.Name):
			others = append(others, e.Name)
		}
	}
	fmt.Fprintf(s.out, "%s has results of %s from %d hosts: %s\n", shorten(record.Path()), exp.Name, len(hosts), strings.Join(hosts, ", "))
	if len(others) > 0 && !s.quiet {
		fmt.Fprintf(s.err, "It has results of other experiments too (%s); they show where an experiment has that name.\n", strings.Join(others, ", "))
	}
	return nil
}
