package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report"
)

// A side is one of two cells that are compared: what is on record of it.
type side struct {
	cell     *matrix.Cell
	attempts []store.Attempt // that count, by replicate; else the newest alone
	counts   bool
	detail   *store.Detail // of the first attempt
}

// compareCells prints how the cell a differs from the cell b.
func compareCells(ctx context.Context, out io.Writer, record *store.Store, exp *matrix.Experiment, cells []*matrix.Cell, a, b *matrix.Cell) error {
	var sides []*side
	for _, cell := range []*matrix.Cell{a, b} {
		s, err := readSide(ctx, record, exp, cells, cell)
		if err != nil {
			return err
		}
		sides = append(sides, s)
	}
	x, y := sides[0], sides[1]
	fmt.Fprintf(out, "A: %s\nB: %s\n", x, y)
	if x.detail == nil || y.detail == nil {
		return compareDefinitions(out, a, b)
	}
	if len(x.detail.Options) == 0 || len(y.detail.Options) == 0 {
		fmt.Fprintln(out, "\nNo server's options are on record of both.")
	} else {
		printDifferences(out, "options asked for", x.askedOptions(), y.askedOptions())
		printDifferences(out, "variables in force", x.variables(), y.variables())
	}
	return printResultsSideBySide(out, x, y)
}

// compareDefinitions prints how two cells differ of which one was never measured.
func compareDefinitions(out io.Writer, a, b *matrix.Cell) error {
	for _, c := range []*matrix.Cell{a, b} {
		for _, p := range c.Phases {
			if s := p.Settings.Server; s != nil && s.Build.Absent != "" {
				return exit(exitUsage, fmt.Errorf("nothing is on record to compare, and what %s asks for is not known: server %s is not on this host: %s; --machine FILE names the machine file that has it",
					cellName(c.Key), s.Name, s.Build.Absent))
			}
		}
	}
	printDifferences(out, "options asked for, by the definition", definedOptions(a), definedOptions(b))
	fmt.Fprintln(out, "\nOnly cells that were measured have results to compare.")
	return nil
}

// readSide reads what is on record of a cell.
func readSide(ctx context.Context, record *store.Store, exp *matrix.Experiment, cells []*matrix.Cell, cell *matrix.Cell) (*side, error) {
	known, err := readCell(ctx, record, exp, cells, cell, "")
	if err != nil {
		return nil, err
	}
	s := &side{cell: cell}
	for i := range known.attempts {
		if known.stands(&known.attempts[i]) {
			s.attempts, s.counts = append(s.attempts, known.attempts[i]), true
		}
	}
	if n := len(known.attempts); !s.counts && n > 0 {
		s.attempts = known.attempts[n-1:]
	}
	if len(s.attempts) > 0 {
		if s.detail, err = record.Detail(ctx, s.attempts[0].ID); err != nil {
			return nil, fmt.Errorf("reading attempt %d: %w", s.attempts[0].Number, err)
		}
	}
	return s, nil
}

// String names the cell and the runs that its numbers are from.
func (s *side) String() string {
	name := cellName(s.cell.Key)
	switch {
	case len(s.attempts) == 0:
		return name + ", which was not measured yet"
	case len(s.attempts) == 1:
		a := &s.attempts[0]
		return fmt.Sprintf("%s, replicate %d, attempt %d: %s", name, a.Replicate, a.Number, a.Status)
	}
	return fmt.Sprintf("%s, the median of %d runs; options and variables of replicate %d", name, len(s.attempts), s.attempts[0].Replicate)
}

// askedOptions returns the options that the servers of the first attempt were
// started with, by phase where they change.
func (s *side) askedOptions() map[string]string {
	options := map[string]string{}
	var before map[string]string
	for _, p := range s.attempts[0].Phases {
		if s.detail.Options[p.ID] == nil {
			continue
		}
		asked := map[string]string{}
		for _, o := range s.detail.Options[p.ID] {
			asked[o.Name] = o.Asked
		}
		addOptions(options, before, asked, p.Block)
		before = asked
	}
	return options
}

// definedOptions returns the options of a cell by the definition, by phase where
// they change.
func definedOptions(c *matrix.Cell) map[string]string {
	options := map[string]string{}
	var before map[string]string
	for _, p := range c.Phases {
		asked := map[string]string{}
		for _, o := range p.Settings.Options {
			asked[o.Name] = o.Value.String()
		}
		addOptions(options, before, asked, p.Block)
		before = asked
	}
	return options
}

// addOptions adds the options that a phase's server is started with, under its name
// if the one before it had others. Before the first phase there are none (nil).
func addOptions(options, before, asked map[string]string, phase string) {
	if before != nil && maps.Equal(before, asked) {
		return
	}
	prefix := ""
	if before != nil {
		prefix = phase + ": "
	}
	for name, value := range asked {
		options[prefix+name] = value
	}
}

// variables returns the server variables that the first attempt began with.
func (s *side) variables() map[string]string {
	vs := map[string]string{}
	starts := slices.Sorted(maps.Keys(s.detail.Variables))
	if len(starts) == 0 {
		return vs
	}
	for _, v := range s.detail.Variables[starts[0]] {
		vs[v.Name] = v.Value
	}
	return vs
}

// printDifferences prints the names whose texts differ, but not those that tell a
// place, which differ between any two runs.
func printDifferences(out io.Writer, title string, a, b map[string]string) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fmt.Fprintf(out, "\n%s:\n", title)
	differ := 0
	for _, name := range names {
		x, inA := a[name]
		y, inB := b[name]
		if inA == inB && (x == y || report.PlaceVariable(name, x) && report.PlaceVariable(name, y)) {
			continue
		}
		differ++
		fmt.Fprintf(out, "  %s: %s | %s\n", name, orNotSet(x, inA), orNotSet(y, inB))
	}
	if differ == 0 {
		fmt.Fprintln(out, "  none differs")
	}
}

// orNotSet returns a value, or that there is none.
func orNotSet(v string, ok bool) string {
	if !ok {
		return "(not set)"
	}
	return strings.TrimSpace(v)
}

// median returns the median of a metric over the attempts of a side; ok is false
// where one of them does not have it.
func (s *side) median(phase string, iteration int, metric string) (median float64, ok bool) {
	var values []float64
	for i := range s.attempts {
		phases := s.attempts[i].Phases
		at := slices.IndexFunc(phases, func(p store.Phase) bool { return p.Block == phase })
		if at < 0 {
			return 0, false
		}
		it := phases[at].Iteration(iteration)
		if it == nil {
			return 0, false
		}
		m, ok := it.Metrics.Get(metric)
		if !ok {
			return 0, false
		}
		values = append(values, m.Value)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2, true
}

// printResultsSideBySide prints the numbers of two cells and the ratio of the first
// to the second.
func printResultsSideBySide(out io.Writer, a, b *side) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nresults\tA\tB\tA/B\t")
	for _, p := range a.attempts[0].Phases {
		for _, it := range p.Iterations {
			for _, m := range it.Metrics {
				x, inA := a.median(p.Block, it.Number, m.Name)
				y, inB := b.median(p.Block, it.Number, m.Name)
				if !inA || !inB {
					continue
				}
				ratio := "-"
				if y != 0 {
					ratio = strconv.FormatFloat(x/y, 'f', 2, 64)
				}
				fmt.Fprintf(w, "%s.%d %s\t%s\t%s\t%s\t\n", p.Block, it.Number, m.Name, formatNumber(x), formatNumber(y), ratio)
			}
		}
	}
	return w.Flush()
}
