package matrix

import (
	"fmt"
	"slices"
)

// past is a history, arranged for the plan's questions.
type past struct {
	attempts  []*Attempt // that count here, oldest first
	byFirst   map[runKey][]*Attempt
	byCell    map[cellRun][]*Attempt
	elsewhere map[runKey]*Attempt // of other hosts
	inputs    func(Fingerprint) ([]Input, error)
	used      map[int64]bool // attempts that stand for a run of the plan
}

// A runKey finds attempts of a run by what their first phase measures: all
// attempts of one run begin with it, whatever the cell was called then.
type runKey struct {
	fingerprint Fingerprint
	replicate   int
}

type cellRun struct {
	cell      CellKey
	replicate int
}

func pastOf(h History, host string, o PlanOptions) *past {
	p := &past{
		byFirst: map[runKey][]*Attempt{}, byCell: map[cellRun][]*Attempt{}, elsewhere: map[runKey]*Attempt{},
		inputs: h.Inputs, used: map[int64]bool{},
	}
	if o.Fresh {
		return p
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		first := runKey{"", a.Replicate}
		if len(a.Phases) > 0 {
			first.fingerprint = a.Phases[0].Fingerprint
		}
		if a.Host != host && !o.AnyHost {
			p.elsewhere[first] = a
			continue
		}
		p.attempts = append(p.attempts, a)
		p.byFirst[first] = append(p.byFirst[first], a)
		cell := cellRun{a.Cell, a.Replicate}
		p.byCell[cell] = append(p.byCell[cell], a)
	}
	return p
}

// judge says what is left of a run, and why.
func (p *planner) judge(r *Run) error {
	if absent := r.absent(); absent != "" {
		r.set(New, absent)
		return nil
	}
	key := runKey{r.Phases[0].Fingerprint, r.Replicate}
	own := p.past.attemptsOf(r, key)
	if a := standing(r, own); a != nil {
		p.past.used[a.ID] = true
		r.set(Done, "")
		return nil
	}
	if a := accepted(r, p.past.byCell[cellRun{r.Cell.Key, r.Replicate}]); a != nil {
		p.past.used[a.ID] = true
		r.set(Done, "accepted as it stands")
		return nil
	}
	if len(own) > 0 {
		a := own[len(own)-1]
		p.past.used[a.ID] = true
		r.unfinished(a)
		return nil
	}
	return p.judgeOthers(r, key)
}

// judgeOthers looks at attempts that are not of this run: of the same cell with
// other inputs, or of another host.
func (p *planner) judgeOthers(r *Run, key runKey) error {
	same := p.past.byCell[cellRun{r.Cell.Key, r.Replicate}]
	if len(same) > 0 {
		a := same[len(same)-1]
		switch {
		case a.Withdrawn != "":
			r.set(New, "withdrawn: "+a.Withdrawn)
		case a.Status == Skipped:
			r.set(New, "skipped before: "+a.Message)
		case len(a.Phases) == 0:
			r.unfinished(a)
		default:
			why, at, err := p.stale(r, a)
			if err != nil {
				return err
			}
			r.set(Stale, why)
			for i := 0; i < at; i++ {
				r.Phases[i].Status = Done
			}
		}
		return nil
	}
	if a := p.past.elsewhere[key]; a != nil {
		r.set(New, "measured on another host only, "+a.Host+"; --any-host lets that count")
		return nil
	}
	r.set(New, "never run")
	return nil
}

// absent says why the run cannot be executed on this host, or "".
func (r *Run) absent() string {
	for _, p := range r.Phases {
		if s := p.Phase.Settings.Server; s != nil && s.Build.Absent != "" {
			return s.Build.Absent
		}
		for _, role := range keys(p.Phase.Settings.Storage) {
			if st := p.Phase.Settings.Storage[role]; st.Dir == "" {
				return "storage " + st.Name + " is not on this host"
			}
		}
	}
	return ""
}

// set gives the run and all its phases one status.
func (r *Run) set(s Status, reason string) {
	r.Status, r.Reason = s, reason
	for i := range r.Phases {
		r.Phases[i].Status, r.Phases[i].Reason = s, reason
	}
}

// attemptsOf returns the attempts whose phases, as far as they went, measured
// what the run's phases do: those of the run itself.
func (p *past) attemptsOf(r *Run, key runKey) []*Attempt {
	var own []*Attempt
	for _, a := range p.byFirst[key] {
		if a.Withdrawn == "" && len(a.Phases) <= len(r.Phases) && a.prefixOf(r) {
			own = append(own, a)
		}
	}
	return own
}

func (a *Attempt) prefixOf(r *Run) bool {
	for i, p := range a.Phases {
		if p.Fingerprint != r.Phases[i].Fingerprint {
			return false
		}
	}
	return true
}

// standing returns the newest attempt with a complete result, or nil.
func standing(r *Run, own []*Attempt) *Attempt {
	for _, a := range slices.Backward(own) {
		if a.completes(r) {
			return a
		}
	}
	return nil
}

