package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A definition with faults is judged to its end, so that all of them are told at
// once, and none that only follows from another:
//
//   - An argument or block whose name is near one that there is stands for that
//     one. One that is near none is lost, and so is an argument whose value
//     cannot be read: a block that lost something is open, and nothing is told
//     of what it lacks or how it differs from others.
//   - A name, function or variable that is at fault is unknown, and so is all
//     that is computed from it. What is unknown for such a reason is no fault.
//   - A cell or phase that may not be there at all, since the condition that
//     says so is at fault, counts only with what all such have in common.

// correct gives an argument or a block whose name is not known to a schema the name
// that its writer was told of. It reports whether there is one. What is written as an
// argument and is the name of a block is none.
func (d *decoder) correct(diag *hcl.Diagnostic, schema *hcl.BodySchema) bool {
	if diag.Subject == nil || diag.Summary != "Unsupported argument" && diag.Summary != "Unsupported block type" && diag.Summary != "Unknown axis" {
		return false
	}
	if slices.ContainsFunc(schema.Blocks, func(b hcl.BlockHeaderSchema) bool {
		return strings.Contains(diag.Detail, fmt.Sprintf("named %q", b.Type))
	}) {
		return false
	}
	_, rest, _ := strings.Cut(diag.Detail, "Did you mean ")
	name, _, _ := strings.Cut(rest, "?")
	name = strings.Trim(name, `"`)
	return hclsyntax.ValidIdentifier(name) && d.src.rename(*diag.Subject, name)
}

// correctBlocks does so for the blocks of the files themselves, before the first
// of them is decoded.
func (d *decoder) correctBlocks() {
	schema := with(experimentFileSchema(), block("dynamic", "type"))
	_, diags := d.src.raw().Content(schema)
	for _, diag := range diags {
		if diag.Summary == "Unsupported block type" && d.correct(diag, schema) {
			d.faults.add(diag)
		} else {
			d.lose(diag)
		}
	}
}

// rename gives the argument or block whose name stands at a place another name,
// unless that is taken.
func (s *source) rename(at hcl.Range, name string) bool {
	for _, file := range s.files {
		if body, ok := file.Body.(*hclsyntax.Body); ok && renameIn(body, at, name) {
			return true
		}
	}
	return false
}

func renameIn(body *hclsyntax.Body, at hcl.Range, name string) bool {
	for old, attr := range body.Attributes {
		if attr.NameRange != at {
			continue
		}
		if body.Attributes[name] != nil {
			return false
		}
		delete(body.Attributes, old)
		attr.Name = name
		body.Attributes[name] = attr
		return true
	}
	for _, b := range body.Blocks {
		if b.TypeRange == at {
			b.Type = name
			return true
		}
		if renameIn(b.Body, at, name) {
			return true
		}
	}
	return false
}

// lose notes what a body holds beside what its schema names, and what that may
// have declared.
func (d *decoder) lose(diag *hcl.Diagnostic) {
	d.losses++
	if kind, ok := strings.CutPrefix(diag.Summary, "Missing name for "); ok {
		d.nameless[kind] = true
	}
	if diag.Subject == nil {
		return
	}
	for _, name := range d.src.names {
		body, ok := d.src.files[name].Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		for _, a := range body.Attributes {
			if a.NameRange == *diag.Subject {
				d.lost[a.Name] = true
				d.lostBlocks = d.lostBlocks || slices.Contains(overlayAttrs, a.Name)
			}
		}
		for _, b := range body.Blocks {
			if b.TypeRange == *diag.Subject || b.OpenBraceRange == *diag.Subject || slices.Contains(b.LabelRanges, *diag.Subject) {
				for _, label := range b.Labels {
					d.lost[label] = true
				}
				d.lostBlocks = d.lostBlocks || makesCells(b)
			}
		}
	}
}

// makesCells reports whether a block looks like one that has a part in what cells
// there are and what they run, whatever it is called.
func makesCells(b *hclsyntax.Block) bool {
	if b.Type == "matrix" || b.Type == "exclude" {
		return true
	}
	for name := range b.Body.Attributes {
		if name == "levels" || slices.Contains(overlayAttrs, name) {
			return true
		}
	}
	return slices.ContainsFunc(b.Body.Blocks, func(inner *hclsyntax.Block) bool { return inner.Type == "level" || inner.Type == "workload" })
}

// mayBe reports whether something of a kind (of blocks) that is not declared may
// have been lost with what is at fault.
func (d *decoder) mayBe(kind, name string) bool { return d.lost[name] || d.nameless[kind] }

// kinds are the blocks that declare the names of roots.
var kinds = map[root]string{
	rootVar: "variable", rootServer: "server", rootStorage: "storage", rootAxis: "axis", rootLabel: "axis", rootPos: "axis",
}

// compileAt compiles an expression of a step. Names that are at fault are told, and
// unknown when it is evaluated.
func (d *decoder) compileAt(expr hcl.Expression, at step, bound map[string]cty.Value) *expression {
	extra := keys(bound)
	found := d.check(expr, at, extra...)
	d.faults.add(found...)
	sound := d.checkComparisons(expr)
	e := d.compile(expr, bound)
	e.unknown = !sound
	if len(found) > 0 || len(d.lost)+len(d.nameless) > 0 {
		d.blame(e, at, extra)
	}
	return e
}

// blame notes the names and functions that are at fault in an expression.
func (d *decoder) blame(e *expression, at step, extra []string) {
	for _, t := range e.Variables() {
		if d.checkTraversal(t, at, extra) != nil || d.missing(t, extra) {
			if e.faulty == nil {
				e.faulty = map[ref]bool{}
			}
			r, _ := refOf(t)
			e.faulty[r] = true
		}
	}
	for _, call := range d.unknownCalls(e.Expression, at) {
		e.calls = append(e.calls, call.Name)
	}
}

