package matrix

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A step is a point in the evaluation of a cell. An expression sees the names
// of its own step and of those before it.
type step int

const (
	stepStatic  step = iota // var, local, server, storage, host
	stepCell                // axis, label, pos, cell.key, cell.matrix
	stepBuild               // build
	stepParam               // param, cell.replicate
	stepReport              // what a report adds: col, base
	stepUnknown step = -1
)

// A root is a name at which a reference starts.
type root string

const (
	rootVar     root = "var"
	rootLocal   root = "local"
	rootServer  root = "server"
	rootStorage root = "storage"
	rootHost    root = "host"
	rootAxis    root = "axis"
	rootLabel   root = "label"
	rootPos     root = "pos"
	rootCell    root = "cell"
	rootBuild   root = "build"
	rootParam   root = "param"
)

// rootSteps says from which step on a root is known. A local is known where all
// that it refers to is.
var rootSteps = map[root]step{
	rootVar: stepStatic, rootLocal: stepStatic, rootServer: stepStatic, rootStorage: stepStatic, rootHost: stepStatic,
	rootAxis: stepCell, rootLabel: stepCell, rootPos: stepCell, rootCell: stepCell,
	rootBuild: stepBuild,
	rootParam: stepParam,
}

// fixedNames are the attributes of the roots that no definition adds to.
var fixedNames = map[root][]string{
	rootHost:  {"cpus", "memory"},
	rootCell:  {"key", "matrix", "replicate"},
	rootBuild: {"name", "flavour", "version"},
}

// where says at which step a root's names are known, for messages.
var where = map[step]string{
	stepCell:  "it is known once a cell's levels are, in options, params, labels, exclude and phases",
	stepBuild: "it is known once a cell's server is, in params, options and phases",
	stepParam: "it is known once a cell's params are, in options, env, setup, when, iterations and workloads",
}

// A ref is a name that an expression reads: an attribute of a root, or with an
// empty attribute the root as a whole.
type ref struct {
	root root
	attr string
}

func (r ref) String() string {
	if r.attr == "" {
		return string(r.root)
	}
	return string(r.root) + "." + r.attr
}

// refOf returns the name that a traversal reads and the place of its attribute.
func refOf(t hcl.Traversal) (ref, hcl.Range) {
	r := ref{root: root(t.RootName())}
	if len(t) < 2 {
		return r, t.SourceRange()
	}
	switch a := t[1].(type) {
	case hcl.TraverseAttr:
		r.attr = a.Name
		return r, a.SrcRange
	case hcl.TraverseIndex:
		if a.Key.Type().FriendlyName() == "string" && a.Key.IsKnown() && !a.Key.IsNull() {
			r.attr = a.Key.AsString()
			return r, a.SrcRange
		}
	}
	return r, t.SourceRange()
}

// known returns the attributes that the definition gives to a root, sorted.
// open is true where they cannot be listed before cells are evaluated.
func (d *decoder) known(r root) (names []string, open bool) {
	switch r {
	case rootVar:
		names = keys(d.variables)
	case rootLocal:
		names = keys(d.locals)
	case rootServer:
		names = keys(d.servers)
	case rootStorage:
		names = keys(d.storages)
	case rootAxis, rootLabel, rootPos:
		for _, a := range d.axes {
			names = append(names, a.name)
		}
	case rootParam:
		return keys(d.params), d.openParams
	default:
		names = fixedNames[r]
	}
	return names, false
}

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// check reports the references of an expression that name nothing, or nothing
// that is known at the given step. extra are roots beyond the language's own.
func (d *decoder) check(expr hcl.Expression, at step, extra ...string) []*hcl.Diagnostic {
	var faults []*hcl.Diagnostic
	for _, t := range expr.Variables() {
		if d := d.checkTraversal(t, at, extra); d != nil {
			d.Expression = expr
			faults = append(faults, d)
		}
	}
	return append(faults, d.checkFunctions(expr, at)...)
}

// reportFunctions are what a report adds to the functions of the language.
var reportFunctions = []string{"at", "base_at", "fact", "ratio"}

// checkFunctions reports calls of functions that there are not. The evaluation
// would report them too, but not inside try() and can(), and not before there are
// results in the expressions of a report.
func (d *decoder) checkFunctions(expr hcl.Expression, at step) []*hcl.Diagnostic {
	var diags []*hcl.Diagnostic
	for _, call := range d.unknownCalls(expr, at) {
		names := keys(d.functions)
		if at == stepReport {
			names = append(names, reportFunctions...)
		}
		detail := fmt.Sprintf("There is no function %s().", call.Name)
		if near := nearest(call.Name, names); near != "" {
			detail += fmt.Sprintf(" Did you mean %s()?", near)
		} else {
			detail += " `dbmatrix functions` lists those that there are."
		}
		diags = append(diags, fault(call.NameRange, "Unknown function", "%s", detail))
	}
	return diags
}

