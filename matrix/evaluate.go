package matrix

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// An identity is what two cells share that would run the very same thing. Unlike
// a fingerprint it is known for builds that are not on this host.
type identity [sha256.Size]byte

// evaluate resolves a candidate for one replicate. It returns nil where the
// cell is at fault.
func (d *decoder) evaluate(c *candidate, replicate int) (*Cell, identity) {
	f := &frame{d: d, levels: c.levels, cell: c.key, replicate: replicate}
	cell := &Cell{Key: c.key, Matrix: c.matrices[0].name, Levels: make([]CellLevel, 0, len(c.levels)), candidate: c}
	f.matrix = cell.Matrix
	for i, l := range c.levels {
		if l != nil {
			text, _ := textValue(f.label(l))
			cell.Levels = append(cell.Levels, CellLevel{Axis: d.axes[i].name, Name: l.name, Text: text, Pos: l.pos})
		}
	}
	good := true
	for _, p := range d.phases {
		phase, present, ok := d.evaluatePhase(f, c, p, cell.Phases)
		good = good && ok
		if !present || !ok {
			continue
		}
		good = d.checkPhase(f, p, phase, cell.Phases) && good
		cell.Phases = append(cell.Phases, phase)
	}
	if !good {
		return nil, identity{}
	}
	if !d.checkOrder(f, cell.Phases) {
		return nil, identity{}
	}
	if len(cell.Phases) == 0 {
		d.faults.addIn(c.key, fault(d.phases[0].rng, "Cell without phases", "Every phase's `when` is false in this cell, so it would do nothing. Exclude the cell, or correct a condition."))
		return nil, identity{}
	}
	return cell, d.fingerprint(cell, c)
}

// fingerprint chains the hashes of the cell's phases.
func (d *decoder) fingerprint(cell *Cell, c *candidate) identity {
	var chain, id identity
	known := true
	cell.Fingerprints = make([]Fingerprint, len(cell.Phases))
	for _, l := range c.levels {
		if l != nil && (l.overlay.same || l.axis.overlay != nil && l.axis.overlay.same) {
			chain = sha256.Sum256(append(chain[:], l.overlay.name...)) // an A/A cell differs by its level's name
		}
	}
	id = chain
	iterations := 0
	for i, p := range cell.Phases {
		chain = link(chain, iterations, p.measured)
		id = link(id, iterations, p.identity)
		known = known && (p.Settings.Server == nil || p.Settings.Server.Build.Absent == "")
		if known {
			cell.Fingerprints[i] = Fingerprint(hex.EncodeToString(chain[:16]))
		}
		iterations = p.Recorded()
	}
	return id
}

// link hashes what came before a phase together with the phase's own inputs.
func link(before identity, iterations int, own identity) identity {
	buf := make([]byte, 0, 2*sha256.Size+8)
	buf = append(buf, before[:]...)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(iterations))
	buf = append(buf, own[:]...)
	return sha256.Sum256(buf)
}

// evaluatePhase resolves a phase in a cell. present is false where its `when`
// is; ok is false where something is at fault.
func (d *decoder) evaluatePhase(f *frame, c *candidate, p *phaseBlock, before []*Phase) (phase *Phase, present, ok bool) {
	stack := d.overlays(c, p)
	server, ok := d.resolveServer(f, stack)
	if !ok {
		return nil, true, false
	}
	f.server = server
	if server != nil {
		d.probe(server)
		stack = append(d.serverStack(server), stack...)
	}
	if !d.resolveParams(f, stack) {
		return nil, true, false
	}
	if !evalAttr(f, p.exprs, "when", true, boolValue) {
		return nil, false, true
	}
	settings, ok := d.resolveSettings(f, stack)
	if !ok {
		return nil, true, false
	}
	phase, ok = d.resolvePhase(f, p, settings, before)
	return phase, true, ok
}

// An applied overlay is one that reaches a phase of a cell. Overlays of one
// group do not conflict: a level decides over what its axis says for all.
type applied struct {
	*overlay
	group int
}

// Groups of overlays beyond those of the axes.
const (
	groupBase   = -1 // server, defaults: they yield to all others
	groupMatrix = -2
	groupPhase  = -3
)

// overlays lists what reaches a phase of a cell, the strongest last.
func (d *decoder) overlays(c *candidate, p *phaseBlock) []applied {
	stack := make([]applied, 0, len(c.levels)+4)
	if d.defaults != nil {
		stack = append(stack, applied{d.defaults, groupBase})
	}
	for i, l := range c.levels {
		if l == nil {
			continue
		}
		if shared := l.axis.overlay; shared != nil && shared.phaseMask[p.index] && !shared.empty() {
			stack = append(stack, applied{shared, i})
		}
		if l.overlay.phaseMask[p.index] {
			stack = append(stack, applied{l.overlay, i})
		}
	}
	for _, m := range c.matrices {
		if m.overlay != nil && len(m.overlay.exprs) > 0 {
			stack = append(stack, applied{m.overlay, groupMatrix})
		}
	}
	return append(stack, applied{p.overlay, groupPhase})
}

func (d *decoder) serverStack(s *Server) []applied {
	stack := make([]applied, 0, len(s.overlays))
	for _, o := range s.overlays {
		stack = append(stack, applied{o, groupBase})
	}
	return stack
}

// varied reports whether an overlay may conflict with another.
func (a applied) varied() bool { return a.group != groupBase }

