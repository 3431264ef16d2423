package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A candidate is a combination of levels before it is evaluated.
type candidate struct {
	key      CellKey
	levels   []*levelBlock // by axis; nil where the matrix leaves it out
	matrices []*matrixBlock
	doubtful bool // an exclude that is at fault may remove it
}

// Expand makes the cells of the experiment, in source order: matrix by matrix,
// the first axis varying slowest. Each is evaluated phase by phase. Beside errors it
// returns the cells as far as they are known, for the checks of the report.
func (e *Experiment) Expand() ([]*Cell, hcl.Diagnostics) {
	d := e.decoder
	d.faults = &faults{}
	candidates := d.candidates()
	cells := make([]*Cell, 0, len(candidates))
	identities := make([]identity, 0, len(candidates))
	for i := range candidates {
		cell, id := d.evaluateCandidate(&candidates[i])
		cells = append(cells, cell)
		identities = append(identities, id)
	}
	d.settle()
	d.checkIdentical(cells, identities)
	if !d.faults.errors() && !d.faulty {
		d.checkPhasesRun(cells)
		d.checkRowLabels(cells)
	}
	d.faults.forget(d.told)
	return cells, d.faults.diagnostics()
}

// CellsKnown reports whether there are no cells but those that Expand returned:
// something that is at fault may make others.
func (e *Experiment) CellsKnown() bool { return e.decoder == nil || !e.decoder.open }

// evaluateCandidate resolves a candidate for the first replicate.
func (d *decoder) evaluateCandidate(c *candidate) (*Cell, identity) {
	if c.doubtful {
		told := d.faults
		d.faults = d.inDoubt("cells")
		defer func() { d.faults = told }()
	}
	cell, id := d.evaluate(c, 1)
	cell.Unsound = cell.Unsound || c.doubtful
	return cell, id
}

// Count returns how many cells the experiment has, without evaluating what they
// run with.
func (e *Experiment) Count() (int, hcl.Diagnostics) {
	d := e.decoder
	d.faults = &faults{}
	n := len(d.candidates())
	return n, d.faults.diagnostics()
}

// candidates walks the matrices and drops what an exclude names.
func (d *decoder) candidates() []candidate {
	for _, x := range d.excludes {
		x.removed, x.unsure = 0, false
	}
	if d.tooMany() {
		d.open = true
		return nil
	}
	var found []candidate
	seen := map[CellKey]int{}
	f := &frame{d: d}
	for _, m := range d.union() {
		d.product(m, func(levels []*levelBlock) {
			key := d.cellKey(levels)
			if i, dup := seen[key]; dup {
				if gone, _ := d.excluded(f, found[i].levels, key, m); !gone && !slices.Contains(found[i].matrices, m) {
					found[i].matrices = append(found[i].matrices, m)
				}
				return
			}
			gone, doubtful := d.excluded(f, levels, key, m)
			if gone {
				return
			}
			seen[key] = len(found)
			found = append(found, candidate{key: key, levels: append([]*levelBlock(nil), levels...), matrices: []*matrixBlock{m}, doubtful: doubtful})
		})
	}
	for _, x := range d.excludes {
		if x.removed == 0 && !x.unsure && !d.open {
			d.faults.add(warning(x.rng, "Exclude that removes nothing", "No cell meets this condition. Correct it, or remove the block."))
		}
	}
	if len(found) == 0 && !d.open && len(d.excludes) > 0 {
		d.faults.add(fault(d.excludes[0].rng, "No cells", "The exclude blocks of the experiment, of which this is the first, remove every cell. Narrow a condition."))
	}
	return found
}

// maxCombinations bounds the combinations that are gone through, before exclude
// blocks: a few seconds' work, and far more than anybody can run.
const maxCombinations = 10_000_000

