package matrix

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// An overlay is a block that sets something for the cells it applies to. The
// overlays of a cell are laid over each other in the order of their precedence.
type overlay struct {
	kind  OverlayKind
	name  string // such as "level dio.buffered"
	rng   hcl.Range
	bound map[string]cty.Value // level, in the shorthand of an axis

	attrs     map[string]*hcl.Attribute // as written, until compiled
	exprs     map[string]*setting       // compiled
	phases    []string                  // where it applies; nil: everywhere
	from      string                    // the phase from which on it applies
	phasesRng hcl.Range                 // of either
	override  []string                  // names that it may decide against an earlier axis, as written

	unverified, adjusted []string // options, as written
	same                 bool

	phaseMask []bool // by phase: whether it applies
	open      bool   // it may set more, or apply elsewhere, than is known
}

// empty reports whether the overlay changes nothing.
func (o *overlay) empty() bool {
	return len(o.exprs) == 0 && len(o.unverified) == 0 && len(o.adjusted) == 0
}

// A setting is one compiled attribute of an overlay.
type setting struct {
	expr   *expression
	keys   map[string]hcl.Range // places of the keys, where the attribute is written as an object
	twice  bool                 // a key is written twice, which is told
	rng    hcl.Range
	parsed map[parsedKey]*contribution
}

// declareOverlay takes what an overlay sets from a block's content and gathers
// the names of the params that it sets.
func (d *decoder) declareOverlay(o *overlay, content *hcl.BodyContent) {
	o.attrs = map[string]*hcl.Attribute{}
	for _, name := range overlayAttrs {
		if attr := content.Attributes[name]; attr != nil {
			o.attrs[name] = attr
		}
	}
	d.declareParams(o.attrs["params"])
	at := content.Attributes
	o.phases = read(d, at["phases"], nil, textsValue)
	o.from = read(d, at["from"], "", textValue)
	for _, name := range []string{"phases", "from"} {
		if at[name] != nil {
			o.phasesRng = at[name].Expr.Range()
		}
	}
	o.override = read(d, at["override"], nil, textsValue)
	o.unverified = read(d, at["unverified"], nil, textsValue)
	o.adjusted = read(d, at["adjusted"], nil, textsValue)
	o.same = read(d, at["same"], false, boolValue)
	if at["phases"] != nil && at["from"] != nil {
		d.faults.add(fault(at["from"].NameRange, "Two ways to say where", "Give either phases, which lists them, or from, the first of them."))
	}
}

// placeAs makes a level that does not say where it applies do so where its axis
// does.
func (o *overlay) placeAs(axis *overlay) {
	if o.phases == nil && o.from == "" {
		o.phases, o.from, o.phasesRng = axis.phases, axis.from, axis.phasesRng
	}
}

// A paramName is a param with the places that set it.
type paramName struct {
	name   string
	ranges []hcl.Range
}

// declareParams gathers the names that a params attribute sets.
func (d *decoder) declareParams(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	pairs, diags := hcl.ExprMap(attr.Expr)
	if diags.HasErrors() {
		d.openParams = true
		return
	}
	for _, p := range pairs {
		name, ok := literalKey(p.Key)
		if !ok {
			d.openParams = true
			continue
		}
		d.declareParam(name, p.Key.Range())
	}
}

func (d *decoder) declareParam(name string, rng hcl.Range) int {
	i, ok := d.params[name]
	if !ok {
		i = len(d.paramOrder)
		d.params[name] = i
		d.paramOrder = append(d.paramOrder, paramName{name: name})
	}
	if p := &d.paramOrder[i]; !slices.Contains(p.ranges, rng) {
		p.ranges = append(p.ranges, rng)
	}
	return i
}

// literalKey returns the key of an object element that needs no evaluation.
func literalKey(expr hcl.Expression) (string, bool) {
	if len(expr.Variables()) > 0 && hcl.ExprAsKeyword(expr) == "" {
		return "", false
	}
	if word := hcl.ExprAsKeyword(expr); word != "" {
		return word, true
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// compileOverlay checks and compiles what an overlay sets.
func (d *decoder) compileOverlay(o *overlay) {
	o.exprs = map[string]*setting{}
	for _, name := range overlayAttrs {
		attr := o.attrs[name]
		if attr == nil {
			continue
		}
		s := &setting{expr: d.compileAt(attr.Expr, settingStep(name), o.bound), rng: attr.Expr.Range(), parsed: map[parsedKey]*contribution{}}
		since := d.faultsSince()
		s.keys = d.keyRanges(attr)
		s.twice = since()
		o.exprs[name] = s
	}
	o.phaseMask = d.phaseMask(o)
}

// settingStep says which names a setting may read.
func settingStep(name string) step {
	switch name {
	case "server", "storage":
		return stepCell
	}
	return stepParam
}

// keyRanges finds the places of an object's keys, and reports keys that are
// written twice: the last would win without a word.
func (d *decoder) keyRanges(attr *hcl.Attribute) map[string]hcl.Range {
	ranges := map[string]hcl.Range{}
	d.objectKeys(attr.Expr, "", attr.Name, ranges)
	return ranges
}

func (d *decoder) objectKeys(expr hcl.Expression, prefix, what string, ranges map[string]hcl.Range) {
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		return
	}
	for _, p := range pairs {
		name, ok := literalKey(p.Key)
		if !ok {
			continue
		}
		folded := prefix + foldKey(what, name)
		if prior, dup := ranges[folded]; dup {
			d.faults.add(fault(p.Key.Range(), "Set twice", "%s sets %q at %s already, and one of the two would be lost. Remove one.",
				what, foldKey(what, name), place(prior)))
			continue
		}
		ranges[folded] = p.Key.Range()
		if prefix == "" {
			d.objectKeys(p.Value, folded+"\x00", what, ranges)
		}
	}
}

// foldKey returns the name that a key of an attribute stands for. Aliases are a
// matter of the flavour, and folded when that is known.
func foldKey(attribute, name string) string {
	if attribute != "my_cnf" {
		return name
	}
	return (&Dialect{}).Fold(name).Name
}

// phaseMask says to which phases an overlay applies.
func (d *decoder) phaseMask(o *overlay) []bool {
	mask := make([]bool, len(d.phases))
	for i := range mask {
		mask[i] = o.phases == nil && o.from == ""
	}
	for _, name := range o.phases {
		i := d.phaseIndex(name, o.phasesRng, "phases")
		if i < 0 {
			o.open = true
			continue
		}
		mask[i] = true
	}
	if o.from != "" {
		i := d.phaseIndex(o.from, o.phasesRng, "from")
		o.open = o.open || i < 0
		for ; i >= 0 && i < len(mask); i++ {
			mask[i] = true
		}
	}
	return mask
}

// phaseIndex finds a phase by name and reports one that is not there.
func (d *decoder) phaseIndex(name string, rng hcl.Range, what string) int {
	names := make([]string, len(d.phases))
	for i, p := range d.phases {
		if p.name == name {
			return i
		}
		names[i] = p.name
	}
	if d.mayBe("phase", name) {
		return -1
	}
	d.faults.add(fault(rng, "Unknown phase", "%s names the phase %q, which there is not%s", what, name, alternatives(name, "", names)))
	return -1
}
