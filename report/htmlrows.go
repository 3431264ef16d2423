package report

import (
	"strconv"
	"strings"
)

// htmlRows writes the lines of a table as elements of a page. A page has tens of
// thousands of cells, for which its template would take as long as for all else.
type htmlRows struct {
	strings.Builder
	*layout
	id   string // of the block, where the footnotes stand
	bare bool   // without the marks of footnotes
}

// line adds a line: a row, or what keeps groups apart.
func (h *htmlRows) line(line *gridLine) {
	h.put("\n<tr")
	if line.between != "" {
		h.between(line)
	} else {
		h.put(">")
		for i := range line.cells {
			h.cell(i, &line.cells[i])
		}
	}
	h.put("</tr>")
}

func (h *htmlRows) between(line *gridLine) {
	width := strconv.Itoa(len(h.right))
	h.put(` class="between `, line.between, `">`)
	if line.between == GroupHeading && line.heading != "" {
		h.put(`<th colspan="`, width, `" scope="rowgroup">`, escapeHTML(line.heading), "</th>")
	} else {
		h.put(`<td colspan="`, width, `"></td>`)
	}
}

// cell adds the cell of a column: the name of the row, or a number, in full for the
// script that sorts.
func (h *htmlRows) cell(column int, c *gridCell) {
	if column == h.label {
		h.put(`<th scope="row">`, escapeHTML(c.text))
		h.marksOf(c)
		h.put("</th>")
		return
	}
	h.put("<td")
	switch {
	case h.right[column] && !c.value.Known:
		h.put(` class="right missing"`)
	case h.right[column]:
		h.put(` class="right"`)
	}
	if c.value.Known {
		h.put(` data-value="`, escapeHTML(shortest(c.value.Number)), `"`) // "+Inf" has a plus
	}
	h.put(">", escapeHTML(c.text))
	h.marksOf(c)
	h.put("</td>")
}

// marksOf adds the marks of a cell, each a link to its footnote.
func (h *htmlRows) marksOf(c *gridCell) {
	if len(c.marks) == 0 || h.bare {
		return
	}
	h.put("<sup>")
	for i, n := range c.marks {
		if i > 0 {
			h.put(",")
		}
		mark := strconv.Itoa(n)
		h.put(`<a href="#`, h.id, `-note-`, mark, `">`, mark, "</a>")
	}
	h.put("</sup>")
}

func (h *htmlRows) put(parts ...string) {
	for _, s := range parts {
		h.WriteString(s)
	}
}

// escapeHTML writes text as the content of an element or of a quoted attribute, as
// html/template does.
func escapeHTML(text string) string {
	if !strings.ContainsAny(text, "\x00\"&'+<>") {
		return text
	}
	return strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;").Replace(text)
}