// tooMany reports matrices whose levels multiply to more than can be gone
// through.
func (d *decoder) tooMany() bool {
	total := 0.0
	for _, m := range d.union() {
		n := 1.0
		for _, p := range m.picks {
			n *= float64(len(p.rows))
		}
		total += n
	}
	if total > maxCombinations {
		d.faults.add(fault(d.src.whole(), "Too many cells", "The levels multiply to %.0f combinations; at most %d can be gone through. Name fewer levels in matrix blocks.", total, maxCombinations))
	}
	return total > maxCombinations
}

// union returns the matrices whose cells are known; without any matrix, the product
// of all axes.
func (d *decoder) union() []*matrixBlock {
	if len(d.matrices) > 0 {
		return slices.DeleteFunc(slices.Clone(d.matrices), func(m *matrixBlock) bool { return m.open })
	}
	all := &matrixBlock{}
	for i, a := range d.axes {
		all.picks = append(all.picks, single(i, a.levels))
	}
	return []*matrixBlock{all}
}

// product calls yield with each combination of a matrix. The slice is used
// again for the next one.
func (d *decoder) product(m *matrixBlock, yield func([]*levelBlock)) {
	levels := make([]*levelBlock, len(d.axes))
	var walk func(int)
	walk = func(i int) {
		if i == len(m.picks) {
			yield(levels)
			return
		}
		p := m.picks[i]
		for _, row := range p.rows {
			for j, axis := range p.axes {
				levels[axis] = row[j]
			}
			walk(i + 1)
		}
	}
	walk(0)
}

func (d *decoder) cellKey(levels []*levelBlock) CellKey {
	var b strings.Builder
	for i, l := range levels {
		if l == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(d.axes[i].name)
		b.WriteByte('=')
		b.WriteString(l.name)
	}
	return CellKey(b.String())
}

// excluded reports whether an exclude block removes a combination. All that do
// are counted, so that the plan can show which removed what. doubtful is true where
// one that is at fault may remove it.
func (d *decoder) excluded(f *frame, levels []*levelBlock, key CellKey, m *matrixBlock) (gone, doubtful bool) {
	f.levels, f.cell, f.matrix = levels, key, m.name
	for _, x := range d.excludes {
		if x.matrix != "" && x.matrix != m.name {
			continue
		}
		held, known := x.holds(f)
		x.unsure = x.unsure || !known
		doubtful = doubtful || !known
		if held {
			x.removed++
			gone = true
		}
	}
	return gone, doubtful
}

// holds reports whether the condition is true of the frame's levels. known is false
// where a fault keeps that from being told.
func (x *excludeBlock) holds(f *frame) (held, known bool) {
	known = len(x.when) > 0
	for _, when := range x.when {
		o := when.eval(f)
		switch {
		case o.diags.HasErrors():
			f.d.faults.addIn(f.cell, o.diags...)
			known = false
			continue
		case !o.value.IsKnown() && f.excuses(when):
			known = false
			continue
		case o.value.IsNull() || !o.value.IsKnown():
			f.d.faults.addIn(f.cell, badValue("when", when.Range(), "must be true or false; it is null"))
			known = false
			continue
		}
		held, wrong := boolValue(o.value)
		if wrong != "" {
			f.d.faults.addIn(f.cell, badValue("when", when.Range(), wrong))
			known = false
			continue
		}
		if !held {
			return false, true
		}
	}
	return known, known
}

// An Exclusion tells how many cells an exclude block removed.
type Exclusion struct {
	Matrix  string // "" where it reaches every matrix
	Reason  string
	Removed int
	Range   hcl.Range
}

// Exclusions returns what the exclude blocks removed in the last Expand or
// Count, in source order.
func (e *Experiment) Exclusions() []Exclusion {
	var list []Exclusion
	for _, x := range e.decoder.excludes {
		list = append(list, Exclusion{Matrix: x.matrix, Reason: x.reason, Removed: x.removed, Range: x.rng})
	}
	return list
}

