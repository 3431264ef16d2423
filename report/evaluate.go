package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A measured is the value of one column for one run, or for a slot.
type measured struct {
	Value
	text bool     // the value is text, not a missing number
	from []origin // the results that it was computed from
	why  string   // why it is missing
}

// An origin is a result that a value comes from.
type origin struct {
	run    *run
	result *PhaseResult
}

type memoKey struct {
	slot   *slot
	run    *run
	column *column
}

// valueOf computes a column for one run of a slot.
func (tb *tableBuilder) valueOf(s *slot, r *run, c *column) measured {
	if !c.computed() && !c.relative {
		return tb.b.measure(r, c) // reading is as fast as remembering
	}
	key := memoKey{s, r, c}
	if m, ok := tb.memo[key]; ok {
		return m
	}
	if tb.busy[key] {
		tb.b.fault(tb.rangeOf(c), "Column that refers to itself", "The value of column %q depends on itself.", c.label)
		return measured{why: "it depends on itself"}
	}
	tb.busy[key] = true
	m := tb.read(s, r, c)
	if c.relative {
		m = tb.relate(s, m, c)
	}
	delete(tb.busy, key)
	tb.memo[key] = m
	return m
}

// read computes a column, or reads its token.
func (tb *tableBuilder) read(s *slot, r *run, c *column) measured {
	if c.computed() {
		return tb.compute(s, r, c)
	}
	return tb.b.measure(r, c)
}

func (tb *tableBuilder) rangeOf(c *column) hcl.Range {
	if c.def != nil && c.def.Range.Filename != "" {
		return c.def.Range
	}
	return tb.def.Range
}

// measure reads a token's value out of a run's results.
func (b *builder) measure(r *run, c *column) measured {
	n := r.iterationOf(c.phase, c.iteration)
	result := r.results[iteration{c.phase, n}]
	if result == nil || !result.Status.Complete() {
		return measured{why: r.missing(c.phase, n, result)}
	}
	m := measured{from: []origin{{r, result}}}
	switch {
	case r.source != Own:
		m.Value = result.Printed[c.token]
	case c.spec != nil:
		m.Value = c.spec.Value(result.Metrics, c.divisor)
	default:
		m.Value = number(result.Metrics.get(c.token))
	}
	if !m.Known && m.Text == "" {
		m.why = fmt.Sprintf("%s was not recorded", c.token)
		if c.spec != nil && r.source == Own {
			m.why = c.spec.missing(result.Metrics, c.divisor)
		}
		if r.source != Own {
			m.why = fmt.Sprintf("%s is not in %s", c.token, r.source)
		}
	}
	return m
}

// missing says why a run has no result of an iteration.
func (r *run) missing(phase string, number int, result *PhaseResult) string {
	if result == nil {
		result = r.broken(phase)
	}
	if result != nil {
		return r.ended(result)
	}
	if why := r.why(); why != "" {
		return why
	}
	if r.source != Own {
		return fmt.Sprintf("phase %s, iteration %d is not in %s", phase, number, r.source)
	}
	if r.last[phase] == 0 {
		return fmt.Sprintf("phase %s has no result", phase)
	}
	return fmt.Sprintf("phase %s has no iteration %d", phase, number)
}

// broken returns the result that says how a phase ended which did not complete, or
// nil.
func (r *run) broken(phase string) *PhaseResult {
	for i := range r.phases() {
		if p := &r.attempt.Phases[i]; p.Phase == phase && !p.Status.Complete() {
			return p
		}
	}
	return nil
}

// compute evaluates a column's expression.
func (tb *tableBuilder) compute(s *slot, r *run, c *column) measured {
	var m measured
	v, ok := tb.evaluate(c.value, s, r, c.reads, &m)
	switch {
	case !ok || !v.IsKnown():
		if m.why == "" {
			m.why = tb.noNumber(s, r, c)
		}
	case v.IsNull():
		m.why = cmp.Or(m.why, "it is computed from a value that is missing")
	case v.Type() == cty.Number:
		m.why = ""
		x, _ := v.AsBigFloat().Float64()
		if m.Value = number(x); !m.Known || tb.leavesNoRest(s, r, c) {
			m.Value, m.why = Value{}, tb.noNumber(s, r, c)
		}
	case v.Type() == cty.String && infiniteText(v.AsString()):
		m.why = tb.noNumber(s, r, c)
	case v.Type() == cty.String:
		m.why, m.Text, m.text = "", v.AsString(), true
	default:
		tb.b.fault(c.value.Range(), "Value that is no number", "Column %q is a %s; a column shows numbers or text.", c.label, v.Type().FriendlyName())
	}
	return m
}

