package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/spf13/cobra"
)

// importOptions are the flags of import.
type importOptions struct {
	experimentOptions
	name    string
	replace bool
	columns []string
}

// newImportCommand records numbers that were measured elsewhere.
func newImportCommand(s *streams) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import PATH FILE --name NAME",
		Short: "Record numbers that were measured elsewhere",
		Long: `Reads a CSV file into the experiment's results.db, once; tables show it with
source = NAME, or --source NAME. Imported rows never make a run done. A file that
belongs to the experiment for good is better named by an import block.

The file has a header line: the axes of the experiment first, then matrix, phase,
iteration, replicate and status (all but phase may be absent), then column tokens.
dbmatrix export writes such files, with what makes the numbers doubtful. Of a spreadsheet with headings of its own,
--cell-columns says which columns are axes and which is the phase:

  dbmatrix import . old.csv --name old --cell-columns DBMS=engine,step=phase

The relations that the checks of the experiment's import blocks name are verified,
and rows of cells or phases that the experiment does not have are counted. What
does not fit is reported; it is no failure.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return importFile(c.Context(), s, &o, args[0], args[1])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "the `NAME` under which tables show the rows")
	f.StringSliceVar(&o.columns, "cell-columns", nil, "columns that say what a row is of, by other names: `HEADING=AXIS`, or HEADING=phase and the like")
	f.BoolVar(&o.replace, "replace", false, "take the place of what was imported under this name before")
	return c
}

// importFile records a file.
func importFile(ctx context.Context, s *streams, o *importOptions, path, file string) error {
	if strings.TrimSpace(o.name) == "" {
		return exit(exitUsage, errors.New("say what the source is called: --name"))
	}
	if o.name == report.Own || o.name == report.All {
		return exit(exitUsage, fmt.Errorf("an import cannot be called %q: as a table's source the word means something else", o.name))
	}
	o.importing = o.name
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	if importBlock(exp, o.name) {
		return exit(exitUsage, fmt.Errorf("an import block of the experiment is called %q already; choose another name", o.name))
	}
	names, err := o.columnNames()
	if err != nil {
		return err
	}
	attempts, err := readImport(exp, o.name, file, names)
	if err != nil {
		return err
	}
	record, err := writeRecord(ctx, exp)
	if err != nil {
		return err
	}
	defer record.Close()
	in := report.ForStore(o.name, file, attempts)
	err = record.AddImport(ctx, exp.Name, in, o.replace)
	if errors.Is(err, store.ErrImported) {
		return exit(exitUsage, fmt.Errorf("there are imported numbers called %q; --replace puts these in their place", o.name))
	}
	if err != nil {
		return exit(exitEnvironment, err)
	}
	fmt.Fprintf(s.out, "%d rows of %d runs imported as %q\n", len(in.Rows), len(attempts), o.name)
	return s.checkImported(exp, cells, o.name, attempts)
}

// columnNames returns what the headings of --cell-columns stand for.
func (o *importOptions) columnNames() (map[string]string, error) {
	names := map[string]string{}
	for _, text := range o.columns {
		heading, name, ok := strings.Cut(text, "=")
		if !ok || heading == "" || name == "" {
			return nil, exit(exitUsage, fmt.Errorf("--cell-columns %q is not HEADING=AXIS", text))
		}
		names[heading] = name
	}
	return names, nil
}

// readImport reads a file by the rules of import blocks.
func readImport(exp *matrix.Experiment, name, file string, names map[string]string) ([]report.Attempt, error) {
	var axes []string
	for _, a := range exp.Axes {
		axes = append(axes, a.Name)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, exit(exitUsage, err)
	}
	defer f.Close()
	attempts, err := report.ReadImportNamed(f, name, file, axes, names)
	if err != nil {
		return nil, exit(exitUsage, err)
	}
	if len(attempts) == 0 {
		return nil, exit(exitUsage, fmt.Errorf("%s has no rows below its header", file))
	}
	return attempts, nil
}

// checkImported reports what in imported rows does not fit.
func (s *streams) checkImported(exp *matrix.Experiment, cells []*matrix.Cell, name string, attempts []report.Attempt) error {
	in := report.Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Attempts: attempts}
	misfits, diags := report.CheckImport(in, name)
	if err := s.diagnose(exp.Files, diags); err != nil {
		return err
	}
	for _, m := range misfits {
		fmt.Fprintf(s.out, "does not fit: %s\n", m)
	}
	known := map[matrix.CellKey]bool{}
	for _, c := range cells {
		known[c.Key] = true
	}
	phases := map[string]bool{}
	for _, p := range exp.Phases {
		phases[p.Name] = true
	}
	foreign, unknown := map[string]bool{}, map[string]bool{}
	for i := range attempts {
		if !known[attempts[i].Cell] {
			foreign[cellName(attempts[i].Cell)] = true
		}
		for _, p := range attempts[i].Phases {
			if !phases[p.Phase] {
				unknown[p.Phase] = true
			}
		}
	}
	listSome(s, "cells that the experiment does not have", foreign)
	listSome(s, "phases that the experiment does not have", unknown)
	return nil
}

// listSome prints a few names of a set.
func listSome(s *streams, what string, set map[string]bool) {
	const few = 5
	if len(set) == 0 || s.quiet {
		return
	}
	names := slices.Sorted(maps.Keys(set))
	more := ""
	if len(names) > few {
		names, more = names[:few], " ..."
	}
	fmt.Fprintf(s.err, "The file has %d %s: %s%s\n", len(set), what, strings.Join(names, ", "), more)
}

// importBlock reports whether an import block of the experiment has a name.
func importBlock(exp *matrix.Experiment, name string) bool {
	return slices.ContainsFunc(exp.Report, func(b matrix.ReportBlock) bool {
		imp, ok := b.(*matrix.Import)
		return ok && imp.Name == name
	})
}

// imported returns the names of imports that are on record in a directory, or about
// to be. A record that cannot be read has none here; what reads it next says why.
func (o *experimentOptions) imported(ctx context.Context, dir string) []string {
	var names []string
	if record, err := store.OpenReadOnly(ctx, filepath.Join(dir, recordName)); err == nil {
		defer record.Close()
		if names, err = record.ImportNames(ctx); err != nil {
			return nil
		}
	}
	if o.importing != "" {
		names = append(names, o.importing)
	}
	return names
}
