package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// columnGap is the space between two columns.
const columnGap = 2

// Plain writes a document as aligned text, as it stands in a <pre>: numbers
// flush right, the label last, a "." between groups.
func Plain(w io.Writer, d *Document, o Options) error {
	var b bytes.Buffer
	if d.Title != "" && !o.Bare {
		fmt.Fprintf(&b, "%s\n%s\n", d.Title, strings.Repeat("=", utf8.RuneCountInString(d.Title)))
	}
	for _, part := range []string{d.Description, prefixed("Source: ", d.Source)} {
		if part != "" && !o.Bare {
			fmt.Fprintf(&b, "\n%s\n", part)
		}
	}
	writeBlocks(&b, d, func(b *bytes.Buffer, block Block) {
		switch {
		case block.Table != nil:
			plainTable(b, block.Table, o)
		case block.Chart != nil && !o.Bare:
			plainChart(b, block.Chart, o)
		case block.Text != nil && !o.Bare:
			fmt.Fprintf(b, "%s\n", strings.TrimSpace(block.Text.Markdown))
		}
	})
	_, err := w.Write(b.Bytes())
	return err
}

// writeBlocks writes the blocks of a document with a line between them.
func writeBlocks(b *bytes.Buffer, d *Document, write func(*bytes.Buffer, Block)) {
	for _, part := range inParallel(len(d.Blocks), func(i int) *bytes.Buffer {
		var part bytes.Buffer
		write(&part, d.Blocks[i])
		return &part
	}) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.Write(part.Bytes())
	}
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func plainTable(b *bytes.Buffer, t *Table, o Options) {
	if !o.Bare && !o.Untitled {
		plainHeading(b, t.heading())
		if len(t.Caption) > 0 {
			fmt.Fprintf(b, "%s\n", strings.Join(t.Caption, ", "))
		}
		b.WriteByte('\n')
	}
	newTextGrid(layOut(t), o.Bare).write(b)
	if o.Bare {
		return
	}
	var notes []string
	for i, text := range t.Footnotes {
		notes = append(notes, wrapped(fmt.Sprintf("[%d] ", i+1), text))
	}
	plainNotes(b, notes, t.Remarks, t.Legend)
}

// plainHeading writes a heading, underlined.
func plainHeading(b *bytes.Buffer, text string) {
	fmt.Fprintf(b, "%s\n%s\n", text, strings.Repeat("-", utf8.RuneCountInString(text)))
}

// plainChart names the file of a chart.
func plainChart(b *bytes.Buffer, c *Chart, o Options) {
	plainHeading(b, c.heading())
	if len(c.Caption) > 0 {
		fmt.Fprintf(b, "%s\n", strings.Join(c.Caption, ", "))
	}
	fmt.Fprintf(b, "\nChart: %s (%s by %s)\n", o.chartPath(c), c.Drawing.Y.Title, c.Drawing.X.Title)
	plainNotes(b, nil, slices.Concat(c.Footnotes, c.Remarks), c.Legend)
}

// TextWidth is how many columns a text is meant to have: more do not fit beside
// each other in a blog's <pre>.
const TextWidth = 100

// Width returns how many columns the table takes as text.
func (t *Table) Width() int { return newTextGrid(layOut(t), false).total() }

// wrapped breaks a text into lines of TextWidth, all but the first of which are
// indented under what stands before the text. A word that is longer stays whole.
func wrapped(before, text string) string {
	indent := utf8.RuneCountInString(before)
	var b strings.Builder
	b.WriteString(before)
	at := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && at+1+n > TextWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// plainNotes writes what stands under a table or chart: the notes, then the legend.
func plainNotes(b *bytes.Buffer, notes, remarks []string, legend []LegendEntry) {
	for _, text := range remarks {
		notes = append(notes, wrapped("* ", text))
	}
	if len(notes) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(notes, "\n"))
	}
	if len(legend) > 0 {
		b.WriteByte('\n')
	}
	width := 0
	for _, e := range legend {
		width = max(width, utf8.RuneCountInString(e.Term))
	}
	for _, e := range legend {
		fmt.Fprintf(b, "%s\n", wrapped(pad(e.Term, width)+"  ", e.Text))
	}
}

