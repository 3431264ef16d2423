package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/spf13/cobra"
	"github.com/zclconf/go-cty/cty"
)

// tableOptions are the flags of table.
type tableOptions struct {
	experimentOptions
	phase     string
	iteration int
	columns   []string
	rows      []string
	across    []string
	sort      []string
	filter    string
	baseline  []string
	interval  bool
	geomean   bool

	source string
	host   string
	format string
	bare   bool
	hcl    bool
}

// newTableCommand makes a table that is not in the definition.
func newTableCommand(s *streams) *cobra.Command {
	var o tableOptions
	o.showing = true
	c := &cobra.Command{
		Use:   "table PATH --columns TOKENS",
		Short: "Make one table from flags",
		Long: `Makes one table that need not be in the definition. The flags are the attributes
of a table block; --hcl prints that block, to be kept in the experiment.

  dbmatrix table . --phase query --columns qps,r/q --across io
  dbmatrix table . --columns ips@load --filter 'axis.engine == "innodb"' --baseline io=buffered

--filter is an expression that is true for the rows to show. It may use the names
that expressions of a report have: axis, label, pos, param, build, cell, col, at().` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return makeTable(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.phase, "phase", "", "`PHASE` whose results are shown; an experiment with one phase need not say it")
	f.IntVar(&o.iteration, "iteration", 0, "iteration `N` of the phase; 0 is its last")
	f.StringSliceVar(&o.columns, "columns", nil, "`TOKENS` to show, such as ips,wkb/i or qps@query.12; see dbmatrix columns")
	f.StringSliceVar(&o.rows, "rows", nil, "`AXES` that make a row (default all that vary)")
	f.StringSliceVar(&o.across, "across", nil, "`AXES` that are laid over the columns")
	f.StringSliceVar(&o.sort, "sort", nil, "sort by `COLUMNS` or axes; -NAME is from high to low")
	f.StringVar(&o.filter, "filter", "", "show the rows for which `EXPR` is true")
	f.StringSliceVar(&o.baseline, "baseline", nil, "add ratios to the row with `AXIS=LEVEL`")
	f.BoolVar(&o.interval, "interval", false, "add intervals of the columns over the replicates")
	f.BoolVar(&o.geomean, "geomean", false, "add a row with the geometric mean of each column")
	f.StringVar(&o.source, "source", "", "show rows of `SOURCE`: own (the default), the name of an import, or all")
	f.StringVar(&o.host, "host", "", hostHelp)
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(slices.Sorted(maps.Keys(renderers())), ", "))
	f.BoolVar(&o.bare, "bare", false, "leave out title, caption, footnotes and legend")
	f.BoolVar(&o.hcl, "hcl", false, "print the table block instead of the table")
	return c
}

// makeTable prints the table that the flags describe.
func makeTable(ctx context.Context, s *streams, o *tableOptions, path string) error {
	render, err := rendererOf(o.format)
	if err != nil {
		return err
	}
	if len(o.columns) == 0 {
		return exit(exitUsage, errors.New("say what to show: --columns; dbmatrix columns lists the tokens"))
	}
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	table, err := o.table(s, exp)
	if err != nil {
		return err
	}
	if o.hcl {
		_, err := s.out.Write(exp.Files[flagsFile].Bytes)
		return writing(err)
	}
	in, done, err := reportInput(ctx, exp, cells, o.source, o.host)
	if err != nil {
		return err
	}
	defer done()
	made, diags := report.BuildTable(in, table)
	if err := s.diagnose(exp.Files, diags); err != nil {
		return err
	}
	doc := &report.Document{Blocks: []report.Block{{Table: made}}}
	s.tellWide(o.format, doc)
	return writeDocument(s, doc, render, o.format, report.Options{Bare: o.bare})
}

// rendererOf returns what writes a format.
func rendererOf(format string) (report.Renderer, error) {
	render, ok := renderers()[format]
	if !ok {
		return nil, exit(exitUsage, fmt.Errorf("there is no report format %q; there are %s", format, strings.Join(slices.Sorted(maps.Keys(renderers())), ", ")))
	}
	return render, nil
}

