package matrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// past is a history, arranged for the plan's questions.
type past struct {
	attempts  []*Attempt // that count here, oldest first
	byFirst   map[runKey][]*Attempt
	byCell    map[cellRun][]*Attempt
	elsewhere map[runKey][]*Attempt // of other hosts
	inputs    func(Fingerprint) ([]Input, error)
	planned   map[CellKey]bool // cells of the plan
	used      map[int64]bool   // attempts that a run of the plan has its status from
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

func pastOf(h History, host string, cells []*Cell, o PlanOptions) *past {
	p := &past{
		byFirst: map[runKey][]*Attempt{}, byCell: map[cellRun][]*Attempt{}, elsewhere: map[runKey][]*Attempt{},
		inputs: h.Inputs, planned: make(map[CellKey]bool, len(cells)), used: map[int64]bool{},
	}
	for _, c := range cells {
		p.planned[c.Key] = true
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		first := runKey{"", a.Replicate}
		if len(a.Phases) > 0 {
			first.fingerprint = a.Phases[0].Fingerprint
		}
		if a.Host != host && !o.AnyHost {
			p.elsewhere[first] = append(p.elsewhere[first], a)
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
		p.judgeAbsent(r, absent)
		return nil
	}
	key := runKey{r.Phases[0].Fingerprint, r.Replicate}
	own := p.past.attemptsOf(r, key)
	withdrawn := p.past.withdrawnOf(r, key)
	if withdrawn != nil { // what is older stood no more when it was measured, and does not stand again
		own = slices.DeleteFunc(own, func(a *Attempt) bool { return a.ID < withdrawn.ID })
	}
	if a := standing(r, own); a != nil {
		p.past.use(r, a)
		r.set(Done, "")
		return nil
	}
	if a := accepted(r, p.past.byCell[cellRun{r.Cell.Key, r.Replicate}]); a != nil && (withdrawn == nil || a.ID > withdrawn.ID) {
		p.past.use(r, a)
		r.set(Done, "accepted as it stands")
		return nil
	}
	if len(own) > 0 {
		a := own[len(own)-1]
		p.past.use(r, a)
		r.unfinished(a)
		return nil
	}
	if withdrawn != nil {
		p.past.use(r, withdrawn)
		r.set(New, "withdrawn: "+withdrawn.Withdrawn)
		return nil
	}
	return p.judgeOthers(r, key)
}

// judgeAbsent says what is left of a run that cannot be executed on this host. What
// it would measure is not known, so that no attempt can be told to have measured
// the same; AsRecorded takes the newest complete one, else the newest, as it is.
func (p *planner) judgeAbsent(r *Run, why string) {
	r.set(New, why)
	if !p.options.AsRecorded {
		return
	}
	var newest *Attempt
	for _, a := range slices.Backward(p.past.byCell[cellRun{r.Cell.Key, r.Replicate}]) {
		if a.Withdrawn != "" {
			continue
		}
		if a.Status.Complete() {
			p.past.use(r, a)
			r.set(Done, "as recorded; "+why)
			return
		}
		if newest == nil {
			newest = a
		}
	}
	if newest != nil {
		p.past.use(r, newest)
		r.unfinished(newest)
	}
}

// use notes that a run has its status from an attempt.
func (p *past) use(r *Run, a *Attempt) {
	r.Attempt = a.ID
	p.used[a.ID] = true
}

// afresh makes a run new whatever is recorded of it, and says what is.
func (r *Run) afresh() {
	for i := range r.Phases {
		r.Phases[i].Continues = false
	}
	switch {
	case r.Attempt == 0:
	case r.Status == New:
		r.set(New, "asked for afresh; "+r.Reason)
	default:
		r.set(New, "asked for afresh; it was "+string(r.Status))
	}
}

// judgeOthers looks at attempts that are not of this run: of the same cell with
// other inputs, or of another host.
func (p *planner) judgeOthers(r *Run, key runKey) error {
	same := p.past.byCell[cellRun{r.Cell.Key, r.Replicate}]
	if len(same) > 0 {
		a := same[len(same)-1]
		p.past.use(r, a)
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
	for _, a := range slices.Backward(p.past.elsewhere[key]) {
		if a.covers(r) {
			r.set(New, "measured on another host only, "+a.Host+"; --any-host lets that count")
			return nil
		}
	}
	r.set(New, "never run")
	return nil
}

// absent says why the run cannot be executed on this host, or "".
func (r *Run) absent() string {
	for _, p := range r.Phases {
		if s := p.Phase.Settings.Server; s != nil && s.Build.Absent != "" {
			return fmt.Sprintf("server %s is not on this host: %s", s.Name, s.Build.Absent)
		}
		for _, role := range keys(p.Phase.Settings.Storage) {
			if st := p.Phase.Settings.Storage[role]; st.Dir == "" {
				return "storage " + st.Name + " is not on this host"
			}
		}
		for _, source := range p.Phase.Sources() {
			if source.Absent() {
				return "program " + source.program + " is not on this host"
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

// attemptsOf returns the attempts of the run itself: those that measured all that
// its phases do, and those that went some of the way. Of the latter there may be
// some of other cells, which begin with the same phases; they are told by the name
// of their cell, or by a name that no cell has now.
func (p *past) attemptsOf(r *Run, key runKey) []*Attempt {
	var own []*Attempt
	for _, a := range p.byFirst[key] {
		if a.Withdrawn != "" || !a.agrees(r) {
			continue
		}
		if a.covers(r) || a.Cell == r.Cell.Key || !p.planned[a.Cell] && !p.used[a.ID] {
			own = append(own, a)
		}
	}
	return own
}

// withdrawnOf returns the newest attempt that had a complete result of the run and
// was withdrawn, or nil.
func (p *past) withdrawnOf(r *Run, key runKey) *Attempt {
	for _, a := range slices.Backward(p.byFirst[key]) {
		if a.Withdrawn != "" && a.Status.Complete() && a.covers(r) && (a.Cell == r.Cell.Key || !p.planned[a.Cell]) {
			return a
		}
	}
	return nil
}

// agrees reports whether the attempt and the run measure the same, as far as both
// go.
func (a *Attempt) agrees(r *Run) bool {
	for i := range min(len(a.Phases), len(r.Phases)) {
		if a.Phases[i].Fingerprint != r.Phases[i].Fingerprint {
			return false
		}
	}
	return true
}

// covers reports whether the attempt measured all that the run does, and perhaps
// more after it.
func (a *Attempt) covers(r *Run) bool { return len(a.Phases) >= len(r.Phases) && a.agrees(r) }

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
	if len(a.Phases) < len(r.Phases) {
		return false
	}
	for i := range r.Phases {
		p := a.Phases[i]
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
	goesOn := ""
	for i := range r.Phases {
		rp := &r.Phases[i]
		if i >= len(a.Phases) {
			rp.Status, rp.Reason = New, "not reached"
			continue
		}
		past := a.Phases[i]
		rp.Status, rp.Reason = past.Status, past.Message
		switch want := rp.Phase.Recorded(); {
		case r.continues(i, a):
			rp.Continues = true
			rp.Reason = rp.goesOn(past.Iterations)
			goesOn = "; it " + rp.Reason
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
	case r.Status == Interrupted && (r.Reason == "" || r.Reason == string(Interrupted)):
		r.Reason = interruptedAt(r) + goesOn
	case r.Status == Interrupted:
		r.Reason = interruptedAt(r) + goesOn + ": " + r.Reason
	}
}

// goesOn says where a phase goes on that has so many complete iterations. It may
// have all of them, where fewer are asked for now: then it is brought to its end.
func (p *RunPhase) goesOn(have int) string {
	if have >= p.Phase.Recorded() {
		return "has its iterations and is brought to its end, in the data directory that was left"
	}
	return fmt.Sprintf("goes on at iteration %d, in the data directory that was left", p.Phase.FirstIteration+have)
}

// lose says of the runs what is lost when the plan is executed: iterations of
// interrupted attempts that could go on, but not by this plan, whose data
// directories are removed.
func (p *planner) lose() {
	continued := map[int64]bool{}
	runs := map[cellRun]*Run{}
	for _, r := range p.plan.Runs {
		runs[cellRun{r.Cell.Key, r.Replicate}] = r
		if slices.ContainsFunc(r.Phases, func(ph RunPhase) bool { return ph.Continues }) {
			continued[r.Attempt] = true
		}
	}
	for _, a := range p.past.attempts {
		r := runs[cellRun{a.Cell, a.Replicate}]
		if r == nil || continued[a.ID] || len(a.Kept) == 0 || a.Withdrawn != "" {
			continue
		}
		for i, ph := range a.Phases {
			now := slices.IndexFunc(r.Phases, func(rp RunPhase) bool { return rp.Phase.Block == ph.Block })
			if ph.Status != Interrupted || now < 0 || !r.Phases[now].Phase.goesOnAfter(ph) || !a.keeps(i) {
				continue
			}
			r.Reason += fmt.Sprintf("; run removes the data directory in which attempt %d could go on after iteration %d of phase %s",
				a.Number, r.Phases[now].Phase.FirstIteration+ph.Iterations-1, ph.Block)
		}
	}
}

// goesOnAfter reports whether the phase is one that goes on after what was recorded
// of it.
func (p *Phase) goesOnAfter(past PastPhase) bool {
	return p.OnInterrupt == Continue && p.Steps == 1 && past.Iterations > 0
}

// keeps reports whether the attempt has left the data that its phase of an index was
// working on.
func (a *Attempt) keeps(index int) bool {
	var before Fingerprint
	if index > 0 {
		before = a.Phases[index-1].Fingerprint
	}
	return slices.Contains(a.Kept, before)
}

// continues reports whether the run's phase of an index, which an attempt was
// interrupted in, goes on at its next iteration. There must be one that ended: what
// a first one has done to the data cannot be told, nor what a workload's own step
// has, which the next one builds on. Of a phase that has all its iterations already
// the rest is done, unless it is to settle: how long that takes is over with the
// server that had something to settle.
func (r *Run) continues(index int, a *Attempt) bool {
	p, past := r.Phases[index].Phase, a.Phases[index]
	return a.Status == Interrupted && past.Status == Interrupted && p.goesOnAfter(past) && a.keeps(index) &&
		(past.Iterations < p.Recorded() || p.Settle == nil)
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
	for at < min(len(r.Phases), len(a.Phases)) && r.Phases[at].Fingerprint == a.Phases[at].Fingerprint {
		at++
	}
	now, was := r.Phases[at], a.Phases[at]
	inputs, err := p.past.inputsOf(was.Fingerprint)
	if err != nil {
		return "", 0, err
	}
	diff := difference(inputs, now.Phase.Inputs())
	switch {
	case diff != "":
		return diff, at, nil
	case at == 0:
		return "the name of a level with `same = true` changed", at, nil
	}
	before, recorded := r.Phases[at-1].Phase.Recorded(), a.Phases[at-1].Iterations
	if recorded != before {
		return fmt.Sprintf("phase %s had %d iterations before it, has %d", now.Phase.Block, recorded, before), at, nil
	}
	return "what comes before phase " + now.Phase.Block + " changed", at, nil
}

// inputsOf returns the stored inputs of a fingerprint, or nil.
func (p *past) inputsOf(f Fingerprint) ([]Input, error) {
	if p.inputs == nil {
		return nil, nil
	}
	return p.inputs(f)
}

// difference names the first inputs that differ, with the old and the new value.
func difference(was, now []Input) string {
	if was == nil {
		return "its inputs changed"
	}
	old, cur := map[string]string{}, map[string]string{}
	var names []string
	for _, in := range was {
		old[in.Name] = readable(in)
		names = append(names, in.Name)
	}
	for _, in := range now {
		if _, ok := old[in.Name]; !ok {
			names = append(names, in.Name)
		}
		cur[in.Name] = readable(in)
	}
	slices.Sort(names)
	if i := slices.Index(names, "workload"); i > 0 { // it explains the change of all attributes
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "workload")
	}
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
	return strings.Join(changes, "; ")
}

// readable returns the value of an input as a definition would have it: an option
// of a whole number of MiB is recorded in bytes.
func readable(in Input) string {
	n, err := strconv.ParseUint(in.Value, 10, 64)
	if err != nil || n < 1<<20 || !strings.HasPrefix(in.Name, "my_cnf.") {
		return in.Value
	}
	switch {
	case n%(1<<30) == 0:
		return strconv.FormatUint(n>>30, 10) + "G"
	case n%(1<<20) == 0:
		return strconv.FormatUint(n>>20, 10) + "M"
	}
	return in.Value
}

// maxChanges bounds how many changes a reason lists before it only counts them.
const maxChanges = 3
