package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report/chart"
)

// A Chart is a chart of a document, with what stands around it.
type Chart struct {
	Name    string
	File    string // the name of its file without an ending, unique in the document
	Drawing *chart.Chart

	// Caption, Footnotes, Remarks and Legend are as in a Table; a footnote
	// begins with what it is about.
	Caption   []string
	Footnotes []string
	Remarks   []string
	Legend    []LegendEntry
}

// What the x axis of a chart can be besides an axis of the experiment.
const (
	overTime       = "time"
	overIterations = "iteration"
)

// A chartBuilder makes one chart. Its points are the cells of a table that has a
// row for each of them: what a chart shows is computed, filtered, compared and
// footnoted as in tables.
type chartBuilder struct {
	*tableBuilder
	def    *matrix.Chart
	out    *Chart
	facet  []string // axes
	series []string // axes
	levels *sets    // rows by their levels on the x axis
	notes  notesOf
	unit   string // of readings
}

// chart builds a chart, or returns nil after a fault. Where there is none because of
// failed runs, which is no fault of the definition, empty says so.
func (b *builder) chart(def *matrix.Chart) (c *Chart, empty string) {
	if why := chartFault(def); why != "" {
		b.fault(def.Range, "Chart that cannot be drawn", "Chart %q %s.", def.Name, why)
		return nil, ""
	}
	tb := b.newTable(b.chartTable(def), "chart")
	if tb == nil {
		return nil, ""
	}
	cb := &chartBuilder{tableBuilder: tb, def: def, out: &Chart{Name: def.Name}, notes: notesOf{}}
	cb.chooseAxes()
	for axis := range def.Baseline {
		if !slices.Contains(tb.rowAxes, axis) {
			b.fault(def.Range, "Baseline that is not shown", "The baseline of chart %q is a level of %s, which is neither its x nor one of its series or facets.", def.Name, axis)
			return nil, ""
		}
	}
	tb.order()
	if b.checking {
		return nil, "" // there is nothing to draw
	}
	cb.draw()
	cb.surround()
	if err := cb.out.Drawing.Check(); err != nil {
		return nil, cb.refuse(err)
	}
	return cb.out, ""
}

// chartFault says what in a definition contradicts itself, or "".
func chartFault(def *matrix.Chart) string {
	switch kind := chart.Kind(def.Kind); {
	case def.X == overTime && kind != chart.Line:
		return `has x = "time", which only a line shows`
	case def.Log && kind == chart.Bar:
		return "has bars on a logarithmic axis; bars stand on zero, which such an axis does not have. Use kind line or box, or leave out log"
	case len(def.Baseline) > 0 && (kind == chart.Box || def.X == overTime):
		return "compares readings with a baseline; only bars, and lines over an axis or iterations, can be relative"
	case def.X == overIterations && def.Iteration != 0:
		return "shows all iterations (x) and one of them (iteration)"
	}
	return ""
}

// chartTable returns the table whose cells are the chart's points.
func (b *builder) chartTable(def *matrix.Chart) *matrix.Table {
	t := &matrix.Table{
		Name: def.Name, Phase: def.Phase, Iteration: def.Iteration, Only: def.Only, Baseline: def.Baseline,
		Aggregate: aggregateMedian, Interval: true, Legend: true, Range: def.Range,
	}
	column := matrix.Column{Label: def.Y, Of: def.Y, Phase: def.Phase, Iteration: def.Iteration, Relative: len(def.Baseline) > 0, Range: def.Range}
	if def.X != overIterations {
		t.Columns = []matrix.Column{column}
		return t
	}
	for _, n := range b.iterations(def.Phase) {
		column.Label, column.Iteration = fmt.Sprintf("%s@%s.%d", def.Y, def.Phase, n), n
		t.Columns = append(t.Columns, column)
	}
	return t
}