// writeDocument writes a document to standard output.
func writeDocument(s *streams, doc *report.Document, render report.Renderer, format string, o report.Options) error {
	var b bytes.Buffer
	if err := render(&b, doc, o); err != nil {
		return fmt.Errorf("writing the table as %s: %w", format, err)
	}
	_, err := s.out.Write(b.Bytes())
	return writing(err)
}

// writing is the end after standard output could not be written.
func writing(err error) error {
	if err == nil {
		return nil
	}
	return exit(exitEnvironment, fmt.Errorf("writing the output: %w", err))
}

// Names under which diagnostics show what the flags say.
const (
	flagsFile  = "the table of the flags"
	filterFile = "--filter"
)

// table returns the table that the flags describe. It is written as a block of
// the language, and so gets the checks and messages of the experiment's own.
func (o *tableOptions) table(s *streams, exp *matrix.Experiment) (*matrix.Table, error) {
	if o.filter != "" {
		_, diags := hclsyntax.ParseExpression([]byte(o.filter), filterFile, hcl.InitialPos)
		exp.Files[filterFile] = &hcl.File{Bytes: []byte(o.filter)}
		if err := s.diagnose(exp.Files, diags); err != nil {
			return nil, err
		}
	}
	src, err := o.block()
	if err != nil {
		return nil, err
	}
	t, diags := exp.ParseTable(src, flagsFile)
	return t, s.diagnose(exp.Files, diags)
}

// block writes the flags as a table block.
func (o *tableOptions) block() ([]byte, error) {
	f := hclwrite.NewEmptyFile()
	body := f.Body().AppendNewBlock("table", []string{cmp.Or(o.phase, "results")}).Body()
	if o.phase != "" {
		body.SetAttributeValue("phase", cty.StringVal(o.phase))
	}
	if o.iteration != 0 {
		body.SetAttributeValue("iteration", cty.NumberIntVal(int64(o.iteration)))
	}
	for _, list := range []struct {
		name  string
		texts []string
	}{{"columns", o.columns}, {"rows", o.rows}, {"across", o.across}, {"sort", o.sort}} {
		if len(list.texts) > 0 {
			body.SetAttributeValue(list.name, texts(list.texts))
		}
	}
	if o.interval {
		body.SetAttributeValue("interval", cty.True)
	}
	if o.geomean {
		body.SetAttributeValue("geomean", cty.True)
	}
	if o.filter != "" {
		body.SetAttributeRaw("only", hclwrite.TokensForIdentifier(onOneLine(o.filter)))
	}
	if len(o.baseline) > 0 {
		row, err := o.baselineRow()
		if err != nil {
			return nil, err
		}
		body.SetAttributeValue("baseline", cty.MapVal(row))
		o.addRatios(body)
	}
	return hclwrite.Format(f.Bytes()), nil
}

// baselineRow returns the level on each axis that the baseline names.
func (o *tableOptions) baselineRow() (map[string]cty.Value, error) {
	row := map[string]cty.Value{}
	for _, text := range o.baseline {
		axis, level, ok := strings.Cut(text, "=")
		if !ok || axis == "" {
			return nil, exit(exitUsage, fmt.Errorf("--baseline %q is not AXIS=LEVEL", text))
		}
		row[axis] = cty.StringVal(level)
	}
	return row, nil
}

// addRatios adds, for each column, its ratio to the baseline.
func (o *tableOptions) addRatios(body *hclwrite.Body) {
	for _, token := range o.columns {
		column := body.AppendNewBlock("column", []string{token + " ratio"}).Body()
		column.SetAttributeValue("of", cty.StringVal(token))
		column.SetAttributeValue("relative", cty.True)
	}
}

// onOneLine makes an expression one that an attribute can hold.
func onOneLine(expr string) string {
	if strings.Contains(expr, "\n") {
		return "(" + expr + "\n)"
	}
	return expr
}

// texts makes a list of the language.
func texts(list []string) cty.Value {
	values := make([]cty.Value, len(list))
	for i, text := range list {
		values[i] = cty.StringVal(text)
	}
	return cty.ListVal(values)
}
