package matrix

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A local is a named expression. It is evaluated wherever all that it refers to
// is known.
type local struct {
	name     string
	expr     hcl.Expression
	rng      hcl.Range
	step     step        // the first at which it can be evaluated
	latest   string      // the name that it waits for
	compiled *expression // nil: the local is at fault, and unknown
	done     bool
	cyclic   bool // it leads into a cycle
}

func sortedAttrs(set hcl.Attributes) []*hcl.Attribute {
	list := make([]*hcl.Attribute, 0, len(set))
	for _, a := range set {
		list = append(list, a)
	}
	sort.Slice(list, func(i, j int) bool { return before(&list[i].NameRange, &list[j].NameRange) })
	return list
}

// decodeLocals declares the locals, finds the step of each and reports cycles.
func (d *decoder) decodeLocals(blocks hcl.Blocks) {
	for _, b := range blocks {
		set, diags := b.Body.JustAttributes()
		d.faults.add(diags...)
		for _, attr := range sortedAttrs(set) {
			if prior, dup := d.locals[attr.Name]; dup {
				d.faults.add(duplicate("local", attr.Name, attr.NameRange, prior.rng))
				continue
			}
			d.locals[attr.Name] = &local{name: attr.Name, expr: attr.Expr, rng: attr.NameRange}
		}
	}
	for _, l := range d.localsInOrder() {
		d.resolveLocal(l, nil)
	}
	for _, l := range d.localsInOrder() {
		d.checkLocal(l)
	}
}

// checkLocal reports what a local refers to that is not there. The names of
// servers, axes and params are not gathered yet: checkLocalNames comes later.
func (d *decoder) checkLocal(l *local) {
	found := d.checkFunctions(l.expr, l.step)
	for _, t := range l.expr.Variables() {
		r, _ := refOf(t)
		_, isRoot := rootSteps[r.root]
		if isRoot && r.root != rootVar && r.root != rootLocal && r.root != rootHost {
			continue
		}
		if g := d.checkTraversal(t, l.step, nil); g != nil {
			g.Expression = l.expr
			found = append(found, g)
		}
	}
	d.faults.add(found...)
	if len(found) == 0 && !l.cyclic {
		l.compiled = d.compile(l.expr, nil)
	}
}

// checkLocalNames reports what locals refer to among the names that are
// gathered after them.
func (d *decoder) checkLocalNames() {
	for _, l := range d.localsInOrder() {
		d.faults.add(d.check(l.expr, l.step)...)
		sound := d.checkComparisons(l.expr)
		if l.compiled != nil {
			l.compiled.unknown = !sound
			d.blame(l.compiled, l.step, nil)
		}
	}
}

func (d *decoder) localsInOrder() []*local {
	list := make([]*local, 0, len(d.locals))
	for _, l := range d.locals {
		list = append(list, l)
	}
	sort.Slice(list, func(i, j int) bool { return before(&list[i].rng, &list[j].rng) })
	return list
}

// resolveLocal finds the step of a local, depth first. path holds the locals on
// the way to it. It reports whether the local leads into a cycle.
func (d *decoder) resolveLocal(l *local, path []string) bool {
	for i, name := range path {
		if name == l.name {
			cycle := append(append([]string{}, path[i:]...), l.name)
			d.faults.add(fault(l.rng, "Locals in a cycle", "local.%s. A local cannot depend on itself.", strings.Join(cycle, " -> local.")))
			return true
		}
	}
	if l.done {
		return l.cyclic
	}
	path = append(path, l.name)
	for _, t := range l.expr.Variables() {
		r, _ := refOf(t)
		at, latest := rootSteps[r.root], r.String()
		if r == (ref{rootCell, "replicate"}) {
			at = stepParam
		}
		if next := d.locals[r.attr]; r.root == rootLocal && next != nil {
			if d.resolveLocal(next, path) {
				l.done, l.cyclic = true, true
				return true
			}
			at, latest = next.step, next.latest
		}
		if at > l.step {
			l.step, l.latest = at, latest
		}
	}
	l.done = true
	return false
}

// checkDynamic reports for_each and labels of dynamic blocks that read names
// which are not known when blocks are expanded. It reports whether it is known what
// each makes.
func (d *decoder) checkDynamic() (known bool) {
	known = true
	for _, name := range d.src.names {
		if body, ok := d.src.files[name].Body.(*hclsyntax.Body); ok {
			known = d.checkDynamicIn(body, nil) && known
		}
	}
	return known
}

func (d *decoder) checkDynamicIn(body *hclsyntax.Body, iterators []string) (known bool) {
	known = true
	for _, b := range body.Blocks {
		inner := iterators
		if b.Type == "dynamic" && len(b.Labels) == 1 {
			iterator, ok := d.checkDynamicBlock(b, iterators)
			known = known && ok
			inner = append(append([]string{}, iterators...), iterator)
		}
		known = d.checkDynamicIn(b.Body, inner) && known
	}
	return known
}

// checkDynamicBlock checks one dynamic block and returns the name of its iterator,
// and whether it is known what the block makes.
func (d *decoder) checkDynamicBlock(b *hclsyntax.Block, iterators []string) (iterator string, known bool) {
	iterator, known = b.Labels[0], true
	if attr := b.Body.Attributes["iterator"]; attr != nil {
		if name := hcl.ExprAsKeyword(attr.Expr); name != "" {
			iterator = name
		}
	}
	if attr := b.Body.Attributes["for_each"]; attr != nil {
		known = d.checkStatic(attr.Expr, iterators, "for_each")
	}
	if attr := b.Body.Attributes["labels"]; attr != nil {
		known = d.checkStatic(attr.Expr, append(append([]string{}, iterators...), iterator), "labels") && known
	}
	return iterator, known
}

// checkStatic checks the names in an expression of a dynamic block. Those of
// servers and storages are declared by blocks that may be dynamic themselves,
// and are left to the evaluation. It reports whether the expression has a value.
func (d *decoder) checkStatic(expr hcl.Expression, extra []string, what string) (known bool) {
	var found []*hcl.Diagnostic
	for _, t := range expr.Variables() {
		if r := root(t.RootName()); r == rootServer || r == rootStorage {
			continue
		}
		if g := d.checkTraversal(t, stepStatic, extra); g != nil {
			g.Detail += fmt.Sprintf(" (A dynamic block's %s must be known before there are cells.)", what)
			found = append(found, g)
		}
	}
	d.faults.add(found...)
	return len(found) == 0 && !(&frame{d: d}).excuses(d.compile(expr, nil))
}