// iterations returns those of a phase that the plan has, or that an imported file
// has of it.
func (b *builder) iterations(phase string) []int {
	known := map[int]bool{}
	for _, r := range b.runs[Own] {
		for n := 1; n <= r.iterationOf(phase, 0); n++ {
			known[n] = b.shows(Own)
		}
	}
	for _, source := range b.sources {
		for _, r := range b.runs[source] {
			for at := range r.results {
				if at.phase == phase && at.number > 0 && b.shows(source) {
					known[at.number] = true
				}
			}
		}
	}
	maps.DeleteFunc(known, func(_ int, shown bool) bool { return !shown })
	return slices.Sorted(maps.Keys(known))
}

// shows reports whether charts show the rows of a source.
func (b *builder) shows(source string) bool {
	show := cmp.Or(b.in.Show, Own)
	return show == All || show == source
}

// fileOf returns a file's name for a chart: what a file system or a link could
// take amiss is left out.
func (b *builder) fileOf(name string) string {
	safe := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, name)
	file := safe
	for n := 2; slices.ContainsFunc(b.doc.Charts(), func(c *Chart) bool { return strings.EqualFold(c.File, file) }); n++ {
		file = safe + "-" + strconv.Itoa(n)
	}
	return file
}

// chooseAxes sorts the axes into facets, series and x. Where the chart names no
// series, each axis that varies makes some, so that no bar stands for cells that
// differ.
func (cb *chartBuilder) chooseAxes() {
	cb.facet, cb.series = cb.def.Facet, cb.def.Series
	beside := func(axis string) bool { return axis == cb.def.X || slices.Contains(cb.facet, axis) }
	if cb.series == nil {
		cb.series = slices.DeleteFunc(slices.Clone(cb.rowAxes), beside)
	}
	shown := slices.Concat(cb.facet, cb.series, []string{cb.def.X})
	cb.rowAxes = slices.DeleteFunc(slices.Clone(cb.b.axes.names), func(axis string) bool { return !slices.Contains(shown, axis) })
}

// draw makes the panels with their points.
func (cb *chartBuilder) draw() {
	kind := chart.Kind(cb.def.Kind)
	d := &chart.Chart{Name: cb.def.Name, Title: cb.def.Title, Kind: kind, Width: cb.def.Width}
	cb.out.Drawing = d
	panels, series := cb.panels(), cb.seriesShown()
	for _, p := range panels.firsts {
		d.Panels = append(d.Panels, chart.Panel{Title: cb.facetTitle(p)})
	}
	for _, s := range series.firsts {
		d.Series = append(d.Series, cb.seriesName(s))
	}
	cb.levels = cb.levelsOfX()
	cb.setX(d)
	for _, r := range cb.rows {
		panel := &d.Panels[panels.of(r)]
		for _, p := range cb.points(r) {
			p.Series = series.of(r)
			panel.Points = append(panel.Points, p)
		}
	}
	cb.setY(d)
	if cb.def.X == overTime {
		cb.scaleTime(d)
	}
}

// sets are the rows of a chart, sorted into those that belong together.
type sets struct {
	firsts []*row // of each set
	key    func(*row) string
	index  map[string]int // in firsts, by key
}

// sets sorts the rows by a key, the sets in the order of their levels on some axes.
func (cb *chartBuilder) sets(axes []string, key func(*row) string) *sets {
	s := &sets{key: key, index: map[string]int{}}
	for _, r := range cb.rows {
		if _, ok := s.index[key(r)]; !ok {
			s.index[key(r)] = len(s.firsts)
			s.firsts = append(s.firsts, r)
		}
	}
	slices.SortStableFunc(s.firsts, func(a, b *row) int { return cb.b.axes.compare(axes, a.levels, b.levels) })
	for i, r := range s.firsts {
		s.index[key(r)] = i
	}
	return s
}

// of returns which set a row is in.
func (s *sets) of(r *row) int { return s.index[s.key(r)] }

func (cb *chartBuilder) panels() *sets {
	return cb.sets(cb.facet, func(r *row) string { return pointKey(cb.facet, r.levels) })
}

func (cb *chartBuilder) seriesShown() *sets {
	return cb.sets(cb.series, func(r *row) string { return r.source + "\x00" + pointKey(cb.series, r.levels) })
}

