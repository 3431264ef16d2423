package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/spf13/cobra"
)

// reportOptions are the flags of report.
type reportOptions struct {
	experimentOptions
	format string
	tables []string
	output string
	source string
	bare   bool
}

// newReportCommand shows what was measured.
func newReportCommand(s *streams) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report PATH",
		Short: "Make the tables of an experiment from what was recorded",
		Long: `Makes the report that the experiment's table and text blocks describe, from its
results.db and its imports. The same results and definition give the same bytes.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return makeReport(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(slices.Sorted(maps.Keys(renderers())), ", "))
	f.StringSliceVar(&o.tables, "table", nil, "only the table `NAME`; may be repeated")
	f.StringVarP(&o.output, "output", "o", "", "write `FILE`, or a file of the format in a directory, instead of standard output")
	f.StringVar(&o.source, "source", "", "show rows of `SOURCE`: own, the name of an import, or all")
	f.BoolVar(&o.bare, "bare", false, "leave out titles, captions, footnotes and legends")
	return c
}

// makeReport writes the report of the experiment at path.
func makeReport(ctx context.Context, s *streams, o *reportOptions, path string) error {
	render, ok := renderers()[o.format]
	if !ok {
		return exit(exitUsage, fmt.Errorf("there is no report format %q; there are %s", o.format, strings.Join(slices.Sorted(maps.Keys(renderers())), ", ")))
	}
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	attempts, err := readAttempts(ctx, exp)
	if err != nil {
		return err
	}
	doc, diags := report.Build(report.Input{
		Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval, Show: o.source,
	})
	if err := s.diagnose(exp.Files, diags); err != nil {
		return err
	}
	if len(o.tables) > 0 {
		if doc, err = doc.Only(o.tables...); err != nil {
			return exit(exitUsage, err)
		}
	}
	var b bytes.Buffer
	if err := render(&b, doc, report.Options{Bare: o.bare}); err != nil {
		return fmt.Errorf("writing the report as %s: %w", o.format, err)
	}
	return writeOutput(s, o, b.Bytes())
}

// readAttempts reads what was measured and what is imported. An experiment
// without either has no report.
func readAttempts(ctx context.Context, exp *matrix.Experiment) ([]report.Attempt, error) {
	attempts, err := readImports(exp)
	if err != nil {
		return nil, err
	}
	record, err := openRecord(ctx, exp)
	if err != nil {
		return nil, err
	}
	if record == nil {
		if len(attempts) > 0 {
			return attempts, nil
		}
		_, err := needRecord(ctx, exp)
		return nil, err
	}
	defer record.Close()
	own, err := report.FromStore(ctx, record, exp.Name, exp.Host.ID)
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		// Results that came from another host are shown there as they are.
		if own, err = report.FromStore(ctx, record, exp.Name, ""); err != nil {
			return nil, err
		}
	}
	return append(own, attempts...), nil
}

// readImports reads the files of the experiment's import blocks.
func readImports(exp *matrix.Experiment) ([]report.Attempt, error) {
	var axes []string
	for _, a := range exp.Axes {
		axes = append(axes, a.Name)
	}
	var attempts []report.Attempt
	for _, b := range exp.Report {
		imp, ok := b.(*matrix.Import)
		if !ok {
			continue
		}
		f, err := os.Open(imp.File)
		if err != nil {
			return nil, exit(exitUsage, fmt.Errorf("import %q: %w", imp.Name, err))
		}
		rows, err := report.ReadImport(f, imp.Name, shorten(imp.File), axes)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, exit(exitUsage, fmt.Errorf("import %q: %w", imp.Name, err))
		}
		attempts = append(attempts, rows...)
	}
	return attempts, nil
}

// extensions are the file names' ends by format.
var extensions = map[string]string{"markdown": "md", "text": "txt", "csv": "csv", "json": "json", "html": "html"}

// writeOutput writes the report to where it was asked for.
func writeOutput(s *streams, o *reportOptions, content []byte) error {
	if o.output == "" {
		if _, err := s.out.Write(content); err != nil {
			return exit(exitEnvironment, fmt.Errorf("writing the report: %w", err))
		}
		return nil
	}
	path := o.output
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "report."+extensions[o.format])
	}
	if err := writeFile(path, content); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing the report: %w", err))
	}
	if !s.quiet {
		fmt.Fprintf(s.err, "Wrote %s\n", path)
	}
	return nil
}

// writeFile writes a file that need not be there yet, in one step.
func writeFile(path string, content []byte) error {
	if _, err := os.Stat(path); err == nil {
		return replaceFile(path, content)
	}
	return os.WriteFile(path, content, 0o666)
}
