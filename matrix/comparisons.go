package matrix

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// checkComparisons reports comparisons of axis.x with a literal that no level of
// x equals. They are never true, and nothing else would say so.
func (d *decoder) checkComparisons(expr hcl.Expression) (sound bool) {
	native := nativeOf(expr)
	if native == nil {
		return true
	}
	diags := hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		op, ok := n.(*hclsyntax.BinaryOpExpr)
		if !ok || op.Op != hclsyntax.OpEqual && op.Op != hclsyntax.OpNotEqual {
			return nil
		}
		found := d.checkComparison(op.LHS, op.RHS)
		if found == nil {
			found = d.checkComparison(op.RHS, op.LHS)
		}
		if found == nil {
			return nil
		}
		return hcl.Diagnostics{found}
	})
	d.faults.add(diags...)
	return len(diags) == 0
}

func (d *decoder) checkComparison(side, other hclsyntax.Expression) *hcl.Diagnostic {
	a := d.axisOf(side)
	if a == nil {
		return d.checkMatrixName(side, other)
	}
	v, ok := literal(other)
	if !ok || v.IsNull() {
		return nil
	}
	if v.Type() != cty.String {
		return fault(other.Range(), "Comparison that is never true",
			"axis.%s is the name of a level, a text; %s is none. Write it in quotes.", a.name, show(v))
	}
	if _, ok := a.index[v.AsString()]; ok || a.open {
		return nil
	}
	return fault(other.Range(), "No such level", "The axis %q has no level %q, so the comparison would always end the same way%s",
		a.name, v.AsString(), alternatives(v.AsString(), "", a.names()))
}

// checkMatrixName is the same for cell.matrix.
func (d *decoder) checkMatrixName(side, other hclsyntax.Expression) *hcl.Diagnostic {
	t, ok := unparen(side).(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(t.Traversal) != 2 {
		return nil
	}
	if r, _ := refOf(t.Traversal); r != (ref{rootCell, "matrix"}) {
		return nil
	}
	v, ok := literal(other)
	if !ok || v.IsNull() || v.Type() != cty.String {
		return nil
	}
	var names []string
	for _, m := range d.matrices {
		names = append(names, m.name)
	}
	if slices.Contains(names, v.AsString()) || d.mayBe("matrix", v.AsString()) {
		return nil
	}
	return fault(other.Range(), "No such matrix", "There is no matrix %q, so the comparison would always end the same way%s", v.AsString(), alternatives(v.AsString(), "", names))
}

// axisOf returns the axis that an expression names as axis.x, or nil.
func (d *decoder) axisOf(expr hclsyntax.Expression) *axisBlock {
	t, ok := unparen(expr).(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return nil
	}
	r, _ := refOf(t.Traversal)
	if r.root != rootAxis || len(t.Traversal) != 2 {
		return nil
	}
	i, ok := d.axisIndex[r.attr]
	if !ok {
		return nil
	}
	return d.axes[i]
}

func unparen(expr hclsyntax.Expression) hclsyntax.Expression {
	for {
		p, ok := expr.(*hclsyntax.ParenthesesExpr)
		if !ok {
			return expr
		}
		expr = p.Expression
	}
}

// literal returns the value of an expression that is written out.
func literal(expr hclsyntax.Expression) (cty.Value, bool) {
	expr = unparen(expr)
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return e.Val, true
	case *hclsyntax.TemplateExpr:
		if !e.IsStringLiteral() {
			return cty.NilVal, false
		}
		v, diags := e.Value(nil)
		return v, !diags.HasErrors()
	}
	return cty.NilVal, false
}
