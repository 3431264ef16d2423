package report

import (
	"errors"
	"fmt"
	"strings"

	"dbmatrix/matrix"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// text evaluates a text block. at() takes the key of a cell before the token, so that prose does not go stale.
func (b *builder) text(def *matrix.Text) *Text {
	out := &Text{Name: def.Name}
	missing := ""
	at := b.cellFunction(def, func(why string) {
		if missing == "" {
			missing = why
		}
	})
	funcs := map[string]function.Function{"at": at, "fact": b.factFunction(), "ratio": ratioFunction()}
	v, diags := b.in.Eval(def.Body, &matrix.Scope{}, nil, funcs)
	b.add(diags...)
	if diags.HasErrors() {
		return out
	}
	if !v.IsKnown() || missing != "" {
		out.Markdown = fmt.Sprintf("(The text %q is left out: %s.)", def.Name, missing)
		return out
	}
	text, ok := asText(v)
	if !ok {
		b.fault(def.Body.Range(), "Text expected", "The body of text %q must be text.", def.Name)
	}
	if infiniteText(text) {
		text = fmt.Sprintf("(The text %q is left out: something in it is divided by 0.)", def.Name)
	}
	out.Markdown = text
	return out
}

// cellFunction makes at() for texts: the key of a cell, a token, and optionally
// a phase and an iteration.
func (b *builder) cellFunction(def *matrix.Text, missing func(why string)) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "cell", Type: cty.String}, {Name: "token", Type: cty.String}},
		VarParam: &function.Parameter{Name: "place", Type: cty.DynamicPseudoType, AllowNull: true},
		Type:     function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			phase, number, err := b.place(args[2:])
			if err != nil {
				return cty.NilVal, err
			}
			key := matrix.CellKey(args[0].AsString())
			t := &tableBuilder{b: b, def: &matrix.Table{Name: def.Name, Phase: phase, Iteration: number, Range: def.Range}}
			for _, source := range b.sources {
				if s := b.slotOf(source, key); s != nil {
					t.reset()
					t.deciding = t.tokenAt(args[1].AsString(), phase, number)
					m := t.slotValue(s, t.deciding)
					if !m.Known {
						missing(m.why)
					}
					return toCty(m), nil
				}
			}
			if b.unsound[key] {
				return cty.UnknownVal(cty.Number), nil
			}
			return cty.NilVal, errors.New("there is no cell " + string(key))
		},
	})
}

// factFunction makes fact() for texts: the values that a fact has among the runs
// that were measured here, in alphabetical order.
func (b *builder) factFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			values := map[string]bool{}
			for _, r := range b.runs[Own] {
				if r.attempt == nil {
					continue
				}
				if v, ok := r.attempt.Facts[args[0].AsString()]; ok {
					values[v] = true
				}
			}
			return cty.StringVal(strings.Join(sortedKeys(values), ", ")), nil
		},
	})
}

// slotOf returns the runs of one cell of a source, or nil.
func (b *builder) slotOf(source string, key matrix.CellKey) *slot {
	s := &slot{row: &row{source: source}}
	for _, r := range b.runs[source] {
		if r.key == key {
			s.runs = append(s.runs, r)
		}
	}
	if len(s.runs) == 0 {
		return nil
	}
	return s
}
