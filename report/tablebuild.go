package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A tableBuilder makes one table.
type tableBuilder struct {
	b   *builder
	def *matrix.Table
	out *Table

	what string // "table" or "chart": the block that it is made for

	runs     []*run
	rowAxes  []string
	across   []string
	points   []map[string]string // across; one empty point where nothing is
	rows     []*row
	rowIndex map[string]*row

	columns  []*column
	byLabel  map[string]*column
	implicit map[string]*column
	plains   map[*column]*column
	deciding *column

	memo    map[memoKey]measured
	samples map[sampleKey][]observation
	values  map[sampleKey]measured // of slots
	busy    map[memoKey]bool
	marks   map[string]int // footnotes by their text

	asked  map[string]bool      // optionsKey of the table's runs, once something has asked
	told   []string             // what is to be said of the present row
	places map[sharedResult]int // in how many slots a measurement stands

	// ranges are footnotes that give the ranges of their numbers, by number.
	ranges map[int]*noteRange
}

// missingText is printed where there is no number and the table does not say
// what to print.
const missingText = "X"

// table builds a table, or returns nil after a fault.
func (b *builder) table(def *matrix.Table) *Table {
	tb := b.newTable(def, "table")
	if tb == nil {
		return nil
	}
	tb.order()
	tb.fill()
	return tb.out
}

// newTable resolves the columns of a table, chooses its runs and the axes that
// make a row. It returns nil after a fault. what is the kind of block that the
// table is made for, for messages.
func (b *builder) newTable(def *matrix.Table, what string) *tableBuilder {
	tb := b.blankTable(def, what)
	if !tb.resolveColumns() {
		return nil
	}
	tb.runs = tb.filtered()
	tb.rowAxes = def.Rows
	if def.Rows == nil && len(tb.runs) > 0 {
		tb.rowAxes = tb.defaultRows()
	}
	tb.deciding = tb.decide()
	if len(def.Baseline) > 0 && !slices.ContainsFunc(tb.columns, (*column).comparison) {
		tb.b.warn(def.Range, "Baseline that nothing is compared with", "%s %q has a baseline, but no column that uses it. Give a column relative = true, or read base[\"...\"] in its value.", titled(what), def.Name)
	}
	return tb
}

func (b *builder) blankTable(def *matrix.Table, what string) *tableBuilder {
	tb := &tableBuilder{
		b: b, def: def, what: what, out: &Table{Name: def.Name}, across: def.Across, marks: map[string]int{}, ranges: map[int]*noteRange{},
		places: map[sharedResult]int{},
	}
	tb.reset()
	return tb
}

// titled returns a word as it begins a sentence.
func titled(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// order makes the rows, names them and puts them in their order.
func (tb *tableBuilder) order() {
	tb.arrange()
	tb.filterRows()
	tb.nameRows()
	tb.sortRows()
	tb.groupRows()
	tb.tellApart()
}

// tellApart warns of rows that a reader cannot tell apart, by their labels and the
// headings over them.
func (tb *tableBuilder) tellApart() {
	names := map[string]bool{}
	for _, r := range tb.rows {
		name := r.label
		if tb.out.GroupStyle == GroupHeading {
			name = r.group + "\x00" + r.label
		}
		if names[name] {
			tb.b.warn(tb.def.Range, "Rows that look the same", "Two rows of table %q are labelled %q. Name the axis that tells them apart in the label's text.", tb.def.Name, r.label)
		}
		names[name] = true
	}
}

// reset forgets all columns and values.
func (tb *tableBuilder) reset() {
	tb.byLabel, tb.implicit, tb.plains = map[string]*column{}, map[string]*column{}, map[*column]*column{}
	tb.memo, tb.busy = map[memoKey]measured{}, map[memoKey]bool{}
	tb.samples, tb.values = map[sampleKey][]observation{}, map[sampleKey]measured{}
}

func (tb *tableBuilder) resolveColumns() bool {
	ok := true
	for i := range tb.def.Columns {
		def := &tb.def.Columns[i]
		c := tb.newColumn(def)
		if c == nil {
			ok = false
			continue
		}
		if tb.byLabel[c.label] != nil {
			tb.b.fault(def.Range, "Two columns of one label", "Column %q stands twice in table %q; give one of them another label.", c.label, tb.def.Name)
			ok = false
			continue
		}
		tb.byLabel[c.label] = c
		tb.columns = append(tb.columns, c)
	}
	return tb.checkUnits() && ok
}

// filtered returns the runs that the table's source has and its filter lets
// through. A filter over results cannot be judged here; filterRows does.
func (tb *tableBuilder) filtered() []*run {
	source := tb.b.source(tb.def)
	judged := map[*matrix.Cell]bool{} // the replicates of a cell are judged once
	var runs []*run
	for _, name := range tb.b.sources {
		if source != All && source != name {
			continue
		}
		for _, r := range tb.b.runs[name] {
			pass, known := judged[r.cell]
			if r.cell == nil || !known {
				pass = tb.lets(r)
				judged[r.cell] = pass
			}
			if pass {
				runs = append(runs, r)
			}
		}
	}
	if _, known := tb.b.runs[source]; !known && source != All && !tb.b.checking { // the definition's are checked with it
		tb.b.fault(tb.def.Range, "Unknown source", "Table %q shows source %q; the sources are %s.", tb.def.Name, source, strings.Join(tb.b.sources, ", "))
	}
	return runs
}

func (tb *tableBuilder) lets(r *run) bool {
	if tb.def.Only == nil {
		return true
	}
	unknown := function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "any", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true},
		Type:     function.StaticReturnType(cty.Number),
		Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.UnknownVal(cty.Number), nil },
	})
	extra := map[string]cty.Value{"col": cty.DynamicVal, "base": cty.DynamicVal}
	funcs := map[string]function.Function{"at": unknown, "base_at": unknown, "ratio": ratioFunction()}
	v, diags := tb.b.in.Eval(tb.def.Only, r.scope(), extra, funcs)
	tb.b.add(diags...)
	return !diags.HasErrors() && tb.truth(v)
}

