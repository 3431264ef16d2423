package report

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// unitsOf finds sums, differences and comparisons in an expression that put numbers
// of two units together, such as rows a second and bytes. It knows the units of
// the library's columns; a product or a quotient can be a conversion and is of a
// unit that nothing tells.
func (tb *tableBuilder) unitsOf(expr hcl.Expression) (unit string, faults []unitFault) {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return tb.unitsOf(e.Expression)
	case *hclsyntax.UnaryOpExpr:
		return tb.unitsOf(e.Val)
	case *hclsyntax.BinaryOpExpr:
		left, faults := tb.unitsOf(e.LHS)
		right, more := tb.unitsOf(e.RHS)
		faults = append(faults, more...)
		if !sameUnit(e.Op) {
			return "", faults
		}
		if left != "" && right != "" && left != right {
			faults = append(faults, unitFault{left, right, e.SrcRange})
		}
		if e.Op == hclsyntax.OpAdd || e.Op == hclsyntax.OpSubtract {
			unit = left
		}
		return unit, faults
	case *hclsyntax.ConditionalExpr:
		for _, part := range []hcl.Expression{e.Condition, e.FalseResult, e.TrueResult} {
			var more []unitFault
			unit, more = tb.unitsOf(part)
			faults = append(faults, more...)
		}
		return unit, faults
	case *hclsyntax.FunctionCallExpr:
		for _, arg := range e.Args {
			_, more := tb.unitsOf(arg)
			faults = append(faults, more...)
		}
		return "", faults
	case *hclsyntax.ScopeTraversalExpr:
		return tb.unitOfName(e.Traversal), nil
	}
	return "", nil
}

// A unitFault is where numbers of two units meet.
type unitFault struct {
	left, right string
	at          hcl.Range
}

// sameUnit reports whether both sides of an operator must be of one unit.
func sameUnit(op *hclsyntax.Operation) bool {
	return slices.Contains([]*hclsyntax.Operation{
		hclsyntax.OpAdd, hclsyntax.OpSubtract, hclsyntax.OpLessThan, hclsyntax.OpLessThanOrEqual, hclsyntax.OpGreaterThan,
		hclsyntax.OpGreaterThanOrEqual, hclsyntax.OpEqual, hclsyntax.OpNotEqual,
	}, op)
}

// unitOfName returns the unit of a column that is read as col["name"] or
// base["name"]; "" is one that is not known.
func (tb *tableBuilder) unitOfName(t hcl.Traversal) string {
	name, ok := attribute(t)
	if root := t.RootName(); !ok || root != "col" && root != "base" {
		return ""
	}
	c := tb.byLabel[name]
	spec := tb.b.library.Lookup(name)
	if token, _, _, split := tb.b.splitToken(name); spec == nil && split {
		spec = tb.b.library.Lookup(token)
	}
	if c != nil {
		spec = c.spec
	}
	if spec == nil || c != nil && (c.computed() || c.relative || c.template != nil) {
		return ""
	}
	return spec.Unit
}

// checkUnits faults the columns whose values mix units.
func (tb *tableBuilder) checkUnits() bool {
	good := true
	for _, c := range tb.columns {
		if !c.computed() {
			continue
		}
		_, faults := tb.unitsOf(c.value)
		for _, f := range faults {
			tb.b.fault(f.at, "Numbers of different units", "The value of column %q puts %s and %s together. Convert one of them by a product or a quotient first.", c.label, f.left, f.right)
			good = false
		}
	}
	return good
}
