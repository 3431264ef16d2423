package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"golang.org/x/sync/errgroup"
)

// FromStore reads all attempts of an experiment from the record. host is the
// machine id whose results are wanted; "" is every one's.
func FromStore(ctx context.Context, s *store.Store, experiment, host string) ([]Attempt, error) {
	var recorded []store.Attempt
	var facts map[store.AttemptID][]store.Fact
	var options map[store.PhaseID][]store.Option
	var reading errgroup.Group
	reading.Go(func() (err error) {
		recorded, err = s.Results(ctx, experiment, store.Selection{Host: host, All: true})
		return during(err, "reading the results of "+experiment)
	})
	reading.Go(func() (err error) {
		facts, err = s.Facts(ctx, experiment)
		return during(err, "reading the facts of "+experiment)
	})
	reading.Go(func() (err error) {
		options, err = s.Options(ctx, experiment, false)
		return during(err, "reading the options of "+experiment)
	})
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	attempts := make([]Attempt, 0, len(recorded))
	var last map[string]string
	var lastFacts []store.Fact
	for i := range recorded {
		a := fromStore(&recorded[i])
		if own := facts[recorded[i].ID]; last == nil || !slices.Equal(own, lastFacts) {
			last, lastFacts = factMap(own), own
		}
		a.Facts = last // most attempts have those of the one before
		for _, p := range recorded[i].Phases {
			for _, o := range options[p.ID] {
				a.Options = append(a.Options, outcome(o))
			}
		}
		attempts = append(attempts, a)
	}
	return attempts, nil
}

// during adds to an error, if there is one, what was being done.
func during(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func factMap(facts []store.Fact) map[string]string {
	m := make(map[string]string, len(facts))
	for _, f := range facts {
		m[f.Name] = f.Value
	}
	return m
}

// ReadingsFrom returns what reads the readings over time of a recorded iteration.
// The record must stay open until the report is built.
func ReadingsFrom(ctx context.Context, s *store.Store) Readings {
	return func(record int64, metrics ...string) ([]matrix.Series, error) {
		series, err := s.Series(ctx, store.IterationID(record), metrics...)
		if err != nil {
			return nil, fmt.Errorf("reading the readings of %s: %w", strings.Join(metrics, ", "), err)
		}
		return series, nil
	}
}

// ServersFrom returns what reads the settings of the servers of an experiment. The
// record must stay open until the report is built.
func ServersFrom(ctx context.Context, s *store.Store, experiment string) Servers {
	return func(attempts []Attempt) (map[int64]ServerSettings, error) {
		asked, err := s.Options(ctx, experiment, true)
		if err != nil {
			return nil, fmt.Errorf("reading the options of %s: %w", experiment, err)
		}
		variables, err := s.DifferingVariables(ctx, experiment)
		if err != nil {
			return nil, fmt.Errorf("reading the server variables of %s: %w", experiment, err)
		}
		settings := map[int64]ServerSettings{}
		for i := range attempts {
			if a := &attempts[i]; a.Source == Own {
				settings[a.ID] = serverSettings(a, asked, variables)
			}
		}
		return settings, nil
	}
}

func serverSettings(a *Attempt, asked map[store.PhaseID][]store.Option, variables map[store.PhaseID][]store.Fact) ServerSettings {
	var out ServerSettings
	for _, p := range a.recorded {
		for _, o := range asked[p.id] {
			out.Asked = append(out.Asked, AskedOption{
				Phase: p.block, OptionLine: OptionLine{Name: o.Name, Value: o.Asked, Origin: shortOrigin(o.Origin)}, Apart: apart(o),
			})
		}
		told, ok := variables[p.id]
		if ok && out.Variables == nil {
			out.Variables = map[string]string{}
		}
		for _, v := range told {
			switch first, ok := out.Variables[v.Name]; {
			case PlaceVariable(v.Name, v.Value) || ok && first == v.Value:
			case ok:
				out.Variables[v.Name+" in "+p.block] = v.Value
			default:
				out.Variables[v.Name] = v.Value
			}
		}
	}
	return out
}

// apart returns what a server has in force of an option that none of its variables
// tells, by the source that the option was verified with.
func apart(o store.Option) string {
	switch {
	case o.Unknown:
		return o.Asked
	case strings.HasPrefix(o.Detail, "information_schema.system_variables"), strings.HasPrefix(o.Detail, "performance_schema.variables_info"),
		strings.HasPrefix(o.Detail, "pg_settings"):
		return ""
	}
	return o.InForce
}

func outcome(o store.Option) OptionOutcome {
	out := OptionOutcome{Name: o.Name, Asked: o.Asked, InForce: o.InForce, Outcome: o.Verdict}
	if o.Granule {
		out.Outcome = "rounded to the server's own unit"
	}
	return out
}

func fromStore(a *store.Attempt) Attempt {
	out := Attempt{
		Source: Own, ID: int64(a.ID), Cell: a.Cell, Levels: map[string]string{}, Matrix: a.Matrix, Replicate: a.Replicate, Number: a.Number,
		Status: a.Status, Message: a.Message, Withdrawn: a.Withdrawn, Counts: a.Counts, Accepted: a.Accepted,
	}
	for _, l := range a.Levels {
		out.Levels[l.Axis] = l.Name
	}
	if a.Status == store.Running {
		out.Message = "it is under way"
	}
	for i := range a.Phases {
		out.recorded = append(out.recorded, recordedPhase{a.Phases[i].ID, a.Phases[i].Block})
		out.Phases = append(out.Phases, phaseResults(a, &a.Phases[i])...)
	}
	return out
}

// phaseResults returns the iterations of a phase and, as number 0, the phase as a
// whole. What was measured at the end of the phase belongs to its last iteration
// too. Iterations of a phase that did not complete stay on record but do not
// count: they take the status of the phase.
func phaseResults(a *store.Attempt, p *store.Phase) []PhaseResult {
	whole := PhaseResult{
		Phase: p.Name, Block: p.Block, Fingerprint: p.Fingerprint, Status: p.Status, Message: p.Message, Origin: int64(a.ID), Metrics: Metrics{},
	}
	if p.From != 0 {
		whole.Origin = int64(p.From)
	}
	if p.FromWithdrawn != "" {
		whole.Status, whole.Message = matrix.Invalid, "withdrawn: "+p.FromWithdrawn
	}
	if it := p.Iteration(0); it != nil {
		whole.Metrics = Metrics(it.Metrics)
		whole.Flags = it.Flags
	}
	results := []PhaseResult{whole}
	last := 0
	for i := range p.Iterations {
		last = max(last, p.Iterations[i].Number)
	}
	for i := range p.Iterations {
		it := &p.Iterations[i]
		if it.Number == 0 {
			continue
		}
		r := whole
		r.Iteration, r.Record, r.Metrics, r.Flags = it.Number, int64(it.ID), Metrics(it.Metrics), it.Flags
		if whole.Status.Complete() {
			r.Status, r.Message = it.Status, it.Message
		}
		if it.Number == last {
			r.Metrics = Metrics(it.Metrics.Join(store.Metrics(whole.Metrics)))
			r.Flags = slices.Concat(whole.Flags, it.Flags)
		}
		results = append(results, r)
	}
	return results
}
