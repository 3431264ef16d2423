package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// showOptions are the flags of show.
type showOptions struct {
	experimentOptions
	against   string
	replicate int
}

// newShowCommand shows all that is known of one cell.
func newShowCommand(s *streams) *cobra.Command {
	var o showOptions
	o.showing = true
	c := &cobra.Command{
		Use:   "show PATH CELL",
		Short: "Show one cell: option file, timings, numbers, events, files",
		Long: `Shows all that is recorded of a cell's attempts. CELL is its key, or a part of it
that no other cell has, such as engine=myrocks,dio=dio.

With --against it shows what differs between two cells: options asked for, options
in force, results.` + exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return showCell(c.Context(), s, &o, args[0], args[1])
		},
	}
	o.addFlags(c.Flags())
	c.Flags().StringVar(&o.against, "against", "", "show what differs from `CELL`")
	c.Flags().IntVar(&o.replicate, "replicate", 0, "only replicate `N`; 0 is all")
	c.ValidArgsFunction = cellsAfterPath(&o.experimentOptions)
	completes(c, "against", cellsOfPath(&o.experimentOptions))
	return c
}

// showCell prints what is known of a cell.
func showCell(ctx context.Context, s *streams, o *showOptions, path, name string) error {
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	cell, err := findCell(cells, name)
	if err != nil {
		return err
	}
	record, err := needRecord(ctx, exp)
	if err != nil {
		return err
	}
	defer record.Close()
	if o.against != "" {
		other, err := findCell(cells, o.against)
		if err != nil {
			return err
		}
		return compareCells(ctx, s.out, record, exp, cells, cell, other)
	}
	known, err := readCell(ctx, record, exp, cells, cell, "")
	if err != nil {
		return err
	}
	if err := known.endDead(ctx, record, exp); err != nil {
		return err
	}
	attempts := slices.DeleteFunc(known.attempts, func(a store.Attempt) bool { return o.replicate != 0 && a.Replicate != o.replicate })
	if len(attempts) == 0 {
		return exit(exitUsage, fmt.Errorf("nothing was measured of %s yet", cellName(cell.Key)))
	}
	for i := range attempts {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		if err := printAttempt(ctx, s.out, record, &attempts[i]); err != nil {
			return err
		}
	}
	return printOptionFile(ctx, s.out, record, &attempts[len(attempts)-1])
}

// printAttempt prints one attempt with its phases, numbers, events and files.
func printAttempt(ctx context.Context, out io.Writer, record *store.Store, a *store.Attempt) error {
	fmt.Fprintf(out, "%s, replicate %d, attempt %d: %s", cellName(a.Cell), a.Replicate, a.Number, a.Status)
	for _, note := range []string{a.Message, withdrawnNote(a), superseded(a)} {
		if note != "" && note != string(a.Status) {
			fmt.Fprintf(out, "; %s", indented(note))
		}
	}
	fmt.Fprintf(out, "\n  began %s, %s\n", a.Began.Format(time.DateTime), duration(a))
	for i := range a.Phases {
		if err := printPhase(out, &a.Phases[i]); err != nil {
			return err
		}
	}
	d, err := record.Detail(ctx, a.ID)
	if err != nil {
		return fmt.Errorf("reading attempt %d: %w", a.Number, err)
	}
	return printDetail(out, record, d)
}

// duration says how long an attempt took.
func duration(a *store.Attempt) string {
	if a.Ended.IsZero() {
		return "has no end"
	}
	return "took " + a.Ended.Sub(a.Began).Round(10*time.Millisecond).String()
}

// withdrawnNote says why an attempt was withdrawn.
func withdrawnNote(a *store.Attempt) string {
	if a.Withdrawn == "" {
		return ""
	}
	return "withdrawn: " + a.Withdrawn
}

// superseded says that a newer attempt stands for the run.
func superseded(a *store.Attempt) string {
	if a.Counts || !a.Status.Complete() || a.Withdrawn != "" {
		return ""
	}
	return "superseded by a newer attempt"
}

