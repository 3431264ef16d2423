package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dbmatrix/matrix"

	"github.com/zclconf/go-cty/cty"
)

// fill makes the columns, rows and cells of the table.
func (tb *tableBuilder) fill() {
	t := tb.out
	t.Transposed = tb.def.Transpose
	t.Axes = tb.rowAxes
	if tb.def.Title != nil {
		t.Title = tb.b.title(tb.def)
	}
	for i := range tb.points {
		for _, c := range tb.columns {
			t.Columns = append(t.Columns, tb.heading(c, i))
			if tb.def.Interval && c.number() {
				t.Columns = append(t.Columns, tb.intervalHeading(c, i))
			}
		}
	}
	tb.countShared()
	group := ""
	for i, r := range tb.rows {
		tb.told = nil
		row := Row{Label: r.label, Levels: r.levels, Source: r.source, Group: r.group, Cells: make([]Cell, 0, len(t.Columns))}
		row.First = tb.def.Group != nil && (i == 0 || r.group != group)
		group = r.group
		for _, s := range r.slots {
			for _, c := range tb.columns {
				row.Cells = append(row.Cells, tb.cell(s, c))
				if tb.def.Interval && c.number() {
					row.Cells = append(row.Cells, tb.intervalCell(s, c))
				}
			}
		}
		row.Notes = append(hoist(row.Cells), tb.rowNotes(r)...)
		row.Remarks = tb.told
		t.Rows = append(t.Rows, row)
	}
	if tb.def.Geomean && len(tb.rows) > 0 {
		t.Mean = tb.mean()
	}
	t.Caption = tb.caption()
	t.Remarks = tb.remarks()
	t.lift()
	if tb.def.Legend {
		t.Legend = tb.legend()
	}
}

func (b *builder) title(def *matrix.Table) string {
	v, diags := b.in.Eval(def.Title, &matrix.Scope{}, nil, nil)
	b.add(diags...)
	if diags.HasErrors() {
		return ""
	}
	text, ok := asText(v)
	if !ok {
		b.fault(def.Title.Range(), "Text expected", "The title of table %q must be text.", def.Name)
	}
	return text
}

// heading describes a column at a point across.
func (tb *tableBuilder) heading(c *column, point int) Column {
	col := Column{
		Label: c.label, Token: c.token, Phase: c.phase, Iteration: c.iteration, Heading: []string{c.label},
		Levels: tb.points[point], Number: c.number(),
	}
	if c.def.Heading != nil {
		col.Heading = c.def.Heading
	}
	if c.spec != nil && !c.relative {
		col.Unit = c.spec.Unit
	}
	for _, axis := range tb.across {
		text := ""
		if level, ok := tb.points[point][axis]; ok {
			if text = tb.b.axes.label(axis, level); text == "" {
				text = level
			}
			if _, bare := levelNumber(text); bare && text == level {
				text = tb.b.axes.labels[axis] + "=" + text
			}
		}
		col.Over = append(col.Over, text)
	}
	return col
}

func (tb *tableBuilder) intervalHeading(c *column, point int) Column {
	col := tb.heading(c, point)
	col.Label += " interval"
	col.Heading = append(slices.Clone(col.Heading[:len(col.Heading)-1]), col.Heading[len(col.Heading)-1]+" lo..hi")
	col.Token, col.Number = "", false
	return col
}

// cell prints one cell.
func (tb *tableBuilder) cell(s *slot, c *column) Cell {
	if c.template != nil {
		return tb.templateCell(s, c)
	}
	m := tb.slotValue(s, c)
	sample := tb.sample(s, c)
	cell := Cell{Text: tb.print(s, c, m), Number: m.Number, Known: m.Known, Status: statusOf(m), Runs: len(sample)}
	if len(sample) > 0 {
		cell.Sample = make([]RunValue, 0, len(sample))
	}
	for _, o := range sample {
		cell.Sample = append(cell.Sample, RunValue{o.run.key, o.run.replicate, o.Number})
	}
	cell.Notes, cell.absent = tb.slotNotes(s, m), !m.Known && !m.text
	cell.Notes = append(cell.Notes, tb.sharedNotes(c, m)...)
	if c.relative && m.Known {
		tb.test(s, c, &cell)
	}
	if tb.def.Interval && m.Known && len(sample) > 0 {
		cell.Low, cell.High, cell.Bound = bounds(sample)
	}
	return cell
}

