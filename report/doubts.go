package report

import (
	"fmt"
	"slices"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// slotNotes returns the footnotes of a slot's value. Though one run stands for the
// slot, its place among the others, the interval and the test are of all that count:
// so are the doubts.
func (tb *tableBuilder) slotNotes(s *slot, m measured) []int {
	if !m.Known && !m.text {
		return tb.valueNotes(m)
	}
	base := tb.baseline(s)
	if base == nil || base == s {
		doubts, n := tb.doubtsOf(alike(m.from, s.runs))
		return tb.doubtNotes(doubts, n, "")
	}
	ofBase := func(o origin) bool { return slices.Contains(base.runs, o.run) }
	own := slices.DeleteFunc(slices.Clone(m.from), ofBase)
	others := slices.DeleteFunc(slices.Clone(m.from), func(o origin) bool { return !ofBase(o) })
	doubts, n := tb.doubtsOf(alike(own, s.runs))
	notes := tb.doubtNotes(doubts, n, "")
	ofBases, n := tb.doubtsOf(alike(others, base.runs))
	ofBases = slices.DeleteFunc(ofBases, func(d *doubt) bool { // what is said of both needs no saying twice
		return slices.ContainsFunc(doubts, func(own *doubt) bool { return own.kind == d.kind })
	})
	return append(notes, tb.doubtNotes(ofBases, n, "of the baseline: ")...)
}

// alike returns results together with those of the other runs at the same places.
func alike(from []origin, runs []*run) []origin {
	all := slices.Clone(from)
	var places []iteration
	for _, o := range from {
		at := iteration{o.result.Phase, o.result.Iteration}
		if slices.Contains(places, at) {
			continue
		}
		places = append(places, at)
		for _, r := range runs {
			if result := r.results[at]; result != nil && result.Status.Complete() {
				all = append(all, origin{r, result})
			}
		}
	}
	return all
}

// A doubt is what some of the runs of a cell have in common that makes them
// doubtful, in words that differ in numbers only.
type doubt struct {
	kind  string // the words
	texts []string
	runs  []*run
}

// doubtsOf returns what makes results doubtful, and, where something does, of how many
// runs they are.
func (tb *tableBuilder) doubtsOf(from []origin) (doubts []*doubt, n int) {
	if !slices.ContainsFunc(from, origin.doubted) {
		return nil, 0 // as nearly all are
	}
	kinds, seen, runs := map[string]*doubt{}, map[origin]bool{}, map[*run]bool{}
	for _, o := range from {
		if seen[o] {
			continue
		}
		seen[o], runs[o.run] = true, true
		for _, text := range o.run.doubts[o.result] {
			text = withoutExponents(oneLine(text))
			kind := tb.b.numbers.ReplaceAllString(text, "#")
			d := kinds[kind]
			if d == nil {
				d = &doubt{kind: kind}
				kinds[kind], doubts = d, append(doubts, d)
			}
			d.texts = append(d.texts, text)
			if !slices.Contains(d.runs, o.run) {
				d.runs = append(d.runs, o.run)
			}
		}
	}
	return doubts, len(runs)
}

// doubtNotes returns the footnotes of doubts that some of n runs have. about, before
// each, says whose they are.
func (tb *tableBuilder) doubtNotes(doubts []*doubt, n int, about string) []int {
	var notes []int
	for _, d := range doubts {
		before := about
		if len(d.runs) < n {
			before += fmt.Sprintf("in %d of %d runs: ", len(d.runs), n)
		}
		notes = appendNew(notes, tb.doubtNote(d, before))
	}
	slices.Sort(notes)
	return notes
}

// doubtNote returns the footnote of one doubt; the row is told the range of its own
// runs.
func (tb *tableBuilder) doubtNote(d *doubt, before string) (note int) {
	first := before + d.texts[0]
	own := &noteRange{between: tb.b.numbers.Split(first, -1), low: tb.b.numbers.FindAllString(first, -1), high: tb.b.numbers.FindAllString(first, -1)}
	for _, text := range d.texts {
		own.widen(tb.b.numbers.FindAllString(before+text, -1))
		note = tb.footnoteRange(before + text)
	}
	tb.tell(own.String())
	return note
}

// doubted reports whether something makes a result doubtful.
func (o origin) doubted() bool { return len(o.run.doubts[o.result]) > 0 }

// findDoubts says what makes the results of a run doubtful.
func (r *run) findDoubts() {
	for i := range r.phases() {
		p := &r.attempt.Phases[i]
		var texts []string
		if p.Status == matrix.SLAMissed {
			texts = append(texts, r.ended(p))
		}
		for _, f := range p.doubtful(r.stale) {
			texts = append(texts, doubtText(f))
		}
		if len(texts) > 0 {
			if r.doubts == nil {
				r.doubts = map[*PhaseResult][]string{}
			}
			r.doubts[p] = texts
		}
	}
}

// errorShare is the share of a phase's operations, in percent, that may have met an
// error which the workload allows (ignores, or tries again) before a table says so.
// It is far above the deadlock or two of a healthy run, and far below what moves a
// rate by as much as runs differ.
const errorShare = 0.1

// allowedErrors says how many of the operations of a phase met errors that the
// workload allows, or returns "" where they are few.
func (p *PhaseResult) allowedErrors() string {
	metrics := store.Metrics(p.Metrics)
	for _, of := range []string{"transactions", "queries", "inserts", "rows_inserted"} {
		all, ok := metrics.Get(of)
		if !ok || all.Value <= 0 {
			continue
		}
		var parts []string
		for _, name := range []string{"errors", "deadlocks", "lock_waits", "conflicts"} {
			if m, ok := metrics.Get(name); ok && 100*m.Value > errorShare*all.Value {
				parts = append(parts, fmt.Sprintf("%s %s", shortest(m.Value), strings.ReplaceAll(name, "_", " ")))
			}
		}
		if len(parts) == 0 {
			return ""
		}
		return fmt.Sprintf("%s that the workload ignored or tried again beside %s %s (where nothing is said, at most %v%%)",
			strings.Join(parts, ", "), shortest(all.Value), strings.ReplaceAll(of, "_", " "), errorShare)
	}
	return ""
}
