package report

import (
	"fmt"
	"slices"
	"strings"

	"dbmatrix/report/chart"
)

// notesOf are the rows that each footnote of a chart is about.
type notesOf map[int][]string

// note remembers the footnotes of a slot.
func (cb *chartBuilder) note(s *slot, marks []int) {
	for _, n := range marks {
		if !slices.Contains(cb.notes[n], s.row.label) {
			cb.notes[n] = append(cb.notes[n], s.row.label)
		}
	}
}

// surround says what is to be said of the chart: what its levels have in common,
// which of its points are doubtful, and what it stands for.
func (cb *chartBuilder) surround() {
	for _, r := range cb.rows {
		cb.note(r.slots[0], cb.rowNotes(r))
	}
	cb.out.Caption = cb.caption()
	for i, text := range cb.tableBuilder.out.Footnotes {
		cb.out.Footnotes = append(cb.out.Footnotes, cb.about(i+1)+text)
	}
	cb.out.Remarks = append(cb.out.Remarks, cb.sampleRemarks()...)
	cb.out.Remarks = append(cb.out.Remarks, cb.baselineRemark()...)
	cb.out.Remarks = append(cb.out.Remarks, cb.optionRemarks()...)
	cb.out.Remarks = append(cb.out.Remarks, cb.samenessRemarks()...)
	cb.out.Remarks = append(cb.out.Remarks, cb.factRemarks()...)
	for _, e := range cb.legend() {
		if cb.ofReadings() {
			e.Text = strings.Replace(e.Text, "average of the phase", "of each interval between two readings", 1)
		}
		cb.out.Legend = append(cb.out.Legend, e)
	}
}

// about names the rows of a footnote, unless they are all of the chart.
func (cb *chartBuilder) about(n int) string {
	rows := cb.notes[n]
	const few = 4
	switch {
	case len(rows) == 0 || len(rows) == len(cb.rows):
		return ""
	case len(rows) > few:
		return fmt.Sprintf("%d of %d rows: ", len(rows), len(cb.rows))
	}
	return strings.Join(rows, ", ") + ": "
}

// ofReadings reports whether the chart shows readings over time.
func (cb *chartBuilder) ofReadings() bool {
	return cb.def.X == overTime || chart.Kind(cb.def.Kind) == chart.Box
}

// sampleRemarks say what a point stands for where there are several runs.
func (cb *chartBuilder) sampleRemarks() []string {
	count := cb.runCount()
	switch {
	case chart.Kind(cb.def.Kind) == chart.Box:
		text := "each box holds the readings of the phase: quartiles and median; whiskers reach to the last reading within 1.5 times the box, dots are readings beyond"
		if count != "" {
			text += "; " + count + " runs"
		}
		return []string{text}
	case count == "":
		return nil
	case cb.def.X == overTime:
		return []string{fmt.Sprintf("%s runs; each line is the run with the lower median of %s", count, cb.def.Y)}
	}
	return []string{fmt.Sprintf("%s runs; each point is their median, its whisker the %d%% interval of the median, with fewer than %d runs minimum and maximum",
		count, int(confidence*100), intervalRuns)}
}
