package matrix

import (
	"fmt"
	"math/rand/v2"
)

// PlanOptions say what counts as measured.
type PlanOptions struct {
	AnyHost bool // results of other hosts count too
	Fresh   bool // nothing counts: every run gets a new attempt, and its reason says what it had

	// AsRecorded takes runs whose build is not on this host for what the
	// record says of them. Without it they are new: they are yet to be run.
	AsRecorded bool
}

// MakePlan puts the runs of the cells in order and says for each what is left to
// do and why, by what was measured before.
func (e *Experiment) MakePlan(cells []*Cell, h History, o PlanOptions) (*Plan, error) {
	if n := len(cells) * e.Replicates; n > maxRuns {
		return nil, fmt.Errorf("%d cells with %d replicates each are %d runs; at most %d can be planned", len(cells), e.Replicates, n, maxRuns)
	}
	p := &planner{
		experiment: e, options: o,
		past: pastOf(h, e.Host.ID, cells, o), plan: &Plan{Experiment: e, Host: e.Host, Cells: cells},
	}
	if err := p.runs(); err != nil {
		return nil, err
	}
	p.lose()
	p.share(h.Snapshots)
	p.estimate()
	p.gone()
	p.count()
	return p.plan, nil
}

// maxRuns bounds a plan, which is held in memory.
const maxRuns = 5_000_000

// A planner makes a plan in passes over its runs: order and status, sharing,
// estimates.
type planner struct {
	experiment *Experiment
	options    PlanOptions
	past       *past
	plan       *Plan
}

// runs makes the runs in order, each with its status.
func (p *planner) runs() error {
	e := p.experiment
	p.plan.Runs = make([]*Run, 0, len(p.plan.Cells)*e.Replicates)
	add := func(c *Cell, replicate int) error {
		r, err := p.run(c, replicate)
		if err != nil {
			return err
		}
		r.Position = len(p.plan.Runs) + 1
		p.plan.Runs = append(p.plan.Runs, r)
		return nil
	}
	if e.Order == Grouped {
		for _, c := range near(p.plan.Cells) {
			for k := 1; k <= e.Replicates; k++ {
				if err := add(c, k); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for k := 1; k <= e.Replicates; k++ {
		for _, c := range p.cellsOf(k) {
			if err := add(c, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// cellsOf orders the cells of a replicate. Cells that go on from one snapshot
// come together, so that the snapshot need not be kept for long.
func (p *planner) cellsOf(replicate int) []*Cell {
	cells := append([]*Cell(nil), p.plan.Cells...)
	if p.experiment.Order == Shuffled {
		random := rand.New(rand.NewPCG(uint64(p.experiment.Seed), uint64(replicate)))
		random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	}
	return near(cells)
}

// near moves cells that share a snapshot next to the first of them, and keeps
// the order otherwise.
func near(cells []*Cell) []*Cell {
	groups := map[Fingerprint][]*Cell{}
	for _, c := range cells {
		if fp := c.firstSnapshot(); fp != "" {
			groups[fp] = append(groups[fp], c)
		}
	}
	ordered := make([]*Cell, 0, len(cells))
	for _, c := range cells {
		fp := c.firstSnapshot()
		if fp == "" {
			ordered = append(ordered, c)
			continue
		}
		ordered = append(ordered, groups[fp]...)
		groups[fp] = nil
	}
	return ordered
}

// firstSnapshot returns the fingerprint of the first phase whose state is kept.
func (c *Cell) firstSnapshot() Fingerprint {
	for i, p := range c.Phases {
		if p.Snapshot != nil {
			return c.Fingerprints[i]
		}
	}
	return ""
}

// run makes the run of a cell and replicate, with its status.
func (p *planner) run(c *Cell, replicate int) (*Run, error) {
	c, err := p.experiment.replicateOf(c, replicate)
	if err != nil {
		return nil, err
	}
	r := &Run{Cell: c, Replicate: replicate, Phases: make([]RunPhase, len(c.Phases))}
	for i, ph := range c.Phases {
		r.Phases[i] = RunPhase{Phase: ph, Fingerprint: c.Fingerprints[i]}
	}
	if err := p.judge(r); err != nil {
		return nil, fmt.Errorf("comparing cell %q with what was recorded: %w", c.Key, err)
	}
	if p.options.Fresh {
		r.afresh()
	}
	return r, nil
}

// replicateOf evaluates a cell for another replicate, where anything depends on
// which it is.
func (e *Experiment) replicateOf(c *Cell, replicate int) (*Cell, error) {
	d := e.decoder
	if replicate == 1 || !d.read[ref{rootCell, "replicate"}] && !d.read[ref{rootCell, ""}] {
		return c, nil
	}
	d.faults = &faults{}
	again, _ := d.evaluate(c.candidate, replicate)
	if diags := d.faults.diagnostics(); diags.HasErrors() {
		return nil, diags
	}
	return again, nil
}

// gone lists recorded runs that no run of the plan stands for.
func (p *planner) gone() {
	type key struct {
		cell      CellKey
		replicate int
	}
	planned := make(map[key]bool, len(p.plan.Runs))
	for _, r := range p.plan.Runs {
		planned[key{r.Cell.Key, r.Replicate}] = true
	}
	for _, a := range p.past.attempts { // earlier attempts of what has another name now are not gone either
		if p.past.used[a.ID] {
			planned[key{a.Cell, a.Replicate}] = true
		}
	}
	for _, a := range p.past.attempts {
		k := key{a.Cell, a.Replicate}
		if !planned[k] && a.Withdrawn == "" && a.Status.Complete() {
			planned[k] = true
			p.plan.Gone = append(p.plan.Gone, GoneRun{a.Cell, a.Replicate})
		}
	}
}

// count sums the plan up.
func (p *planner) count() {
	s := &p.plan.Summary
	s.Cells, s.Runs = len(p.plan.Cells), len(p.plan.Runs)
	s.ByStatus = map[Status]int{}
	for _, r := range p.plan.Runs {
		s.ByStatus[r.Status]++
	}
	if len(p.plan.Gone) > 0 {
		s.ByStatus[Gone] = len(p.plan.Gone)
	}
}
