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

// evaluate resolves a candidate for one replicate. The cell is unsound where
// something of it is at fault.
func (d *decoder) evaluate(c *candidate, replicate int) (*Cell, identity) {
	f := &frame{d: d, levels: c.levels, cell: c.key, replicate: replicate}
	cell := &Cell{Key: c.key, Matrix: c.matrices[0].name, Levels: make([]CellLevel, 0, len(c.levels)), candidate: c}
	f.matrix = cell.Matrix
	if slices.ContainsFunc(c.levels, func(l *levelBlock) bool { return l != nil && l.standIn }) {
		f.cell = "" // its key says nothing
	}
	for i, l := range c.levels {
		if l != nil {
			text, _ := textValue(f.label(l))
			cell.Levels = append(cell.Levels, CellLevel{Axis: d.axes[i].name, Name: l.name, Text: text, Pos: l.pos})
		}
	}
	for _, p := range d.phases {
		phase := d.evaluatePhase(f, c, p, cell.Phases)
		if phase == nil {
			continue
		}
		sound := d.checkPhase(f, p, phase, cell.Phases)
		cell.Unsound = cell.Unsound || phase.unsound || !sound
		cell.Phases = append(cell.Phases, phase)
	}
	switch {
	case cell.Unsound || !d.checkOrder(f, cell.Phases):
		cell.Unsound = true
	case len(cell.Phases) == 0:
		cell.Unsound = true
		if len(d.phases) > 0 {
			d.faults.addIn(f.cell, fault(d.phases[0].rng, "Cell without phases", "Every phase's `when` is false in this cell, so it would do nothing. Exclude the cell, or correct a condition."))
		}
	default:
		return cell, d.fingerprint(cell, c)
	}
	return cell, identity{}
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

// evaluatePhase resolves a phase in a cell. It returns nil where its `when` is
// false.
func (d *decoder) evaluatePhase(f *frame, c *candidate, p *phaseBlock, before []*Phase) *Phase {
	stack := d.overlays(c, p)
	f.open = d.lacks(c, p)
	server, sound := d.resolveServer(f, stack)
	f.server, f.unsure = server, !sound
	if server != nil {
		d.probe(server)
		stack = append(d.serverStack(server), stack...)
		f.open = f.open || slices.ContainsFunc(server.overlays, func(o *overlay) bool { return o.open })
	}
	known := sound && !f.open
	sound = d.resolveParams(f, stack) && known
	f.failed = false
	if !evalAttr(f, p.exprs, "when", true, boolValue) {
		return nil
	}
	if f.failed { // it may not be there
		told := d.faults
		d.faults = d.inDoubt("phase " + p.name)
		defer func() { d.faults = told }()
	}
	settings, ok, settled := d.resolveSettings(f, stack)
	phase := d.resolvePhase(f, p, settings, before, sound && ok && !f.failed)
	phase.unsettled = !known || !settled
	return phase
}

// lacks reports whether something that a phase of a cell is made of may have been
// lost with what is at fault.
func (d *decoder) lacks(c *candidate, p *phaseBlock) bool {
	lost := d.lostBlocks || p.open || p.overlay.open || d.defaults != nil && d.defaults.open
	for _, l := range c.levels {
		lost = lost || l != nil && (l.overlay.open || l.axis.overlay != nil && l.axis.overlay.open)
	}
	for _, m := range c.matrices {
		lost = lost || m.overlay != nil && m.overlay.open
	}
	return lost
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
		case !o.value.IsKnown() && f.excuses(s.expr):
			return nil, false
		default:
			d.faults.addIn(f.cell, badValue("server", s.rng, `must be a server, such as server.mariadb, not `+show(o.value)))
			return nil, false
		}
		if by.overlay != nil && by.varied() && a.varied() && a.group != by.group && next != server && !a.overrides("server") {
			if !f.open {
				d.faults.addIn(f.cell, conflict("server", by, by.exprs["server"].rng, a, s.rng))
			}
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
		f.params[i] = noParam()
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
		f.params[i] = paramValue{value: cty.DynamicVal, id: idUnknown}
	}
	sound := true
	for round := 0; ; round++ {
		var next []paramValue
		next, sound = d.paramRound(f, setters)
		changed := false
		for i := range next {
			changed = changed || next[i].id != f.params[i].id || next[i].faulty != f.params[i].faulty
		}
		f.params = next
		if !changed || round > len(next) || !readsParams(setters) {
			break
		}
	}
	return d.checkParams(f, setters) && sound
}