// missing reports whether a name is not declared, though nothing was told of it: it
// may have been lost.
func (d *decoder) missing(t hcl.Traversal, extra []string) bool {
	r, _ := refOf(t)
	if _, isRoot := rootSteps[r.root]; !isRoot || r.attr == "" || slices.Contains(extra, string(r.root)) {
		return false
	}
	names, open := d.known(r.root)
	return !open && !slices.Contains(names, r.attr)
}

// atFault reports whether the expression has no value, or not all of it, because of
// faults of its own.
func (e *expression) atFault() bool { return e.unknown || len(e.faulty) > 0 || len(e.calls) > 0 }

// excuses reports whether an expression reads what has no value because of a
// fault: what is unknown of it is none.
func (f *frame) excuses(e *expression) bool {
	if e.atFault() || slices.ContainsFunc(slices.Collect(maps.Values(e.bound)), func(v cty.Value) bool { return !v.IsWhollyKnown() }) {
		return true
	}
	for _, name := range e.local {
		if l := f.d.locals[name]; l.compiled == nil || l.compiled.eval(f).diags.HasErrors() || f.excuses(l.compiled) {
			return true
		}
	}
	return slices.ContainsFunc(e.refs, f.faulty)
}

// faulty reports whether a name has no value because of a fault.
func (f *frame) faulty(r ref) bool {
	switch r.root {
	case rootLocal:
		return true // only those in a cycle are among the references
	case rootBuild:
		return f.unsure
	case rootAxis, rootLabel, rootPos:
		return slices.ContainsFunc(f.levels, func(l *levelBlock) bool {
			return l != nil && l.standIn && (r.attr == "" || l.axis.name == r.attr)
		})
	case rootParam:
		i, ok := f.d.params[r.attr]
		return ok && i < len(f.params) && f.params[i].faulty ||
			r.attr == "" && slices.ContainsFunc(f.params, func(p paramValue) bool { return p.faulty })
	case rootVar:
		v := f.d.variables[r.attr]
		return v != nil && !v.value.IsWhollyKnown() ||
			r.attr == "" && slices.ContainsFunc(slices.Collect(maps.Values(f.d.variables)), func(v *variable) bool { return !v.value.IsWhollyKnown() })
	}
	return false
}

// unknownFunctions returns the functions with those beside them that there are not,
// whose results are unknown.
func unknownFunctions(all map[string]function.Function, names []string) map[string]function.Function {
	if len(names) == 0 {
		return all
	}
	unknown := map[string]function.Function{}
	for _, name := range names {
		unknown[name] = function.New(&function.Spec{
			VarParam: &function.Parameter{Name: "any", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
			Type:     function.StaticReturnType(cty.DynamicPseudoType),
			Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
		})
	}
	return withFunctions(all, unknown)
}

// mentioned returns the params that anything in the files names, by their own name
// or one near it; all is true where a name may stand for any.
func (d *decoder) mentioned() (names map[string]bool, all bool) {
	names = map[string]bool{}
	known, roots := keys(d.params), rootNames()
	for _, file := range d.src.files {
		body, ok := file.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		// The visitor returns no diagnostics.
		_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
			e, ok := n.(*hclsyntax.ScopeTraversalExpr)
			if !ok || e.Traversal.IsRelative() {
				return nil
			}
			r, _ := refOf(e.Traversal)
			if _, isRoot := rootSteps[r.root]; !isRoot {
				r.root = root(nearest(string(r.root), roots))
			}
			if r.root != rootParam {
				return nil
			}
			if _, declared := d.params[r.attr]; !declared {
				r.attr = nearest(r.attr, known)
			}
			names[r.attr] = true
			return nil
		})
	}
	return names, names[""]
}

// forget drops diagnostics that were told before.
func (f *faults) forget(told map[faultKey]*foldedFault) {
	f.order = slices.DeleteFunc(f.order, func(key faultKey) bool { return told[key] != nil })
}

// rootNames returns the roots, sorted.
func rootNames() []string {
	var names []string
	for r := range rootSteps {
		names = append(names, string(r))
	}
	slices.Sort(names)
	return names
}

// A doubt holds the faults of cells, or of phases of cells, that may not be there.
type doubt struct {
	faults
	cells int // in which it was looked for faults
}

// inDoubt returns where the faults of something go that may not be there in a
// cell.
func (d *decoder) inDoubt(what string) *faults {
	if d.doubts == nil {
		d.doubts = map[string]*doubt{}
	}
	if d.doubts[what] == nil {
		d.doubts[what] = &doubt{}
	}
	d.doubts[what].cells++
	return &d.doubts[what].faults
}

// settle takes over, of the faults of what may not be there, those that all of it
// has in common.
func (d *decoder) settle() {
	for _, what := range keys(d.doubts) {
		doubt := d.doubts[what]
		for _, key := range doubt.order {
			if folded := doubt.found[key]; (folded.cells == doubt.cells || folded.cells == 0) && d.faults.found[key] == nil {
				d.faults.take(key, folded)
			}
		}
	}
	d.doubts = nil
}

// take records a fault with the cells that it was found in.
func (f *faults) take(key faultKey, folded *foldedFault) {
	if f.found == nil {
		f.found = map[faultKey]*foldedFault{}
	}
	f.found[key] = folded
	f.order = append(f.order, key)
	f.added++
}