// levelsOfX sorts the rows by their levels on the x axis.
func (cb *chartBuilder) levelsOfX() *sets {
	x := []string{cb.def.X}
	return cb.sets(x, func(r *row) string { return pointKey(x, r.levels) })
}

// facetTitle names the levels of a panel.
func (cb *chartBuilder) facetTitle(r *row) string {
	var parts []string
	for _, axis := range cb.facet {
		if _, ok := r.levels[axis]; ok {
			parts = append(parts, cb.b.axes.labels[axis]+" = "+cb.b.axes.joined([]string{axis}, r.levels))
		} else {
			parts = append(parts, "no "+cb.b.axes.labels[axis])
		}
	}
	return strings.Join(parts, ", ")
}

// seriesName names the levels of a series, and where its numbers come from if
// they are not the experiment's own.
func (cb *chartBuilder) seriesName(r *row) string {
	name := cb.b.axes.joined(cb.series, r.levels)
	if name == "" && len(cb.series) > 0 {
		var labels []string
		for _, axis := range cb.series {
			labels = append(labels, cb.b.axes.labels[axis])
		}
		name = "no " + strings.Join(labels, ", ")
	}
	if r.source != Own && cb.b.in.Show == All {
		name = strings.TrimSpace(name + " (" + r.source + ")")
	}
	return name
}

// setX makes the x axis: categories, or numbers where a line has them.
func (cb *chartBuilder) setX(d *chart.Chart) {
	switch {
	case cb.def.X == overTime:
		d.X.Title = "time (s)"
	case cb.def.X == overIterations && d.Kind == chart.Line:
		d.X = chart.Axis{Title: "iteration", Integer: true}
	case cb.def.X == overIterations:
		d.X.Title = "iteration"
		for _, c := range cb.columns {
			d.Categories = append(d.Categories, strconv.Itoa(c.iteration))
		}
	default:
		d.X.Title = cb.b.axes.labels[cb.def.X]
		cb.setLevels(d)
	}
}

// setLevels puts the levels of the x axis in their places. A line over levels that
// are all numbers, or sizes, has an axis of numbers.
func (cb *chartBuilder) setLevels(d *chart.Chart) {
	ticks, numeric := []chart.Tick{}, d.Kind == chart.Line
	for _, r := range cb.levels.firsts {
		label := cb.levelLabel(r)
		d.Categories = append(d.Categories, label)
		x, ok := levelNumber(r.levels[cb.def.X])
		numeric = numeric && ok && (x > 0 || !cb.def.Log)
		ticks = append(ticks, chart.Tick{At: x, Label: label})
	}
	if numeric {
		d.Categories, d.X.Ticks, d.X.Log = nil, ticks, cb.def.Log
	}
}

func (cb *chartBuilder) levelLabel(r *row) string {
	if _, ok := r.levels[cb.def.X]; !ok {
		return "no " + cb.b.axes.labels[cb.def.X]
	}
	return cb.b.axes.joined([]string{cb.def.X}, r.levels)
}

// levelNumber reads the name of a level as a number or a size.
func levelNumber(level string) (float64, bool) {
	if v := ParseValue(level); v.Known && !v.coarse() {
		return v.Number, true
	}
	size, err := matrix.ParseSize(level)
	return float64(size), err == nil
}

// place returns where a row stands on the x axis.
func (cb *chartBuilder) place(r *row) float64 {
	d := cb.out.Drawing
	if d.Categories == nil {
		x, _ := levelNumber(r.levels[cb.def.X])
		return x
	}
	return float64(cb.levels.of(r))
}

// points returns the points of a row.
func (cb *chartBuilder) points(r *row) []chart.Point {
	s := r.slots[0]
	if cb.def.X == overTime {
		return cb.timePoints(s, cb.columns[0])
	}
	var points []chart.Point
	for i, c := range cb.columns {
		p := cb.point(s, c)
		switch {
		case cb.def.X != overIterations:
			p.X = cb.place(r)
		case cb.out.Drawing.Kind == chart.Line:
			p.X = float64(c.iteration)
		default:
			p.X = float64(i)
		}
		points = append(points, p)
	}
	return points
}