// resolveServer finds the server of a phase.
func (d *decoder) resolveServer(f *frame, stack []applied) (*Server, bool) {
	var server *Server
	var by applied
	for _, a := range stack {
		s := a.exprs["server"]
		if s == nil {
			continue
		}
		o := s.expr.eval(f)
		if o.diags.HasErrors() {
			d.faults.addIn(f.cell, o.diags...)
			return nil, false
		}
		var next *Server
		switch {
		case o.value.IsNull():
		case o.value.IsKnown() && o.value.Type().Equals(serverType):
			next = o.value.EncapsulatedValue().(*Server)
		default:
			d.faults.addIn(f.cell, badValue("server", s.rng, `must be a server, such as server.mariadb, not `+show(o.value)))
			return nil, false
		}
		if by.overlay != nil && by.varied() && a.varied() && a.group != by.group && next != server && !a.overrides("server") {
			d.faults.addIn(f.cell, conflict("server", by, by.exprs["server"].rng, a, s.rng))
			return nil, false
		}
		server, by = next, a
	}
	return server, true
}

// resolveParams evaluates the params of a phase. Params may refer to params, so
// what is not known yet counts as unknown, and all are evaluated until nothing
// changes; what stays unknown then is a cycle.
func (d *decoder) resolveParams(f *frame, stack []applied) bool {
	f.params = make([]paramValue, len(d.paramOrder))
	for i := range f.params {
		f.params[i] = paramValue{cty.NullVal(cty.DynamicPseudoType), idNull}
	}
	var setters []applied
	for _, a := range stack {
		if a.exprs["params"] != nil {
			setters = append(setters, a)
		}
	}
	if len(setters) == 0 {
		return true
	}
	for i := range f.params {
		f.params[i] = paramValue{cty.DynamicVal, idUnknown}
	}
	for round := 0; ; round++ {
		next, ok := d.paramRound(f, setters)
		if !ok {
			return false
		}
		changed := false
		for i := range next {
			changed = changed || next[i].id != f.params[i].id
		}
		f.params = next
		if !changed || round > len(next) || !readsParams(setters) {
			break
		}
	}
	return d.checkParams(f, setters)
}

// paramRound evaluates all params once with what is known of them.
func (d *decoder) paramRound(f *frame, setters []applied) ([]paramValue, bool) {
	next := make([]paramValue, len(f.params))
	for i := range next {
		next[i] = paramValue{cty.NullVal(cty.DynamicPseudoType), idNull}
	}
	by := make([]applied, len(next))
	for _, a := range setters {
		s := a.exprs["params"]
		o := s.expr.eval(f)
		if o.diags.HasErrors() {
			d.faults.addIn(f.cell, o.diags...)
			return nil, false
		}
		if !o.value.IsKnown() {
			continue
		}
		c := d.parseParams(s, o)
		if c.diags != nil {
			d.faults.addIn(f.cell, c.diags...)
			return nil, false
		}
		for _, e := range c.params {
			if e.index >= len(next) { // a name that only the evaluation brought up
				next = append(next, paramValue{cty.NullVal(cty.DynamicPseudoType), idNull})
				by = append(by, applied{})
				f.params = append(f.params, paramValue{cty.NullVal(cty.DynamicPseudoType), idNull})
			}
			prior := by[e.index]
			clash := prior.overlay != nil && prior.varied() && a.varied() && a.group != prior.group || prior.overlay != nil && a.group == groupMatrix && prior.group == groupMatrix
			if clash && next[e.index].id != e.value.id && next[e.index].id != idUnknown && e.value.id != idUnknown && !a.overrides(e.name) {
				at := prior.exprs["params"].key(e.name)
				if a.group == groupMatrix && prior.group == groupMatrix {
					d.faults.addIn(f.cell, fault(s.key(e.name), "Matrices that disagree",
						"%s sets param %s to another value at %s, and both yield this cell, so there is no saying which it has. Let the params of both agree, or leave the cell out of one of them.", prior.name, e.name, place(at)))
					return nil, false
				}
				d.faults.addIn(f.cell, conflict("param "+e.name, prior, at, a, s.key(e.name)))
				return nil, false
			}
			next[e.index], by[e.index] = e.value, a
		}
	}
	return next, true
}

// checkParams reports params that depend on themselves.
func (d *decoder) checkParams(f *frame, setters []applied) bool {
	if f.absent() && readsBuild(setters) {
		return true // unknown until a machine has the build
	}
	var names []string
	var rng hcl.Range
	for i, v := range f.params {
		if v.id == idUnknown {
			names = append(names, "param."+d.paramOrder[i].name)
			if len(names) == 1 {
				rng = d.paramOrder[i].ranges[0]
			}
		}
	}
	if len(names) == 0 {
		return true
	}
	detail := names[0] + " depends on itself, so it has no value."
	if len(names) > 1 {
		detail = list(names) + " depend on each other, so they have no value. Set one of them without the others."
	}
	d.faults.addIn(f.cell, fault(rng, "Params in a cycle", "%s", detail))
	return false
}

func readsParams(setters []applied) bool {
	for _, a := range setters {
		for _, r := range a.exprs["params"].expr.refs {
			if r.root == rootParam {
				return true
			}
		}
	}
	return false
}

func readsBuild(setters []applied) bool {
	for _, a := range setters {
		for _, r := range a.exprs["params"].expr.refs {
			if r.root == rootBuild {
				return true
			}
		}
	}
	return false
}

// overrides reports whether the overlay may decide a name against an earlier
// axis.
func (a applied) overrides(name string) bool { return slices.Contains(a.override, name) }