// unknownCalls returns the calls of functions that there are not.
func (d *decoder) unknownCalls(expr hcl.Expression, at step) []*hclsyntax.FunctionCallExpr {
	native := nativeOf(expr)
	if native == nil {
		return nil
	}
	var calls []*hclsyntax.FunctionCallExpr
	// The visitor returns no diagnostics.
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return nil
		}
		_, known := d.functions[call.Name]
		if !known && !(at == stepReport && slices.Contains(reportFunctions, call.Name)) {
			calls = append(calls, call)
		}
		return nil
	})
	return calls
}

// nativeOf returns an expression as it was parsed, or nil.
func nativeOf(expr hcl.Expression) hclsyntax.Expression {
	native, _ := hcl.UnwrapExpressionUntil(expr, func(e hcl.Expression) bool {
		_, ok := e.(hclsyntax.Expression)
		return ok
	}).(hclsyntax.Expression)
	return native
}

func (d *decoder) checkTraversal(t hcl.Traversal, at step, extra []string) *hcl.Diagnostic {
	r, rng := refOf(t)
	for _, name := range extra {
		if string(r.root) == name {
			return nil
		}
	}
	from, isRoot := rootSteps[r.root]
	if !isRoot {
		return d.unknownRoot(t, at, extra)
	}
	if r == (ref{rootCell, "replicate"}) {
		from = stepParam
	}
	if from > at {
		return fault(t.SourceRange(), "Name not known yet", "%s has no value at this place: %s.", r, where[from])
	}
	if r.attr == "" {
		return nil
	}
	names, open := d.known(r.root)
	for _, name := range names {
		if name == r.attr {
			return d.checkLocalStep(r, t, at)
		}
	}
	if open || d.mayBe(kinds[r.root], r.attr) {
		return nil
	}
	if r.root == rootServer && d.opts.Recorded != nil && d.opts.Recorded(d.src.dir) {
		d.servers[r.attr] = &Server{Name: r.attr, Range: rng}
		d.faults.add(warning(rng, "Build not on this host", "There is no %s here; what is on record of it is shown as it was measured. --machine FILE names the machine file that has it.", r))
		return nil
	}
	detail := fmt.Sprintf("There is no %s.%s%s", r.root, r.attr, alternatives(r.attr, string(r.root), names))
	if r.root == rootServer && nearest(r.attr, names) == "" {
		detail += " Builds are named in a machine file: machine.hcl above the experiment, or --machine FILE."
	}
	return fault(rng, "Unknown name", "%s", detail)
}

// checkLocalStep reports a local that reads names which are not known yet.
func (d *decoder) checkLocalStep(r ref, t hcl.Traversal, at step) *hcl.Diagnostic {
	if r.root != rootLocal {
		return nil
	}
	l := d.locals[r.attr]
	if l.step <= at {
		return nil
	}
	return fault(t.SourceRange(), "Name not known yet", "local.%s reads %s, which has no value at this place: %s.",
		r.attr, l.latest, where[l.step])
}

// elsewhere tells of names that are known only at some places.
var elsewhere = map[string]string{
	"col":   "col is a name of the report: tables, charts, texts and checks know it.",
	"base":  "base is a name of the report: the columns of tables know it.",
	"level": "level is known in an axis that has `levels = [...]`, where it is the element of that list. Elsewhere axis.NAME is the name of the cell's level.",
}

func (d *decoder) unknownRoot(t hcl.Traversal, at step, extra []string) *hcl.Diagnostic {
	name := t.RootName()
	var names []string
	for r, s := range rootSteps {
		if s <= at {
			names = append(names, string(r))
		}
	}
	names = append(names, extra...)
	sort.Strings(names)
	detail := fmt.Sprintf("There is no name %q here.", name)
	if why := elsewhere[name]; why != "" {
		detail = why
	} else if near := nearest(name, names); near != "" {
		detail += fmt.Sprintf(" Did you mean %q?", near)
	} else {
		detail += fmt.Sprintf(" The names at this place are %s; a text needs quotes.", list(names))
	}
	return fault(t.SourceRange(), "Unknown name", "%s", detail)
}

// alternatives ends a sentence about an unknown name: with the nearest known
// one, else with all of them.
func alternatives(name, prefix string, names []string) string {
	if prefix != "" {
		prefix += "."
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf(". Did you mean %s%s?", prefix, near)
	}
	if len(names) == 0 {
		return ": none is declared."
	}
	return fmt.Sprintf(". There are: %s.", list(names))
}

// maxListed bounds how many names a message lists.
const maxListed = 12

// list joins names for a message.
func list(names []string) string {
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}
