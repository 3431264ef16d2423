package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/spf13/cobra"
)

// exportOptions are the flags of export.
type exportOptions struct {
	experimentOptions
	format string
	long   bool
	host   string
	output string
}

// hostHelp is the help of --host.
const hostHelp = "results of the host with machine `ID` (default this one, or the only one that has some)"

// exportFormats are the formats of an export.
var exportFormats = []string{"csv", "json", "benchfmt"}

// newExportCommand writes raw results.
func newExportCommand(s *streams) *cobra.Command {
	var o exportOptions
	o.showing = true
	c := &cobra.Command{
		Use:   "export PATH",
		Short: "Write the recorded numbers for other programs",
		Long: `Writes what was recorded of an experiment, with all digits.

  csv       a row for each iteration of the attempts that stand for their runs,
            with the axes, status, message and doubts, the facts that differ, the
            recorded metrics and the columns of the library (dbmatrix columns);
            dbmatrix import and import blocks read it
  csv, with --long
            a row for each recorded metric of every attempt, superseded, failed
            and withdrawn ones too
  json      every attempt with its status, facts, phases, doubts and metrics
  benchfmt  the attempts that stand for their runs, for benchstat; what is to be
            said of a result stands in a line that begins with #` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return exportResults(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.format, "format", "csv", "`FORMAT`: "+strings.Join(exportFormats, ", "))
	f.BoolVar(&o.long, "long", false, "one number a row (csv)")
	f.StringVar(&o.host, "host", "", hostHelp)
	f.StringVarP(&o.output, "output", "o", "", "write `FILE` instead of standard output")
	return c
}

// exportResults writes what was recorded of the experiment at path.
func exportResults(ctx context.Context, s *streams, o *exportOptions, path string) error {
	if !slices.Contains(exportFormats, o.format) {
		return exit(exitUsage, fmt.Errorf("there is no export format %q; there are %s", o.format, strings.Join(exportFormats, ", ")))
	}
	if o.long && o.format != "csv" {
		return exit(exitUsage, errors.New("--long is a form of --format csv"))
	}
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	e, err := o.read(ctx, exp, cells)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := o.writer(e)(&b); err != nil {
		return fmt.Errorf("writing the results as %s: %w", o.format, err)
	}
	if !s.quiet {
		noteLeftOut(s.err, o, e)
	}
	if o.output == "" {
		_, err := s.out.Write(b.Bytes())
		return writing(err)
	}
	if err := writeFile(o.output, b.Bytes()); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing the results: %w", err))
	}
	return nil
}

// read gathers the results of one host.
func (o *exportOptions) read(ctx context.Context, exp *matrix.Experiment, cells []*matrix.Cell) (*report.Export, error) {
	record, err := needRecord(ctx, exp)
	if err != nil {
		return nil, err
	}
	defer record.Close()
	host, err := chooseHost(ctx, record, exp, o.host)
	if err != nil {
		return nil, err
	}
	attempts, err := report.FromStore(ctx, record, exp.Name, host)
	if err != nil {
		return nil, err
	}
	if len(attempts) == 0 {
		return nil, exit(exitUsage, fmt.Errorf("%s has no results of experiment %s on host %s", shorten(recordPath(exp)), exp.Name, host))
	}
	return report.NewExport(exp, cells, host, attempts), nil
}

// chooseHost returns the host whose results are meant: the one that is asked for,
// else this one, else the only one that the record has results of. Results of
// several hosts are no repetitions of each other.
func chooseHost(ctx context.Context, record *store.Store, exp *matrix.Experiment, asked string) (string, error) {
	have, err := record.Experiments(ctx)
	if err != nil {
		return "", err
	}
	var hosts []string
	for _, e := range have {
		if e.Name == exp.Name {
			hosts = append(hosts, e.Host)
		}
	}
	list := strings.Join(hosts, ", ")
	switch {
	case asked != "" && !slices.Contains(hosts, asked):
		return "", exit(exitUsage, fmt.Errorf("there are no results of experiment %s from host %q; there are those of %s", exp.Name, asked, cmp.Or(list, "none")))
	case asked != "":
		return asked, nil
	case len(hosts) == 0 || slices.Contains(hosts, exp.Host.ID):
		return exp.Host.ID, nil
	case len(hosts) == 1:
		return hosts[0], nil
	}
	return "", exit(exitUsage, fmt.Errorf("the results are of several hosts; say which with --host: %s", list))
}

// writer returns what writes the export in the format that was asked for.
func (o *exportOptions) writer(e *report.Export) func(io.Writer) error {
	switch {
	case o.format == "json":
		return e.JSON
	case o.format == "benchfmt":
		return e.Benchfmt
	case o.long:
		return e.LongCSV
	}
	return e.CSV
}

// noteLeftOut says how many attempts the format leaves out.
func noteLeftOut(w io.Writer, o *exportOptions, e *report.Export) {
	if o.long || o.format == "json" {
		return
	}
	if n := len(e.Attempts) - len(e.Standing()); n > 0 {
		fmt.Fprintf(w, "%d of %d attempts are left out: superseded, withdrawn or under way; --format json has them.\n", n, len(e.Attempts))
	}
}
