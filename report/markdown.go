package report

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown writes a document with its tables as GitHub's Markdown has them. A
// heading of several lines becomes one, since such tables have one header row.
func Markdown(w io.Writer, d *Document, o Options) error {
	var b bytes.Buffer
	if d.Title != "" && !o.Bare {
		fmt.Fprintf(&b, "# %s\n", escape(d.Title))
	}
	for _, part := range []string{d.Description, prefixed("Source: ", d.Source)} {
		if part != "" && !o.Bare {
			fmt.Fprintf(&b, "\n%s\n", part)
		}
	}
	writeBlocks(&b, d, func(b *bytes.Buffer, block Block) {
		switch {
		case block.Table != nil:
			markdownTable(b, block.Table, o)
		case block.Chart != nil:
			markdownChart(b, block.Chart, o)
		case block.Text != nil && !o.Bare:
			fmt.Fprintf(b, "%s\n", strings.TrimSpace(block.Text.Markdown))
		}
	})
	_, err := w.Write(b.Bytes())
	return err
}

func markdownTable(b *bytes.Buffer, t *Table, o Options) {
	if !o.Bare && !o.Untitled {
		fmt.Fprintf(b, "## %s\n\n", escape(t.heading()))
		if len(t.Caption) > 0 {
			fmt.Fprintf(b, "%s\n\n", escape(strings.Join(t.Caption, ", ")))
		}
	}
	writeMarkdownGrid(b, layOut(t), o)
	if o.Bare {
		return
	}
	var notes []string
	for i, text := range t.Footnotes {
		notes = append(notes, fmt.Sprintf("- <sup>%d</sup> %s", i+1, escape(text)))
	}
	markdownNotes(b, notes, t.Remarks, t.Legend)
}

// markdownChart links the file of a chart.
func markdownChart(b *bytes.Buffer, c *Chart, o Options) {
	image := fmt.Sprintf("![%s](%s)\n", escape(c.Drawing.Describe()), (&url.URL{Path: o.chartPath(c)}).EscapedPath())
	if o.Bare {
		b.WriteString(image)
		return
	}
	fmt.Fprintf(b, "## %s\n\n", escape(c.heading()))
	if len(c.Caption) > 0 {
		fmt.Fprintf(b, "%s\n\n", escape(strings.Join(c.Caption, ", ")))
	}
	b.WriteString(image)
	var notes []string
	for _, text := range c.Footnotes {
		notes = append(notes, "- "+escape(text))
	}
	markdownNotes(b, notes, c.Remarks, c.Legend)
}

// markdownNotes writes the lists under a table or chart: of notes, which
// footnotes begin, and of the legend.
func markdownNotes(b *bytes.Buffer, notes, remarks []string, legend []LegendEntry) {
	for _, text := range remarks {
		notes = append(notes, "- "+escape(text))
	}
	if len(notes) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(notes, "\n"))
	}
	if len(legend) > 0 {
		b.WriteByte('\n')
	}
	for _, e := range legend { // another bullet begins another list
		fmt.Fprintf(b, "* `%s`: %s\n", strings.ReplaceAll(e.Term, "`", "'"), escape(e.Text))
	}
}

// writeMarkdownGrid writes a table whose columns are aligned in the source too.
func writeMarkdownGrid(b *bytes.Buffer, l *layout, o Options) {
	rows := [][]string{markdownHead(l, o)}
	for _, line := range l.lines {
		rows = append(rows, markdownLine(l, line, o))
	}
	const shortestRule = 3
	width := make([]int, len(l.right))
	for i := range width {
		width[i] = shortestRule
		for _, row := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for i, row := range rows {
		writeMarkdownRow(b, l, row, width)
		if i > 0 {
			continue
		}
		rule := make([]string, len(width))
		for j, w := range width {
			rule[j] = strings.Repeat("-", w)
			if l.right[j] {
				rule[j] = strings.Repeat("-", w-1) + ":"
			}
		}
		writeMarkdownRow(b, l, rule, width)
	}
}

func writeMarkdownRow(b *bytes.Buffer, l *layout, row []string, width []int) {
	for i, text := range row {
		if l.right[i] {
			text = padLeft(text, width[i])
		} else {
			text = pad(text, width[i])
		}
		b.WriteString("| " + text + " ")
	}
	b.WriteString("|\n")
}

// markdownHead joins the header lines of each column.
func markdownHead(l *layout, o Options) []string {
	words := make([][]string, len(l.right))
	add := func(column int, text string) {
		if text != "" {
			words[column] = append(words[column], escape(text))
		}
	}
	for _, line := range l.over {
		for _, s := range line {
			for i := s.first; i <= s.last; i++ {
				add(i, s.text)
			}
		}
	}
	for _, line := range l.heads {
		for i, text := range line {
			add(i, text)
		}
	}
	head := make([]string, len(words))
	for i, w := range words {
		head[i] = strings.Join(w, " ") + markdownMarks(l.headMarks(len(l.heads)-1, i), o)
	}
	return head
}

// markdownMarks writes footnote marks.
func markdownMarks(marks []int, o Options) string {
	if len(marks) == 0 || o.Bare {
		return ""
	}
	return "<sup>" + strings.ReplaceAll(strings.Trim(numbered(marks, "%d,"), ","), ",", " ") + "</sup>"
}

// markdownLine writes one line of the grid. What keeps groups apart becomes a
// row: Markdown has no other line inside a table.
func markdownLine(l *layout, line gridLine, o Options) []string {
	row := make([]string, len(l.right))
	switch line.between {
	case GroupLine: // a row without text
	case GroupRule:
		for i := range row {
			row[i] = "\u2014"
		}
	case GroupHeading:
		row[l.label] = "**" + escape(line.heading) + "**"
	default:
		for i, c := range line.cells {
			row[i] = escape(c.text) + markdownMarks(c.marks, o)
		}
	}
	return row
}

// escape writes text so that Markdown shows it as it is, also inside a table.
// An underscore within a word needs no escape.
func escape(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	var b strings.Builder
	for i, c := range runes {
		switch c {
		case '<':
			b.WriteString("&lt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '_':
			if i > 0 && i < len(runes)-1 && wordRune(runes[i-1]) && wordRune(runes[i+1]) {
				break
			}
			b.WriteByte('\\')
		case '\\', '`', '*', '[', ']', '|', '~', '#':
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
