package report

import (
	"encoding/json"
	"io"
	"math"
	"strings"

	"dbmatrix/matrix"
	"dbmatrix/report/chart"
)

// jsonSchema numbers the form of the JSON report.
const jsonSchema = 1

type jsonDocument struct {
	Schema int         `json:"schema"`
	Title  string      `json:"title,omitempty"`
	Blocks []jsonBlock `json:"blocks"`
}

type jsonBlock struct {
	Table *jsonTable `json:"table,omitempty"`
	Chart *jsonChart `json:"chart,omitempty"`
	Text  *jsonText  `json:"text,omitempty"`
}

type jsonText struct {
	Name     string `json:"name"`
	Markdown string `json:"markdown"`
}

type jsonTable struct {
	Name      string       `json:"name"`
	Title     string       `json:"title,omitempty"`
	Caption   []string     `json:"caption,omitempty"`
	Axes      []string     `json:"axes"`
	Columns   []jsonColumn `json:"columns"`
	Rows      []jsonRow    `json:"rows"`
	Geomean   *jsonRow     `json:"geomean,omitempty"`
	Footnotes []string     `json:"footnotes,omitempty"`
	Remarks   []string     `json:"remarks,omitempty"`
	Legend    []jsonTerm   `json:"legend,omitempty"`
}

type jsonChart struct {
	Name       string      `json:"name"`
	Title      string      `json:"title,omitempty"`
	Kind       chart.Kind  `json:"kind"`
	Caption    []string    `json:"caption,omitempty"`
	X          string      `json:"x"`
	Y          string      `json:"y"`
	Categories []string    `json:"categories,omitempty"`
	Series     []string    `json:"series"`
	Panels     []jsonPanel `json:"panels"`
	Footnotes  []string    `json:"footnotes,omitempty"`
	Remarks    []string    `json:"remarks,omitempty"`
	Legend     []jsonTerm  `json:"legend,omitempty"`
}

type jsonPanel struct {
	Title  string      `json:"title,omitempty"`
	Points []jsonPoint `json:"points"`
}

type jsonPoint struct {
	Series string    `json:"series"`
	X      any       `json:"x"` // a category or a number
	Y      *float64  `json:"y"` // null: missing, or a sample
	Low    *float64  `json:"low,omitempty"`
	High   *float64  `json:"high,omitempty"`
	Sample []float64 `json:"sample,omitempty"`
}

type jsonColumn struct {
	Label     string            `json:"label"`
	Heading   string            `json:"heading"`
	Token     string            `json:"token,omitempty"`
	Phase     string            `json:"phase,omitempty"`
	Iteration int               `json:"iteration,omitempty"`
	Unit      string            `json:"unit,omitempty"`
	Levels    map[string]string `json:"levels,omitempty"`
}

type jsonRow struct {
	Label  string            `json:"label"`
	Levels map[string]string `json:"levels"`
	Source string            `json:"source"`
	Group  string            `json:"group,omitempty"`
	Notes  []int             `json:"notes,omitempty"`
	Cells  []jsonCell        `json:"cells"`

	Remarks []string `json:"remarks,omitempty"`
}

type jsonCell struct {
	Value  *float64      `json:"value"` // null: missing, or not finite
	Text   string        `json:"text"`
	Status matrix.Status `json:"status,omitempty"`
	Runs   int           `json:"runs"`
	Low    *float64      `json:"low,omitempty"`
	High   *float64      `json:"high,omitempty"`
	Bound  string        `json:"bound,omitempty"`
	Notes  []int         `json:"notes,omitempty"`
}

type jsonTerm struct {
	Term string `json:"term"`
	Text string `json:"text"`
}

// JSON writes a document with typed cells: the number, its printed form, the
// status of the phase it comes from, and the numbers of its footnotes, which
// count from 1.
func JSON(w io.Writer, d *Document, _ Options) error {
	out := jsonDocument{Schema: jsonSchema, Title: d.Title, Blocks: []jsonBlock{}}
	for _, b := range d.Blocks {
		switch {
		case b.Table != nil:
			out.Blocks = append(out.Blocks, jsonBlock{Table: newJSONTable(b.Table)})
		case b.Chart != nil:
			out.Blocks = append(out.Blocks, jsonBlock{Chart: newJSONChart(b.Chart)})
		case b.Text != nil:
			out.Blocks = append(out.Blocks, jsonBlock{Text: &jsonText{visible(b.Text.Name), b.Text.Markdown}})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func newJSONTable(t *Table) *jsonTable {
	out := &jsonTable{
		Name: visible(t.Name), Title: t.Title, Caption: t.Caption, Axes: append([]string{}, t.Axes...),
		Columns: []jsonColumn{}, Rows: []jsonRow{}, Footnotes: t.Footnotes, Remarks: t.Remarks,
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, jsonColumn{
			Label: c.Label, Heading: strings.Join(c.Heading, " "), Token: c.Token, Phase: c.Phase, Iteration: c.Iteration, Unit: c.Unit, Levels: c.Levels,
		})
	}
	for i := range t.Rows {
		out.Rows = append(out.Rows, *newJSONRow(&t.Rows[i]))
	}
	if t.Mean != nil {
		out.Geomean = newJSONRow(t.Mean)
	}
	for _, e := range t.Legend {
		out.Legend = append(out.Legend, jsonTerm(e))
	}
	return out
}

func newJSONRow(r *Row) *jsonRow {
	out := &jsonRow{Label: r.Label, Levels: r.Levels, Source: r.Source, Group: r.Group, Notes: r.Notes, Cells: []jsonCell{}, Remarks: r.Remarks}
	for _, c := range r.Cells {
		out.Cells = append(out.Cells, newJSONCell(c))
	}
	return out
}

func newJSONChart(c *Chart) *jsonChart {
	d := c.Drawing
	out := &jsonChart{
		Name: visible(c.Name), Title: d.Title, Kind: d.Kind, Caption: c.Caption, X: d.X.Title, Y: d.Y.Title,
		Categories: d.Categories, Series: d.Series, Footnotes: c.Footnotes, Remarks: c.Remarks,
	}
	for _, panel := range d.Panels {
		p := jsonPanel{Title: panel.Title, Points: []jsonPoint{}}
		for i := range panel.Points {
			p.Points = append(p.Points, newJSONPoint(d, &panel.Points[i]))
		}
		out.Panels = append(out.Panels, p)
	}
	for _, e := range c.Legend {
		out.Legend = append(out.Legend, jsonTerm(e))
	}
	return out
}

func newJSONPoint(d *chart.Chart, p *chart.Point) jsonPoint {
	out := jsonPoint{Series: d.Series[p.Series], X: p.X, Sample: p.Sample}
	if d.Categories != nil {
		out.X = d.Categories[int(p.X)]
	}
	if !p.Missing && p.Sample == nil {
		out.Y = finite(p.Y)
	}
	if p.Bounded {
		out.Low, out.High = finite(p.Low), finite(p.High)
	}
	return out
}

func newJSONCell(c Cell) jsonCell {
	out := jsonCell{Text: c.Text, Status: c.Status, Runs: c.Runs, Bound: c.Bound, Notes: c.Notes}
	if c.Known {
		out.Value = finite(c.Number)
	}
	if c.Bound != "" {
		out.Low, out.High = finite(c.Low), finite(c.High)
	}
	return out
}

// finite returns a number that JSON can hold, or nil.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
