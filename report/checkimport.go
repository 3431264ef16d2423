package report

import (
	"fmt"
	"math"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A Misfit is an imported value that a relation of its import block does not
// allow, even if every printed input was rounded to it.
type Misfit struct {
	Import    string
	Cell      matrix.CellKey
	Phase     string
	Iteration int
	Column    string
	Printed   string
	Low, High float64 // what the inputs allow
}

// String says what does not fit, as one sentence.
func (m Misfit) String() string {
	return fmt.Sprintf("import %q, cell %s, phase %s, iteration %d: %s is printed as %s, the printed inputs allow %s to %s",
		m.Import, m.Cell, m.Phase, m.Iteration, m.Column, m.Printed, significant(m.Low, checkDigits), significant(m.High, checkDigits))
}

const (
	// checkDigits is how many digits a misfit shows of what is allowed.
	checkDigits = 5

	// maxInputs bounds the columns of a relation: each doubles the number
	// of evaluations.
	maxInputs = 8

	// sumSlack is how far the bounds may be off by the rounding of float64.
	sumSlack = 1e-12
)

// CheckImports verifies the relations that the import blocks of an experiment
// name. Each printed input stands for half a unit of its last digit to either
// side; the interval that its formula then has must meet that of the printed
// value. A misprint in a published table shows so. The formula must be monotonic
// in each of its inputs, as sums, products and ratios of positive numbers are.
// Build does the same and warns of each misfit.
func CheckImports(in Input) ([]Misfit, hcl.Diagnostics) {
	b := newBuilder(in)
	var misfits []Misfit
	b.checkImports(func(_ *matrix.ImportCheck, m Misfit) { misfits = append(misfits, m) })
	return misfits, b.diags
}

func (b *builder) checkImports(found func(*matrix.ImportCheck, Misfit)) {
	for _, block := range b.in.Experiment.Report {
		imp, ok := block.(*matrix.Import)
		if !ok {
			continue
		}
		for i := range imp.Checks {
			for _, m := range b.checkRelation(imp, &imp.Checks[i]) {
				found(&imp.Checks[i], m)
			}
		}
	}
}

// CheckImport verifies the relations of all import blocks of an experiment in an
// import that is on record, or is to be: one of the input's attempts' sources.
func CheckImport(in Input, name string) ([]Misfit, hcl.Diagnostics) {
	b := newBuilder(in)
	var misfits []Misfit
	for _, block := range in.Experiment.Report {
		imp, ok := block.(*matrix.Import)
		if !ok {
			continue
		}
		for i := range imp.Checks {
			misfits = append(misfits, b.checkRelation(&matrix.Import{Name: name}, &imp.Checks[i])...)
		}
	}
	return misfits, b.diags
}

// checkRelation verifies one relation in every row that has its column.
func (b *builder) checkRelation(imp *matrix.Import, check *matrix.ImportCheck) []Misfit {
	inputs := referencesOf(check.Formula).col
	if len(inputs) == 0 || len(inputs) > maxInputs {
		b.fault(check.Range, "Relation that cannot be checked", "A formula reads between 1 and %d columns as col[\"name\"]; this one reads %d.", maxInputs, len(inputs))
		return nil
	}
	places := b.importedDecimals(imp.Name)
	var misfits []Misfit
	for _, r := range b.runs[imp.Name] {
		for i := range r.phases() {
			p := &r.attempt.Phases[i]
			printed := p.Printed[check.Column]
			if !printed.Known || check.Phase != "" && check.Phase != p.Phase {
				continue
			}
			low, high, ok := b.allowed(check, r, p, inputs, places)
			if !ok {
				continue
			}
			half := printed.halfUnit(places[check.Column])
			slack := sumSlack * max(math.Abs(low), math.Abs(high))
			if printed.Number+half < low-slack || printed.Number-half > high+slack {
				misfits = append(misfits, Misfit{imp.Name, r.key, p.Phase, p.Iteration, check.Column, printed.Text, low, high})
			}
		}
	}
	return misfits
}

// importedDecimals returns the most decimals that each column of an import has.
func (b *builder) importedDecimals(name string) map[string]int {
	places := map[string]int{}
	for _, r := range b.runs[name] {
		for i := range r.phases() {
			for token, v := range r.attempt.Phases[i].Printed {
				if v.Known {
					places[token] = max(places[token], decimalsOf(v.Text))
				}
			}
		}
	}
	return places
}

// allowed returns the interval of a formula over all values that its inputs may
// have been before they were rounded. ok is false where one is missing.
func (b *builder) allowed(check *matrix.ImportCheck, r *run, p *PhaseResult, inputs []string, places map[string]int) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for corner := range 1 << len(inputs) {
		values := map[string]cty.Value{}
		for i, name := range inputs {
			v := p.Printed[name]
			if !v.Known {
				return 0, 0, false
			}
			x := v.Number - v.halfUnit(places[name])
			if corner>>i&1 == 1 {
				x = v.Number + v.halfUnit(places[name])
			}
			values[name] = cty.NumberFloatVal(x)
		}
		extra := map[string]cty.Value{"col": cty.ObjectVal(values)}
		v, diags := b.in.Eval(check.Formula, r.scope(), extra, map[string]function.Function{"ratio": ratioFunction()})
		b.add(diags...)
		if diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.Number {
			return 0, 0, false
		}
		x, _ := v.AsBigFloat().Float64()
		low, high = min(low, x), max(high, x)
	}
	return low, high, true
}
