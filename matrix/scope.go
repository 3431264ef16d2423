package matrix

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A Scope is the row that an expression of the report is evaluated for: a cell
// of the plan, or one that only an import knows.
type Scope struct {
	Axes    map[string]string // the row's level on each axis; an axis not in it is null
	Cell    CellKey
	Matrix  string
	CellRef *Cell // the cell of the plan, for its params and build; nil where only an import knows it
}

// ScopeOf returns the scope of a cell of the plan.
func ScopeOf(c *Cell) *Scope {
	s := &Scope{Axes: map[string]string{}, Cell: c.Key, Matrix: c.Matrix, CellRef: c}
	for _, l := range c.Levels {
		s.Axes[l.Axis] = l.Name
	}
	return s
}

// Eval evaluates an expression of a report block for a row. extra adds names,
// such as col and base, and funcs adds functions. A param or build that the row
// does not have is null; what is unknown (a missing number) stays unknown. It may
// be called from several goroutines, and from a function in funcs.
func (e *Experiment) Eval(expr hcl.Expression, s *Scope, extra map[string]cty.Value, funcs map[string]function.Function) (cty.Value, hcl.Diagnostics) {
	ctx := e.decoder.rowContext(expr, s, extra)
	if len(funcs) > 0 {
		ctx = ctx.NewChild()
		ctx.Functions = funcs
	}
	return expr.Value(ctx)
}

// rowContext builds what an expression is evaluated in for a row.
func (d *decoder) rowContext(expr hcl.Expression, s *Scope, extra map[string]cty.Value) *hcl.EvalContext {
	d.rows.Lock()
	defer d.rows.Unlock()
	f := d.rowFrame(s)
	compiled := &expression{Expression: expr, bound: extra}
	seen, locals := map[ref]bool{}, map[string]bool{}
	d.collect(expr, extra, seen, locals)
	for r := range seen {
		if _, known := rootSteps[r.root]; known {
			compiled.refs = append(compiled.refs, r)
		}
	}
	compiled.local = keys(locals)
	return f.context(compiled)
}

func withFunctions(base, more map[string]function.Function) map[string]function.Function {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}

// rowFrame gives a row's values to the names of the language.
func (d *decoder) rowFrame(s *Scope) *frame {
	f := &frame{d: d, levels: make([]*levelBlock, len(d.axes)), replicate: 1}
	if s == nil {
		s = &Scope{}
	}
	f.cell, f.matrix = s.Cell, s.Matrix
	for axis, name := range s.Axes {
		i, ok := d.axisIndex[axis]
		if !ok {
			continue
		}
		if j, ok := d.axes[i].index[name]; ok {
			f.levels[i] = d.axes[i].levels[j]
			continue
		}
		if f.foreign == nil {
			f.foreign = map[string]string{}
		}
		f.foreign[axis] = name
	}
	f.params = make([]paramValue, len(d.paramOrder))
	for i := range f.params {
		f.params[i] = noParam()
	}
	if c := s.CellRef; c != nil && len(c.Phases) > 0 {
		settings := c.Phases[len(c.Phases)-1].Settings
		f.server = settings.Server
		for name, v := range settings.Params {
			if i, ok := d.params[name]; ok {
				f.params[i] = paramValue{value: v, id: d.intern(v)}
			}
		}
	}
	return f
}