// point returns the median of a slot with its bounds, or the sample of a box.
func (cb *chartBuilder) point(s *slot, c *column) chart.Point {
	if cb.out.Drawing.Kind == chart.Box {
		return cb.boxPoint(s, c)
	}
	cell := cb.cell(s, c)
	cb.note(s, cell.Notes)
	p := chart.Point{Y: cell.Number, Missing: !cell.Known}
	if cell.Runs > 1 && cell.Bound != "" {
		p.Low, p.High, p.Bounded = cell.Low, cell.High, true
	}
	return p
}

// setY makes the y axis: what is shown, with its unit. A line over numbers of a
// logarithmic axis has that axis below it, not at its side.
func (cb *chartBuilder) setY(d *chart.Chart) {
	d.Y.Log = cb.def.Log && !d.X.Log
	d.Y.Title = cb.def.Y
	if len(cb.def.Baseline) > 0 {
		var levels []string
		for _, axis := range cb.b.axes.names {
			if level, ok := cb.def.Baseline[axis]; ok {
				levels = append(levels, axis+" = "+level)
			}
		}
		d.Y.Title += " relative to the baseline"
		d.Reference, d.ReferenceName = 1, strings.Join(levels, ", ")
		return
	}
	if unit := cb.unitOf(); unit != "" && unit != "1" {
		d.Y.Title += " (" + unit + ")"
	}
}

// unitOf returns the unit of what is shown: that of the column library, or that
// in which it was recorded.
func (cb *chartBuilder) unitOf() string {
	if len(cb.columns) > 0 && cb.columns[0].spec != nil {
		return cb.columns[0].spec.Unit
	}
	for _, r := range cb.runs {
		for _, p := range r.phases() {
			if m, ok := store.Metrics(p.Metrics).Get(cb.def.Y); ok && p.Phase == cb.def.Phase {
				return m.Unit
			}
		}
	}
	return cb.unit
}

// refuse reports that there is nothing to draw. It returns why where failed runs are
// the reason.
func (cb *chartBuilder) refuse(err error) (empty string) {
	text := strings.ToUpper(err.Error()[:1]) + err.Error()[1:]
	empty = cb.failed()
	if empty != "" {
		text = fmt.Sprintf("Chart %q has %s", cb.def.Name, empty)
	}
	if footnotes := cb.out.Footnotes; len(footnotes) > 0 {
		text += " (" + footnotes[0] + ")"
	}
	if empty != "" || cb.b.in.Partial {
		cb.b.warn(cb.def.Range, "Chart left out", "%s.", text)
		return empty
	}
	cb.b.fault(cb.def.Range, "Chart that cannot be drawn", "%s.", text)
	return ""
}

// failed says that no run of the chart, or of the baseline of all its points, has
// the phase complete and that some failed, or returns "".
func (cb *chartBuilder) failed() string {
	var shown, bases []*run
	for _, row := range cb.rows {
		shown = append(shown, row.runs...)
		if base := cb.baseline(row.slots[0]); base != nil && !slices.ContainsFunc(base.runs, func(r *run) bool { return slices.Contains(bases, r) }) {
			bases = append(bases, base.runs...)
		}
	}
	if why := cb.failedOf(shown, ""); why != "" {
		return why
	}
	return cb.failedOf(bases, " of the baseline")
}

// failedOf is the same for some of the runs; which names them.
func (cb *chartBuilder) failedOf(runs []*run, which string) string {
	failed := 0
	for _, r := range runs {
		if slices.ContainsFunc(r.phases(), func(p PhaseResult) bool { return p.Phase == cb.def.Phase && p.Status.Complete() }) {
			return ""
		}
		if r.attempt != nil && r.attempt.Status.Failure() {
			failed++
		}
	}
	switch {
	case failed == 0:
		return ""
	case len(runs) == 1:
		return fmt.Sprintf("nothing to draw: the only run%s failed", which)
	case failed == len(runs):
		return fmt.Sprintf("nothing to draw: all %d runs%s failed", failed, which)
	}
	return fmt.Sprintf("nothing to draw: %d of %d runs%s failed, and the others have no result", failed, len(runs), which)
}
