package report

import (
	"fmt"
	"math"
)

// geomean is the label of the row with the geometric means.
const geomean = "geomean"

// mean makes the row with the geometric mean of each column.
func (tb *tableBuilder) mean() *Row {
	tb.told = nil
	r := &Row{Label: geomean, Levels: map[string]string{}, Source: tb.rows[0].source}
	for i := range tb.points {
		for _, c := range tb.columns {
			r.Cells = append(r.Cells, tb.meanCell(i, c))
			if tb.def.Interval && c.number() {
				r.Cells = append(r.Cells, Cell{beside: true})
			}
		}
	}
	r.Remarks = tb.told
	return r
}

// meanCell is the geometric mean of a column at a point across. The rows that
// ratios are to are left out: they are 1 whatever was measured. A column with a row
// that has no number above 0 has no such mean: one of the other rows would not be
// comparable with those of columns that are whole.
func (tb *tableBuilder) meanCell(point int, c *column) Cell {
	if !c.number() || c.template != nil {
		return Cell{absent: true}
	}
	sum, n, unfit, bases := 0.0, 0, 0, 0
	for _, r := range tb.rows {
		s := r.slots[point]
		if c.relative && tb.baseline(s) == s {
			bases++
			continue
		}
		if m := tb.slotValue(s, c); m.Known && m.Number > 0 {
			sum += math.Log(m.Number)
			n++
		} else {
			unfit++
		}
	}
	switch {
	case n == 0 && unfit == 0 && bases > 0:
		return Cell{Text: tb.formatOf(c).print(1), Number: 1, Known: true}
	case n == 0 || unfit > 0:
		why := tb.mark(fmt.Sprintf("no geometric mean: %s without a number above 0", rowCount(unfit)))
		return Cell{Text: tb.missing(measured{}), Notes: []int{why}, absent: true}
	}
	x := math.Exp(sum / float64(n))
	return Cell{Text: tb.formatOf(c).print(x), Number: x, Known: true}
}
