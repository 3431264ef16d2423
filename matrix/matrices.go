package matrix

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A matrixBlock is a product of levels. An axis that it leaves out is absent
// from its cells.
type matrixBlock struct {
	name    string
	rng     hcl.Range
	content *hcl.BodyContent
	picks   []pick   // the axes it names, in the order they are declared
	overlay *overlay // holds its params
	open    bool     // it cannot be told which cells it has
}

// A pick is what a matrix takes of one axis, or of several that it walks in
// step: rows of levels.
type pick struct {
	axes []int
	rows [][]*levelBlock
}

// An excludeBlock removes cells.
type excludeBlock struct {
	matrix  string        // "" reaches every matrix
	when    []*expression // all of them must hold
	reason  string
	rng     hcl.Range
	removed int
	unsure  bool // it cannot be told of all cells whether it removes them
}

func (d *decoder) declareMatrices(blocks hcl.Blocks) {
	schema := with(attrs("zip", "params"), block("exclude"))
	for _, a := range d.axes {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: a.name})
	}
	seen := map[string]hcl.Range{}
	for _, b := range blocks {
		name := b.Labels[0]
		if prior, dup := seen[name]; dup {
			d.faults.add(duplicate("matrix", name, b.DefRange, prior))
			continue
		}
		seen[name] = b.DefRange
		before := d.losses
		content := d.content(b.Body, schema, d.axisHint)
		m := &matrixBlock{name: name, rng: b.DefRange, content: content, open: d.losses > before}
		m.overlay = &overlay{kind: OverlayMatrix, name: "matrix " + name, rng: b.DefRange, attrs: map[string]*hcl.Attribute{}}
		if attr := content.Attributes["params"]; attr != nil {
			m.overlay.attrs["params"] = attr
			d.declareParams(attr)
		}
		d.matrices = append(d.matrices, m)
	}
}

// axisHint says in place of HCL's own words about an unknown argument which axes
// there are.
func (d *decoder) axisHint(diag *hcl.Diagnostic) *hcl.Diagnostic {
	if diag.Summary != "Unsupported argument" || diag.Subject == nil {
		return diag
	}
	hint := *diag
	hint.Summary = "Unknown axis"
	if file := d.src.files[diag.Subject.Filename]; file != nil && diag.Subject.CanSliceBytes(file.Bytes) {
		name := string(diag.Subject.SliceBytes(file.Bytes))
		if d.mayBe("axis", name) {
			return nil
		}
		names, _ := d.known(rootAxis)
		hint.Detail = fmt.Sprintf("A matrix names axes, beside zip and params, and there is no axis %q%s", name, alternatives(name, "", append(names, "zip", "params")))
	}
	return &hint
}

func (d *decoder) compileMatrices() {
	for _, m := range d.matrices {
		before := d.losses
		d.compileOverlay(m.overlay)
		d.decodeExcludes(m.content.Blocks.OfType("exclude"), m.name)
		chosen := map[int][]*levelBlock{}
		for i, a := range d.axes {
			if attr := m.content.Attributes[a.name]; attr != nil {
				chosen[i] = d.chosenLevels(a, attr)
			}
		}
		d.zip(m, chosen)
		for i := range d.axes {
			if levels, ok := chosen[i]; ok {
				d.checkOnce(m, d.axes[i], levels)
				m.picks = append(m.picks, single(i, levels))
			}
		}
		m.inOrder()
		m.open = m.open || d.losses > before
		d.open = d.open || m.open
		if len(m.picks) == 0 && !m.open {
			d.faults.add(fault(m.rng, "Empty matrix", `The matrix %q names no axis. Give it arguments such as engine = "*".`, m.name))
		}
	}
}

// checkOnce reports a level that a matrix takes twice. Only in a zip may one come
// again, with another level beside it.
func (d *decoder) checkOnce(m *matrixBlock, a *axisBlock, levels []*levelBlock) {
	seen := map[*levelBlock]bool{}
	for _, l := range levels {
		if seen[l] {
			d.faults.add(fault(m.content.Attributes[a.name].Expr.Range(), "Level taken twice", "The matrix %q takes the level %q of %s twice. Remove one.", m.name, l.name, a.name))
			return
		}
		seen[l] = true
	}
}

func single(axis int, levels []*levelBlock) pick {
	p := pick{axes: []int{axis}}
	for _, l := range levels {
		p.rows = append(p.rows, []*levelBlock{l})
	}
	return p
}

// inOrder sorts the picks by their first axis, so that cells come in the order
// of the axes whatever the order inside the block.
func (m *matrixBlock) inOrder() {
	slices.SortStableFunc(m.picks, func(a, b pick) int { return slices.Min(a.axes) - slices.Min(b.axes) })
}