// truth reads the result of a filter. One that is not known lets the row
// through: a failed run must not vanish from its table.
func (tb *tableBuilder) truth(v cty.Value) bool {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		return true
	case v.IsNull() || v.Type() != cty.Bool:
		tb.b.fault(tb.def.Only.Range(), "Filter that is no condition", "`only` of %s %q is %s; it must be true or false.", tb.what, tb.def.Name, v.Type().FriendlyName())
		return false
	default:
		return v.True()
	}
}

// filterRows drops the rows whose results the filter does not let through.
func (tb *tableBuilder) filterRows() {
	if tb.def.Only == nil {
		return
	}
	reads := referencesOf(tb.def.Only)
	tb.rows = slices.DeleteFunc(tb.rows, func(r *row) bool {
		return !slices.ContainsFunc(r.slots, func(s *slot) bool {
			shown := tb.shown(s)
			if shown == nil {
				return false
			}
			var m measured
			v, ok := tb.evaluate(tb.def.Only, s, shown, reads, &m)
			return ok && tb.truth(v)
		})
	})
}

// rowScopes returns what the expressions of a row see: one scope for each cell
// that the row shows, with the levels that all of them have.
func (tb *tableBuilder) rowScopes(r *row) []*matrix.Scope {
	common := map[string]string{}
	for axis, level := range r.runs[0].levels {
		same := !slices.ContainsFunc(r.runs, func(other *run) bool { return other.levels[axis] != level })
		if same {
			common[axis] = level
		}
	}
	var scopes []*matrix.Scope
	seen := map[matrix.CellKey]bool{}
	for _, run := range r.runs {
		if seen[run.key] {
			continue
		}
		seen[run.key] = true
		scopes = append(scopes, &matrix.Scope{Axes: common, Cell: run.key, Matrix: run.matrix, CellRef: run.cell})
	}
	return scopes
}

// rowText evaluates a text of a row. It must not depend on which of the row's
// cells it is evaluated for.
func (tb *tableBuilder) rowText(expr hcl.Expression, r *row, what string) string {
	text, first := "", true
	for _, scope := range tb.rowScopes(r) {
		v, diags := tb.b.in.Eval(expr, scope, nil, nil)
		tb.b.add(diags...)
		if diags.HasErrors() {
			return ""
		}
		s, ok := asText(v)
		if !ok {
			tb.b.fault(expr.Range(), "Text expected", "The %s of table %q is %s; it must be text.", what, tb.def.Name, v.Type().FriendlyName())
			return ""
		}
		if !first && s != text {
			tb.b.fault(expr.Range(), "Row of several texts", "The %s of table %q is %q for one cell of a row and %q for another. Name the axes that tell them apart in rows.", what, tb.def.Name, text, s)
			return text
		}
		text, first = s, false
	}
	return text
}

// asText reads text, or a number or bool that stands for one. Null is no text.
func asText(v cty.Value) (string, bool) {
	v, _ = v.Unmark()
	switch {
	case v.IsNull() || !v.IsKnown():
		return "", v.IsNull()
	case v.Type() == cty.String:
		return v.AsString(), true
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1), true
	case v.Type() == cty.Bool:
		return fmt.Sprint(v.True()), true
	}
	return "", false
}

