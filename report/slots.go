package report

import (
	"slices"
	"sort"

	"dbmatrix/matrix"
)

// A slot is one row and one point of the axes laid across: the runs that its
// cells are about.
type slot struct {
	row   *row
	point int
	runs  []*run
	base  *slot // that it is compared with; nil: none
}

// A row is a row while it is built.
type row struct {
	source string
	levels map[string]string // on the table's row axes
	place  []int             // of the levels on their axes, then of the source
	slots  []*slot           // one for each point across
	runs   []*run            // of all slots

	label string
	group string
}

// arrange sorts the runs into rows and points across.
func (tb *tableBuilder) arrange() {
	keys := map[string]*row{}
	tb.points = tb.pointsAcross()
	index := map[string]int{}
	for i, p := range tb.points {
		index[pointKey(tb.across, p)] = i
	}
	for _, r := range tb.runs {
		key := r.source + "\x00" + pointKey(tb.rowAxes, r.levels)
		at := keys[key]
		if at == nil {
			at = &row{source: r.source, levels: project(tb.rowAxes, r.levels)}
			for i := range tb.points {
				at.slots = append(at.slots, &slot{row: at, point: i})
			}
			keys[key] = at
			tb.rows = append(tb.rows, at)
		}
		s := at.slots[index[pointKey(tb.across, r.levels)]]
		s.runs = append(s.runs, r)
		at.runs = append(at.runs, r)
	}
	tb.rowIndex = keys
	tb.setBaselines(index)
	n := len(tb.rows) * len(tb.points) * len(tb.columns)
	tb.samples, tb.values = make(map[sampleKey][]observation, n), make(map[sampleKey]measured, n)
	for _, r := range tb.rows {
		r.place = append(tb.b.axes.places(tb.rowAxes, r.levels), slices.Index(tb.b.sources, r.source))
	}
	slices.SortStableFunc(tb.rows, func(a, b *row) int { return slices.Compare(a.place, b.place) })
}

// pointsAcross returns the points of the axes laid across that some run has, in
// order; without such axes there is one.
func (tb *tableBuilder) pointsAcross() []map[string]string {
	var points []map[string]string
	seen := map[string]bool{}
	for _, r := range tb.runs {
		key := pointKey(tb.across, r.levels)
		if !seen[key] {
			seen[key] = true
			points = append(points, project(tb.across, r.levels))
		}
	}
	sort.SliceStable(points, func(i, j int) bool { return tb.b.axes.compare(tb.across, points[i], points[j]) < 0 })
	return points
}

// setBaselines finds the slot that each is compared with: the same row and point,
// but on the level that the table names for each axis of its baseline. points are
// the indexes of the points across.
func (tb *tableBuilder) setBaselines(points map[string]int) {
	if len(tb.def.Baseline) == 0 {
		return
	}
	for _, r := range tb.rows {
		base := tb.rowIndex[r.source+"\x00"+pointKey(tb.rowAxes, replaced(r.levels, tb.rowAxes, tb.def.Baseline))]
		if base == nil {
			continue
		}
		for i, p := range tb.points {
			if at, ok := points[pointKey(tb.across, replaced(p, tb.across, tb.def.Baseline))]; ok {
				r.slots[i].base = base.slots[at]
			}
		}
	}
}

// baseline returns the slot that a slot is compared with, or nil.
func (tb *tableBuilder) baseline(s *slot) *slot { return s.base }

func replaced(levels map[string]string, axes []string, by map[string]string) map[string]string {
	out := make(map[string]string, len(levels))
	for axis, level := range levels {
		out[axis] = level
	}
	for axis, level := range by {
		if slices.Contains(axes, axis) {
			out[axis] = level
		}
	}
	return out
}

// defaultRows returns the axes that make a row where the table names none: all
// that vary and are not laid across. Where the cells share the measurement that
// the table shows, axes that it does not depend on are left out, so that it
// stands in one row.
func (tb *tableBuilder) defaultRows() []string {
	var axes []string
	for _, axis := range varying(tb.b.axes.names, tb.runs) {
		if !slices.Contains(tb.across, axis) {
			axes = append(axes, axis)
		}
	}
	origins := tb.origins()
	if origins == nil {
		return axes
	}
	for i := len(axes) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(axes), i, i+1)
		if tb.determined(without, origins) {
			axes = without
		}
	}
	return axes
}

// origins returns, for each run, the fingerprint of what the table's columns
// show; nil where they show several phases, or no two cells share a measurement.
func (tb *tableBuilder) origins() map[*run]string {
	phase := ""
	for _, c := range tb.columns {
		if c.token == "" || phase != "" && c.phase != phase {
			return nil
		}
		phase = c.phase
	}
	origins := map[*run]string{}
	owner := map[int64]matrix.CellKey{}
	shared := false
	for _, r := range tb.runs {
		if origins[r] = r.fingerprint(phase); origins[r] == "" {
			return nil
		}
		for _, p := range r.phases() {
			if p.Phase != phase || p.Origin == 0 {
				continue
			}
			first, ok := owner[p.Origin]
			shared = shared || ok && first != r.key
			owner[p.Origin] = r.key
		}
	}
	if !shared {
		return nil
	}
	return origins
}

// fingerprint returns what the plan says that a phase of the run measures, or "".
func (r *run) fingerprint(phase string) string {
	if r.cell == nil {
		return ""
	}
	for i, p := range r.cell.Phases {
		if p.Name == phase && i < len(r.cell.Fingerprints) {
			return string(r.cell.Fingerprints[i])
		}
	}
	return ""
}

func (r *run) phases() []PhaseResult {
	if r.attempt == nil {
		return nil
	}
	return r.attempt.Phases
}

// determined reports whether the levels on some axes tell which measurement a
// run has.
func (tb *tableBuilder) determined(axes []string, origins map[*run]string) bool {
	seen := map[string]string{}
	for _, r := range tb.runs {
		key := pointKey(tb.across, r.levels) + pointKey(axes, r.levels)
		if first, ok := seen[key]; ok && first != origins[r] {
			return false
		}
		seen[key] = origins[r]
	}
	return true
}