// noParam is the value of a param that nothing sets.
func noParam() paramValue {
	return paramValue{value: cty.NullVal(cty.DynamicPseudoType), id: idNull}
}

// spoil makes the params unknown that a setting with a fault sets: all of them,
// where it cannot be told which these are.
func (d *decoder) spoil(s *setting, params []paramValue) {
	if len(s.keys) == 0 {
		for i := range params {
			params[i] = paramValue{cty.DynamicVal, idUnknown, true}
		}
	}
	for name := range s.keys {
		if i, ok := d.params[name]; ok && i < len(params) {
			params[i] = paramValue{cty.DynamicVal, idUnknown, true}
		}
	}
}

// paramRound evaluates all params once with what is known of them. Those that are
// at fault are unknown; sound is false where there are any.
func (d *decoder) paramRound(f *frame, setters []applied) (next []paramValue, sound bool) {
	sound = true
	next = make([]paramValue, len(f.params))
	for i := range next {
		next[i] = noParam()
	}
	by := make([]applied, len(next))
	for _, a := range setters {
		s := a.exprs["params"]
		o := s.expr.eval(f)
		switch {
		case o.diags.HasErrors():
			d.faults.addIn(f.cell, o.diags...)
			d.spoil(s, next)
			sound = false
			continue
		case !o.value.IsKnown() && f.excuses(s.expr):
			d.spoil(s, next)
			sound = false
			continue
		case !o.value.IsKnown():
			continue
		}
		c := d.parseParams(s, o)
		if c.diags != nil {
			d.faults.addIn(f.cell, c.diags...)
			d.spoil(s, next)
			sound = false
			continue
		}
		for _, e := range c.params {
			for e.index >= len(next) { // a name that only the evaluation brought up
				next = append(next, noParam())
				by = append(by, applied{})
				f.params = append(f.params, noParam())
			}
			if e.value.id == idUnknown && f.excuses(s.expr) {
				e.value.faulty, sound = true, false
			}
			prior := by[e.index]
			clash := prior.overlay != nil && prior.varied() && a.varied() && a.group != prior.group || prior.overlay != nil && a.group == groupMatrix && prior.group == groupMatrix
			if clash && next[e.index].id != e.value.id && next[e.index].id != idUnknown && e.value.id != idUnknown && !a.overrides(e.name) {
				sound = false
				d.tellClash(f, prior, a, e.name)
				e.value = paramValue{cty.DynamicVal, idUnknown, true}
			}
			next[e.index], by[e.index] = e.value, a
		}
	}
	return next, sound
}

// tellClash reports a param that two overlays set differently.
func (d *decoder) tellClash(f *frame, prior, a applied, name string) {
	at, rng := prior.exprs["params"].key(name), a.exprs["params"].key(name)
	switch {
	case f.open:
	case a.group == groupMatrix && prior.group == groupMatrix:
		d.faults.addIn(f.cell, fault(rng, "Matrices that disagree",
			"%s sets param %s to another value at %s, and both yield this cell, so there is no saying which it has. Let the params of both agree, or leave the cell out of one of them.", prior.name, name, place(at)))
	default:
		d.faults.addIn(f.cell, conflict("param "+name, prior, at, a, rng))
	}
}

// checkParams reports params that depend on themselves.
func (d *decoder) checkParams(f *frame, setters []applied) bool {
	if f.absent() && readsBuild(setters) {
		return true // unknown until a machine has the build
	}
	var names []string
	var rng hcl.Range
	for i, v := range f.params {
		if v.id == idUnknown && !v.faulty {
			names = append(names, "param."+d.paramOrder[i].name)
			f.params[i].faulty = true
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
