package matrix

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// An axisBlock is an axis as it is decoded.
type axisBlock struct {
	name    string
	title   string
	rng     hcl.Range
	levels  []*levelBlock
	index   map[string]int
	overlay *overlay // what all levels share; nil in the shorthand, where each level has it
	open    bool     // there may be levels that are not known
	faulty  bool     // something of its declaration is at fault
}

// A levelBlock is a level as it is decoded.
type levelBlock struct {
	axis        *axisBlock
	name        string
	pos         int
	description string
	labelAttr   *hcl.Attribute
	label       *expression // nil: the name
	overlay     *overlay
	rng         hcl.Range
	standIn     bool // for those of an axis none of which is known
}

// identity numbers the levels of an axis for the memo of expressions.
func (l *levelBlock) identity() int32 {
	if l == nil {
		return idNull
	}
	return int32(l.pos) + 1
}

// reservedAxes are names that a matrix block uses for something else.
var reservedAxes = []string{"zip", "params", "exclude"}

func (d *decoder) declareAxes(blocks hcl.Blocks) {
	for _, b := range blocks {
		a := &axisBlock{name: b.Labels[0], rng: b.DefRange, index: map[string]int{}}
		since := d.faultsSince()
		d.axisName(b)
		a.faulty = since()
		if i, dup := d.axisIndex[a.name]; dup {
			d.faults.add(duplicate("axis", a.name, b.DefRange, d.axes[i].rng))
			d.axes[i].open, d.axes[i].faulty, d.open = true, true, true
			continue
		}
		content := d.content(b.Body, axisSchema())
		a.open = d.lossy[content]
		a.title = a.name
		if content.Attributes["levels"] != nil {
			d.declareShorthand(a, content)
		} else {
			d.declareLevels(a, content)
		}
		a.faulty = a.faulty || a.open
		d.open = d.open || a.open
		switch {
		case len(a.levels) == 0 && a.open:
			l := &levelBlock{axis: a, name: "?", rng: a.rng, standIn: true}
			l.overlay = &overlay{kind: OverlayLevel, name: levelName(a, l), rng: a.rng, open: true, bound: map[string]cty.Value{"level": cty.DynamicVal}}
			if a.overlay == nil {
				d.declareOverlay(l.overlay, content)
			}
			a.levels = append(a.levels, l)
		case len(a.levels) == 0:
			d.faults.add(fault(b.DefRange, "Axis without levels", "The axis %q has no level. Give it `level` blocks, or `levels = [...]`.", a.name))
		}
		d.axisIndex[a.name] = len(d.axes)
		d.axes = append(d.axes, a)
	}
}

func (d *decoder) axisName(b *hcl.Block) {
	name := b.Labels[0]
	d.identifier("axes", name, b.LabelRanges[0])
	for _, r := range reservedAxes {
		if name == r {
			d.faults.add(fault(b.LabelRanges[0], "Reserved name", "An axis cannot be called %q: in a matrix block the word means something else.", name))
		}
	}
}

// declareLevels takes the level blocks of an axis. What the axis itself sets
// lies under each of them.
func (d *decoder) declareLevels(a *axisBlock, content *hcl.BodyContent) {
	a.overlay = &overlay{kind: OverlayLevel, name: "axis " + a.name, rng: a.rng}
	before := d.losses
	d.declareOverlay(a.overlay, content)
	a.overlay.open = d.losses > before
	if attr := content.Attributes["label"]; attr != nil {
		a.title = read(d, attr, a.name, textValue)
	}
	for _, b := range content.Blocks {
		before := d.losses
		lc := d.content(b.Body, levelSchema())
		l := d.addLevel(a, b.Labels[0], b.LabelRanges[0])
		if l == nil {
			continue
		}
		l.rng = b.DefRange
		l.labelAttr = lc.Attributes["label"]
		l.description = read(d, lc.Attributes["description"], "", textValue)
		l.overlay = &overlay{kind: OverlayLevel, name: levelName(a, l), rng: b.DefRange}
		d.declareOverlay(l.overlay, lc)
		l.overlay.placeAs(a.overlay)
		l.overlay.open = d.losses > before
	}
}

