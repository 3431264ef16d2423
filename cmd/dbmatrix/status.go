package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// watchEvery is how often status --watch looks at the record.
const watchEvery = 2 * time.Second

// statusOptions are the flags of status.
type statusOptions struct {
	experimentOptions
	format string
	watch  bool
}

// newStatusCommand shows how far an experiment is.
func newStatusCommand(s *streams) *cobra.Command {
	var o statusOptions
	o.showing = true
	c := &cobra.Command{
		Use:   "status PATH",
		Short: "Show what is done, running, failed and left",
		Long: `Shows how far an experiment is, from its record: also while a runner works in
another terminal.` + exitStatus(exitUsage, exitEnvironment, exitInterrupted),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return showStatus(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	c.Flags().StringVar(&o.format, "format", "text", "`FORMAT`: text or json")
	completes(c, "format", words("text", "json"))
	c.Flags().BoolVar(&o.watch, "watch", false, "print again every two seconds, until all is done or Ctrl-C")
	return c
}

// A statusJSON is the status as a document.
type statusJSON struct {
	Schema     int             `json:"schema"`
	Experiment string          `json:"experiment"`
	Host       string          `json:"host"`
	Summary    summaryJSON     `json:"summary"`
	Running    []runningJSON   `json:"running"`
	Runs       []runStatusJSON `json:"runs"`

	rebuilt []string // what runs again, as plan tells it
}

// A runningJSON is an attempt under way.
type runningJSON struct {
	Cell       matrix.CellKey `json:"cell"`
	Replicate  int            `json:"replicate"`
	Attempt    int            `json:"attempt"`
	Phase      string         `json:"phase"`
	Stage      string         `json:"stage"`
	Iterations int            `json:"iterations"` // finished ones of the phase
	Planned    int            `json:"planned"`    // that it is to have
	Seconds    float64        `json:"seconds"`    // since the attempt began

	PhaseSeconds float64 `json:"phase_seconds"` // since the phase began
}

// A runStatusJSON is a run with its progress.
type runStatusJSON struct {
	Cell       matrix.CellKey `json:"cell"`
	Replicate  int            `json:"replicate"`
	Status     matrix.Status  `json:"status"` // that of the plan, or running
	Reason     string         `json:"reason"`
	PhasesDone int            `json:"phases_done"`
	Phases     int            `json:"phases"`
}

// showStatus prints the status once, or until all is done.
func showStatus(ctx context.Context, s *streams, o *statusOptions, path string) error {
	if o.format != "text" && o.format != "json" {
		return exit(exitUsage, fmt.Errorf("status has the formats text and json, not %q", o.format))
	}
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return err
	}
	ctx, signals, stop := watchSignals(ctx, s.out)
	defer stop()
	for {
		doc, err := status(ctx, exp, cells)
		if err != nil {
			return err
		}
		if o.format == "json" {
			err = writeJSON(s.out, doc)
		} else {
			err = printStatus(s.out, doc)
		}
		if err != nil || !o.watch || doc.Summary.PhasesToRun == 0 {
			return err
		}
		select {
		case <-signals.finish:
			return silent(exitInterrupted)
		case <-time.After(watchEvery):
			fmt.Fprintln(s.out)
		}
	}
}

// status reads the status of an experiment.
func status(ctx context.Context, exp *matrix.Experiment, cells []*matrix.Cell) (statusJSON, error) {
	record, err := openRecord(ctx, exp)
	if err != nil {
		return statusJSON{}, err
	}
	var attempts []store.Attempt
	if record != nil {
		defer record.Close()
		if attempts, err = record.Results(ctx, exp.Name, store.Selection{Host: exp.Host.ID, Running: true}); err != nil {
			return statusJSON{}, fmt.Errorf("reading the record: %w", err)
		}
		if len(attempts) > 0 {
			works, err := alive(ctx, record, exp)
			if err != nil {
				return statusJSON{}, err
			}
			if !works {
				attempts = nil
			}
		}
	}
	h, err := history(ctx, record, exp)
	if err != nil {
		return statusJSON{}, err
	}
	p, err := exp.MakePlan(cells, h, matrix.PlanOptions{AsRecorded: true})
	if err != nil {
		return statusJSON{}, err
	}
	if err := tellVariables(ctx, record, p); err != nil {
		return statusJSON{}, err
	}
	doc := statusDocument(p, attempts, time.Now())
	if record != nil {
		went, err := record.Continued(ctx, exp.Name)
		if err != nil {
			return statusJSON{}, fmt.Errorf("reading the record: %w", err)
		}
		doc.noteContinued(p, went)
	}
	return doc, nil
}

// statusDocument puts the plan and what is under way together.
func statusDocument(p *matrix.Plan, attempts []store.Attempt, now time.Time) statusJSON {
	doc := statusJSON{
		Schema: schemaVersion, Experiment: p.Experiment.Name, Host: p.Host.ID,
		Summary: planDocument(p).Summary, Running: []runningJSON{}, Runs: []runStatusJSON{},
		rebuilt: rebuilt(p),
	}
	running := map[string]bool{}
	for i := range attempts {
		a := &attempts[i]
		if a.Status != store.Running {
			continue
		}
		running[fmt.Sprint(a.Cell, a.Replicate)] = true
		doc.Running = append(doc.Running, runningDocument(a, now))
	}
	for _, r := range p.Runs {
		st := runStatusJSON{Cell: r.Cell.Key, Replicate: r.Replicate, Status: r.Status, Reason: r.Reason, Phases: len(r.Phases)}
		if running[fmt.Sprint(r.Cell.Key, r.Replicate)] {
			st.Status, st.Reason = store.Running, ""
			doc.Summary.move(r.Status, store.Running)
		}
		for _, ph := range r.Phases {
			if ph.Status == matrix.Done {
				st.PhasesDone++
			}
		}
		doc.Runs = append(doc.Runs, st)
	}
	return doc
}

// noteContinued says of finished runs that they went on after an interruption.
func (doc *statusJSON) noteContinued(p *matrix.Plan, went map[store.AttemptID]bool) {
	for i, r := range p.Runs {
		if r.Status == matrix.Done && doc.Runs[i].Reason == "" && went[store.AttemptID(r.Attempt)] {
			doc.Runs[i].Reason = "went on after an interruption, on the same data directory"
		}
	}
}

// runningDocument describes an attempt under way.
func runningDocument(a *store.Attempt, now time.Time) runningJSON {
	r := runningJSON{Cell: a.Cell, Replicate: a.Replicate, Attempt: a.Number, Seconds: now.Sub(a.Began).Seconds()}
	for _, p := range a.Phases {
		if p.Status != store.Running {
			continue
		}
		r.Phase, r.Stage, r.Planned, r.PhaseSeconds = p.Name, p.Stage, p.Planned, now.Sub(p.Began).Seconds()
		for _, it := range p.Iterations {
			if it.Number > 0 {
				r.Iterations++
			}
		}
	}
	return r
}

// printStatus prints the status as text.
func printStatus(out io.Writer, doc statusJSON) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "cell\treplicate\tstatus\tphases\treason")
	for _, r := range doc.Runs {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d of %d\t%s\n", cellName(r.Cell), r.Replicate, r.Status, r.PhasesDone, r.Phases, oneLine(r.Reason))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, r := range doc.Running {
		fmt.Fprintf(out, "running: %s, replicate %d, attempt %d for %s: %s %s, iteration %d of %d, for %s\n", cellName(r.Cell), r.Replicate, r.Attempt, wholeSeconds(r.Seconds),
			r.Phase, r.Stage, min(r.Iterations+1, max(1, r.Planned)), r.Planned, wholeSeconds(r.PhaseSeconds))
	}
	if len(doc.Running) == 0 { // while a run is under way, its own phases look like that
		printLines(out, doc.rebuilt)
	}
	fmt.Fprintf(out, "%s: %s", count(doc.Summary.Runs, "run"), byStatus(doc.Summary.ByStatus))
	if doc.Summary.PhasesToRun > 0 {
		fmt.Fprintf(out, "; %s left", count(doc.Summary.PhasesToRun, "phase"))
		if doc.Summary.Seconds > 0 {
			fmt.Fprintf(out, ", about %s", time.Duration(doc.Summary.Seconds*float64(time.Second)).Round(time.Second))
		}
	}
	fmt.Fprintln(out)
	return nil
}

// wholeSeconds rounds a number of seconds.
func wholeSeconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}
