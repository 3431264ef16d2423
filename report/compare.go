package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
)

// A Comparison is what pairs of cells have in each of some columns. Each number
// is the median of a cell's runs.
type Comparison struct {
	Tables []*Table // one for each column, one row for each pair
	Pairs  []Pair   // those of all tables, in their order
}

// A Pair is two cells in one column. A is what B is compared with.
type Pair struct {
	Column    string
	Direction Direction
	Label     string // of the row
	A, B      Value
	RunsA     int // how many runs have a value
	RunsB     int

	// Shared says that both have one and the same measurement, which there
	// is nothing to compare in.
	Shared bool

	// Tested says that there are runs enough for a test. P is the
	// probability of a difference like this one if there is none (Mann and
	// Whitney's U test), Significant says that it is below 5%.
	Tested      bool
	P           float64
	Significant bool
}

// Worse returns by how many percent of A the pair is worse, by the direction of
// its column; a negative number is better. ok is false where the column has no
// direction, or a value is missing.
func (p *Pair) Worse() (percent float64, ok bool) {
	if p.Direction == Neither || !p.A.Known || !p.B.Known {
		return 0, false
	}
	change := 100 * (ratio(p.B.Number, p.A.Number) - 1)
	if p.Direction == Higher {
		change = -change
	}
	return change, true
}

// Document returns the comparison as a document.
func (c *Comparison) Document() *Document {
	d := &Document{}
	for _, t := range c.Tables {
		d.Blocks = append(d.Blocks, Block{Table: t})
	}
	return d
}

// Compare compares the cells that differ in nothing but one axis: its base level
// with each of the others, in each of a table's columns. base "" is the first
// level that some cell has.
func Compare(in Input, def *matrix.Table, axis, base string) (*Comparison, hcl.Diagnostics) {
	b := newBuilder(in)
	out := &Comparison{}
	for i := range def.Columns {
		tb := b.comparing(def, i, []string{axis})
		if tb == nil {
			continue
		}
		p := newPairing(tb, tb)
		p.byAxis(axis, base)
		out.add(p)
	}
	return out, b.diags
}

// CompareRecords compares equal cells of one experiment in two records, in each
// of a table's columns: those of against are A.
func CompareRecords(in, against Input, def *matrix.Table) (*Comparison, hcl.Diagnostics) {
	here, there := newBuilder(in), newBuilder(against)
	maps.Copy(here.recorded, there.recorded) // a column is known where either has it
	maps.Copy(there.recorded, here.recorded)
	out := &Comparison{}
	for i := range def.Columns {
		b, a := here.comparing(def, i, nil), there.comparing(def, i, nil)
		if a == nil || b == nil {
			continue
		}
		p := newPairing(a, b)
		p.byCell()
		out.add(p)
	}
	here.add(there.diags...)
	return out, here.diags
}

// add appends a pairing unless none of its pairs has a number.
func (c *Comparison) add(p *pairing) {
	if slices.ContainsFunc(p.pairs, func(p Pair) bool { return p.A.Known || p.B.Known }) {
		p.b.out.visible()
		c.Tables, c.Pairs = append(c.Tables, p.b.out), append(c.Pairs, p.pairs...)
	}
}

// comparing returns a table of one of def's columns in which every cell of the
// experiment has its own slot, or nil after a fault.
func (b *builder) comparing(def *matrix.Table, column int, across []string) *tableBuilder {
	one := *def
	one.Columns = def.Columns[column : column+1]
	one.Name = cmp.Or(one.Columns[0].Label, one.Columns[0].Of)
	one.Rows = slices.DeleteFunc(slices.Clone(b.axes.names), func(axis string) bool { return slices.Contains(across, axis) })
	one.Across, one.Aggregate = across, aggregateMedian
	tb := b.newTable(&one, "comparison")
	if tb == nil {
		return nil
	}
	tb.arrange()
	tb.filterRows()
	return tb
}