// A textGrid is a layout with the widths of its columns.
type textGrid struct {
	*layout
	bare  bool
	width []int // of each column
	marks []int // of the marks in each column, which follow the numbers
}

func newTextGrid(l *layout, bare bool) *textGrid {
	n := len(l.right)
	g := &textGrid{layout: l, bare: bare, width: make([]int, n), marks: make([]int, n)}
	text := make([]int, n)
	for _, line := range l.lines {
		for i, c := range line.cells {
			text[i] = max(text[i], utf8.RuneCountInString(c.text))
			g.marks[i] = max(g.marks[i], utf8.RuneCountInString(g.markText(c.marks)))
		}
	}
	for i := range g.width {
		for j, line := range l.heads {
			text[i] = max(text[i], utf8.RuneCountInString(line[i]))
			g.marks[i] = max(g.marks[i], utf8.RuneCountInString(g.markText(l.headMarks(j, i))))
		}
		g.width[i] = text[i] + g.marks[i]
	}
	g.widen()
	return g
}

// widen gives the last column under a heading what the heading needs more.
func (g *textGrid) widen() {
	for _, line := range g.over {
		for _, s := range line {
			have := 0
			for i := s.first; i <= s.last; i++ {
				have += g.width[i]
			}
			have += columnGap * (s.last - s.first)
			if need := utf8.RuneCountInString(s.text); need > have {
				g.width[s.last] += need - have
			}
		}
	}
}

func (g *textGrid) markText(marks []int) string {
	if g.bare {
		return ""
	}
	return numbered(marks, "[%d]")
}

func (g *textGrid) write(b *bytes.Buffer) {
	for _, line := range g.over {
		g.writeSpans(b, line)
	}
	for j, line := range g.heads {
		cells := make([]string, len(line))
		for i, text := range line {
			cells[i] = g.align(text+pad(g.markText(g.headMarks(j, i)), g.marks[i]), i) // over the digits
		}
		writeLine(b, cells)
	}
	for i, line := range g.lines {
		switch line.between {
		case GroupLine:
			b.WriteString(".\n")
		case GroupRule:
			b.WriteString(strings.Repeat("-", g.total()) + "\n")
		case GroupHeading:
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(line.heading + "\n")
		default:
			g.writeRow(b, line.cells)
		}
	}
}

func (g *textGrid) writeRow(b *bytes.Buffer, row []gridCell) {
	cells := make([]string, len(row))
	for i, c := range row {
		cells[i] = g.align(c.text+pad(g.markText(c.marks), g.marks[i]), i)
		if !g.right[i] {
			cells[i] = g.align(c.text+g.markText(c.marks), i)
		}
	}
	writeLine(b, cells)
}

func (g *textGrid) writeSpans(b *bytes.Buffer, line []span) {
	cells := make([]string, 0, len(line))
	at := 0
	for _, s := range line {
		for ; at < s.first; at++ {
			cells = append(cells, pad("", g.width[at]))
		}
		width := columnGap * (s.last - s.first)
		for ; at <= s.last; at++ {
			width += g.width[at]
		}
		if s.first == s.last && g.right[s.first] {
			cells = append(cells, padLeft(s.text, width))
		} else {
			cells = append(cells, pad(s.text, width))
		}
	}
	writeLine(b, cells)
}

func (g *textGrid) total() int {
	total := columnGap * (len(g.width) - 1)
	for _, w := range g.width {
		total += w
	}
	return total
}

func (g *textGrid) align(text string, column int) string {
	if g.right[column] {
		return padLeft(text, g.width[column])
	}
	return pad(text, g.width[column])
}

func writeLine(b *bytes.Buffer, cells []string) {
	b.WriteString(strings.TrimRight(strings.Join(cells, strings.Repeat(" ", columnGap)), " "))
	b.WriteByte('\n')
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}
