package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// A run is what a report shows of one cell and replicate: the attempt that
// stands for it.
type run struct {
	source    string
	attempt   *Attempt     // nil: the plan has the cell, but nothing was recorded
	cell      *matrix.Cell // nil: only an import knows the cell
	key       matrix.CellKey
	levels    map[string]string
	matrix    string
	replicate int
	stale     bool
	withdrawn string // why no attempt of it counts, where there is one

	results map[iteration]*PhaseResult
	last    map[string]int            // the last recorded iteration of each phase
	doubts  map[*PhaseResult][]string // what makes results doubtful, of those that are
}

// An iteration is one repetition of a phase.
type iteration struct {
	phase  string
	number int
}

// newRun makes the run that an attempt stands for. levels are those of its cell, if
// the plan has it.
func newRun(a *Attempt, cell *matrix.Cell, levels map[string]string) *run {
	r := &run{
		source: a.Source, attempt: a, cell: cell, key: a.Cell, levels: a.Levels, matrix: a.Matrix, replicate: a.Replicate,
		results: map[iteration]*PhaseResult{}, last: map[string]int{},
	}
	if cell != nil {
		r.key, r.levels, r.matrix = cell.Key, levels, cmp.Or(a.Matrix, cell.Matrix)
	}
	for i := range a.Phases {
		p := &a.Phases[i]
		r.results[iteration{p.Phase, p.Iteration}] = p
		r.last[p.Phase] = max(r.last[p.Phase], p.Iteration)
	}
	return r
}

func levelsOf(c *matrix.Cell) map[string]string {
	levels := make(map[string]string, len(c.Levels))
	for _, l := range c.Levels {
		levels[l.Axis] = l.Name
	}
	return levels
}

// scope is the row that expressions see.
func (r *run) scope() *matrix.Scope {
	return &matrix.Scope{Axes: r.levels, Cell: r.key, Matrix: r.matrix, CellRef: r.cell}
}

// iterationOf returns the iteration that a number of 0 stands for: the last one
// of the plan, or of the file where the run was imported.
func (r *run) iterationOf(phase string, number int) int {
	if number > 0 {
		return number
	}
	if r.cell != nil && r.source == Own {
		for _, p := range r.cell.Phases {
			if p.Name == phase {
				number = max(number, p.LastIteration())
			}
		}
	}
	if number == 0 {
		number = r.last[phase]
	}
	return max(number, 1)
}

// why says why the run has no results, where it has none.
func (r *run) why() string {
	switch {
	case r.withdrawn != "":
		return r.withdrawn
	case r.attempt == nil:
		return "not run yet"
	case r.attempt.Status == "" || r.attempt.Status.Complete():
		return ""
	case r.attempt.Status == matrix.Skipped:
		return withMessage(string(matrix.Skipped), r.attempt.Message)
	}
	for _, p := range r.attempt.Phases {
		if !p.Status.Complete() {
			return "not reached: " + p.Phase + " " + endOf(p.Status)
		}
	}
	return "not reached: " + withMessage(string(r.attempt.Status), r.attempt.Message)
}

// ended says how a phase ended that did not end as it should. The workload's own
// name, with which its messages begin, is not repeated.
func (r *run) ended(p *PhaseResult) string {
	message := p.Message
	if r.cell != nil {
		for _, phase := range r.cell.Phases {
			if phase.Block != p.Block && (r.source == Own || phase.Name != p.Phase) { // a file has no names of blocks
				continue
			}
			who, rest, found := strings.Cut(message, ": ")
			if name, _, _ := strings.Cut(who, " "); found && name == phase.Workload.Type {
				message = rest
			}
		}
	}
	return withMessage(p.Phase+" "+endOf(p.Status), message)
}

// endOf words the end of a phase.
func endOf(status matrix.Status) string {
	switch status {
	case matrix.SLAMissed:
		return "missed its rate"
	case matrix.TimedOut:
		return "timed out"
	case matrix.Interrupted, matrix.Skipped:
		return "was " + string(status)
	case matrix.Invalid:
		return "is invalid"
	}
	return string(status)
}

func withMessage(what, message string) string {
	if message == "" {
		return what
	}
	return what + ": " + message
}

