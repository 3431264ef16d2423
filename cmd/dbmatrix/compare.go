package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	tableOptions
	axis      string
	base      string
	against   string
	other     string // the host whose results of against are meant
	threshold float64
	judge     bool // --threshold was given
}

// compareFormats are the formats of a comparison; its rows are not runs, as
// those of benchfmt are.
var compareFormats = []string{"csv", "html", "json", "markdown", "text"}

// newCompareCommand compares pairs of cells.
func newCompareCommand(s *streams) *cobra.Command {
	var o compareOptions
	o.showing = true
	c := &cobra.Command{
		Use:   "compare PATH {--axis AXIS | --against DB}",
		Short: "Compare cells that differ in one axis, or with another record",
		Long: `With --axis it compares each cell with the one that differs from it in nothing
but that axis: the axis' first level, or the one that --baseline names, with each
other level. With --against it compares equal cells with another results.db (a
file, or the directory of an experiment).

It prints the medians of both, their ratio, and how many runs each has. From 4
runs on each side it tests the difference (Mann and Whitney's U test, 5%): ~ marks
one that is not significant.

With --threshold it fails where a number is worse by more than PCT percent, by the
direction of its column, and the difference is significant; where there are too
few runs to test, any such number fails. So does a pair whose second number is
missing.

  dbmatrix compare . --axis io --phase query --columns qps,r/q
  dbmatrix compare . --against ../before/results.db --threshold 5` +
			exitStatus(exitFailedRuns, exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.judge = c.Flags().Changed("threshold")
			return runCompare(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.axis, "axis", "", "compare cells that differ in `AXIS` alone")
	f.StringVar(&o.base, "baseline", "", "`LEVEL` of the axis that the others are compared with (default its first)")
	f.StringVar(&o.against, "against", "", "compare with the results of `DB`: a results.db, or a directory that has one")
	f.StringVar(&o.other, "against-host", "", "the results in DB of the host with machine `ID` (default this one, or the only one that has some)")
	f.StringSliceVar(&o.columns, "columns", nil, "`TOKENS` to compare, such as qps or ips@load (default those of the experiment's tables)")
	f.StringVar(&o.phase, "phase", "", "only results of `PHASE`")
	f.IntVar(&o.iteration, "iteration", 0, "iteration `N` of the phase; 0 is its last")
	f.StringVar(&o.filter, "filter", "", "only cells for which `EXPR` is true")
	f.StringVar(&o.source, "source", "", "compare rows of `SOURCE`: own (the default) or the name of an import")
	f.StringVar(&o.host, "host", "", hostHelp)
	f.Float64Var(&o.threshold, "threshold", 0, "fail where a number is worse by more than `PCT` percent")
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(compareFormats, ", "))
	f.BoolVar(&o.bare, "bare", false, "leave out titles, captions, footnotes and legends")
	return c
}

// check judges the flags by themselves.
func (o *compareOptions) check() error {
	switch {
	case (o.axis == "") == (o.against == ""):
		return exit(exitUsage, errors.New("say what to compare: either --axis or --against"))
	case o.against == "" && o.other != "":
		return exit(exitUsage, errors.New("--against-host names a host of --against, which is not given"))
	case o.against != "" && o.base != "":
		return exit(exitUsage, errors.New("--baseline names a level of --axis; it has no meaning with --against"))
	case !slices.Contains(compareFormats, o.format):
		return exit(exitUsage, fmt.Errorf("compare has no format %q; it has %s", o.format, strings.Join(compareFormats, ", ")))
	case o.judge && !(o.threshold >= 0):
		return exit(exitUsage, fmt.Errorf("--threshold is a number of percent from 0, not %v", o.threshold))
	}
	return nil
}

// runCompare prints a comparison and judges it.
func runCompare(ctx context.Context, s *streams, o *compareOptions, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	if err := o.checkAxis(exp); err != nil {
		return err
	}
	def, err := o.definition(s, exp)
	if err != nil {
		return err
	}
	compared, diags, err := o.compare(ctx, exp, cells, def)
	if err != nil {
		return err
	}
	if err := s.diagnose(exp.Files, diags); err != nil {
		return err
	}
	if len(compared.Pairs) == 0 {
		return o.nothing()
	}
	if err := writeDocument(s, compared.Document(), renderers()[o.format], o.format, report.Options{Bare: o.bare}); err != nil {
		return err
	}
	if !o.judge {
		return nil
	}
	return s.judge(compared.Pairs, o.threshold)
}

// nothing says that there is no pair.
func (o *compareOptions) nothing() error {
	if o.axis != "" {
		return exit(exitUsage, fmt.Errorf("there is nothing to compare: no two cells that differ in %s alone have numbers of these columns", o.axis))
	}
	return exit(exitUsage, fmt.Errorf("there is nothing to compare: no cell has numbers of these columns both here and in %s", o.against))
}

// checkAxis makes sure that the axis and the level are there.
func (o *compareOptions) checkAxis(exp *matrix.Experiment) error {
	if o.axis == "" {
		return nil
	}
	var names []string
	for _, a := range exp.Axes {
		names = append(names, a.Name)
		if a.Name != o.axis {
			continue
		}
		var levels []string
		for _, l := range a.Levels {
			levels = append(levels, l.Name)
		}
		if o.base != "" && !slices.Contains(levels, o.base) {
			return exit(exitUsage, fmt.Errorf("axis %s has no level %q; it has %s", o.axis, o.base, strings.Join(levels, ", ")))
		}
		return nil
	}
	return exit(exitUsage, fmt.Errorf("there is no axis %q; there are %s", o.axis, strings.Join(names, ", ")))
}

// definition returns a table of the columns to compare.
func (o *compareOptions) definition(s *streams, exp *matrix.Experiment) (*matrix.Table, error) {
	var own []matrix.Column
	t := o.tableOptions
	if len(t.columns) == 0 {
		own = tableColumns(exp, t.phase)
		for _, c := range own {
			t.columns = append(t.columns, c.Label)
		}
	}
	if len(t.columns) == 0 {
		return nil, exit(exitUsage, errors.New("say what to compare: --columns; the experiment's tables have no column of this phase"))
	}
	t.baseline = nil
	def, err := t.table(s, exp)
	if err != nil {
		return nil, err
	}
	for i, c := range own {
		def.Columns[i].Divisor, def.Columns[i].Format = c.Divisor, c.Format
	}
	return def, nil
}

// tableColumns returns the tokens that the tables of an experiment show of a
// phase ("": of all), each once and labelled with its place.
func tableColumns(exp *matrix.Experiment, phase string) []matrix.Column {
	var columns []matrix.Column
	seen := map[string]bool{}
	for _, b := range exp.Report {
		t, ok := b.(*matrix.Table)
		if !ok {
			continue
		}
		for _, c := range t.Columns {
			c = placed(exp, t, c)
			if c.Of == "" || c.Phase == "" || phase != "" && c.Phase != phase || seen[c.Label] {
				continue
			}
			seen[c.Label] = true
			columns = append(columns, c)
		}
	}
	return columns
}

// placed returns a column of a token with the phase and iteration that its table
// gives it, and a label that says so. A column that is computed has no token.
func placed(exp *matrix.Experiment, t *matrix.Table, c matrix.Column) matrix.Column {
	if c.Value != nil || c.Cell != nil || strings.Contains(c.Of, "@") {
		return matrix.Column{}
	}
	if c.Phase == "" && t.Phase == "" && len(exp.Phases) == 1 {
		c.Phase = exp.Phases[0].Name
	}
	if c.Phase == "" {
		c.Phase = t.Phase
	}
	if c.Iteration == 0 && c.Phase == t.Phase {
		c.Iteration = t.Iteration
	}
	c.Label = c.Of + "@" + c.Phase
	if c.Iteration != 0 {
		c.Label += fmt.Sprintf(".%d", c.Iteration)
	}
	return c
}

// compare makes the comparison that the flags ask for.
func (o *compareOptions) compare(ctx context.Context, exp *matrix.Experiment, cells []*matrix.Cell, def *matrix.Table) (*report.Comparison, hcl.Diagnostics, error) {
	in, done, err := reportInput(ctx, exp, cells, o.source, o.host)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if o.axis != "" {
		c, diags := report.Compare(in, def, o.axis, o.base)
		return c, diags, nil
	}
	other := in
	if other.Attempts, err = attemptsOf(ctx, exp, o.against, o.other); err != nil {
		return nil, nil, err
	}
	c, diags := report.CompareRecords(in, other, def)
	return c, diags, nil
}

// attemptsOf reads what another record has of an experiment: under its name or,
// where the record has one experiment alone, under that one's.
func attemptsOf(ctx context.Context, exp *matrix.Experiment, path, asked string) ([]report.Attempt, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, recordName)
	}
	other, err := store.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, exit(exitEnvironment, err)
	}
	defer other.Close()
	have, err := other.Experiments(ctx)
	if err != nil {
		return nil, err
	}
	name, host, err := chooseExperiment(have, exp, asked)
	if err != nil {
		return nil, exit(exitUsage, fmt.Errorf("%s %w", path, err))
	}
	return report.FromStore(ctx, other, name, host)
}

