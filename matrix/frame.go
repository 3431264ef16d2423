package matrix

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A frame holds the values that a cell gives to the names of the language. As
// the evaluation of the cell goes on, more of them become known.
type frame struct {
	d         *decoder
	levels    []*levelBlock // by axis; nil where the cell has none
	cell      CellKey
	matrix    string
	server    *Server // nil until the server is known, or where the cell has none
	unsure    bool    // which server it is cannot be told, because of a fault
	params    []paramValue
	replicate int
	foreign   map[string]string // levels by axis that only an import knows

	// Something of the cell was lost, so that nothing can be told of what it
	// lacks or how it differs from others.
	open bool

	failed bool // whether an attribute had no value that can be used, since this was last set

	key []byte // scratch for the memo of expressions
}

// A paramValue is what is known of a param. Before its own expression was
// evaluated it is unknown, and whatever reads it stays unknown too.
type paramValue struct {
	value  cty.Value
	id     int32
	faulty bool // it has no value because of a fault
}

// Identities of values that are not interned. Interned ones are above 0.
const (
	idNull    int32 = 0
	idUnknown int32 = -1
)

// identify returns a number that stands for the value of a name.
func (f *frame) identify(r ref) int32 {
	switch r.root {
	case rootAxis, rootPos:
		if r.attr == "" {
			return f.d.internText(string(f.cell))
		}
		if name, ok := f.foreign[r.attr]; ok {
			return f.d.internText("level " + name)
		}
		return f.level(r.attr).identity()
	case rootLabel:
		if r.attr == "" {
			return f.d.internText(string(f.cell))
		}
		if name, ok := f.foreign[r.attr]; ok {
			return f.d.internText("level " + name)
		}
		if l := f.level(r.attr); l != nil {
			return f.d.intern(f.label(l))
		}
		return idNull
	case rootCell:
		return f.d.intern(f.cellValue(r.attr))
	case rootBuild:
		if f.unsure {
			return idUnknown
		}
		if f.server == nil {
			return idNull
		}
		return f.d.internText("server " + f.server.Name)
	case rootParam:
		if r.attr == "" {
			return f.d.intern(f.paramObject())
		}
		if i, ok := f.d.params[r.attr]; ok {
			return f.params[i].id
		}
	}
	return idNull // the same in all cells
}

func (d *decoder) internText(s string) int32 {
	id, ok := d.values[s]
	if !ok {
		id = int32(len(d.values) + 1)
		d.values[s] = id
	}
	return id
}

// absent reports whether the cell's server is not on this host, so that what hangs
// on its build is not known.
func (f *frame) absent() bool { return f.server != nil && f.server.Build.Absent != "" }

// level returns the cell's level on the named axis, or nil.
func (f *frame) level(axis string) *levelBlock {
	i, ok := f.d.axisIndex[axis]
	if !ok || f.levels == nil {
		return nil
	}
	return f.levels[i]
}

// context builds what an expression is evaluated in: the roots that it reads,
// each with the attributes that it reads.
func (f *frame) context(e *expression) *hcl.EvalContext {
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: unknownFunctions(f.d.functions, e.calls)}
	attrs := map[root]map[string]cty.Value{}
	for _, r := range e.refs {
		if r.attr == "" {
			attrs[r.root] = f.all(r.root)
			continue
		}
		if attrs[r.root] == nil {
			attrs[r.root] = map[string]cty.Value{}
		}
		if _, ok := attrs[r.root][r.attr]; !ok {
			attrs[r.root][r.attr] = f.valueIn(e, r)
		}
	}
	for r, a := range attrs {
		ctx.Variables[string(r)] = cty.ObjectVal(a)
	}
	if len(e.local) > 0 {
		locals := attrs[rootLocal]
		if locals == nil {
			locals = map[string]cty.Value{}
		}
		for _, name := range e.local {
			locals[name] = cty.DynamicVal
			if !e.faulty[ref{rootLocal, name}] {
				locals[name] = f.localValue(name)
			}
		}
		ctx.Variables[string(rootLocal)] = cty.ObjectVal(locals)
	}
	for name, v := range e.bound {
		ctx.Variables[name] = v
	}
	for r := range e.faulty {
		if r.attr == "" {
			ctx.Variables[string(r.root)] = cty.DynamicVal
		}
	}
	return ctx
}

