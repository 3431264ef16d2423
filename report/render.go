package report

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Options say how much of a document is written.
type Options struct {
	// Bare leaves out everything around a table: title, caption, footnotes
	// with their marks, legend. What remains is what a blog post prints
	// between its own words.
	Bare bool

	// Untitled leaves out title and caption of the tables in text and
	// Markdown.
	Untitled bool

	// Charts is the folder of the chart files as the document names it; ""
	// is "charts", beside the document.
	Charts string

	// ChartFormat is "svg" or "png"; "" is svg.
	ChartFormat string
}

// What options leave to be chosen.
const (
	defaultCharts      = "charts"
	defaultChartFormat = "svg"
)

// chartPath returns the file of a chart as the document names it.
func (o Options) chartPath(c *Chart) string {
	return path.Join(cmp.Or(o.Charts, defaultCharts), c.File+"."+cmp.Or(o.ChartFormat, defaultChartFormat))
}

// A ChartFile is a file that a document in Markdown or text refers to.
type ChartFile struct {
	Path  string // relative to the document, with slashes
	Write func(io.Writer) error
}

// ChartFiles returns the files that go with a document which is written in a
// format that cannot hold charts. The document is complete without them.
func (d *Document) ChartFiles(o Options) ([]ChartFile, error) {
	var files []ChartFile
	for _, c := range d.Charts() {
		f := ChartFile{Path: o.chartPath(c), Write: c.Drawing.SVG}
		switch cmp.Or(o.ChartFormat, defaultChartFormat) {
		case "svg":
		case "png":
			f.Write = c.Drawing.PNG
		default:
			return nil, fmt.Errorf("there is no chart format %q; the formats are svg and png", o.ChartFormat)
		}
		files = append(files, f)
	}
	return files, nil
}

// A Renderer writes a document in one format.
type Renderer func(w io.Writer, d *Document, o Options) error

// Formats returns the renderers by the name of their format.
func Formats() map[string]Renderer {
	return map[string]Renderer{
		"markdown": Markdown,
		"text":     Plain,
		"html":     HTML,
		"csv":      CSV,
		"json":     JSON,
		"benchfmt": Benchfmt,
	}
}

// Render writes a document in the named format.
func Render(w io.Writer, d *Document, format string, o Options) error {
	formats := Formats()
	render, ok := formats[format]
	if !ok {
		return fmt.Errorf("there is no report format %q; the formats are %s", format, strings.Join(sortedKeys(formats), ", "))
	}
	return render(w, d, o)
}

// Only returns a document of nothing but the named tables, in the order of the
// names.
func (d *Document) Only(names ...string) (*Document, error) {
	only := &Document{}
	for _, name := range names {
		t := d.Table(name)
		if t == nil {
			if slices.Contains(d.leftOut, name) {
				return nil, fmt.Errorf("table %q cannot be made: its definition has faults", name)
			}
			if near := nearest(name, d.Tables()); near != "" {
				return nil, fmt.Errorf("there is no table %q; did you mean %q?", name, near)
			}
			return nil, fmt.Errorf("there is no table %q; the tables are %s", name, strings.Join(d.Tables(), ", "))
		}
		only.Blocks = append(only.Blocks, Block{Table: t})
	}
	return only, nil
}

// tables returns the tables of a document.
func (d *Document) tables() []*Table {
	var tables []*Table
	for _, b := range d.Blocks {
		if b.Table != nil {
			tables = append(tables, b.Table)
		}
	}
	return tables
}

// heading returns what stands over the chart.
func (c *Chart) heading() string { return cmp.Or(c.Drawing.Title, visible(c.Name)) }

// heading returns what stands over the table.
func (t *Table) heading() string {
	if t.Title != "" {
		return t.Title
	}
	return visible(t.Name)
}