// chooseExperiment returns the name and host of what another record has of an
// experiment. Results of several hosts are no repetitions of each other.
func chooseExperiment(have []store.ExperimentOnHost, exp *matrix.Experiment, asked string) (name, host string, err error) {
	var names, hosts []string
	for _, e := range have {
		if !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	name = exp.Name
	if len(names) == 1 {
		name = names[0]
	}
	for _, e := range have {
		if e.Name == name {
			hosts = append(hosts, e.Host)
		}
	}
	switch {
	case len(hosts) == 0:
		return "", "", fmt.Errorf("has no results of experiment %q; it has those of %s", exp.Name, cmp.Or(strings.Join(names, ", "), "none"))
	case asked != "" && !slices.Contains(hosts, asked):
		return "", "", fmt.Errorf("has no results of host %q; it has those of %s", asked, strings.Join(hosts, ", "))
	case asked != "":
		return name, asked, nil
	case len(hosts) == 1:
		return name, hosts[0], nil
	case slices.Contains(hosts, exp.Host.ID):
		return name, exp.Host.ID, nil
	}
	return "", "", fmt.Errorf("has results of %d other hosts; say which with --against-host: %s", len(hosts), strings.Join(hosts, ", "))
}

// judge says which pairs are worse by more than a number of percent, and ends
// with a code that says whether some are.
func (s *streams) judge(pairs []report.Pair, percent float64) error {
	failed, judged := 0, 0
	for i := range pairs {
		p := &pairs[i]
		if p.Direction == report.Neither || p.Shared || !p.A.Known {
			continue // there is nothing that it could be worse than
		}
		judged++
		if fault := fault(p, percent); fault != "" {
			failed++
			fmt.Fprintf(s.err, "%s, %s: %s\n", p.Column, p.Label, fault)
		}
	}
	switch {
	case judged == 0:
		return exit(exitUsage, errors.New("--threshold cannot judge: no pair has a number to compare with in a column that says whether more or less is better (dbmatrix columns)"))
	case failed > 0:
		return exit(exitFailedRuns, fmt.Errorf("%d of %d pairs do not meet the threshold of %g%%", failed, judged, percent))
	}
	return nil
}

// fault says why a pair does not meet the threshold; "" where it does.
func fault(p *report.Pair, percent float64) string {
	if !p.B.Known {
		return "there is no number to judge"
	}
	worse, ok := p.Worse()
	if !ok || worse <= percent || p.Tested && !p.Significant {
		return ""
	}
	text := fmt.Sprintf("worse by %.1f%%", worse)
	if p.Tested {
		return fmt.Sprintf("%s (p=%.3f)", text, p.P)
	}
	return fmt.Sprintf("%s (%d and %d runs are too few to test whether that is chance)", text, p.RunsA, p.RunsB)
}
