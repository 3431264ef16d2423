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
	s.PeakBytes, s.PeakKnown = p.peak()
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

// disk returns how much disk the run's directory takes after a phase, and whether
// anything is known of the data in it. What was measured holds all of it; what a
// workload declares are its tables.
func (rp *RunPhase) disk() (bytes uint64, known bool) {
	known = rp.Bytes > 0 || rp.Phase.Settings.Server == nil
	if d := rp.Phase.dialect; d != nil && d.Footprint != nil && (rp.Basis != FromHistory || rp.Bytes == 0) {
		return d.Footprint(rp.Phase.Settings, rp.Bytes), known
	}
	return rp.Bytes, known
}

// A templateKey names an empty data directory that runs are copied from.
type templateKey struct{ server, options string }

// template returns the empty data directory that the phase's server starts from,
// and how much disk it takes. It is made with the options that only such a
// directory takes.
func (p *Phase) template() (templateKey, uint64) {
	s, d := p.Settings, p.dialect
	if s.Server == nil || d == nil || d.Footprint == nil {
		return templateKey{}, 0
	}
	empty := &Settings{Server: s.Server}
	key := templateKey{server: s.Server.Name}
	for _, o := range s.Options {
		if d.InitTime[o.Name] {
			empty.Options = append(empty.Options, o)
			key.options += o.Name + "=" + o.Value.String() + "\n"
		}
	}
	return key, d.Footprint(empty, 0)
}

// peak returns the most disk that is taken at one time, and whether something is
// known of the data of every run: the run's own directory, the snapshots that it
// or a later run goes on from, and the templates, which are kept.
func (p *planner) peak() (peak uint64, known bool) {
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
	templates := map[templateKey]uint64{}
	known = true
	for i, r := range p.plan.Runs {
		if r.Status == Done {
			continue
		}
		var own uint64
		told := false
		for j := range r.Phases {
			bytes, ok := r.Phases[j].disk()
			own = max(own, bytes)
			told = told || ok
			if r.Phases[j].Phase.Snapshot != nil && r.Phases[j].Fingerprint != "" {
				live[stateOf(r, j)] = bytes
			}
		}
		known = known && told
		key, bytes := r.Phases[0].Phase.template()
		templates[key] = bytes
		peak = max(peak, own+sum(live)+sum(templates))
		for k := range live {
			if last[k] <= i {
				delete(live, k)
			}
		}
	}
	return peak, known
}

// sum adds up the values of a map.
func sum[K comparable](m map[K]uint64) uint64 {
	var total uint64
	for _, n := range m {
		total += n
	}
	return total
}