// A cellIndex finds the cell of the plan that an attempt belongs to.
type cellIndex struct {
	levels        map[*matrix.Cell]map[string]string // by axis
	byKey         map[matrix.CellKey]*matrix.Cell
	byLevels      map[string]*matrix.Cell
	byFingerprint map[matrix.Fingerprint]*matrix.Cell
	axes          []string
}

func newCellIndex(axes []string, cells []*matrix.Cell) *cellIndex {
	x := &cellIndex{
		levels: map[*matrix.Cell]map[string]string{}, byKey: map[matrix.CellKey]*matrix.Cell{}, byLevels: map[string]*matrix.Cell{},
		byFingerprint: map[matrix.Fingerprint]*matrix.Cell{}, axes: axes,
	}
	for _, c := range cells {
		x.levels[c] = levelsOf(c)
		x.byKey[c.Key] = c
		x.byLevels[pointKey(axes, x.levels[c])] = c
		if n := len(c.Fingerprints); n > 0 && c.Fingerprints[n-1] != "" {
			x.byFingerprint[c.Fingerprints[n-1]] = c
		}
	}
	return x
}

// find returns the cell of an attempt, or nil. What was measured decides, since
// axes and levels can be renamed; a name decides where nothing that was measured
// is in the plan any more.
func (x *cellIndex) find(a *Attempt) *matrix.Cell {
	if a.Source != Own {
		return x.byLevels[pointKey(x.axes, a.Levels)]
	}
	if n := len(a.Phases); n > 0 {
		if c := x.byFingerprint[a.Phases[n-1].Fingerprint]; c != nil {
			return c
		}
	}
	return x.byKey[a.Cell]
}

// stale reports whether an attempt was made with other inputs than its cell has
// now.
func stale(a *Attempt, c *matrix.Cell) bool {
	if a.Source != Own {
		return false
	}
	if n := len(c.Fingerprints); n > 0 && slices.Contains(a.Accepted, c.Fingerprints[n-1]) {
		return false
	}
	now := map[string]matrix.Fingerprint{}
	for i, p := range c.Phases {
		if i < len(c.Fingerprints) {
			now[p.Block] = c.Fingerprints[i]
		}
	}
	for _, p := range a.Phases {
		want, ok := now[p.Block]
		if p.Fingerprint != "" && want != "" && want != p.Fingerprint || !ok {
			return true
		}
	}
	return false
}

// ownRuns returns one run for each cell of the plan and replicate, in the order
// of the plan: of its attempts the newest that is complete and was made with the
// present inputs; failing that the newest with the present inputs, then the
// newest complete one, then the newest. One that was withdrawn brings no older
// one back: the run has no result then.
func ownRuns(cells []*matrix.Cell, x *cellIndex, attempts []Attempt, replicates int) []*run {
	type slot struct {
		cell      *matrix.Cell
		replicate int
	}
	best := map[slot]candidate{}
	highest := map[*matrix.Cell]int{}
	for i := range attempts {
		a := &attempts[i]
		if a.Source != Own {
			continue
		}
		c := x.find(a)
		if c == nil {
			continue
		}
		at := slot{c, a.Replicate}
		now := candidate{a, stale(a, c)}
		if old := best[at]; old.attempt == nil || now.preferred(old, c) {
			best[at] = now
		}
		highest[c] = max(highest[c], a.Replicate)
	}
	var runs []*run
	for _, c := range cells {
		var own []*run
		for k := 1; k <= max(replicates, highest[c], 1); k++ {
			if b := best[slot{c, k}]; b.attempt != nil {
				own = append(own, b.run(c, x.levels[c]))
			} else if k <= max(replicates, 1) {
				own = append(own, absentRun(c, x.levels[c], k, ""))
			}
		}
		runs = append(runs, withoutStale(own)...)
	}
	return runs
}

// absentRun is a run of a cell without a result that counts. levels are those of the
// cell.
func absentRun(c *matrix.Cell, levels map[string]string, replicate int, withdrawn string) *run {
	return &run{source: Own, cell: c, key: c.Key, levels: levels, matrix: c.Matrix, replicate: replicate, withdrawn: withdrawn}
}