// A pairing makes the table of one column: a holds the slots that are compared
// with, b the others and the table.
type pairing struct {
	a, b   *tableBuilder
	ca, cb *column
	labels []string // axes that tell the rows apart
	pairs  []Pair
}

func newPairing(a, b *tableBuilder) *pairing {
	p := &pairing{a: a, b: b, ca: a.columns[0], cb: b.columns[0]}
	for _, axis := range varying(b.b.axes.names, b.runs) {
		if slices.Contains(b.rowAxes, axis) {
			p.labels = append(p.labels, axis)
		}
	}
	return p
}

// byAxis pairs the cells of each row that have the base level with those that
// have another one.
func (p *pairing) byAxis(axis, base string) {
	points := slices.DeleteFunc(allIndexes(p.b.points), func(i int) bool { return p.b.points[i][axis] == "" })
	if len(points) == 0 {
		return
	}
	from := points[0]
	for _, i := range points {
		if p.b.points[i][axis] == base {
			from = i
		}
	}
	points = slices.DeleteFunc(points, func(i int) bool { return i == from })
	compared := "compared"
	if len(points) == 1 {
		compared = p.levelText(axis, points[0])
	} else {
		p.labels = append(p.labels, axis)
	}
	p.head(p.levelText(axis, from), compared)
	for _, r := range p.b.rows {
		for _, i := range points {
			if len(r.slots[from].runs) > 0 && len(r.slots[i].runs) > 0 {
				levels := maps.Clone(r.levels)
				levels[axis] = p.b.points[i][axis]
				p.pair(r.slots[from], r.slots[i], levels)
			}
		}
	}
	p.finish()
}

func allIndexes[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range list {
		all[i] = i
	}
	return all
}

// levelText returns how tables show the level of a point.
func (p *pairing) levelText(axis string, point int) string {
	level := p.b.points[point][axis]
	return cmp.Or(p.b.b.axes.label(axis, level), level)
}

// byCell pairs each cell with the same one of the other record.
func (p *pairing) byCell() {
	p.head("against", "here")
	for _, r := range p.b.rows {
		other := p.a.rowIndex[r.source+"\x00"+pointKey(p.b.rowAxes, r.levels)]
		if other != nil && recorded(other.slots[0]) && recorded(r.slots[0]) {
			p.pair(other.slots[0], r.slots[0], r.levels)
		}
	}
	p.finish()
}

// recorded reports whether something of a slot is on record.
func recorded(s *slot) bool {
	return slices.ContainsFunc(s.runs, func(r *run) bool { return r.attempt != nil })
}

// head makes the columns of the table.
func (p *pairing) head(a, b string) {
	out := p.b.out
	out.Axes, out.Label = p.labels, LabelColumn{Heading: p.heading()}
	unit := ""
	if p.cb.spec != nil {
		unit = p.cb.spec.Unit
	}
	for _, c := range []Column{
		{Label: a, Token: p.cb.token, Unit: unit, Number: true},
		{Label: b, Token: p.cb.token, Unit: unit, Number: true},
		{Label: "ratio", Number: true},
		{Label: "n"},
		{Label: "difference"},
	} {
		c.Heading, c.Phase, c.Iteration = []string{c.Label}, p.cb.phase, p.cb.iteration
		out.Columns = append(out.Columns, c)
	}
}

func (p *pairing) heading() string {
	labels := make(map[string]string, len(p.labels))
	for _, axis := range p.labels {
		labels[axis] = p.b.b.axes.labels[axis]
	}
	text := ""
	for _, axis := range p.labels {
		text += "." + labels[axis]
	}
	if text == "" {
		return ""
	}
	return text[1:]
}