// completes reports whether the attempt has every iteration that the run asks
// for.
func (a *Attempt) completes(r *Run) bool {
	if len(a.Phases) != len(r.Phases) {
		return false
	}
	for i, p := range a.Phases {
		if !p.Status.Complete() || p.Iterations < r.Phases[i].Phase.Recorded() {
			return false
		}
	}
	return true
}

func accepted(r *Run, same []*Attempt) *Attempt {
	last := r.Phases[len(r.Phases)-1].Fingerprint
	for _, a := range slices.Backward(same) {
		if a.Accepted == last && a.Withdrawn == "" {
			return a
		}
	}
	return nil
}

// unfinished takes over the statuses of an attempt that has no complete result.
func (r *Run) unfinished(a *Attempt) {
	r.Status, r.Reason = a.Status, a.Message
	for i := range r.Phases {
		rp := &r.Phases[i]
		if i >= len(a.Phases) {
			rp.Status, rp.Reason = New, "not reached"
			continue
		}
		past := a.Phases[i]
		rp.Status, rp.Reason = past.Status, past.Message
		switch want := rp.Phase.Recorded(); {
		case !past.Status.Complete():
		case past.Iterations < want:
			rp.Status, rp.Reason = TopUp, fmt.Sprintf("%d of %d iterations recorded", past.Iterations, want)
			if a.Status.Complete() {
				r.Status, r.Reason = TopUp, fmt.Sprintf("phase %s: %s", rp.Phase.Block, rp.Reason)
			}
		default:
			rp.Status, rp.Reason = Done, ""
		}
	}
	switch {
	case r.Status.Complete(): // the phases that it has are done, and there are more now
		r.Status, r.Reason = TopUp, fmt.Sprintf("%d of %d phases recorded", len(a.Phases), len(r.Phases))
	case r.Status == Interrupted && r.Reason == "":
		r.Reason = "interrupted " + interruptedAt(r)
	}
}

func interruptedAt(r *Run) string {
	for _, p := range r.Phases {
		if p.Status == Interrupted {
			return "in phase " + p.Phase.Block
		}
		if p.Status == New {
			return "before phase " + p.Phase.Block
		}
	}
	return "at its end"
}

// stale says what changed since an attempt, and in which phase first.
func (p *planner) stale(r *Run, a *Attempt) (why string, at int, err error) {
	for i := range r.Phases {
		if i >= len(a.Phases) {
			return fmt.Sprintf("phase %s is new", r.Phases[i].Phase.Block), i, nil
		}
		if r.Phases[i].Fingerprint == a.Phases[i].Fingerprint {
			continue
		}
		if p.past.inputs == nil {
			return "its inputs changed", i, nil
		}
		was, err := p.past.inputs(a.Phases[i].Fingerprint)
		if err != nil {
			return "", 0, err
		}
		now := r.Phases[i].Phase.Inputs()
		if diff := difference(was, now); diff != "" {
			return diff, i, nil
		}
		if i > 0 && a.Phases[i-1].Iterations != r.Phases[i-1].Phase.Recorded() {
			return fmt.Sprintf("phase %s had %d iterations before it, has %d", r.Phases[i].Phase.Block, a.Phases[i-1].Iterations, r.Phases[i-1].Phase.Recorded()), i, nil
		}
		return "what comes before phase " + r.Phases[i].Phase.Block + " changed", i, nil
	}
	return "the phases after " + r.Phases[len(r.Phases)-1].Phase.Block + " are gone", len(r.Phases) - 1, nil
}

// difference names the first inputs that differ, with the old and the new value.
func difference(was, now []Input) string {
	if was == nil {
		return "its inputs changed"
	}
	old, cur := map[string]string{}, map[string]string{}
	var names []string
	for _, in := range was {
		old[in.Name] = in.Value
		names = append(names, in.Name)
	}
	for _, in := range now {
		if _, ok := old[in.Name]; !ok {
			names = append(names, in.Name)
		}
		cur[in.Name] = in.Value
	}
	slices.Sort(names)
	var changes []string
	for _, name := range names {
		a, had := old[name]
		b, has := cur[name]
		switch {
		case had && !has:
			changes = append(changes, fmt.Sprintf("%s was %s, is not set", name, a))
		case !had && has:
			changes = append(changes, fmt.Sprintf("%s was not set, is %s", name, b))
		case a != b:
			changes = append(changes, fmt.Sprintf("%s was %s, is %s", name, a, b))
		}
	}
	if len(changes) == 0 {
		return ""
	}
	if len(changes) > maxChanges {
		return fmt.Sprintf("%s; and %d more", changes[0], len(changes)-1)
	}
	return joinChanges(changes)
}

// maxChanges bounds how many changes a reason lists before it only counts them.
const maxChanges = 3

func joinChanges(changes []string) string {
	text := changes[0]
	for _, c := range changes[1:] {
		text += "; " + c
	}
	return text
}