// nameRows evaluates the labels.
func (tb *tableBuilder) nameRows() {
	for _, r := range tb.rows {
		if tb.def.Label.Text != nil {
			r.label = tb.rowText(tb.def.Label.Text, r, "label")
		} else {
			r.label = tb.defaultLabel(r)
		}
		if tb.b.source(tb.def) == All && r.source != Own {
			r.label += " (" + r.source + ")"
		}
	}
	tb.out.Label = LabelColumn{Heading: tb.labelHeading(), Left: tb.def.Label.Side == "left"}
}

// defaultLabel names a row by the levels of its axes. The only row of a table that
// varies in none has all levels but those that stand over the columns.
func (tb *tableBuilder) defaultLabel(r *row) string {
	if label := tb.b.axes.joined(tb.rowAxes, r.levels); label != "" {
		return label
	}
	common := slices.DeleteFunc(slices.Clone(tb.b.axes.names), func(axis string) bool { return slices.Contains(tb.across, axis) })
	return tb.b.axes.joined(common, r.runs[0].levels)
}

func (tb *tableBuilder) labelHeading() string {
	if tb.def.Label.HasHead || tb.def.Label.Heading != "" {
		return tb.def.Label.Heading
	}
	axes := tb.rowAxes
	if tb.def.Label.Text != nil {
		if read := tb.axesRead(tb.def.Label.Text); len(read) > 0 {
			axes = read
		}
	}
	var names []string
	for _, axis := range axes {
		names = append(names, tb.b.axes.labels[axis])
	}
	return strings.Join(names, ".")
}

// axesRead returns the axes that an expression names, in the order of the rows.
func (tb *tableBuilder) axesRead(expr hcl.Expression) []string {
	var named []string
	for _, t := range expr.Variables() {
		if name, ok := attribute(t); ok && (t.RootName() == "axis" || t.RootName() == "label") {
			named = append(named, name)
		}
	}
	return slices.DeleteFunc(slices.Clone(tb.rowAxes), func(axis string) bool { return !slices.Contains(named, axis) })
}

// sortRows orders the rows by the table's sort keys; rows without a value come
// last.
func (tb *tableBuilder) sortRows() {
	for i := len(tb.def.Sort) - 1; i >= 0; i-- {
		key := tb.def.Sort[i]
		c := tb.byLabel[key.By]
		switch {
		case c != nil:
			sort.SliceStable(tb.rows, func(a, b int) bool { return tb.before(tb.rows[a], tb.rows[b], c, key.Descending) })
		case slices.Contains(tb.b.axes.names, key.By):
			sort.SliceStable(tb.rows, func(a, b int) bool {
				d := tb.b.axes.compare([]string{key.By}, tb.rows[a].levels, tb.rows[b].levels)
				return d < 0 && !key.Descending || d > 0 && key.Descending
			})
		default:
			tb.b.fault(tb.def.Range, "Unknown sort key", "Table %q is sorted by %q, which is neither one of its columns nor an axis.", tb.def.Name, key.By)
		}
	}
}

func (tb *tableBuilder) before(a, b *row, c *column, descending bool) bool {
	x, y := tb.slotValue(a.slots[0], c), tb.slotValue(b.slots[0], c)
	if !x.Known || !y.Known {
		return x.Known && !y.Known
	}
	if descending {
		return x.Number > y.Number
	}
	return x.Number < y.Number
}

// groupRows puts the rows of each group together: groups that the definition
// names first, in its order, then the others in the order of their first row.
func (tb *tableBuilder) groupRows() {
	g := tb.def.Group
	if g == nil {
		return
	}
	keys := map[*row]string{}
	order := slices.Clone(g.Order)
	for _, r := range tb.rows {
		key := tb.b.axes.joined(g.Axes, r.levels)
		r.group = key
		if g.Key != nil {
			key = tb.rowText(g.Key, r, "group key")
			r.group = key
		}
		if g.Heading != nil {
			r.group = tb.rowText(g.Heading, r, "group heading")
		}
		keys[r] = key
		if !slices.Contains(order, key) {
			order = append(order, key)
		}
	}
	sort.SliceStable(tb.rows, func(i, j int) bool {
		return slices.Index(order, keys[tb.rows[i]]) < slices.Index(order, keys[tb.rows[j]])
	})
	tb.out.GroupStyle = g.Style
	if g.Style == "" {
		tb.out.GroupStyle = GroupLine
		if g.Heading != nil {
			tb.out.GroupStyle = GroupHeading
		}
	}
}
