package matrix

import "time"

// A Basis says what an estimate rests on.
type Basis string

// Bases of estimates, the best first.
const (
	FromHistory  Basis = "history"  // this phase, or others of its name, was measured before
	FromDeclared Basis = "declared" // the workload says how many seconds it runs
	Unknown      Basis = ""
)

// A cost is what phases of one kind took.
type cost struct {
	seconds float64
	bytes   uint64
	n       int
}

func (c *cost) add(p PastPhase) {
	c.seconds += p.Seconds
	c.bytes = max(c.bytes, p.Bytes)
	c.n++
}

// estimate says how long each phase to run will take and how much disk it will
// fill: from the same phase's own history, else from phases of its name in the
// same cell, else of its name anywhere, else from what the workload declares.
func (p *planner) estimate() {
	exact, byCell, byBlock := map[Fingerprint]*cost{}, map[string]*cost{}, map[string]*cost{}
	for _, a := range p.past.attempts {
		for _, ph := range a.Phases {
			if ph.Status.Complete() && ph.FromID == 0 {
				addCost(exact, ph.Fingerprint, ph)
				addCost(byCell, string(a.Cell)+"\x00"+ph.Block, ph)
				addCost(byBlock, ph.Block, ph)
			}
		}
	}
	s := &p.plan.Summary
	s.DurationKnown = true
	var seconds float64
	for _, r := range p.plan.Runs {
		if r.Status == Done {
			continue
		}
		for i := range r.Phases {
			rp := &r.Phases[i]
			rp.guess(exact[rp.Fingerprint], byCell[string(r.Cell.Key)+"\x00"+rp.Phase.Block], byBlock[rp.Phase.Block])
			if rp.From != 0 || rp.Status == Done {
				continue
			}
			seconds += rp.Seconds
			s.DurationKnown = s.DurationKnown && rp.Basis != Unknown
		}
	}
	s.Duration = time.Duration(seconds * float64(time.Second)).Round(time.Second)
	s.PeakBytes = p.peak()
}

func addCost[K comparable](costs map[K]*cost, key K, p PastPhase) {
	c := costs[key]
	if c == nil {
		c = &cost{}
		costs[key] = c
	}
	c.add(p)
}

// guess takes the first basis that there is.
func (rp *RunPhase) guess(costs ...*cost) {
	for _, c := range costs {
		if c != nil {
			rp.Seconds, rp.Bytes, rp.Basis = c.seconds/float64(c.n), c.bytes, FromHistory
			return
		}
	}
	if s, ok := rp.Phase.declaredSeconds(); ok {
		rp.Seconds, rp.Basis = s, FromDeclared
	}
	if bytes := rp.Phase.resolved.typ.Bytes; bytes != nil {
		rp.Bytes = bytes(rp.Phase.Workload.Args)
	}
}

// declaredSeconds returns how long the workload says that the phase runs.
func (p *Phase) declaredSeconds() (float64, bool) {
	duration := p.resolved.typ.Duration
	if duration == nil {
		return 0, false
	}
	d := duration(p.Workload.Args)
	return d.Seconds()*float64(p.Iterations) + p.Warmup.Seconds(), d > 0
}

// peak returns the most disk that data directories and snapshots will take at
// one time: the run's own directory and the snapshots that it or a later run
// goes on from.
func (p *planner) peak() uint64 {
	last := map[stateKey]int{}
	for i, r := range p.plan.Runs {
		if r.Status == Done {
			continue
		}
		for j := range r.Phases {
			if r.Phases[j].Phase.Snapshot != nil && r.Phases[j].Fingerprint != "" {
				last[stateOf(r, j)] = i
			}
		}
	}
	live := map[stateKey]uint64{}
	var peak uint64
	for i, r := range p.plan.Runs {
		if r.Status == Done {
			continue
		}
		var own uint64
		for j := range r.Phases {
			own = max(own, r.Phases[j].Bytes)
			if r.Phases[j].Phase.Snapshot != nil && r.Phases[j].Fingerprint != "" {
				live[stateOf(r, j)] = r.Phases[j].Bytes
			}
		}
		total := own
		for _, b := range live {
			total += b
		}
		peak = max(peak, total)
		for k := range live {
			if last[k] <= i {
				delete(live, k)
			}
		}
	}
	return peak
}
