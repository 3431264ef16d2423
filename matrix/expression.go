package matrix

import (
	"encoding/binary"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// An expression is evaluated once for each distinct combination of the values
// that it reads, however many cells there are.
type expression struct {
	hcl.Expression
	refs  []ref // what it reads, locals followed to what they read; sorted
	local []string
	bound map[string]cty.Value // names beyond the roots, such as level
	memo  map[string]*outcome
}

// An outcome is what an expression gave for one combination.
type outcome struct {
	value cty.Value
	diags hcl.Diagnostics
	id    int32 // equal for equal values
}

// compile prepares an expression whose references were checked.
func (d *decoder) compile(expr hcl.Expression, bound map[string]cty.Value) *expression {
	e := &expression{Expression: expr, bound: bound, memo: map[string]*outcome{}}
	seen, locals := map[ref]bool{}, map[string]bool{}
	d.collect(expr, bound, seen, locals)
	for r := range seen {
		e.refs = append(e.refs, r)
	}
	sort.Slice(e.refs, func(i, j int) bool { return e.refs[i].String() < e.refs[j].String() })
	e.local = keys(locals)
	d.note(e.refs)
	return e
}

// collect gathers what an expression reads. A local stands for what it reads.
func (d *decoder) collect(expr hcl.Expression, bound map[string]cty.Value, seen map[ref]bool, locals map[string]bool) {
	for _, t := range expr.Variables() {
		r, _ := refOf(t)
		if _, ok := bound[string(r.root)]; ok {
			continue
		}
		if r.root != rootLocal {
			seen[r] = true
			continue
		}
		names := []string{r.attr}
		if r.attr == "" {
			names = keys(d.locals)
		}
		for _, name := range names {
			l := d.locals[name]
			if l == nil || locals[name] {
				continue
			}
			locals[name] = true
			d.collect(l.expr, nil, seen, map[string]bool{})
		}
	}
}

// note remembers which names anything reads, for the axes and params that
// nothing does.
func (d *decoder) note(refs []ref) {
	for _, r := range refs {
		d.read[r] = true
	}
}

// reads reports whether the expression reads the name, or its root as a whole.
func (e *expression) reads(r ref) bool {
	for _, have := range e.refs {
		if have == r || have.root == r.root && have.attr == "" {
			return true
		}
	}
	return false
}

// eval returns the expression's outcome in a frame.
func (e *expression) eval(f *frame) *outcome {
	f.key = f.key[:0]
	for _, r := range e.refs {
		f.key = binary.LittleEndian.AppendUint32(f.key, uint32(f.identify(r)))
	}
	if o, ok := e.memo[string(f.key)]; ok {
		return o
	}
	key := string(f.key) // the evaluation of locals uses the buffer too
	value, diags := e.Value(f.context(e))
	o := &outcome{value: value, diags: diags}
	if !diags.HasErrors() {
		o.id = f.d.intern(value)
	}
	e.memo[key] = o
	return o
}

// intern numbers values so that equal ones have equal numbers.
func (d *decoder) intern(v cty.Value) int32 {
	text := v.GoString()
	id, ok := d.values[text]
	if !ok {
		id = int32(len(d.values) + 1)
		d.values[text] = id
	}
	return id
}
