package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
)

// CSV writes the tables of a document, an empty line between two. A row has the
// levels of its axes, its label, its numbers as printed, and what is to be said
// of them with the numbers of this row alone. Documents of one table, which Only
// makes, are one CSV.
func CSV(w io.Writer, d *Document, _ Options) error {
	var b bytes.Buffer
	for i, t := range d.tables() {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := writeCSV(&b, t); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func writeCSV(b *bytes.Buffer, t *Table) error {
	out := csv.NewWriter(b)
	head := append(slices.Clone(t.Axes), "label")
	for i := range t.Columns {
		head = append(head, strings.Join(append(slices.DeleteFunc(slices.Clone(t.Columns[i].Over), isEmpty), t.Columns[i].Label), " "))
	}
	if err := out.Write(append(head, "notes")); err != nil {
		return err
	}
	for _, r := range t.allRows() {
		var record []string
		for _, axis := range t.Axes {
			record = append(record, r.Levels[axis])
		}
		record = append(record, r.Label)
		notes := slices.Clone(r.Notes)
		for _, c := range r.Cells {
			record = append(record, c.Text)
			notes = append(notes, c.Notes...)
		}
		said := strings.Join(r.Remarks, "; ")
		if r.Remarks == nil {
			said = t.noteText(notes)
		}
		if err := out.Write(append(record, said)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func isEmpty(s string) bool { return s == "" }

// noteText joins the footnotes of some marks.
func (t *Table) noteText(marks []int) string {
	marks = slices.Clone(marks)
	slices.Sort(marks)
	var texts []string
	for _, n := range slices.Compact(marks) {
		texts = append(texts, t.Footnotes[n-1])
	}
	return strings.Join(texts, "; ")
}
