package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// largePlan is the number of runs above which plan warns: it is more often a
// forgotten exclude than what was meant.
const largePlan = 1000

// planOptions are the flags of plan.
type planOptions struct {
	experimentOptions
	format       string
	explain      string
	checkOptions bool
	exclusions   bool
	anyHost      bool
	fresh        bool
}

// newPlanCommand shows what run would do.
func newPlanCommand(s *streams) *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "plan PATH",
		Short: "Show what would run, and why",
		Long: `Lists every run with its status and the reason for it: what is new, done, stale
(with what changed), interrupted or failed; which loads are shared; how long it
will take and how much disk. Nothing is touched and no server is started.` +
			exitStatus(exitFailedRuns, exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return showPlan(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT`: text or json")
	completes(c, "format", words("text", "json"))
	f.StringVar(&o.explain, "explain", "", "show where each value of `CELL[:OPTION]` comes from")
	completes(c, "explain", cellsOfPath(&o.experimentOptions))
	f.BoolVar(&o.checkOptions, "check-options", false, "ask each server to judge each option file, without starting it")
	f.BoolVar(&o.exclusions, "matrix", false, "show which exclude removed what")
	f.BoolVar(&o.anyHost, "any-host", false, "let results of other hosts count")
	f.BoolVar(&o.fresh, "fresh", false, "plan as run --fresh does")
	return c
}

// showPlan prints the plan, or one of the other views of it.
func showPlan(ctx context.Context, s *streams, o *planOptions, path string) error {
	if o.format != "text" && o.format != "json" {
		return exit(exitUsage, fmt.Errorf("plan has the formats text and json, not %q", o.format))
	}
	exp, cells, err := o.check(ctx, s, path)
	if err != nil {
		return err
	}
	switch {
	case o.explain != "":
		return explain(s, exp, cells, o.explain)
	case o.exclusions:
		return printExclusions(s, exp)
	case o.checkOptions:
		return checkOptions(ctx, s, cells)
	}
	p, err := plan(ctx, exp, cells, matrix.PlanOptions{AnyHost: o.anyHost, Fresh: o.fresh})
	if err != nil {
		return err
	}
	if len(p.Runs) > largePlan && !s.quiet {
		fmt.Fprintf(s.err, "Warning: the plan has %d runs; --matrix shows what the excludes remove\n", len(p.Runs))
	}
	if o.format == "json" {
		return writeJSON(s.out, planDocument(p))
	}
	return printPlan(s.out, p)
}

// printPlan prints a line for each run, and a summary.
func printPlan(out io.Writer, p *matrix.Plan) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tcell\treplicate\tstatus\tphases to run\treason")
	for _, r := range p.Runs {
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\t%s\n", r.Position, cellName(r.Cell.Key), r.Replicate, r.Status, phasesToRun(r), oneLine(r.Reason))
	}
	for _, g := range p.Gone {
		fmt.Fprintf(w, "-\t%s\t%d\t%s\t-\tno longer in the experiment\n", cellName(g.Cell), g.Replicate, matrix.Gone)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	printShared(out, p)
	printLines(out, rebuilt(p))
	printSummary(out, p.Summary)
	return nil
}

// cellName names a cell; that of no axes has an empty key.
func cellName(key matrix.CellKey) string {
	if key == "" {
		return "(the only cell)"
	}
	return string(key)
}

// oneLine returns the first line of a text for a table; show has it whole.
func oneLine(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		first = strings.TrimRight(first, " :;,.") + " ..."
	}
	return strings.ReplaceAll(first, "\t", " ")
}

// phasesToRun lists the phases of a run that it would execute itself.
func phasesToRun(r *matrix.Run) string {
	var names []string
	for _, p := range r.Phases {
		if p.Status != matrix.Done && p.From == 0 {
			names = append(names, p.Phase.Block)
		}
	}
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

// printShared tells of phases that run once for several cells.
func printShared(out io.Writer, p *matrix.Plan) {
	type tally struct{ runs, executed int }
	tallies := map[string]*tally{}
	var order []string
	for _, r := range p.Runs {
		for _, ph := range r.Phases {
			if ph.Phase.Snapshot == nil || ph.Status == matrix.Done {
				continue
			}
			t := tallies[ph.Phase.Block]
			if t == nil {
				t = &tally{}
				tallies[ph.Phase.Block] = t
				order = append(order, ph.Phase.Block)
			}
			t.runs++
			if ph.From == 0 {
				t.executed++
			}
		}
	}
	for _, name := range order {
		if t := tallies[name]; t.executed < t.runs {
			fmt.Fprintf(out, "%s runs %s instead of %d: its state is kept and shared\n", name, count(t.executed, "time"), t.runs)
		}
	}
}

// rebuilt tells, a line for each, of phases that are recorded and run again, since
// what comes after them needs the state that they left.
func rebuilt(p *matrix.Plan) []string {
	again := map[*matrix.Phase]int{}
	var order []*matrix.Phase
	blocks := map[string]*matrix.Phase{} // the first of each name
	for _, r := range p.Runs {
		for _, ph := range r.Phases {
			if ph.Status != matrix.Rebuild {
				continue
			}
			first := blocks[ph.Phase.Block]
			if first == nil {
				first = ph.Phase
				blocks[ph.Phase.Block] = first
				order = append(order, first)
			}
			again[first]++
		}
	}
	var lines []string
	for _, ph := range order {
		remedy := "snapshot = true in the phase would keep it"
		if ph.Snapshot != nil {
			remedy = "its snapshot went when all that was to use it was done"
		}
		lines = append(lines, fmt.Sprintf("%s runs again in %s although it is recorded: what comes after it needs its state, which is gone; %s",
			ph.Block, count(again[ph], "run"), remedy))
	}
	return lines
}

// printLines prints each line.
func printLines(out io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

// printSummary prints what the plan amounts to.
func printSummary(out io.Writer, sum matrix.Summary) {
	fmt.Fprintf(out, "%s, %s: %s\n", count(sum.Cells, "cell"), count(sum.Runs, "run"), byStatus(sum.ByStatus))
	if sum.PhasesToRun == 0 {
		fmt.Fprintln(out, "Nothing is left to do.")
		return
	}
	estimate := "unknown"
	if sum.Duration > 0 {
		estimate = "about " + sum.Duration.Round(time.Second).String()
		if !sum.DurationKnown {
			estimate = "at least " + sum.Duration.Round(time.Second).String()
		}
	}
	peak := "unknown"
	if sum.PeakBytes > 0 {
		peak = "about " + formatBytes(sum.PeakBytes)
		if !sum.PeakKnown {
			peak = "at least " + formatBytes(sum.PeakBytes)
		}
	}
	fmt.Fprintf(out, "%s to run; time: %s; peak disk: %s\n", count(sum.PhasesToRun, "phase"), estimate, peak)
}

// statusOrder is the order in which counts by status are listed.
var statusOrder = []matrix.Status{
	matrix.Done, matrix.New, matrix.Stale, matrix.TopUp, matrix.Rebuild, matrix.Interrupted,
	matrix.Failed, matrix.TimedOut, matrix.Hung, matrix.Crashed, matrix.Invalid, matrix.Gone,
}

// byStatus words counts by status.
func byStatus(counts map[matrix.Status]int) string {
	var parts []string
	for _, st := range append([]matrix.Status{store.Running}, statusOrder...) {
		if n := counts[st]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, st))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// writeJSON writes a document as indented JSON.
func writeJSON(out io.Writer, document any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing JSON: %w", err))
	}
	return nil
}

// printExclusions prints what each exclude block removed.
func printExclusions(s *streams, exp *matrix.Experiment) error {
	if len(exp.Exclusions()) == 0 {
		fmt.Fprintln(s.out, "There is no exclude block: nothing is removed.")
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "removed\twhere\treason")
	for _, x := range exp.Exclusions() {
		fmt.Fprintf(w, "%d\t%s:%d\t%s\n", x.Removed, shorten(x.Range.Filename), x.Range.Start.Line, x.Reason)
	}
	return w.Flush()
}

// checkOptions asks each build to judge the options of each distinct start.
func checkOptions(ctx context.Context, s *streams, cells []*matrix.Cell) error {
	seen := map[*matrix.Settings]bool{}
	complaints := 0
	for _, c := range cells {
		for _, p := range c.Phases {
			st := p.Settings
			if seen[st] || st.Server == nil {
				continue
			}
			seen[st] = true
			if st.Server.Build.Absent != "" {
				fmt.Fprintf(s.err, "%s: server %s is not on this host: %s\n", cellName(c.Key), st.Server.Name, st.Server.Build.Absent)
				continue
			}
			found, err := server.Check(ctx, st)
			if err != nil {
				return exit(exitEnvironment, fmt.Errorf("asking %s to judge its options: %w", st.Server.Name, err))
			}
			for _, f := range found {
				// The rest is what a server says at any start.
				if ours := f.Fatal || f.Option != ""; ours {
					complaints++
					printComplaint(s.out, c, p, f)
				} else if s.verbose {
					printComplaint(s.err, c, p, f)
				}
			}
		}
	}
	if complaints > 0 {
		return exit(exitUsage, fmt.Errorf("%s about options", count(complaints, "complaint")))
	}
	if !s.quiet {
		fmt.Fprintf(s.err, "%s checked, no complaint\n", count(len(seen), "option file"))
	}
	return nil
}

// printComplaint prints what a server has against an option, with the place that
// sets it.
func printComplaint(out io.Writer, c *matrix.Cell, p *matrix.Phase, f server.Complaint) {
	fmt.Fprintf(out, "%s: phase %s: %s\n", cellName(c.Key), p.Block, f.Message)
	if o := p.Settings.Option(f.Option); o != nil {
		last := o.Origins[len(o.Origins)-1]
		fmt.Fprintf(out, "    %s is set by %s\n", o.Name, originPlace(last))
	}
}

// findCell returns the cell that an argument names: by its key, or by a part of it
// that no other cell has.
func findCell(cells []*matrix.Cell, name string) (*matrix.Cell, error) {
	for _, c := range cells {
		if string(c.Key) == name || cellName(c.Key) == name {
			return c, nil
		}
	}
	found := cellsWith(cells, name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, exit(exitUsage, fmt.Errorf("there is no cell %q; one is called %s", name, cellName(cells[0].Key)))
	}
	return nil, exit(exitUsage, fmt.Errorf("%q may be %s; name it whole", name, joinCells(found)))
}

// cellsWith returns the cells whose keys have all parts of a name, such as
// "io=direct,dio=on".
func cellsWith(cells []*matrix.Cell, name string) []*matrix.Cell {
	var found []*matrix.Cell
	wanted := strings.Split(name, ",")
	for _, c := range cells {
		has := strings.Split(string(c.Key), ",")
		if !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(has, w) }) {
			found = append(found, c)
		}
	}
	return found
}

// joinCells lists the first few cells.
func joinCells(cells []*matrix.Cell) string {
	const few = 4
	var names []string
	for _, c := range cells[:min(few, len(cells))] {
		names = append(names, cellName(c.Key))
	}
	if len(cells) > few {
		names = append(names, fmt.Sprintf("%d more", len(cells)-few))
	}
	return strings.Join(names, " or ")
}

// originPlace words the place that a value comes from.
func originPlace(o matrix.Origin) string {
	if o.Range.Filename == "" {
		return o.Name
	}
	return fmt.Sprintf("%s (%s:%d)", o.Name, shorten(o.Range.Filename), o.Range.Start.Line)
}
