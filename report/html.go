package report

import (
	"bytes"
	_ "embed" // for the template
	"fmt"
	"html/template"
	"io"
	"slices"
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

// A pageTable is a table as its head and the elements of its other lines.
type pageTable struct {
	Sortable bool
	Head     [][]pageCell
	Body     template.HTML
	Foot     template.HTML // stays where it is when the others are sorted
}

// A pageCell is a cell of a table's head.
type pageCell struct {
	Text  string
	Right bool
	Label bool // over the names of the rows
	Span  int  // columns
	Marks []int
}

// HTML writes a document as one page that needs nothing else: charts are part of
// it, tables sort by a click on a heading, and all of it is there to read where
// scripts do not run. Its colours follow the reader's choice of light or dark.
func HTML(w io.Writer, d *Document, o Options) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"args": newMarks, "number": func(i int) int { return i + 1 }, "differences": newDifferences, "join": func(words []string) string { return strings.Join(words, ", ") },
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

func newPage(d *Document, o Options) (*page, error) {
	p := &page{Title: d.Title, Source: d.Source, Bare: o.Bare}
	var err error
	if p.Description, err = markdownToHTML(d.Description); err != nil {
		return nil, err
	}
	blocks := slices.DeleteFunc(slices.Clone(d.Blocks), func(b Block) bool { return b.Text != nil && o.Bare })
	ids := elementIDs(blocks)
	type result struct {
		pageBlock
		err error
	}
	for _, made := range inParallel(len(blocks), func(i int) result {
		part, err := newPageBlock(&blocks[i], ids[i], o)
		return result{part, err}
	}) {
		if made.err != nil {
			return nil, made.err
		}
		p.Blocks = append(p.Blocks, made.pageBlock)
	}
	if d.Appendix != nil && !o.Bare {
		p.Appendix = newPageAppendix(d.Appendix)
	}
	return p, nil
}

// newPageBlock makes the part of a page whose element has the given ID.
func newPageBlock(block *Block, id string, o Options) (part pageBlock, err error) {
	switch {
	case block.Table != nil:
		part = tablePart(block.Table, id, o.Bare)
	case block.Chart != nil:
		part, err = chartPart(block.Chart)
	default:
		part.Text, err = markdownToHTML(block.Text.Markdown)
	}
	part.ID = id
	part.Explained = len(part.Numbered)+len(part.Remarks)+len(part.Legend) > 0
	return part, err
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

// elementIDs names the elements of blocks, each by a name of its own.
func elementIDs(blocks []Block) []string {
	ids := make([]string, len(blocks))
	times := map[string]int{}
	for i, block := range blocks {
		switch {
		case block.Table != nil:
			ids[i] = elementID("table", block.Table.Name)
		case block.Chart != nil:
			ids[i] = elementID("chart", block.Chart.Name)
		}
		if times[ids[i]]++; times[ids[i]] > 1 {
			ids[i] += "-" + strconv.Itoa(times[ids[i]])
		}
	}
	return ids
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
		Heading: c.heading(), Caption: strings.Join(c.Caption, ", "), Chart: template.HTML(b.String()),
		Remarks: append(append([]string{}, c.Footnotes...), c.Remarks...), Legend: c.Legend,
	}, nil
}

func tablePart(t *Table, id string, bare bool) pageBlock {
	return pageBlock{
		Heading: t.heading(), Caption: strings.Join(t.Caption, ", "), Table: newPageTable(t, id, bare),
		Numbered: t.Footnotes, Remarks: t.Remarks, Legend: t.Legend,
	}
}

// newPageTable makes the table of the block with the given ID.
func newPageTable(t *Table, id string, bare bool) *pageTable {
	l := layOut(t)
	out := &pageTable{Sortable: !t.Transposed && len(t.Rows) > 1}
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
	body, foot := &htmlRows{layout: l, id: id, bare: bare}, &htmlRows{layout: l, id: id, bare: bare}
	for i := range l.lines {
		if line := &l.lines[i]; line.mean {
			foot.line(line)
		} else {
			body.line(line)
		}
	}
	out.Body, out.Foot = template.HTML(body.String()), template.HTML(foot.String())
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