// withoutStale drops the results of stale runs of cells of which others were made
// with the present inputs: the two must not be taken for repetitions.
func withoutStale(runs []*run) []*run {
	current := map[matrix.CellKey]bool{}
	for _, r := range runs {
		if r.attempt != nil && !r.stale && r.attempt.Status.Complete() {
			current[r.key] = true
		}
	}
	for i, r := range runs {
		if r.stale && current[r.key] {
			runs[i] = &run{
				source: r.source, cell: r.cell, key: r.key, levels: r.levels, matrix: r.matrix, replicate: r.replicate,
				withdrawn: "made with other inputs than the definition has now",
			}
		}
	}
	return runs
}

// A candidate is an attempt that may stand for a run.
type candidate struct {
	attempt *Attempt
	stale   bool
}

// run returns what a report shows of a run that the attempt stands for.
func (c candidate) run(cell *matrix.Cell, levels map[string]string) *run {
	if c.attempt.Withdrawn != "" {
		return absentRun(cell, levels, c.attempt.Replicate, "withdrawn: "+c.attempt.Withdrawn)
	}
	r := newRun(c.attempt, cell, levels)
	r.stale = c.stale
	return r
}

// preferred reports whether an attempt stands for a run of a cell rather than
// another one.
func (c candidate) preferred(old candidate, cell *matrix.Cell) bool {
	newer := c.attempt.Number > old.attempt.Number
	withdrawn := c.attempt.Withdrawn != "" || old.attempt.Withdrawn != ""
	if x, y := c.rank(cell), old.rank(cell); x != y && !(withdrawn && min(x, y) >= rankCurrent) {
		return x > y
	}
	return newer
}

// Ranks of attempts by what they say of a run.
const (
	rankNothing  = iota // it was withdrawn, and broke off
	rankPast            // it broke off, with other inputs
	rankOther           // it is complete, with other inputs
	rankCurrent         // it broke off, with the present inputs
	rankPart            // it is complete as far as it was to go, with the present inputs
	rankComplete        // it is all that the cell asks for
)

func (c candidate) rank(cell *matrix.Cell) int {
	complete := c.attempt.Status.Complete()
	switch {
	case c.attempt.Withdrawn != "" && !complete:
		return rankNothing
	case !c.stale && complete && c.attempt.covers(cell):
		return rankComplete
	case !c.stale && complete:
		return rankPart
	case !c.stale:
		return rankCurrent
	case complete:
		return rankOther
	}
	return rankPast
}

// covers reports whether an attempt went through all phases of a cell.
func (a *Attempt) covers(cell *matrix.Cell) bool {
	for _, p := range cell.Phases {
		if !slices.ContainsFunc(a.Phases, func(r PhaseResult) bool { return r.Block == p.Block }) {
			return false
		}
	}
	return true
}

// importedRuns returns the runs of an import block, in the order of its file.
func importedRuns(x *cellIndex, attempts []Attempt) []*run {
	runs := make([]*run, 0, len(attempts))
	for i := range attempts {
		cell := x.find(&attempts[i])
		r := newRun(&attempts[i], cell, x.levels[cell])
		r.stale = attempts[i].Stale
		runs = append(runs, r)
	}
	return withoutStale(runs)
}

// varying returns the axes on which the runs do not all have the same level, in
// their order. A cell without an axis differs from one with it.
func varying(axes []string, runs []*run) []string {
	var names []string
	for _, axis := range axes {
		differs := slices.ContainsFunc(runs, func(r *run) bool {
			level, ok := r.levels[axis]
			first, has := runs[0].levels[axis]
			return level != first || ok != has
		})
		if differs {
			names = append(names, axis)
		}
	}
	return names
}

// describe lists the levels that runs have on an axis, for messages.
func (o *axisOrder) describe(axis string, runs []*run) string {
	var names []string
	for _, r := range runs {
		name, ok := r.levels[axis]
		if !ok {
			name = "none"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const few = 4
	if len(names) > few {
		return fmt.Sprintf("%d levels", len(names))
	}
	return strings.Join(names, ", ")
}
