package report

import (
	"strconv"
	"strings"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A column is a column of a table while it is built, or a token that an
// expression reads.
type column struct {
	def       *matrix.Column // nil: only expressions read it
	label     string
	token     string // "" where the value is computed
	phase     string
	iteration int // 0: the last
	spec      *Spec
	divisor   int
	format    *numberFormat // nil: by the library or by the numbers

	value    hcl.Expression // nil: the token's value
	template hcl.Expression // nil: the value is printed
	relative bool
	reads    references

	chosen *numberFormat // what print uses, once it is known
}

// computed reports whether the column's value comes from an expression.
func (c *column) computed() bool { return c.value != nil }

// number reports whether the column's cells are numbers.
func (c *column) number() bool { return c.template == nil }

// newColumn resolves a column block. It returns nil after a fault.
func (tb *tableBuilder) newColumn(def *matrix.Column) *column {
	c := &column{def: def, label: def.Label, value: def.Value, template: def.Cell, relative: def.Relative}
	of := def.Of
	if of == "" {
		of = def.Label
	}
	if c.label == "" {
		c.label = of
	}
	if def.Format != "" {
		f, err := parseFormat(def.Format)
		if err != nil {
			tb.b.fault(def.Range, "Format that cannot be used", "In column %q: %s.", c.label, err)
			return nil
		}
		c.format = &f
	}
	switch {
	case def.Value != nil:
		c.reads = referencesOf(def.Value)
	case def.Cell != nil:
		c.reads = referencesOf(def.Cell)
	default:
		tb.setToken(c, of, def.Range)
	}
	if def.Phase != "" {
		c.phase = def.Phase
	}
	if def.Iteration != 0 {
		c.iteration = def.Iteration
	}
	c.divisor = def.Divisor
	tb.defaultPlace(c)
	if c.token != "" && c.phase == "" {
		tb.b.fault(def.Range, "Column without a phase", "Column %q does not say whose results it shows. Give it, or the table, a phase.", c.label)
		return nil
	}
	return c
}

// setToken reads a token with its place, as "qps@query.12".
func (tb *tableBuilder) setToken(c *column, text string, at hcl.Range) {
	c.token = text
	if !tb.b.known(text) {
		if token, phase, number, ok := tb.b.splitToken(text); ok {
			c.token, c.phase, c.iteration = token, phase, number
		}
	}
	c.spec = tb.b.library.Lookup(c.token)
	if tb.b.known(c.token) {
		return
	}
	if near := tb.b.nearestToken(c.token); near != "" {
		tb.b.warn(at, "Unknown column", "There is no column %q, and no %s a metric of that name. Did you mean %q?", c.token, tb.b.recorders(), near)
	} else if len(tb.b.recorded) > 0 && !tb.b.lacking {
		tb.b.warn(at, "Unknown column", "There is no column %q, and no %s a metric of that name. `dbmatrix columns` lists the columns.", c.token, tb.b.recorders())
	}
}

// recorders words what would have a metric that is not known.
func (b *builder) recorders() string {
	if b.checking {
		return "workload is known to record"
	}
	return "result has"
}

// known reports whether a token means something as it is.
func (b *builder) known(token string) bool {
	return b.recorded[token] || b.library.Lookup(token) != nil
}

func (b *builder) nearestToken(token string) string {
	if near := b.library.Nearest(token); near != "" {
		return near
	}
	names := make([]string, 0, len(b.recorded))
	for name := range b.recorded {
		names = append(names, name)
	}
	return nearest(token, names)
}

// splitToken reads token@phase.iteration, token@phase and token@iteration. Phase
// names may hold dots, so a known phase is taken whole.
func (b *builder) splitToken(text string) (token, phase string, number int, ok bool) {
	at := strings.LastIndex(text, "@")
	if at < 1 || at == len(text)-1 {
		return "", "", 0, false
	}
	token, place := text[:at], text[at+1:]
	if b.isPhase(place) {
		return token, place, 0, true
	}
	if n, err := strconv.Atoi(place); err == nil && n > 0 {
		return token, "", n, true
	}
	dot := strings.LastIndex(place, ".")
	if dot < 1 {
		return token, place, 0, true
	}
	n, err := strconv.Atoi(place[dot+1:])
	if err != nil || n < 1 {
		return token, place, 0, true
	}
	return token, place[:dot], n, true
}

func (b *builder) isPhase(name string) bool {
	for _, p := range b.in.Experiment.Phases {
		if p.Name == name {
			return true
		}
	}
	return false
}

// defaultPlace fills in the table's phase and iteration. The iteration belongs to
// the table's phase: a column of another phase does not take it over.
func (tb *tableBuilder) defaultPlace(c *column) {
	phase := tb.def.Phase
	if phase == "" && len(tb.b.in.Experiment.Phases) == 1 {
		phase = tb.b.in.Experiment.Phases[0].Name
	}
	if c.phase == "" {
		c.phase = phase
	}
	if c.iteration == 0 && c.phase == phase {
		c.iteration = tb.def.Iteration
	}
}

// named returns the column of a label, else the column of a token at the table's
// phase and iteration.
func (tb *tableBuilder) named(name string) *column {
	if c := tb.byLabel[name]; c != nil {
		return c
	}
	return tb.tokenAt(name, "", 0)
}

// tokenAt returns the column that only expressions read: a token at a place.
func (tb *tableBuilder) tokenAt(token, phase string, number int) *column {
	key := token + "\x00" + phase + "\x00" + strconv.Itoa(number)
	if c := tb.implicit[key]; c != nil {
		return c
	}
	c := &column{label: token}
	tb.setToken(c, token, tb.def.Range)
	if phase != "" {
		c.phase = phase
	}
	if number != 0 {
		c.iteration = number
	}
	tb.defaultPlace(c)
	if c.phase == "" {
		tb.b.fault(tb.def.Range, "Column without a phase", "Nothing says whose results %q shows in %q. Give the table a phase, or name it: at(%q, \"PHASE\").", token, tb.def.Name, token)
	}
	tb.implicit[key] = c
	return c
}

// references are the columns that an expression reads by name.
type references struct {
	col, base  []string
	anyCol     bool // by a name that is not written out
	anyBase    bool
	comparison bool // it reads the baseline, by base or base_at()
}

func referencesOf(expr hcl.Expression) references {
	r := references{comparison: calls(expr, "base_at")}
	for _, t := range expr.Variables() {
		name, ok := attribute(t)
		switch t.RootName() {
		case "col":
			r.anyCol = r.anyCol || !ok
			if ok {
				r.col = append(r.col, name)
			}
		case "base":
			r.comparison = true
			r.anyBase = r.anyBase || !ok
			if ok {
				r.base = append(r.base, name)
			}
		}
	}
	return r
}

// calls reports whether an expression calls a function.
func calls(expr hcl.Expression, name string) bool {
	node, ok := expr.(hclsyntax.Node)
	if !ok {
		return false
	}
	found := false
	// The visitor returns no diagnostics.
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		found = found || ok && call.Name == name
		return nil
	})
	return found
}

// attribute returns what follows the root of a traversal.
func attribute(t hcl.Traversal) (string, bool) {
	if len(t) < 2 {
		return "", false
	}
	switch a := t[1].(type) {
	case hcl.TraverseAttr:
		return a.Name, true
	case hcl.TraverseIndex:
		switch {
		case a.Key.Type() == cty.String:
			return a.Key.AsString(), true
		case a.Key.Type() == cty.Number:
			return a.Key.AsBigFloat().Text('f', -1), true
		}
	}
	return "", false
}