// chosenLevels reads what a matrix takes of an axis: "*" or a list of levels.
func (d *decoder) chosenLevels(a *axisBlock, attr *hcl.Attribute) []*levelBlock {
	v, ok := d.static(attr)
	if !ok {
		return nil
	}
	if v.Type() == cty.String && !v.IsNull() && v.AsString() == "*" {
		return a.levels
	}
	names, wrong := textsValue(v)
	if v.IsNull() || wrong != "" {
		d.losses++
		d.faults.add(badValue(a.name, attr.Expr.Range(), `must be "*" for all levels, or a list of their names, such as ["a", "b"]`))
		return nil
	}
	if len(names) == 0 {
		d.faults.add(badValue(a.name, attr.Expr.Range(), "names no level, so the matrix has no cell; leave the axis out where it does not apply"))
	}
	var levels []*levelBlock
	for _, name := range names {
		i, ok := a.index[name]
		if !ok && a.open && a.levels[0].standIn {
			return a.levels
		}
		if !ok {
			d.open = true // the matrix was meant to have more cells
			if !a.open {
				d.faults.add(fault(attr.Expr.Range(), "Unknown level", "The axis %q has no level %q%s", a.name, name, alternatives(name, "", a.names())))
			}
			continue
		}
		levels = append(levels, a.levels[i])
	}
	if len(levels) == 0 {
		d.losses++
	}
	return levels
}

// zip joins axes that the matrix walks in step into one pick each.
func (d *decoder) zip(m *matrixBlock, chosen map[int][]*levelBlock) {
	attr := m.content.Attributes["zip"]
	v, ok := d.static(attr)
	if !ok || v.IsNull() {
		return
	}
	groups, wrong := commandsValue(v)
	if wrong != "" {
		d.losses++
		d.faults.add(badValue("zip", attr.Expr.Range(), `must be a list of lists of axes, such as [["engine", "compression"]]`))
		return
	}
	for _, names := range groups {
		if p, ok := d.zipped(m, attr, names, chosen); ok {
			m.picks = append(m.picks, p)
		}
	}
}

func (d *decoder) zipped(m *matrixBlock, attr *hcl.Attribute, names []string, chosen map[int][]*levelBlock) (pick, bool) {
	var p pick
	length, good := -1, true
	defer func() {
		if !good {
			d.losses++
		}
	}()
	for _, name := range names {
		i, known := d.axisIndex[name]
		levels, named := chosen[i]
		switch {
		case !known:
			good = false
			if d.mayBe("axis", name) {
				return p, false
			}
			all, _ := d.known(rootAxis)
			d.faults.add(fault(attr.Expr.Range(), "Unknown axis", "zip names the axis %q, which there is not%s", name, alternatives(name, "", all)))
			return p, false
		case !named:
			good = false
			d.faults.add(fault(attr.Expr.Range(), "Axis not in the matrix", "zip names the axis %q, of which matrix %q takes no level. Add %s = [...], or name it in one zip only.", name, m.name, name))
			return p, false
		case length >= 0 && len(levels) != length && d.open:
			good = false // a level may have been lost
		case length >= 0 && len(levels) != length:
			d.faults.add(fault(attr.Expr.Range(), "Unequal lengths", "zip walks axes in step, so they need equally many levels: %s has %d, %s has %d.",
				names[0], length, name, len(levels)))
			good = false
		}
		if length < 0 {
			length = len(levels)
		}
		p.axes = append(p.axes, i)
	}
	for row := 0; good && row < length; row++ {
		var levels []*levelBlock
		for _, i := range p.axes {
			levels = append(levels, chosen[i][row])
		}
		p.rows = append(p.rows, levels)
	}
	for _, i := range p.axes {
		delete(chosen, i)
	}
	return p, good
}

// decodeExcludes takes the exclude blocks of a matrix, or those that reach all.
func (d *decoder) decodeExcludes(blocks hcl.Blocks, matrix string) {
	for _, b := range blocks {
		content := d.content(b.Body, excludeSchema())
		x := &excludeBlock{matrix: matrix, rng: b.DefRange, reason: read(d, content.Attributes["reason"], "", textValue)}
		d.excludes = append(d.excludes, x)
		when := d.required(content, "when", b.DefRange, "exclude block")
		if when == nil {
			continue
		}
		for _, expr := range conjuncts(when.Expr) {
			x.when = append(x.when, d.compileAt(expr, stepCell, nil))
		}
	}
}

// conjuncts splits a && b && c, so that each is evaluated once for the few
// levels that it reads, and not for each cell.
func conjuncts(expr hcl.Expression) []hcl.Expression {
	native, ok := expr.(hclsyntax.Expression)
	if !ok {
		return []hcl.Expression{expr}
	}
	op, ok := unparen(native).(*hclsyntax.BinaryOpExpr)
	if !ok || op.Op != hclsyntax.OpLogicalAnd {
		return []hcl.Expression{expr}
	}
	return append(conjuncts(op.LHS), conjuncts(op.RHS)...)
}