// checkPhasesRun reports phases that no cell has.
func (d *decoder) checkPhasesRun(cells []*Cell) {
	runs := make([]bool, len(d.phases))
	left := len(runs)
	for _, c := range cells {
		if left == 0 {
			return
		}
		for _, p := range c.Phases {
			if i := p.block; !runs[i] {
				runs[i] = true
				left--
			}
		}
	}
	for i, p := range d.phases {
		if !runs[i] {
			d.faults.add(warning(p.rng, "Phase that never runs", "The condition `when` of phase %q is false in every cell. Correct it, or remove the phase.", p.name))
		}
	}
}

// checkRowLabels reports tables of all cells, labelled by their levels, in which
// two rows would look the same. Those with labels of their own can only be judged
// when they are made.
func (d *decoder) checkRowLabels(cells []*Cell) {
	i := slices.IndexFunc(d.report, func(b ReportBlock) bool {
		t, ok := b.(*Table)
		return ok && t.Label.Text == nil && t.Rows == nil && t.Across == nil && t.Group == nil && t.Only == nil && t.Source == sourceOwn
	})
	if i < 0 {
		return
	}
	first := make(map[string]*Cell, len(cells))
	for _, c := range cells {
		label := c.label()
		if other := first[label]; other != nil && label != "" {
			d.faults.add(warning(d.report[i].DefRange(), "Rows that look the same",
				"The table %q shows the cells %s and %s as rows that are both called %q. Give their levels labels that differ, or the table a label of its own.", d.report[i].BlockName(), other.Key, c.Key, label))
			return
		}
		first[label] = c
	}
}

// label returns what a row of the cell is called where nothing else is said: the
// labels of its levels, those that are empty left out.
func (c *Cell) label() string {
	var b strings.Builder
	for _, l := range c.Levels {
		if l.Text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(l.Text)
	}
	return b.String()
}

// checkIdentical reports cells that would run the very same thing.
func (d *decoder) checkIdentical(cells []*Cell, ids []identity) {
	if d.idle {
		return // they would differ if the params were read
	}
	first := make(map[identity]int, len(cells))
	for i, id := range ids {
		if cells[i].Unsound {
			continue
		}
		j, dup := first[id]
		if !dup {
			first[id] = i
			continue
		}
		d.reportIdentical(cells[j], cells[i])
	}
}

func (d *decoder) reportIdentical(a, b *Cell) {
	for i, axis := range d.axes {
		la, hasA := a.Level(axis.name)
		lb, hasB := b.Level(axis.name)
		if hasA == hasB && la.Name == lb.Name {
			continue
		}
		if axis.faulty {
			return
		}
		d.faults.addIn(b.Key, fault(d.axes[i].rng, "Identical cells",
			"The axis %q changes nothing between %s and %s, which would measure one thing twice.%s Let its levels set something, leave the axis out of the matrix there, or say `same = true` on a level that is meant to be the same.",
			axis.name, describeLevel(axis.name, la, hasA), describeLevel(axis.name, lb, hasB), d.unreached(b, i)))
		return
	}
}

// unreached tells of options that the cell's level on an axis sets for servers of
// another flavour than the cell's.
func (d *decoder) unreached(c *Cell, axis int) string {
	l, dialect := c.candidate.levels[axis], c.Phases[0].dialect
	if l == nil || dialect == nil {
		return ""
	}
	for _, attribute := range []string{"my_cnf", "postgresql_conf"} {
		if l.overlay.exprs[attribute] != nil && dialect.Attribute != attribute {
			return fmt.Sprintf(" Its %s does not reach server.%s, which reads %s.", attribute, c.Phases[0].Settings.Server.Name, dialect.Attribute)
		}
	}
	return ""
}

func describeLevel(axis string, l CellLevel, has bool) string {
	if !has {
		return "no " + axis
	}
	return fmt.Sprintf("%s=%s", axis, l.Name)
}
