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

With --against CELL it shows how A, the cell, differs from B, that other one: options
asked for and variables in force as they are on record, and all numbers, the median
of the runs that count, with the ratio A/B.` + exitStatus(exitUsage, exitEnvironment),
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