// printPhase prints a phase and the numbers of its iterations, side by side.
func printPhase(out io.Writer, p *store.Phase) error {
	fmt.Fprintf(out, "\n  phase %s: %s", p.Block, p.Status)
	if p.From != 0 {
		fmt.Fprintf(out, ", measured by another attempt whose data this one went on from")
	}
	if p.Message != "" && p.Message != string(p.Status) {
		fmt.Fprintf(out, "; %s", indented(p.Message))
	}
	fmt.Fprintf(out, "\n    took %.2f s, settle %.2f s of it, data %s\n", p.Seconds, p.SettleSeconds, formatBytes(uint64(max(0, p.Bytes))))
	names := map[string]string{} // metric to unit
	for _, it := range p.Iterations {
		for _, m := range it.Metrics {
			names[m.Name] = m.Unit
		}
		for _, f := range it.Flags {
			fmt.Fprintf(out, "    iteration %d is doubtful (%s): %s\n", it.Number, f.Name, f.Detail)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, it := range p.Iterations {
		heading := "iteration " + strconv.Itoa(it.Number)
		if it.Number == 0 {
			heading = "whole"
		}
		fmt.Fprintf(w, "\t%s", heading)
	}
	fmt.Fprintln(w, "\t")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for _, it := range p.Iterations {
			text := "-"
			if m, ok := it.Metrics.Get(name); ok {
				text = formatNumber(m.Value)
			}
			fmt.Fprintf(w, "\t%s", text)
		}
		fmt.Fprintf(w, "\t  %s [%s]\n", name, names[name])
	}
	return w.Flush()
}

// indented returns a text whose further lines stand below its first one.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n      ") }

// formatNumber prints a recorded number in full where it is whole, else with as
// many digits as say something.
func formatNumber(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// printDetail prints the options that are not as asked, the facts, events and
// files of an attempt.
func printDetail(out io.Writer, record *store.Store, d *store.Detail) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\n  options that did not end as asked:")
	odd := 0
	for _, id := range slices.Sorted(maps.Keys(d.Options)) {
		for _, o := range d.Options[id] {
			if o.Verdict != "verified" {
				odd++
				fmt.Fprintf(w, "    %s\tasked %s\tin force %s\t%s\n", o.Name, o.Asked, orUnknown(o), o.Verdict)
			}
		}
	}
	if odd == 0 {
		fmt.Fprintln(w, "    none")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n  facts:")
	for _, f := range d.Facts {
		fmt.Fprintf(out, "    %s = %s\n", f.Name, f.Value)
	}
	if len(d.Events) > 0 {
		fmt.Fprintln(out, "\n  events:")
	}
	for _, e := range d.Events {
		fmt.Fprintf(out, "    %s %s: %s\n", e.At.Format(time.TimeOnly), e.Kind, indented(e.Message))
		if e.Detail != "" {
			fmt.Fprintf(out, "      %s\n", indented(e.Detail))
		}
	}
	fmt.Fprintln(out, "\n  files:")
	for _, a := range d.Artifacts {
		fmt.Fprintf(out, "    %s (%s, %s)\n", shorten(filepath.Join(filepath.Dir(record.Path()), filepath.FromSlash(a.Path))), a.Kind, formatBytes(uint64(max(0, a.Bytes))))
	}
	return nil
}

// orUnknown returns what an option has in force.
func orUnknown(o store.Option) string {
	if o.Unknown {
		return "(nothing tells)"
	}
	return o.InForce
}

// printOptionFile prints the option file of an attempt.
func printOptionFile(ctx context.Context, out io.Writer, record *store.Store, a *store.Attempt) error {
	d, err := record.Detail(ctx, a.ID)
	if err != nil {
		return fmt.Errorf("reading attempt %d: %w", a.Number, err)
	}
	for _, f := range d.Artifacts {
		if f.Kind != "option file" {
			continue
		}
		path := filepath.Join(filepath.Dir(record.Path()), filepath.FromSlash(f.Path))
		text, err := os.ReadFile(path)
		if err != nil {
			return exit(exitEnvironment, fmt.Errorf("reading the option file: %w", err))
		}
		fmt.Fprintf(out, "\n%s:\n%s", shorten(path), text)
		return nil
	}
	return nil
}

// compareCells prints what differs between two cells.
func compareCells(ctx context.Context, out io.Writer, record *store.Store, exp *matrix.Experiment, cells []*matrix.Cell, a, b *matrix.Cell) error {
	x, err := standing(ctx, record, exp, cells, a)
	if err != nil {
		return err
	}
	y, err := standing(ctx, record, exp, cells, b)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "A: %s\nB: %s\n", cellName(a.Key), cellName(b.Key))
	printDifferences(out, "options asked for", askedOptions(a), askedOptions(b))
	if x == nil || y == nil {
		fmt.Fprintln(out, "\nOnly cells that were measured have results to compare.")
		return nil
	}
	vx, err := variables(ctx, record, x)
	if err != nil {
		return err
	}
	vy, err := variables(ctx, record, y)
	if err != nil {
		return err
	}
	printDifferences(out, "variables in force", vx, vy)
	return printResultsSideBySide(out, x, y)
}

// standing returns the first attempt that stands for a cell, else the newest one;
// nil where there is none.
func standing(ctx context.Context, record *store.Store, exp *matrix.Experiment, cells []*matrix.Cell, cell *matrix.Cell) (*store.Attempt, error) {
	known, err := readCell(ctx, record, exp, cells, cell, "")
	if err != nil || len(known.attempts) == 0 {
		return nil, err
	}
	for i := range known.attempts {
		if known.stands(&known.attempts[i]) {
			return &known.attempts[i], nil
		}
	}
	return &known.attempts[len(known.attempts)-1], nil
}

// askedOptions returns a cell's options as text, by phase where they change.
func askedOptions(c *matrix.Cell) map[string]string {
	options := map[string]string{}
	var before *matrix.Settings
	for i, p := range c.Phases {
		if p.Settings == before {
			continue
		}
		before = p.Settings
		prefix := ""
		if i > 0 {
			prefix = p.Block + ": "
		}
		for _, o := range p.Settings.Options {
			options[prefix+o.Name] = o.Value.String()
		}
	}
	return options
}

// variables returns the server variables that an attempt began with.
func variables(ctx context.Context, record *store.Store, a *store.Attempt) (map[string]string, error) {
	d, err := record.Detail(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("reading attempt %d: %w", a.Number, err)
	}
	vs := map[string]string{}
	starts := slices.Sorted(maps.Keys(d.Variables))
	if len(starts) == 0 {
		return vs, nil
	}
	for _, v := range d.Variables[starts[0]] {
		vs[v.Name] = v.Value
	}
	return vs, nil
}

// placeVariables differ between any two data directories.
var placeVariables = []string{"datadir", "socket", "pid_file", "log_error", "tmpdir", "slave_load_tmpdir", "innodb_data_home_dir",
	"innodb_log_group_home_dir", "general_log_file", "slow_query_log_file", "server_uuid", "timestamp", "pseudo_thread_id", "gtid_"}

// printDifferences prints the names whose texts differ.
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
		if inA == inB && x == y || slices.Contains(placeVariables, name) {
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

// printResultsSideBySide prints the numbers of two attempts with their ratio.
func printResultsSideBySide(out io.Writer, a, b *store.Attempt) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nresults\tA\tB\tB/A\t")
	for i := range a.Phases {
		p := &a.Phases[i]
		j := slices.IndexFunc(b.Phases, func(q store.Phase) bool { return q.Block == p.Block })
		if j < 0 {
			continue
		}
		for _, it := range p.Iterations {
			other := b.Phases[j].Iteration(it.Number)
			if other == nil {
				continue
			}
			for _, x := range it.Metrics {
				y, ok := other.Metrics.Get(x.Name)
				if !ok {
					continue
				}
				ratio := "-"
				if x.Value != 0 {
					ratio = strconv.FormatFloat(y.Value/x.Value, 'f', 2, 64)
				}
				fmt.Fprintf(w, "%s.%d %s\t%s\t%s\t%s\t\n", p.Block, it.Number, x.Name, formatNumber(x.Value), formatNumber(y.Value), ratio)
			}
		}
	}
	return w.Flush()
}