// pair adds a row.
func (p *pairing) pair(sa, sb *slot, levels map[string]string) {
	a, b := p.a.cell(sa, p.ca), p.b.cell(sb, p.cb)
	if p.a != p.b {
		for i, n := range a.Notes {
			a.Notes[i] = p.b.mark(p.a.out.Footnotes[n-1])
		}
	}
	xs, ys := p.a.sample(sa, p.ca), p.b.sample(sb, p.cb)
	pair := Pair{
		Column: p.b.def.Name, Label: visible(p.b.b.axes.joined(p.labels, levels)), Shared: p.a == p.b && sharesResult(xs, ys),
		A: Value{Number: a.Number, Known: a.Known}, B: Value{Number: b.Number, Known: b.Known}, RunsA: len(xs), RunsB: len(ys),
	}
	if p.cb.spec != nil {
		pair.Direction = p.cb.spec.Direction
	}
	if !pair.Shared {
		pair.P, pair.Significant, pair.Tested = compare(xs, ys)
	}
	p.pairs = append(p.pairs, pair)
	p.b.out.Rows = append(p.b.out.Rows, Row{
		Label: pair.Label, Levels: project(p.labels, levels), Source: sb.row.source,
		Cells: []Cell{bounded(a, xs), bounded(b, ys), p.ratioCell(&pair), {Text: pair.count()}, {Text: pair.difference()}},
	})
}

// bounded adds the bounds of a sample to its cell.
func bounded(c Cell, sample []observation) Cell {
	if c.Known && len(sample) > 0 {
		c.Low, c.High, c.Bound = bounds(sample)
	}
	return c
}

// sharesResult reports whether two samples have a measurement in common.
func sharesResult(xs, ys []observation) bool {
	of := func(o observation) sharedResult {
		if len(o.from) == 0 {
			return sharedResult{}
		}
		r := o.from[0].result
		return sharedResult{r.Origin, r.Phase, r.Iteration}
	}
	return slices.ContainsFunc(xs, func(x observation) bool {
		return of(x).origin != 0 && slices.ContainsFunc(ys, func(y observation) bool { return of(x) == of(y) })
	})
}

// ratioCell prints B relative to A.
func (p *pairing) ratioCell(pair *Pair) Cell {
	if !pair.A.Known || !pair.B.Known {
		return Cell{Text: missingText}
	}
	r := number(ratio(pair.B.Number, pair.A.Number))
	if !r.Known {
		return Cell{Text: missingText, Notes: []int{p.b.mark("the first number is 0, which nothing can be divided by")}}
	}
	return Cell{Text: decimals(2).print(r.Number), Number: r.Number, Known: true}
}

// count says how many runs each side has, as benchstat does.
func (p *Pair) count() string { return fmt.Sprintf("%d+%d", p.RunsA, p.RunsB) }

// difference says what is known of the difference.
func (p *Pair) difference() string {
	switch {
	case p.Shared:
		return "one measurement"
	case !p.A.Known || !p.B.Known:
		return "-"
	case !p.Tested:
		return "too few to test"
	case !p.Significant:
		return fmt.Sprintf("~ (p=%s)", roundHalfUp(p.P, 3))
	}
	return fmt.Sprintf("p=%s", roundHalfUp(p.P, 3))
}

// finish adds what is to be said under the table.
func (p *pairing) finish() {
	if len(p.pairs) == 0 {
		return
	}
	out := p.b.out
	out.Remarks = p.b.remarks()
	p.b.rowAxes = p.labels // the others are the same in all rows
	out.Caption = p.b.caption()
	if p.cb.phase != "" {
		out.Caption = append([]string{"phase = " + p.cb.phase}, out.Caption...)
	}
	if slices.ContainsFunc(p.pairs, func(p Pair) bool { return p.Tested }) {
		out.Remarks = append(out.Remarks, fmt.Sprintf("p is that of the U test; ~ marks differences that are not significant at %d%%", int(math.Round(100*(1-confidence)))))
	}
	if slices.ContainsFunc(p.pairs, func(p Pair) bool { return !p.Tested && !p.Shared && p.A.Known && p.B.Known }) {
		out.Remarks = append(out.Remarks, fmt.Sprintf("a test needs %d runs on each side", testRuns))
	}
	if p.b.def.Legend {
		out.Legend = p.b.legend()
	}
}
