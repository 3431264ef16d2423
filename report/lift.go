package report

import (
	"slices"
	"strings"
)

// hoist takes the footnotes that all numbers of a row have off them: they belong
// to the row. Where there is no number, it does so with those that say why.
func hoist(cells []Cell) []int {
	judged := (*Cell).judged
	if !slices.ContainsFunc(cells, func(c Cell) bool { return c.judged() }) {
		judged = func(c *Cell) bool { return !c.beside }
	}
	var marked []*Cell
	for i := range cells {
		if judged(&cells[i]) {
			marked = append(marked, &cells[i])
		}
	}
	if len(marked) < 2 {
		return nil
	}
	common := slices.Clone(marked[0].Notes)
	for _, c := range marked[1:] {
		common = slices.DeleteFunc(common, func(n int) bool { return !slices.Contains(c.Notes, n) })
	}
	for _, c := range marked {
		c.Notes = without(c.Notes, common)
	}
	return common
}

// judged reports whether a cell can be doubtful: it is no missing number, and not
// the bounds of one.
func (c *Cell) judged() bool { return !c.absent && !c.beside }

// without returns marks but those that are taken off.
func without(marks, off []int) []int {
	return slices.DeleteFunc(marks, func(n int) bool { return slices.Contains(off, n) })
}

// lift makes remarks of the footnotes that say nothing about single rows, in the
// order of their marks: of those that all rows have which have numbers, and of
// those that all cells of a column have. What remains is numbered anew.
func (t *Table) lift() {
	var lifted []int
	var remarks []string
	for i, text := range t.Footnotes {
		n := i + 1
		if about, ok := t.common(n); ok {
			lifted = append(lifted, n)
			if about != "" && !strings.HasPrefix(text, about+" ") {
				text = about + ": " + text
			}
			remarks = append(remarks, text)
		}
	}
	t.Remarks = append(remarks, t.Remarks...)
	numbers := map[int]int{}
	var rest []string
	for i, text := range t.Footnotes {
		if !slices.Contains(lifted, i+1) {
			rest = append(rest, text)
			numbers[i+1] = len(rest)
		}
	}
	t.Footnotes = rest
	renumber := func(marks []int) []int {
		var out []int
		for _, n := range without(marks, lifted) {
			out = append(out, numbers[n])
		}
		return out
	}
	for _, r := range t.allRows() {
		r.Notes = renumber(r.Notes)
		for j := range r.Cells {
			r.Cells[j].Notes = renumber(r.Cells[j].Notes)
		}
	}
}

// allRows returns the rows of a table and that of their means.
func (t *Table) allRows() []*Row {
	var rows []*Row
	for i := range t.Rows {
		rows = append(rows, &t.Rows[i])
	}
	if t.Mean != nil {
		rows = append(rows, t.Mean)
	}
	return rows
}

// common reports whether a footnote is about all rows, or about whole columns,
// which it then names.
func (t *Table) common(n int) (about string, ok bool) {
	if len(t.Rows) < 2 {
		return "", false
	}
	byRow := false
	for i := range t.Rows {
		r := &t.Rows[i]
		has := slices.Contains(r.Notes, n)
		if !has && slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.judged() }) {
			byRow = false
			break
		}
		byRow = byRow || has
	}
	if byRow {
		return "", t.onCells(n) == 0
	}
	return t.commonColumns(n)
}

// onCells counts the cells with a footnote.
func (t *Table) onCells(n int) int {
	count := 0
	for i := range t.Rows {
		for j := range t.Rows[i].Cells {
			if slices.Contains(t.Rows[i].Cells[j].Notes, n) {
				count++
			}
		}
	}
	return count
}

// commonColumns reports whether a footnote is on all cells of some columns, and
// nowhere else.
func (t *Table) commonColumns(n int) (about string, ok bool) {
	var names []string
	whole, partial := 0, false
	for j := range t.Columns {
		all := !slices.ContainsFunc(t.Rows, func(r Row) bool { return !slices.Contains(r.Cells[j].Notes, n) })
		if all {
			whole += len(t.Rows)
			if name := t.Columns[j].title(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		partial = partial || !all && !t.Rows[0].Cells[j].beside
	}
	onRows := slices.ContainsFunc(t.Rows, func(r Row) bool { return slices.Contains(r.Notes, n) })
	if whole == 0 || onRows || whole != t.onCells(n) {
		return "", false
	}
	if !partial {
		return "", true
	}
	return strings.Join(names, ", "), true
}