// test compares a slot with its baseline where both have runs enough.
func (tb *tableBuilder) test(s *slot, c *column, cell *Cell) {
	base := tb.baseline(s)
	if base == nil || base == s {
		return
	}
	p, significant, ok := compare(tb.sample(s, tb.plain(c)), tb.sample(base, tb.plain(c)))
	if ok && !significant {
		cell.Text += " ~"
		cell.Notes = append(cell.Notes, tb.mark(fmt.Sprintf("not significantly different from the baseline (U test, p = %s, n = %d and %d)",
			roundHalfUp(p, 3), len(tb.sample(s, tb.plain(c))), len(tb.sample(base, tb.plain(c))))))
	}
}

// intervalCell prints the bounds of a column.
func (tb *tableBuilder) intervalCell(s *slot, c *column) Cell {
	all := tb.sample(s, c)
	if len(all) == 0 {
		return Cell{Text: tb.missing(measured{}), absent: true, beside: true}
	}
	if len(all) == 1 {
		return Cell{Text: "n=1", Runs: 1, beside: true}
	}
	low, high, what := bounds(all)
	f := tb.formatOf(c)
	return Cell{Text: f.print(low) + ".." + f.print(high), Runs: len(all), Low: low, High: high, Bound: what, beside: true}
}

// print writes a value as the column does.
func (tb *tableBuilder) print(s *slot, c *column, m measured) string {
	switch {
	case m.text:
		return m.Text
	case !m.Known:
		return tb.missing(m)
	case m.Text != "" && (c.format == nil || m.coarse()):
		return m.Text // imported: as it was written
	case c.format == nil && m.Number == 1 && c.comparison() && tb.baseline(s) == s && s.row.source != Own:
		return "1.0" // as the field prints it; own rows have the decimals of the others
	case c.format != nil && c.format.verb == 's':
		return c.format.before + shortest(m.Number) + c.format.after
	}
	return tb.formatOf(c).print(m.Number)
}

// missing is what stands in place of a number: what the imported file says, else
// what the table says.
func (tb *tableBuilder) missing(m measured) string {
	switch {
	case m.Text != "":
		return m.Text
	case tb.def.Missing != "":
		return tb.def.Missing
	default:
		return missingText
	}
}

// comparison reports whether the column compares with the baseline.
func (c *column) comparison() bool { return c.relative || c.reads.comparison }

// formatOf returns how a column prints its numbers: by its own format, else by
// the library's with as many decimals more as its small numbers need, else with
// as many as its numbers need. Ratios have two.
func (tb *tableBuilder) formatOf(c *column) numberFormat {
	if c.format != nil {
		return *c.format
	}
	if c.chosen != nil {
		return *c.chosen
	}
	f := tb.chooseFormat(c)
	c.chosen = &f
	return f
}

// ratioBelow is the bound up to which a comparison is taken for a ratio, which
// has two decimals; beyond it is a difference.
const ratioBelow = 100

func (tb *tableBuilder) chooseFormat(c *column) numberFormat {
	values := tb.measuredValues(c)
	if c.spec != nil && !c.relative {
		if f, err := parseFormat(c.spec.Format); err == nil {
			return f.fitted(values)
		}
	}
	largest := 0.0
	for _, x := range values {
		if !math.IsInf(x, 0) {
			largest = max(largest, math.Abs(x))
		}
	}
	if c.comparison() && largest < ratioBelow {
		return decimals(2).fitted(values)
	}
	return common(values).fitted(values)
}

