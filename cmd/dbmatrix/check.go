package main

import (
	"context"
	"fmt"

	"dbmatrix/executor"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// checker returns what judges the checks of phases by the record.
func checker(s *store.Store, p *matrix.Plan) func(context.Context, executor.CheckRequest) (string, error) {
	return func(ctx context.Context, c executor.CheckRequest) (string, error) {
		attempts, err := s.Results(ctx, p.Experiment.Name, store.Selection{
			Host: p.Host.ID, Cells: []matrix.CellKey{c.Run.Cell.Key}, All: true,
		})
		if err != nil {
			return "", fmt.Errorf("reading the results to be checked: %w", err)
		}
		for i := range attempts {
			if attempts[i].ID == c.Attempt {
				return judgeCheck(p.Experiment, c, &attempts[i])
			}
		}
		return "", fmt.Errorf("attempt %d is not in the record", c.Attempt)
	}
}

// judgeCheck evaluates a check over the results of an attempt. A condition over a
// number that is missing says no: what cannot be checked is not right.
func judgeCheck(exp *matrix.Experiment, c executor.CheckRequest, a *store.Attempt) (string, error) {
	names := checkNames(c, a)
	v, diags := exp.Eval(c.Check.Condition, matrix.ScopeOf(c.Run.Cell), names, nil)
	if diags.HasErrors() {
		return "", diags
	}
	if !v.IsKnown() {
		return "the condition is over a number that was not measured", nil
	}
	ok, err := convert.Convert(v, cty.Bool)
	if err != nil || ok.IsNull() {
		return "", fmt.Errorf("the condition is no true or false")
	}
	if ok.True() {
		return "", nil
	}
	message, diags := exp.Eval(c.Check.ErrorMessage, matrix.ScopeOf(c.Run.Cell), names, nil)
	if diags.HasErrors() || !message.IsKnown() || message.IsNull() || message.Type() != cty.String {
		return "the condition is false", nil
	}
	return message.AsString(), nil
}

// checkNames returns col: each column of the library by its token, as measured in
// the last iteration of the phase.
func checkNames(c executor.CheckRequest, a *store.Attempt) map[string]cty.Value {
	var metrics store.Metrics
	for _, p := range a.Phases {
		if p.Block != c.Phase.Block {
			continue
		}
		for _, it := range p.Iterations {
			if it.Number == 0 || it.Number == c.Phase.LastIteration() {
				metrics = it.Metrics.Join(metrics)
			}
		}
	}
	columns := map[string]cty.Value{}
	for _, spec := range report.Columns() {
		v := spec.Value(report.Metrics(metrics), 0)
		columns[spec.Token] = cty.UnknownVal(cty.Number)
		if v.Known {
			columns[spec.Token] = cty.NumberFloatVal(v.Number)
		}
	}
	return map[string]cty.Value{"col": cty.ObjectVal(columns)}
}
