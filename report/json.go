package report

import (
	"encoding/json"
	"io"
	"math"
	"strings"

	"dbmatrix/matrix"
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
	Footnotes []string     `json:"footnotes,omitempty"`
	Remarks   []string     `json:"remarks,omitempty"`
	Legend    []jsonTerm   `json:"legend,omitempty"`
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
		case b.Text != nil:
			out.Blocks = append(out.Blocks, jsonBlock{Text: &jsonText{b.Text.Name, b.Text.Markdown}})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func newJSONTable(t *Table) *jsonTable {
	out := &jsonTable{
		Name: t.Name, Title: t.Title, Caption: t.Caption, Axes: append([]string{}, t.Axes...),
		Columns: []jsonColumn{}, Rows: []jsonRow{}, Footnotes: t.Footnotes, Remarks: t.Remarks,
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, jsonColumn{
			Label: c.Label, Heading: strings.Join(c.Heading, " "), Token: c.Token, Phase: c.Phase, Iteration: c.Iteration, Unit: c.Unit, Levels: c.Levels,
		})
	}
	for _, r := range t.Rows {
		row := jsonRow{Label: r.Label, Levels: r.Levels, Source: r.Source, Group: r.Group, Notes: r.Notes, Cells: []jsonCell{}}
		for _, c := range r.Cells {
			row.Cells = append(row.Cells, newJSONCell(c))
		}
		out.Rows = append(out.Rows, row)
	}
	for _, e := range t.Legend {
		out.Legend = append(out.Legend, jsonTerm(e))
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