// measuredValues returns the numbers of a column that are not printed as they were
// written.
func (tb *tableBuilder) measuredValues(c *column) []float64 {
	var values []float64
	for _, r := range tb.rows {
		for _, s := range r.slots {
			if len(s.runs) == 0 {
				continue
			}
			if m := tb.slotValue(s, c); m.Known && m.Text == "" {
				values = append(values, m.Number)
			}
		}
	}
	return values
}

// templateCell prints a cell that shows several values: the template's text with
// each {name} replaced by the column or token of that name. Where one of them is
// missing, so is the cell.
func (tb *tableBuilder) templateCell(s *slot, c *column) Cell {
	r := tb.shown(s)
	if r == nil {
		m := measured{why: "the experiment has no such cell"}
		return Cell{Text: tb.missing(m), Notes: tb.valueNotes(m), absent: true}
	}
	var all measured
	v, ok := tb.evaluate(c.template, s, r, c.reads, &all)
	text, isText := asText(v)
	if !ok || !isText || !v.IsKnown() || infiniteText(text) {
		if all.why == "" {
			all.why = "its template has no value, or holds one that is divided by 0"
		}
		return Cell{Text: tb.missing(measured{}), Notes: tb.valueNotes(all), absent: true}
	}
	all.Known = true
	printed := substitute(text, func(name string) string {
		part := tb.named(name)
		m := tb.slotValue(s, part)
		all.from = append(all.from, m.from...)
		if !m.Known && !m.text {
			all.Known, all.why = false, m.why
		}
		return tb.print(s, part, m)
	})
	if !all.Known {
		printed = tb.missing(measured{})
	}
	return Cell{Text: printed, Status: statusOf(all), Runs: len(s.runs), Notes: tb.slotNotes(s, all), absent: !all.Known}
}

// placeholders returns the names in a column's template, as far as they can be
// told without a row.
func (tb *tableBuilder) placeholders(c *column) []string {
	v, diags := c.template.Value(nil)
	if diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
		return nil
	}
	var names []string
	substitute(v.AsString(), func(name string) string {
		names = append(names, name)
		return ""
	})
	return names
}

// substitute replaces each {name} of a template. {{ and }} are braces.
func substitute(template string, value func(name string) string) string {
	var b strings.Builder
	for i := 0; i < len(template); {
		switch c := template[i]; {
		case strings.HasPrefix(template[i:], "{{") || strings.HasPrefix(template[i:], "}}"):
			b.WriteByte(c)
			i += 2
		case c == '{':
			end := strings.IndexByte(template[i:], '}')
			if end < 0 {
				b.WriteString(template[i:])
				return b.String()
			}
			b.WriteString(value(template[i+1 : i+end]))
			i += end + 1
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// statusOf returns the worst status of the results that a value comes from.
func statusOf(m measured) matrix.Status {
	var status matrix.Status
	for _, o := range m.from {
		if status == "" || status == matrix.OK {
			status = o.result.Status
		}
	}
	return status
}

// countShared counts in how many places of the table each measurement stands that
// cells have in common.
func (tb *tableBuilder) countShared() {
	for _, r := range tb.rows {
		for _, s := range r.slots {
			seen := map[sharedResult]bool{}
			for _, c := range tb.columns {
				if c.token == "" || c.relative {
					continue
				}
				for _, o := range tb.slotValue(s, c).from {
					if at := o.shared(); at.origin != 0 && !seen[at] {
						seen[at] = true
						tb.places[at]++
					}
				}
			}
		}
	}
}

// shared identifies the measurement that a value comes from.
func (o origin) shared() sharedResult {
	return sharedResult{o.result.Origin, o.result.Phase, o.result.Iteration}
}

// sharedNotes says of a value that it stands elsewhere in the table too, being one
// measurement.
func (tb *tableBuilder) sharedNotes(c *column, m measured) []int {
	if c.token == "" || c.relative || !m.Known {
		return nil
	}
	for _, o := range m.from {
		if tb.places[o.shared()] > 1 {
			return []int{tb.mark(fmt.Sprintf("%s ran once for several cells, which show the one measurement", o.result.Phase))}
		}
	}
	return nil
}
