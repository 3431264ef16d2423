package report

import (
	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// An Eval evaluates an expression of the definition for one row. extra are the
// names that a report adds (col, base), funcs its functions (at, base_at,
// ratio). The Eval method of matrix.Experiment is one.
type Eval func(expr hcl.Expression, scope *matrix.Scope, extra map[string]cty.Value, funcs map[string]function.Function) (cty.Value, hcl.Diagnostics)

// An Input is all that a report is made from.
type Input struct {
	Experiment *matrix.Experiment
	Cells      []*matrix.Cell // of the plan, in its order
	Attempts   []Attempt      // what was measured, in any order

	Eval Eval

	// Show is the source whose rows are shown (Own, the name of an import
	// block, or "all") in place of what the tables say; "" leaves it to them.
	Show string
}

// Build makes the report of an experiment: every table and text block of its
// definition, in source order. Faults of the definition are errors with their
// place; the document then lacks those blocks. What is doubtful about the
// numbers is no diagnostic: it stands under the tables.
func Build(in Input) (*Document, hcl.Diagnostics) {
	b := &builder{in: in, doc: &Document{}}
	return b.doc, b.diags
}

type builder struct {
	in    Input
	doc   *Document
	diags hcl.Diagnostics
}