// valueIn returns the value of a name that an expression reads: of one that is at
// fault in it, unknown.
func (f *frame) valueIn(e *expression, r ref) cty.Value {
	if e.faulty[r] {
		return cty.DynamicVal
	}
	return f.value(r)
}

// localValue evaluates a local in the frame; a faulty one is unknown, since its
// fault is reported once, at its own place.
func (f *frame) localValue(name string) cty.Value {
	l := f.d.locals[name]
	if l.compiled == nil {
		return cty.DynamicVal
	}
	o := l.compiled.eval(f)
	if o.diags.HasErrors() {
		f.d.faults.add(o.diags...)
		return cty.DynamicVal
	}
	return o.value
}

// value returns the value of a name.
func (f *frame) value(r ref) cty.Value {
	switch r.root {
	case rootVar:
		if v := f.d.variables[r.attr]; v != nil {
			return v.value
		}
		return cty.DynamicVal // the name is at fault
	case rootServer:
		return serverValue(f.d.servers[r.attr])
	case rootStorage:
		return storageValue(f.d.storages[r.attr])
	case rootHost:
		return f.d.hostValues()[r.attr]
	case rootAxis, rootLabel:
		return f.levelValue(r)
	case rootPos:
		if l := f.level(r.attr); l != nil && l.standIn {
			return cty.UnknownVal(cty.Number)
		} else if l != nil {
			return cty.NumberIntVal(int64(l.pos))
		}
		return cty.NullVal(cty.Number)
	case rootCell:
		return f.cellValue(r.attr)
	case rootBuild:
		return f.buildValue(r.attr)
	case rootParam:
		if i, ok := f.d.params[r.attr]; ok {
			return f.params[i].value
		}
	case rootLocal:
		return cty.DynamicVal // one in a cycle
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

// levelValue returns the name or the label of the cell's level on an axis.
func (f *frame) levelValue(r ref) cty.Value {
	if name, ok := f.foreign[r.attr]; ok {
		return cty.StringVal(name)
	}
	l := f.level(r.attr)
	switch {
	case l == nil:
		return cty.NullVal(cty.String)
	case l.standIn:
		return cty.UnknownVal(cty.String)
	case r.root == rootLabel:
		return f.label(l)
	}
	return cty.StringVal(l.name)
}

// all returns all attributes of a root.
func (f *frame) all(r root) map[string]cty.Value {
	names, _ := f.d.known(r)
	values := make(map[string]cty.Value, len(names))
	for _, name := range names {
		values[name] = f.value(ref{r, name})
	}
	return values
}

func (f *frame) paramObject() cty.Value { return cty.ObjectVal(f.all(rootParam)) }

// label returns how a level is called in labels, in this cell.
func (f *frame) label(l *levelBlock) cty.Value {
	if l.label == nil {
		return cty.StringVal(l.name)
	}
	saved := f.key
	f.key = nil
	o := l.label.eval(f)
	f.key = saved
	if !o.diags.HasErrors() && o.value.IsNull() {
		return cty.StringVal(l.name) // null is as if it were not written
	}
	v, d := asText(o, l.label)
	if d != nil {
		f.d.faults.addIn(f.cell, d...)
		return cty.StringVal(l.name)
	}
	return cty.StringVal(v)
}

func (f *frame) cellValue(attr string) cty.Value {
	switch attr {
	case "key":
		return cty.StringVal(string(f.cell))
	case "matrix":
		if f.matrix == "" {
			return cty.NullVal(cty.String)
		}
		return cty.StringVal(f.matrix)
	case "replicate":
		return cty.NumberIntVal(int64(f.replicate))
	}
	return cty.ObjectVal(map[string]cty.Value{
		"key": f.cellValue("key"), "matrix": f.cellValue("matrix"), "replicate": f.cellValue("replicate"),
	})
}

// buildValue returns a fact of the cell's server: null in a cell without one,
// unknown where no machine supplies it.
func (f *frame) buildValue(attr string) cty.Value {
	switch {
	case f.unsure:
		return cty.UnknownVal(cty.String)
	case f.server == nil:
		return cty.NullVal(cty.String)
	case attr == "name":
		return cty.StringVal(f.server.Name)
	case attr == "flavour":
		return textOrUnknown(f.server.Flavour)
	default:
		return textOrUnknown(f.server.version())
	}
}

func textOrUnknown(s string) cty.Value {
	if s == "" {
		return cty.UnknownVal(cty.String)
	}
	return cty.StringVal(s)
}