func levelName(a *axisBlock, l *levelBlock) string { return "level " + a.name + "." + l.name }

// declareShorthand makes a level of each element of `levels`, all with the one
// overlay of the axis, in which `level` is the element.
func (d *decoder) declareShorthand(a *axisBlock, content *hcl.BodyContent) {
	attr := content.Attributes["levels"]
	for _, b := range content.Blocks {
		a.faulty = true
		d.faults.add(fault(b.DefRange, "Two ways to give levels", "The axis %q has `levels = [...]`, so it cannot have level blocks too.", a.name))
	}
	values, ok := d.static(attr)
	if a.open = a.open || !ok; !ok {
		return
	}
	if values.IsNull() || !values.CanIterateElements() || values.Type().IsObjectType() || values.Type().IsMapType() {
		a.open = true
		d.faults.add(badValue("levels", attr.Expr.Range(), "must be a list, such as [1, 4, 16] or range(1, 5)"))
		return
	}
	for it := values.ElementIterator(); it.Next(); {
		_, v := it.Element()
		name, wrong := levelText(v)
		if wrong != "" {
			a.open = true
			d.faults.add(badValue("levels", attr.Expr.Range(), wrong))
			continue
		}
		l := d.addLevel(a, name, attr.Expr.Range())
		if l == nil {
			continue
		}
		l.rng = attr.Range
		l.labelAttr = content.Attributes["label"]
		l.description = read(d, content.Attributes["description"], "", textValue)
		l.overlay = &overlay{kind: OverlayLevel, name: levelName(a, l), rng: a.rng, bound: map[string]cty.Value{"level": v}}
		before := d.losses
		d.declareOverlay(l.overlay, content)
		l.overlay.open = d.losses > before
	}
}

// levelText names the level of an element of `levels`.
func levelText(v cty.Value) (string, string) {
	if v.IsNull() {
		return "", "must hold no null: a level needs a name"
	}
	if v.Type() == cty.Bool {
		return fmt.Sprint(v.True()), ""
	}
	text, wrong := textValue(v)
	if wrong != "" {
		return "", "must hold texts, numbers or bools; one element is " + kindOf(v)
	}
	return text, ""
}

// addLevel appends a level and reports a name that cannot be one.
func (d *decoder) addLevel(a *axisBlock, name string, rng hcl.Range) *levelBlock {
	switch {
	case name == "" || strings.ContainsAny(name, ",=") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		a.open = true
		d.faults.add(fault(rng, "Bad name", "A level cannot be called %q: its name may not be empty, nor hold a comma, an equals sign or a line break, which cell keys use.", name))
		return nil
	}
	if i, dup := a.index[name]; dup {
		a.faulty = true
		d.faults.add(duplicate("level", a.name+"."+name, rng, a.levels[i].rng))
		return nil
	}
	l := &levelBlock{axis: a, name: name, pos: len(a.levels)}
	a.index[name] = l.pos
	a.levels = append(a.levels, l)
	return l
}

// names returns the names of the axis' levels.
func (a *axisBlock) names() []string {
	names := make([]string, len(a.levels))
	for i, l := range a.levels {
		names[i] = l.name
	}
	return names
}

func (d *decoder) compileAxes() {
	for _, a := range d.axes {
		for _, l := range a.levels {
			if l.labelAttr == nil {
				continue
			}
			bound := map[string]cty.Value(nil)
			if a.overlay == nil {
				bound = l.overlay.bound
			}
			l.label = d.compileAt(l.labelAttr.Expr, stepCell, bound)
		}
	}
}

// publicAxis returns an axis in the form that others see. A label that depends on
// the cell is the cell's to tell.
func (d *decoder) publicAxis(a *axisBlock) *Axis {
	axis := &Axis{Name: a.name, Label: a.title, Range: a.rng}
	for _, l := range a.levels {
		label := l.name
		if l.label != nil && len(l.label.refs) == 0 && !l.label.atFault() {
			label = (&frame{d: d}).label(l).AsString()
		}
		axis.Levels = append(axis.Levels, &Level{Name: l.name, Label: label, Description: l.description, Pos: l.pos, Range: l.rng})
	}
	return axis
}
