package report

import (
	"fmt"
	"slices"
	"strings"
)

// A layout is a table as a grid of texts, numbers first and the label last
// unless it stands at the left. Text and Markdown draw it.
type layout struct {
	over  [][]span // lines over the headings, outermost first
	heads [][]string
	marks [][]int // on the headings, one list for each column; nil: none
	right []bool  // columns that are flush right
	label int     // the column of the row labels
	lines []gridLine
}

// A span is a heading over several columns.
type span struct {
	text        string
	first, last int // columns
}

// A gridLine is one line of the grid: cells, or what keeps groups apart.
type gridLine struct {
	cells   []gridCell
	between string // GroupLine, GroupHeading or GroupRule; "" for a row
	mean    bool   // the means of the rows before
	heading string // of the group
}

type gridCell struct {
	text  string
	marks []int
	value Value // of the number, for those who sort
}

// gridCell is the cell as it is drawn.
func (c *Cell) gridCell() gridCell {
	return gridCell{text: oneLine(c.Text), marks: c.Notes, value: Value{Number: c.Number, Known: c.Known}}
}

func layOut(t *Table) *layout {
	if t.Transposed {
		return layOutTransposed(t)
	}
	l := &layout{}
	offset := 0
	if t.Label.Left {
		offset = 1
	}
	n := len(t.Columns) + 1
	label := n - 1
	if t.Label.Left {
		label = 0
	}
	l.label = label
	l.right = make([]bool, n)
	for i, c := range t.Columns {
		l.right[i+offset] = c.Number
	}
	l.over = spans(t.Columns, offset)
	l.heads = heads(t, offset, label)
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.First && (i > 0 || t.GroupStyle == GroupHeading) {
			l.lines = append(l.lines, gridLine{between: t.GroupStyle, heading: oneLine(r.Group)})
		}
		l.lines = append(l.lines, r.gridLine(label, offset))
	}
	if t.Mean != nil {
		if t.GroupStyle != "" { // it belongs to no group
			l.lines = append(l.lines, gridLine{between: GroupLine})
		}
		line := t.Mean.gridLine(label, offset)
		line.mean = true
		l.lines = append(l.lines, line)
	}
	return l
}

// gridLine returns the line of a row whose label is in the given column, and whose
// cells begin at offset.
func (r *Row) gridLine(label, offset int) gridLine {
	cells := make([]gridCell, len(r.Cells)+1)
	cells[label] = gridCell{text: oneLine(r.Label), marks: r.Notes}
	for j := range r.Cells {
		cells[j+offset] = r.Cells[j].gridCell()
	}
	return gridLine{cells: cells}
}

// spans returns the header lines of the levels laid across. A level is written
// once for the columns that it and all levels over it have in common.
func spans(columns []Column, offset int) [][]span {
	var lines [][]span
	if len(columns) == 0 {
		return nil
	}
	for depth := range columns[0].Over {
		var line []span
		for i, c := range columns {
			if i > 0 && slices.Equal(c.Over[:depth+1], columns[i-1].Over[:depth+1]) {
				line[len(line)-1].last = i + offset
				continue
			}
			line = append(line, span{c.Over[depth], i + offset, i + offset})
		}
		lines = append(lines, line)
	}
	return lines
}

// heads returns the heading lines. Headings of fewer lines stand on the last
// ones; lines without a word are left out.
func heads(t *Table, offset, label int) [][]string {
	height := 1
	for _, c := range t.Columns {
		height = max(height, len(c.Heading))
	}
	lines := make([][]string, height)
	for i := range lines {
		lines[i] = make([]string, len(t.Columns)+1)
		for j, c := range t.Columns {
			if k := i - (height - len(c.Heading)); k >= 0 {
				lines[i][j+offset] = oneLine(c.Heading[k])
			}
		}
	}
	lines[height-1][label] = t.Label.Heading
	return slices.DeleteFunc(lines, func(line []string) bool {
		return !slices.ContainsFunc(line, func(s string) bool { return s != "" })
	})
}

// layOutTransposed shows rows across and columns downwards, the names of the
// columns at the left.
func layOutTransposed(t *Table) *layout {
	rows := t.allRows()
	l := &layout{right: make([]bool, len(rows)+1)}
	head := make([]string, len(rows)+1)
	head[0] = t.Label.Heading
	l.marks = make([][]int, len(rows)+1)
	for i, r := range rows {
		head[i+1] = oneLine(r.Label)
		l.right[i+1] = true
		l.marks[i+1] = r.Notes
	}
	l.heads = [][]string{head}
	for j, c := range t.Columns {
		line := gridLine{cells: []gridCell{{text: c.title()}}}
		for _, r := range rows {
			line.cells = append(line.cells, r.Cells[j].gridCell())
		}
		l.lines = append(l.lines, line)
	}
	return l
}

// title is a column's heading on one line.
func (c *Column) title() string {
	words := slices.DeleteFunc(append(slices.Clone(c.Over), c.Heading...), func(s string) bool { return s == "" })
	return strings.Join(words, " ")
}

// numbered prints footnote marks, each with the given brackets.
func numbered(marks []int, format string) string {
	var b strings.Builder
	for _, n := range marks {
		fmt.Fprintf(&b, format, n)
	}
	return b.String()
}

// headMarks returns the footnotes on a column's heading, which stand on its last
// line.
func (l *layout) headMarks(line, column int) []int {
	if l.marks == nil || line != len(l.heads)-1 {
		return nil
	}
	return l.marks[column]
}