// evaluate evaluates an expression for a run of a slot. What it reads is added
// to m. A missing number is an unknown one, so that all that is computed from it
// is unknown too.
func (tb *tableBuilder) evaluate(expr hcl.Expression, s *slot, r *run, reads references, m *measured) (cty.Value, bool) {
	v, diags := tb.eval(expr, s, r, reads, m)
	if diags.HasErrors() && (undefined(diags) || tb.blameless(expr, r)) {
		return cty.DynamicVal, false
	}
	tb.b.add(diags...)
	if diags.HasErrors() {
		m.why = cmp.Or(m.why, "its definition has a fault")
		return cty.DynamicVal, false
	}
	v, _ = v.Unmark()
	return v, true
}

// eval evaluates an expression with the names that a row of the table has.
func (tb *tableBuilder) eval(expr hcl.Expression, s *slot, r *run, reads references, m *measured) (cty.Value, hcl.Diagnostics) {
	take := func(read measured) cty.Value {
		m.from = append(m.from, read.from...)
		if m.why == "" {
			m.why = read.why
		}
		return toCty(read)
	}
	base := tb.baseline(s)
	baseValue := func(c *column) cty.Value {
		if base == nil || len(base.runs) == 0 {
			return take(measured{why: "there is no baseline row for it"})
		}
		return take(tb.slotValue(base, c))
	}
	extra := map[string]cty.Value{
		"col":  tb.object(reads.col, reads.anyCol, func(c *column) cty.Value { return take(tb.valueOf(s, r, c)) }),
		"base": tb.object(reads.base, reads.anyBase, baseValue),
	}
	funcs := map[string]function.Function{
		"at":      tb.atFunction(func(c *column) cty.Value { return take(tb.valueOf(s, r, c)) }),
		"base_at": tb.atFunction(baseValue),
		"ratio":   ratioFunction(),
	}
	return tb.b.in.Eval(expr, r.scope(), extra, funcs)
}

// blameless reports whether an expression that failed has no fault of its own:
// it would have a value if the numbers were others. (0 / 0 is such a failure.)
func (tb *tableBuilder) blameless(expr hcl.Expression, r *run) bool {
	unknown := func(*column) cty.Value { return cty.UnknownVal(cty.Number) }
	extra := map[string]cty.Value{"col": cty.DynamicVal, "base": cty.DynamicVal}
	funcs := map[string]function.Function{"at": tb.atFunction(unknown), "base_at": tb.atFunction(unknown), "ratio": ratioFunction()}
	_, diags := tb.b.in.Eval(expr, r.scope(), extra, funcs)
	return !diags.HasErrors()
}

// object makes the value of col or base: the columns that the expression names,
// or all labelled ones where it names them by another expression.
func (tb *tableBuilder) object(names []string, all bool, value func(*column) cty.Value) cty.Value {
	values := map[string]cty.Value{}
	for _, name := range names {
		values[name] = value(tb.named(name))
	}
	if all {
		for _, c := range tb.columns {
			if !c.computed() && c.template == nil {
				values[c.label] = value(c)
			}
		}
	}
	if len(values) == 0 {
		return cty.EmptyObjectVal
	}
	return cty.ObjectVal(values)
}

func toCty(m measured) cty.Value {
	switch {
	case m.text:
		return cty.StringVal(m.Text)
	case !m.Known || math.IsNaN(m.Number):
		return cty.UnknownVal(cty.Number)
	case math.IsInf(m.Number, 1):
		return cty.PositiveInfinity
	case math.IsInf(m.Number, -1):
		return cty.NegativeInfinity
	default:
		return cty.NumberFloatVal(m.Number)
	}
}

// atFunction makes at() and base_at(): a token at the table's place, or at a
// phase, or at an iteration of it.
func (tb *tableBuilder) atFunction(value func(*column) cty.Value) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "token", Type: cty.String}},
		VarParam: &function.Parameter{Name: "place", Type: cty.DynamicPseudoType, AllowNull: true},
		Type:     function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			phase, number, err := tb.b.place(args[1:])
			if err != nil {
				return cty.NilVal, err
			}
			v := value(tb.tokenAt(args[0].AsString(), phase, number))
			if v.Type() != cty.Number {
				return cty.UnknownVal(cty.Number), nil
			}
			return v, nil
		},
	})
}

// place reads the optional arguments phase and iteration.
func (b *builder) place(args []cty.Value) (phase string, number int, err error) {
	if len(args) > 2 {
		return "", 0, errors.New("it takes a token, a phase and an iteration")
	}
	if len(args) > 0 && !args[0].IsNull() {
		if args[0].Type() != cty.String {
			return "", 0, errors.New("the second argument is the name of a phase")
		}
		if phase = args[0].AsString(); !b.isPhase(phase) {
			return "", 0, fmt.Errorf("there is no phase %q", phase)
		}
	}
	if len(args) > 1 && !args[1].IsNull() {
		if args[1].Type() != cty.Number || !args[1].AsBigFloat().IsInt() {
			return "", 0, errors.New("the third argument is the number of an iteration")
		}
		n, _ := args[1].AsBigFloat().Int64()
		number = int(n)
		if number < 1 {
			return "", 0, errors.New("iterations count from 1")
		}
	}
	return phase, number, nil
}

