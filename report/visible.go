package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible writes text so that nothing in it acts on what shows it: control
// characters, which a terminal obeys, and those that turn the direction of the text
// around them or that show nothing at all. Each stands as its number, such as
// \u202e. Line ends and tabs stay, and the joiners that scripts and emoji are
// written with.
func visible(text string) string {
	if seenAsIs(text) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case !acts(c):
			b.WriteRune(c)
		case c > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// seenAsIs reports whether text is printable ASCII with line ends and tabs, as
// nearly all is.
func seenAsIs(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// acts reports whether a character is none to be seen.
func acts(c rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	switch c {
	case '\n', '\r', '\t', nonJoiner, joiner:
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// invisible returns the first character of text that visible would write as its
// number, or what is no character at all; "" where there is none.
func invisible(text string) string {
	if !utf8.ValidString(text) {
		return "bytes that are no UTF-8"
	}
	for _, c := range text {
		if acts(c) {
			return fmt.Sprintf("the character U+%04X", c)
		}
	}
	return ""
}

func visibleAll(texts []string) {
	for i, text := range texts {
		texts[i] = visible(text)
	}
}

func visibleMap(texts map[string]string) map[string]string {
	for _, text := range texts {
		if !seenAsIs(text) {
			out := make(map[string]string, len(texts))
			for name, text := range texts {
				out[name] = visible(text)
			}
			return out
		}
	}
	return texts
}

// visible makes all texts of a document visible, whatever format it is written in.
func (d *Document) visible() {
	d.Title, d.Description, d.Source = visible(d.Title), visible(d.Description), visible(d.Source)
	for _, b := range d.Blocks {
		switch {
		case b.Table != nil:
			b.Table.visible()
		case b.Chart != nil:
			b.Chart.visible()
		case b.Text != nil:
			b.Text.Markdown = visible(b.Text.Markdown)
		}
	}
	if d.Appendix != nil {
		d.Appendix.visible()
	}
}

func (t *Table) visible() {
	t.Title, t.Label.Heading = visible(t.Title), visible(t.Label.Heading)
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Label, c.Token, c.Phase, c.Levels = visible(c.Label), visible(c.Token), visible(c.Phase), visibleMap(c.Levels)
		c.Heading, c.Over = visibleCopy(c.Heading), visibleCopy(c.Over)
	}
	for _, r := range t.allRows() {
		r.Label, r.Group, r.Levels = visible(r.Label), visible(r.Group), visibleMap(r.Levels)
		r.Remarks = visibleCopy(r.Remarks)
		for j := range r.Cells {
			r.Cells[j].Text = visible(r.Cells[j].Text)
		}
	}
	t.Caption, t.Footnotes, t.Remarks = visibleCopy(t.Caption), visibleCopy(t.Footnotes), visibleCopy(t.Remarks)
	visibleLegend(t.Legend)
}

// visibleCopy is for lists that belong to others too; it is the list itself where
// nothing in it is to be changed.
func visibleCopy(texts []string) []string {
	for _, text := range texts {
		if !seenAsIs(text) {
			out := append([]string(nil), texts...)
			visibleAll(out)
			return out
		}
	}
	return texts
}

func visibleLegend(legend []LegendEntry) {
	for i := range legend {
		legend[i].Term, legend[i].Text = visible(legend[i].Term), visible(legend[i].Text)
	}
}

func (c *Chart) visible() {
	d := c.Drawing
	d.Title, d.X.Title, d.Y.Title, d.ReferenceName = visible(d.Title), visible(d.X.Title), visible(d.Y.Title), visible(d.ReferenceName)
	d.Categories, d.Series = visibleCopy(d.Categories), visibleCopy(d.Series)
	for i := range d.X.Ticks {
		d.X.Ticks[i].Label = visible(d.X.Ticks[i].Label)
	}
	for i := range d.Panels {
		d.Panels[i].Title = visible(d.Panels[i].Title)
	}
	c.Caption, c.Footnotes, c.Remarks = visibleCopy(c.Caption), visibleCopy(c.Footnotes), visibleCopy(c.Remarks)
	visibleLegend(c.Legend)
}

func (a *Appendix) visible() {
	for i := range a.Facts {
		a.Facts[i].Name, a.Facts[i].Value = visible(a.Facts[i].Name), visible(a.Facts[i].Value)
	}
	for _, list := range [][]Difference{a.Differing, a.Options, a.Variables} {
		for i := range list {
			list[i].Name = visible(list[i].Name)
			for j := range list[i].Values {
				v := &list[i].Values[j]
				v.Value, v.Of = visible(v.Value), visibleCopy(v.Of)
			}
		}
	}
	for i := range a.Files {
		f := &a.Files[i]
		f.Of = visibleCopy(f.Of)
		for j := range f.Lines {
			line := &f.Lines[j] // its own: OptionFile has a copy of what was asked
			line.Name, line.Value, line.Origin = visible(line.Name), visible(line.Value), visible(line.Origin)
		}
	}
	for i := range a.Runs {
		a.Runs[i].Name = visible(a.Runs[i].Name)
	}
}
