package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// An Explanation tells where a setting of a cell comes from.
type Explanation struct {
	Name    string   // such as "my_cnf.innodb_flush_method", "param.engine", "server"
	Value   string   // in force, as text; "" where it is removed
	Removed bool     // some overlay removes it
	Origins []Origin // all that speak of it, in the order of precedence; the last one decides
	Phases  []string // the blocks of the phases for which this holds; nil: all of them
}

// Explain lists the settings of a cell with the places that set, overrode or
// removed each. Where phases differ, a setting appears once for each way.
func (e *Experiment) Explain(c *Cell) []Explanation {
	d := e.decoder
	d.faults = &faults{}
	byName := map[string][]Explanation{}
	var names []string
	for _, phase := range c.Phases {
		for _, x := range d.explainPhase(c, phase) {
			list := byName[x.Name]
			if list == nil {
				names = append(names, x.Name)
			}
			i := slices.IndexFunc(list, func(y Explanation) bool { return sameOrigins(x, y) })
			if i < 0 {
				x.Phases = []string{phase.Block}
				byName[x.Name] = append(list, x)
				continue
			}
			list[i].Phases = append(list[i].Phases, phase.Block)
		}
	}
	var all []Explanation
	for _, name := range names {
		for _, x := range byName[name] {
			if len(x.Phases) == len(c.Phases) {
				x.Phases = nil
			}
			all = append(all, x)
		}
	}
	return all
}

func sameOrigins(a, b Explanation) bool {
	return a.Value == b.Value && a.Removed == b.Removed && slices.Equal(a.Origins, b.Origins)
}

// Find returns the explanations of a setting: by its full name, or by the name
// of a server option in any spelling.
func (e *Experiment) Find(list []Explanation, name string) []Explanation {
	var found []Explanation
	for _, x := range list {
		_, short, _ := strings.Cut(x.Name, ".")
		if x.Name == name || short != "" && (short == name || slices.Contains(e.spellings(name), short)) {
			found = append(found, x)
		}
	}
	return found
}

// spellings returns the names that an option's name may stand for, by flavour.
func (e *Experiment) spellings(name string) []string {
	var names []string
	for _, flavour := range keys(e.decoder.dialects) {
		names = append(names, e.decoder.dialects[flavour].Fold(name).Name)
	}
	return names
}

// explainPhase lists what one phase runs with.
func (d *decoder) explainPhase(c *Cell, phase *Phase) []Explanation {
	block := d.phases[slices.IndexFunc(d.phases, func(p *phaseBlock) bool { return p.name == phase.Block })]
	f := &frame{d: d, levels: c.candidate.levels, cell: c.Key, matrix: c.Matrix, replicate: 1}
	stack := d.overlays(c.candidate, block)
	s := phase.Settings
	var list []Explanation
	if x, ok := d.explainServer(f, stack, s); ok {
		list = append(list, x)
	}
	if s.Server != nil {
		f.server = s.Server
		stack = append(d.serverStack(s.Server), stack...)
	}
	if d.resolveParams(f, stack) {
		list = append(list, d.explainParams(f, stack)...)
	}
	attribute := "my_cnf"
	if phase.dialect != nil {
		attribute = phase.dialect.Attribute
	}
	for _, o := range s.Options {
		list = append(list, Explanation{Name: attribute + "." + o.Name, Value: o.Value.String(), Origins: o.Origins})
	}
	for _, o := range s.layer.removed {
		list = append(list, Explanation{Name: attribute + "." + o.Name, Removed: true, Origins: o.Origins})
	}
	list = append(list, explainSlots("env.", s.layer.env)...)
	return append(list, explainSlots("storage.", s.layer.storage)...)
}

// explainSlots explains environment variables, or storage roles. Of secrets only a
// hash is shown.
func explainSlots(prefix string, slots []*slot) []Explanation {
	var list []Explanation
	for _, v := range slots {
		x := Explanation{Name: prefix + v.name, Removed: v.null, Origins: slices.Clone(v.origins)}
		if !v.null {
			x.Value = Masked(v.name, v.shown)
		}
		for i := range x.Origins {
			if !x.Origins[i].Null {
				x.Origins[i].Value = Masked(v.name, x.Origins[i].Value)
			}
		}
		list = append(list, x)
	}
	return list
}

func (d *decoder) explainServer(f *frame, stack []applied, s *Settings) (Explanation, bool) {
	x := Explanation{Name: "server"}
	for _, a := range stack {
		set := a.exprs["server"]
		if set == nil {
			continue
		}
		o := set.expr.eval(f)
		origin := Origin{Kind: a.kind, Name: a.name, Range: set.rng, Null: o.value.IsNull()}
		if !origin.Null {
			origin.Value = show(o.value)
		}
		x.Origins = append(x.Origins, origin)
	}
	if s.Server != nil {
		x.Value = s.Server.Name
		if s.Server.Build.Absent == "" {
			x.Value += fmt.Sprintf(" (%s %s)", s.Server.Build.Flavour, s.Server.Build.Version)
		}
	}
	return x, len(x.Origins) > 0
}

func (d *decoder) explainParams(f *frame, stack []applied) []Explanation {
	chains := make([][]Origin, len(d.paramOrder))
	for _, a := range stack {
		set := a.exprs["params"]
		if set == nil {
			continue
		}
		o := set.expr.eval(f)
		if o.diags.HasErrors() || !o.value.IsKnown() {
			continue
		}
		for _, p := range d.parseParams(set, o).params {
			chains[p.index] = append(chains[p.index], Origin{Kind: a.kind, Name: a.name, Value: show(p.value.value),
				Null: p.value.id == idNull, Range: set.key(p.name)})
		}
	}
	var list []Explanation
	for i, origins := range chains {
		if len(origins) == 0 {
			continue
		}
		x := Explanation{Name: "param." + d.paramOrder[i].name, Origins: origins}
		if f.params[i].id == idNull {
			x.Removed = true
		} else {
			x.Value = show(f.params[i].value)
		}
		list = append(list, x)
	}
	return list
}

// Place prints where an origin is, as file:line.
func (o Origin) Place() string { return place(o.Range) }