// ratio divides as tables of ratios do: nothing over nothing is no change, and
// something over nothing is infinite, which no cell shows.
func ratio(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	return a / b
}

func ratioFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "a", Type: cty.Number}, {Name: "b", Type: cty.Number}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			a, _ := args[0].AsBigFloat().Float64()
			b, _ := args[1].AsBigFloat().Float64()
			return toCty(measured{Value: Value{Number: ratio(a, b), Known: true}}), nil
		},
	})
}

// relate divides a value by that of the baseline.
func (tb *tableBuilder) relate(s *slot, m measured, c *column) measured {
	base := tb.baseline(s)
	if base == nil || len(base.runs) == 0 {
		return measured{from: m.from, why: "there is no baseline row for it"}
	}
	b := tb.slotValue(base, tb.plain(c))
	out := measured{from: append(slices.Clone(m.from), b.from...), why: m.why}
	if out.why == "" {
		out.why = b.why
	}
	if m.Known && b.Known {
		out.why = ""
		if out.Value = number(ratio(m.Number, b.Number)); !out.Known {
			out.why = c.label + " of the baseline is 0, which nothing can be divided by"
		}
	}
	return out
}

// plain returns the column that a relative column is the ratio of.
func (tb *tableBuilder) plain(c *column) *column {
	if p := tb.plains[c]; p != nil {
		return p
	}
	p := *c
	p.relative = false
	tb.plains[c] = &p
	return &p
}

// sample returns a column's known values over the runs of a slot, from low to
// high. Runs that share one measurement count once.
func (tb *tableBuilder) sample(s *slot, c *column) []observation {
	key := sampleKey{s, c}
	all, ok := tb.samples[key]
	if !ok {
		all = tb.observe(s, c)
		tb.samples[key] = all
	}
	return all
}

type sampleKey struct {
	slot   *slot
	column *column
}

func (tb *tableBuilder) observe(s *slot, c *column) []observation {
	all := make([]observation, 0, len(s.runs))
	var seen map[sharedResult]bool // most measurements are of one run
	for _, r := range s.runs {
		m := tb.valueOf(s, r, c)
		if !m.Known {
			continue
		}
		if c.token != "" && len(m.from) > 0 && m.from[0].result.Origin != 0 {
			at := sharedResult{m.from[0].result.Origin, m.from[0].result.Phase, m.from[0].result.Iteration}
			if seen[at] {
				continue
			}
			if seen == nil {
				seen = make(map[sharedResult]bool, len(s.runs))
			}
			seen[at] = true
		}
		all = append(all, observation{r, m.Number, m.from})
	}
	slices.SortStableFunc(all, func(a, b observation) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// An observation is the number that one run has, and what it comes from.
type observation struct {
	run    *run
	Number float64
	from   []origin
}

// A sharedResult identifies a measurement that several runs can have.
type sharedResult struct {
	origin    int64
	phase     string
	iteration int
}

// shown returns the run that stands for a slot: the one with the lower median of
// the deciding column, so that the row is one that happened; the first one where
// no run has that value.
func (tb *tableBuilder) shown(s *slot) *run {
	if len(s.runs) == 0 {
		return nil
	}
	if tb.deciding != nil {
		if all := tb.sample(s, tb.deciding); len(all) > 0 {
			return all[(len(all)-1)/2].run
		}
	}
	return s.runs[0]
}

// slotValue computes a column for a slot: of the run that stands for it, or the
// median of its runs.
func (tb *tableBuilder) slotValue(s *slot, c *column) measured {
	key := sampleKey{s, c}
	m, ok := tb.values[key]
	if !ok {
		m = tb.computeSlot(s, c)
		tb.values[key] = m
	}
	return m
}

func (tb *tableBuilder) computeSlot(s *slot, c *column) measured {
	r := tb.shown(s)
	if r == nil {
		return measured{why: "the experiment has no such cell"}
	}
	if tb.def.Aggregate != aggregateMedian {
		return tb.valueOf(s, r, c)
	}
	all := tb.sample(s, c)
	if len(all) == 0 {
		return tb.valueOf(s, r, c)
	}
	if len(all) == 1 {
		return tb.valueOf(s, all[0].run, c)
	}
	var out measured
	for _, o := range all {
		out.from = append(out.from, o.from...)
	}
	out.Value = number(summarize(all).Center)
	return out
}

// aggregateMedian is the aggregate that takes the median of each column by
// itself.
const aggregateMedian = "median"

// decide returns the column that decides which run stands for a slot: the first
// that shows numbers without comparing them.
func (tb *tableBuilder) decide() *column {
	for _, c := range tb.columns {
		switch {
		case c.template != nil:
			if names := tb.placeholders(c); len(names) > 0 {
				return tb.named(names[0])
			}
		case c.relative:
			return tb.plain(c)
		case !c.reads.comparison:
			return c
		}
	}
	return nil
}
