package matrix

import (
	"encoding/binary"
	"math/big"
	"sort"
	"strconv"

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

	// unique says that the expression reads what no two cells share, so
	// that remembering its outcomes would only fill memory.
	unique bool

	// What is at fault: names and functions that there are not, or all of it.
	faulty  map[ref]bool
	calls   []string
	unknown bool
}

// An outcome is what an expression gave for one combination.
type outcome struct {
	value cty.Value
	diags hcl.Diagnostics
	id    int32 // equal for equal values; 0 before it is asked for
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
	e.unique = d.unique(e.refs)
	d.note(e.refs)
	return e
}

// unique reports whether references together tell each cell from all others.
func (d *decoder) unique(refs []ref) bool {
	axes := map[string]bool{}
	for _, r := range refs {
		switch r.root {
		case rootAxis, rootLabel, rootPos:
			if r.attr == "" {
				return true
			}
			axes[r.attr] = true
		case rootCell:
			if r.attr != "matrix" && r.attr != "replicate" {
				return true
			}
		}
	}
	return len(axes) > 1 && len(axes) == len(d.axes)
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
			if l == nil || l.cyclic {
				seen[ref{rootLocal, name}] = true
				continue
			}
			if locals[name] {
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

// eval returns the expression's outcome in a frame.
func (e *expression) eval(f *frame) *outcome {
	if e.unique {
		return e.evaluate(f)
	}
	f.key = f.key[:0]
	for _, r := range e.refs {
		id := idUnknown
		if !e.faulty[r] {
			id = f.identify(r)
		}
		f.key = binary.LittleEndian.AppendUint32(f.key, uint32(id))
	}
	if o, ok := e.memo[string(f.key)]; ok {
		return o
	}
	key := string(f.key) // the evaluation of locals uses the buffer too
	o := e.evaluate(f)
	e.memo[key] = o
	return o
}

func (e *expression) evaluate(f *frame) *outcome {
	if e.unknown {
		return &outcome{value: cty.DynamicVal}
	}
	value, diags := e.Value(f.context(e))
	return &outcome{value: value, diags: diags}
}

// identity returns a number that is equal for outcomes of equal values.
func (o *outcome) identity(d *decoder) int32 {
	switch {
	case o.diags.HasErrors():
		return idUnknown
	case o.id == 0:
		o.id = d.intern(o.value)
	}
	return o.id
}

// intern numbers values so that equal ones have equal numbers.
func (d *decoder) intern(v cty.Value) int32 { return d.internText(valueKey(v)) }

// valueKey returns a text that tells values apart.
func valueKey(v cty.Value) string {
	if v.IsKnown() && !v.IsNull() && !v.IsMarked() {
		switch v.Type() {
		case cty.String:
			return "\"" + v.AsString()
		case cty.Bool:
			return strconv.FormatBool(v.True())
		case cty.Number:
			if n, exact := v.AsBigFloat().Int64(); exact == big.Exact {
				return "#" + strconv.FormatInt(n, 10)
			}
		}
	}
	return v.GoString()
}
