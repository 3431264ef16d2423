package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// reportGarbage is how much garbage, in percent of what is in use, a report gathers
// before it is cleared away: as much as is in use would double what a large
// experiment takes.
const reportGarbage = 50

// reportOptions are the flags of report.
type reportOptions struct {
	experimentOptions
	format string
	tables []string
	output string
	source string
	host   string
	charts string
	bare   bool

	readings int
	partial  bool
}

// newReportCommand shows what was measured.
func newReportCommand(s *streams) *cobra.Command {
	var o reportOptions
	o.showing = true
	c := &cobra.Command{
		Use:   "report PATH",
		Short: "Make the tables and charts of an experiment from what was recorded",
		Long: `Makes the report that the experiment's table, chart and text blocks describe,
from its results.db and its imports. The same results and definition give the
same bytes. Text and Markdown name their charts, which are written beside the
file that --output names. An HTML page holds them, and below them the facts of
host and builds, the option files with their differences, and every phase over
time.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("format") {
				o.format = formatOf(o.output, o.format)
			}
			return makeReport(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(slices.Sorted(maps.Keys(renderers())), ", ")+"; else by the end of --output's name")
	completes(c, "format", words(slices.Sorted(maps.Keys(renderers()))...))
	f.StringArrayVar(&o.tables, "table", nil, "only the table `NAME`; may be repeated. One alone comes without its title")
	completes(c, "table", tablesOfPath(&o.experimentOptions))
	f.StringVarP(&o.output, "output", "o", "", "write `FILE`, or a file of the format in a directory, instead of standard output")
	f.StringVar(&o.source, "source", "", "show rows of `SOURCE`: own, the name of an import, or all")
	f.StringVar(&o.host, "host", "", hostHelp)
	f.StringVar(&o.charts, "charts", "svg", "`FORMAT` of the chart files: svg or png")
	f.IntVar(&o.readings, "readings", 500, "an HTML page holds the readings over time of `N` iterations at most; 0 leaves out facts and options too")
	f.BoolVar(&o.partial, "partial", false, "leave out charts that have nothing to draw yet, instead of failing")
	f.BoolVar(&o.bare, "bare", false, "leave out titles, captions, footnotes and legends")
	return c
}

// makeReport writes the report of the experiment at path.
func makeReport(ctx context.Context, s *streams, o *reportOptions, path string) error {
	render, err := rendererOf(o.format)
	if err != nil {
		return err
	}
	exp, err := o.load(ctx, s, path)
	if err != nil {
		return err
	}
	if o.charts != "svg" && o.charts != "png" {
		return exit(exitUsage, fmt.Errorf("there is no chart format %q; there are svg and png", o.charts))
	}
	doc, err := buildReport(ctx, s, o, exp)
	if err != nil {
		return err
	}
	// Who asks for one table by its name knows it.
	options := report.Options{Bare: o.bare, Untitled: len(o.tables) == 1, ChartFormat: o.charts}
	var b bytes.Buffer
	if err := render(&b, doc, options); err != nil {
		return fmt.Errorf("writing the report as %s: %w", o.format, err)
	}
	if err := writeOutput(s, o, b.Bytes()); err != nil {
		return err
	}
	s.tellWide(o.format, doc)
	return writeCharts(s, o, doc, options)
}

// buildReport makes the document, as far as it was asked for.
func buildReport(ctx context.Context, s *streams, o *reportOptions, exp *matrix.Experiment) (*report.Document, error) {
	in, done, err := gatherInput(ctx, s, o, exp)
	if err != nil {
		return nil, err
	}
	defer done()
	in.TablesOnly = len(o.tables) > 0
	in.Partial = o.partial || in.TablesOnly
	if o.format == "html" && !in.TablesOnly && !o.bare {
		in.Appendix = o.readings
	}
	doc, diags := report.Build(in)
	if err := s.diagnose(exp.Files, diags); err != nil {
		return nil, err
	}
	if len(o.tables) > 0 {
		if doc, err = doc.Only(o.tables...); err != nil {
			return nil, exit(exitUsage, err)
		}
	}
	return doc, nil
}

// gatherInput lays out the cells of the experiment while what was measured is read.
func gatherInput(ctx context.Context, s *streams, o *reportOptions, exp *matrix.Experiment) (report.Input, func(), error) {
	// What is read stays to the end: to look for garbage in it over and over
	// while it grows would take as long as reading it.
	debug.SetGCPercent(-1)
	defer debug.SetGCPercent(reportGarbage)
	var cells []*matrix.Cell
	var diags hcl.Diagnostics
	var layout sync.WaitGroup
	layout.Go(func() { cells, diags = expandFaulty(exp) })
	in, done, err := reportInput(ctx, exp, nil, o.source, o.host)
	layout.Wait()
	if faulty := s.diagnose(exp.Files, diags); faulty != nil {
		if err == nil {
			done()
		}
		return in, nil, faulty
	}
	in.Cells = cells
	return in, done, err
}

// tellWide says of tables that are wider than a text is meant to be how they can
// be made narrower.
func (s *streams) tellWide(format string, doc *report.Document) {
	if format != "text" || s.quiet {
		return
	}
	for _, block := range doc.Blocks {
		if t := block.Table; t != nil && t.Width() > report.TextWidth {
			fmt.Fprintf(s.err, "Table %q is %d columns wide; %d fit a page. Narrower: fewer columns, headings of two lines, a shorter label, transpose = true.\n",
				t.Name, t.Width(), report.TextWidth)
		}
	}
}

// reportInput gathers what tables of an experiment are made from. show is the
// source whose rows are wanted, "" for what the tables say; host is the machine id
// of the host whose results are wanted, "" for this one's. The record stays open
// until done is called.
func reportInput(ctx context.Context, exp *matrix.Experiment, cells []*matrix.Cell, show, host string) (in report.Input, done func(), err error) {
	in = report.Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Show: show}
	record, err := openRecord(ctx, exp)
	if err != nil {
		return in, nil, err
	}
	if record == nil {
		if !imports(exp) {
			_, err = needRecord(ctx, exp)
		}
		return in, func() {}, err
	}
	in.Readings, in.Servers = report.ReadingsFrom(ctx, record), report.ServersFrom(ctx, record, exp.Name)
	imported, err := report.ImportsFromStore(ctx, record, exp.Name)
	if err != nil {
		record.Close()
		return in, nil, err
	}
	if in.Attempts, err = readAttempts(ctx, record, exp, host); err != nil {
		record.Close()
		return in, nil, err
	}
	in.Attempts = append(in.Attempts, withoutBlocks(exp, imported)...)
	return in, func() { record.Close() }, nil
}

// readAttempts reads what was measured on one host, as chooseHost chooses it.
func readAttempts(ctx context.Context, record *store.Store, exp *matrix.Experiment, asked string) ([]report.Attempt, error) {
	host, err := chooseHost(ctx, record, exp, asked)
	if err != nil {
		return nil, err
	}
	return report.FromStore(ctx, record, exp.Name, host)
}

// withoutBlocks leaves out what was imported under the name that an import block
// has now: the block is the newer word.
func withoutBlocks(exp *matrix.Experiment, imported []report.Attempt) []report.Attempt {
	return slices.DeleteFunc(imported, func(a report.Attempt) bool { return importBlock(exp, a.Source) })
}

// imports reports whether an experiment has numbers that were measured
// elsewhere.
func imports(exp *matrix.Experiment) bool {
	return slices.ContainsFunc(exp.Report, func(b matrix.ReportBlock) bool {
		_, ok := b.(*matrix.Import)
		return ok
	})
}

// extensions are the file names' ends by format.
var extensions = map[string]string{"markdown": "md", "text": "txt", "csv": "csv", "json": "json", "html": "html", "benchfmt": "bench"}

// formatOf returns the format whose files end as a name does, else the one given.
func formatOf(name, otherwise string) string {
	for format, end := range extensions {
		if filepath.Ext(name) == "."+end {
			return format
		}
	}
	return otherwise
}

// target is the file that the report is written to, "" for standard output.
func (o *reportOptions) target() string {
	if info, err := os.Stat(o.output); err == nil && info.IsDir() {
		return filepath.Join(o.output, "report."+extensions[o.format])
	}
	return o.output
}

// writeOutput writes the report to where it was asked for.
func writeOutput(s *streams, o *reportOptions, content []byte) error {
	path := o.target()
	if path == "" {
		if _, err := s.out.Write(content); err != nil {
			return exit(exitEnvironment, fmt.Errorf("writing the report: %w", err))
		}
		return nil
	}
	if err := writeFile(path, content); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing the report: %w", err))
	}
	if !s.quiet {
		fmt.Fprintf(s.err, "Wrote %s\n", path)
	}
	return nil
}

// writeCharts writes the charts that a text or Markdown report names, beside it.
func writeCharts(s *streams, o *reportOptions, doc *report.Document, options report.Options) error {
	if o.format != "text" && o.format != "markdown" || len(doc.Charts()) == 0 {
		return nil
	}
	path := o.target()
	if path == "" {
		if !s.quiet {
			fmt.Fprintln(s.err, "The charts that the report names are written with --output FILE.")
		}
		return nil
	}
	files, err := doc.ChartFiles(options)
	if err != nil {
		return fmt.Errorf("drawing the charts: %w", err)
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		group.Go(func() error {
			if err := writeChart(filepath.Join(filepath.Dir(path), filepath.FromSlash(f.Path)), f); err != nil {
				return exit(exitEnvironment, fmt.Errorf("writing chart %s: %w", f.Path, err))
			}
			return nil
		})
	}
	return group.Wait()
}

func writeChart(path string, f report.ChartFile) error {
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return writeFile(path, b.Bytes())
}

// writeFile writes a file: a plain one in one step, and through anything else
// that stands at the path, such as a link or a device. Neither a definition nor a
// record is ever written over.
func writeFile(path string, content []byte) error {
	for _, p := range []string{path, resolved(path)} {
		switch {
		case filepath.Ext(p) == ".hcl":
			return fmt.Errorf("%s would be read as a part of the experiment: give another name", path)
		case isRecordFile(filepath.Base(p)):
			return fmt.Errorf("%s is where results are recorded: give another name", path)
		}
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return replaceFile(path, content)
	}
	return os.WriteFile(path, content, 0o666)
}
