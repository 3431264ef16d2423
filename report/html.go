package report

import (
	"bytes"
	_ "embed" // for the template
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

//go:embed html.tmpl
var pageTemplate string

// A page is a document as the HTML template sees it.
type page struct {
	Title       string
	Description template.HTML
	Source      string
	Bare        bool
	Blocks      []pageBlock
	Appendix    *pageAppendix
}

// A pageBlock is one part of a page. Exactly one of Text, Table and Chart is set.
type pageBlock struct {
	ID      string // of its element, unique on the page
	Heading string
	Caption string

	Text  template.HTML
	Table *pageTable
	Chart template.HTML // an SVG element

	Numbered  []string // footnotes that marks refer to
	Remarks   []string
	Legend    []LegendEntry
	Explained bool // whether any of these is there
}

// A pageTable is a table as lines of cells.
type pageTable struct {
	Sortable bool
	Head     [][]pageCell
	Lines    []pageLine
	Foot     []pageLine // stay where they are when the others are sorted
	Width    int        // in columns
}

// A pageLine is a line of a table: cells, or what keeps groups apart.
type pageLine struct {
	Between string
	Heading string
	Cells   []pageCell
}

// A pageCell is a cell of a table.
type pageCell struct {
	Text    string
	Value   string // the number in full, for sorting; "" where there is none
	Right   bool
	Label   bool // the row's name
	Span    int  // columns
	Missing bool
	Marks   []int
}

// HTML writes a document as one page that needs nothing else: charts are part of
// it, tables sort by a click on a heading, and all of it is there to read where
// scripts do not run. Its colours follow the reader's choice of light or dark.
func HTML(w io.Writer, d *Document, o Options) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"args": newMarks, "line": newPageRow, "number": func(i int) int { return i + 1 }, "differences": newDifferences, "join": func(words []string) string { return strings.Join(words, ", ") },
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("the page's template: %w", err)
	}
	p, err := newPage(d, o)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// marks are the footnotes of one cell.
type marks struct {
	ID    string // of the table
	Marks []int
	Bare  bool
}

func newMarks(id string, numbers []int, bare bool) marks { return marks{id, numbers, bare} }

// A pageRow is a line of a table with what its marks need.
type pageRow struct {
	Line pageLine
	ID   string // of the table
	Bare bool
}

func newPageRow(line pageLine, id string, bare bool) pageRow { return pageRow{line, id, bare} }

func newPage(d *Document, o Options) (*page, error) {
	p := &page{Title: d.Title, Source: d.Source, Bare: o.Bare}
	var err error
	if p.Description, err = markdownToHTML(d.Description); err != nil {
		return nil, err
	}
	ids := map[string]int{}
	for _, block := range d.Blocks {
		part := pageBlock{}
		switch {
		case block.Table != nil:
			part = tablePart(block.Table)
		case block.Chart != nil:
			part, err = chartPart(block.Chart)
		case block.Text != nil && !o.Bare:
			part.Text, err = markdownToHTML(block.Text.Markdown)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		if ids[part.ID]++; ids[part.ID] > 1 {
			part.ID += "-" + strconv.Itoa(ids[part.ID])
		}
		part.Explained = len(part.Numbered)+len(part.Remarks)+len(part.Legend) > 0
		p.Blocks = append(p.Blocks, part)
	}
	if d.Appendix != nil && !o.Bare {
		p.Appendix = newPageAppendix(d.Appendix)
	}
	return p, nil
}

// markdownToHTML converts what the experiment's author wrote. HTML in it is left
// out: a definition must not bring scripts into a page.
func markdownToHTML(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &b); err != nil {
		return "", fmt.Errorf("converting the text %q: %w", text, err)
	}
	return template.HTML(b.String()), nil
}

// elementID makes the name of a block one of an element, to which links lead as it
// is written.
func elementID(kind, name string) string {
	return kind + "-" + strings.Map(func(c rune) rune {
		if acts(c) || c < utf8.RuneSelf && !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' && c != '_' {
			return '-'
		}
		return c
	}, name)
}

func chartPart(c *Chart) (pageBlock, error) {
	drawing := *c.Drawing
	drawing.Title = "" // it is the heading
	var b bytes.Buffer
	if err := drawing.InlineSVG(&b); err != nil {
		return pageBlock{}, err
	}
	return pageBlock{
		ID: elementID("chart", c.Name), Heading: c.heading(), Caption: strings.Join(c.Caption, ", "), Chart: template.HTML(b.String()),
		Remarks: append(append([]string{}, c.Footnotes...), c.Remarks...), Legend: c.Legend,
	}, nil
}

func tablePart(t *Table) pageBlock {
	return pageBlock{
		ID: elementID("table", t.Name), Heading: t.heading(), Caption: strings.Join(t.Caption, ", "), Table: newPageTable(t),
		Numbered: t.Footnotes, Remarks: t.Remarks, Legend: t.Legend,
	}
}

func newPageTable(t *Table) *pageTable {
	l := layOut(t)
	out := &pageTable{Sortable: !t.Transposed && len(t.Rows) > 1, Width: len(l.right)}
	for _, line := range l.over {
		out.Head = append(out.Head, overCells(line, len(l.right)))
	}
	for j, line := range l.heads {
		var cells []pageCell
		for i, text := range line {
			cells = append(cells, pageCell{Text: text, Right: l.right[i], Label: i == l.label, Span: 1, Marks: l.headMarks(j, i)})
		}
		out.Head = append(out.Head, cells)
	}
	for _, line := range l.lines {
		row := pageLine{Between: line.between, Heading: line.heading}
		for i, c := range line.cells {
			cell := pageCell{Text: c.text, Right: l.right[i], Label: i == l.label, Marks: c.marks, Span: 1}
			if c.value.Known {
				cell.Value = shortest(c.value.Number)
			}
			cell.Missing = l.right[i] && !c.value.Known
			row.Cells = append(row.Cells, cell)
		}
		if line.mean {
			out.Foot = append(out.Foot, row)
			continue
		}
		out.Lines = append(out.Lines, row)
	}
	return out
}

// overCells fills a line of spans up with empty cells.
func overCells(line []span, width int) []pageCell {
	var cells []pageCell
	at := 0
	for _, s := range line {
		if s.first > at {
			cells = append(cells, pageCell{Span: s.first - at})
		}
		cells = append(cells, pageCell{Text: s.text, Span: s.last - s.first + 1})
		at = s.last + 1
	}
	if at < width {
		cells = append(cells, pageCell{Span: width - at})
	}
	return cells
}
