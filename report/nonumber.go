package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// noNumber says why the expression of a column has no number for a run although
// all that it reads has one: what it divides by is 0, or the result is larger than
// any number.
func (tb *tableBuilder) noNumber(s *slot, r *run, c *column) string {
	formula := fmt.Sprintf("%s = %s", c.label, tb.b.sourceOf(c.value))
	if tb.b.sourceOf(c.value) == "" {
		formula = c.label
	}
	by, missing := tb.zeroDivisor(s, r, c)
	_, diags := tb.eval(c.value, s, r, c.reads, &measured{})
	switch {
	case missing:
		return "it is computed from a value that is missing"
	case by != "":
		return fmt.Sprintf("%s divides by %s, which is 0", formula, by)
	case diags.HasErrors():
		return fmt.Sprintf("%s has no value here: %s", formula, strings.TrimSuffix(diags.Errs()[0].(*hcl.Diagnostic).Detail, "."))
	}
	return formula + " has no number here: it is beyond the largest one"
}

// zeroDivisor looks for a division by 0 in the expression of a column and returns
// what divides there. missing says that a part of the expression has no value,
// whatever its operators do.
func (tb *tableBuilder) zeroDivisor(s *slot, r *run, c *column) (by string, missing bool) {
	node, ok := c.value.(hclsyntax.Node)
	if !ok {
		return "", false
	}
	// The visitor returns no diagnostics.
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if divisor := divisorOf(n); divisor != nil && by == "" && tb.isZero(divisor, s, r, c) {
			by = cmp.Or(tb.b.sourceOf(divisor), "what")
		}
		if read, ok := n.(*hclsyntax.ScopeTraversalExpr); ok && !missing {
			v, diags := tb.eval(read, s, r, c.reads, &measured{})
			missing = !diags.HasErrors() && (!v.IsKnown() || v.IsNull())
		}
		return nil
	})
	return by, missing && by == ""
}

// leavesNoRest reports whether the expression of a column takes the rest of a
// division by 0, which HCL says is what is divided.
func (tb *tableBuilder) leavesNoRest(s *slot, r *run, c *column) bool {
	node, ok := c.value.(hclsyntax.Node)
	if !ok {
		return false
	}
	found := false
	// The visitor returns no diagnostics.
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		e, ok := n.(*hclsyntax.BinaryOpExpr)
		found = found || ok && e.Op == hclsyntax.OpModulo && tb.isZero(e.RHS, s, r, c)
		return nil
	})
	return found
}

// undefined reports whether an expression failed for what it computes, such as
// 0 / 0, and for nothing else.
func undefined(diags hcl.Diagnostics) bool {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && (d.Summary != "Operation failed" || !strings.HasPrefix(d.Detail, "Error during operation: can't ")) {
			return false
		}
	}
	return true
}

// divisorOf returns what an expression divides by, or nil where it does not divide.
func divisorOf(n hclsyntax.Node) hclsyntax.Expression {
	switch e := n.(type) {
	case *hclsyntax.BinaryOpExpr:
		if e.Op == hclsyntax.OpDivide || e.Op == hclsyntax.OpModulo {
			return e.RHS
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "ratio" && len(e.Args) == 2 {
			return e.Args[1]
		}
	}
	return nil
}

func (tb *tableBuilder) isZero(expr hcl.Expression, s *slot, r *run, c *column) bool {
	v, diags := tb.eval(expr, s, r, c.reads, &measured{})
	v, _ = v.Unmark()
	return !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.Number && v.AsBigFloat().Sign() == 0
}

// infiniteText reports whether a text was made of a number that is infinite.
func infiniteText(text string) bool {
	if !strings.Contains(text, "Inf") {
		return false
	}
	return regexp.MustCompile(`(^|[^\pL\pN])[-+]Inf\b`).MatchString(text)
}

// missing says why a column has no value: what it needs was not recorded, or was
// and is 0 where the formula divides by it.
func (s *Spec) missing(m Metrics, divisor int) string {
	if divisor == 0 {
		divisor = s.Divisor
	}
	ones := slices.Clone(m)
	for i := range ones {
		if ones[i].Value == 0 {
			ones[i].Value = 1
		}
	}
	switch {
	case number(s.value(ones, float64(divisor))).Known: // only what is 0 stands in its way
		return fmt.Sprintf("%s = %s divides by 0", s.Token, s.Formula)
	case s.needs != "":
		return fmt.Sprintf("%s was not recorded: %s", s.Token, s.needs)
	}
	return s.Token + " was not recorded"
}
