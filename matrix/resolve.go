package matrix

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// defaultMaxWait bounds a settle that says no bound of its own.
const defaultMaxWait = 20 * time.Minute

// A phaseKey names a phase by all that its evaluation depends on.
type phaseKey struct {
	block, settings, workload int32
	first                     int
	attrs                     string // identities of its own attributes
}

// resolvePhase evaluates what a phase does in a cell. Phases that are equal in
// all that was evaluated are one. sound is false where something is at fault that the phase is made of.
func (d *decoder) resolvePhase(f *frame, p *phaseBlock, s *Settings, before []*Phase, sound bool) *Phase {
	inherited := inheritFrom(before, p.workloadType())
	w, ok := d.resolveWorkload(f, p.workload, s, inherited)
	key := phaseKey{int32(p.index), s.id, w.id, firstIteration(p, before), identities(f, p.ordered)}
	if sound = sound && ok; sound {
		if phase, ok := d.resolved[key]; ok {
			return phase
		}
	}
	phase := &Phase{
		Block: p.name, Name: p.name, block: p.index, FirstIteration: key.first, Steps: w.steps, Workload: w.Workload, resolved: w,
		Settings: s, Restart: p.restart, Cache: p.cache, Snapshot: p.snapshot, ReadOnly: p.readOnly,
		OnInterrupt: p.onInterrupt, Checks: p.checks, Sample: p.sample, Range: p.rng,
	}
	if p.continues != "" {
		phase.Name = p.continues
		for _, b := range before {
			if b.Block == p.continues {
				phase.Name = b.Name
			}
		}
	}
	if !d.resolveAttrs(f, p, phase) || !sound {
		phase.unsound = true
		return phase // evaluated again in the next cell, so that the fault is counted there too
	}
	if s.Server != nil {
		phase.dialect = d.dialect(s.Server)
	}
	if phase.sources, ok = d.commandSources(f, p, s); !ok {
		phase.unsound = true
		return phase
	}
	phase.measured, phase.identity = phase.hash(false), phase.hash(true)
	d.resolved[key] = phase
	return phase
}

// resolveAttrs evaluates the phase's own attributes and judges what it asks of
// its workload.
func (d *decoder) resolveAttrs(f *frame, p *phaseBlock, phase *Phase) bool {
	f.failed = false
	phase.Iterations = evalAttr(f, p.exprs, "iterations", 1, atLeast(1))
	phase.Warmup = evalAttr(f, p.exprs, "warmup", 0, durationValue)
	phase.Timeout = evalAttr(f, p.exprs, "timeout", 0, positiveDuration)
	phase.Settle = resolveSettle(f, p)
	w := p.workload
	if w == nil {
		return false
	}
	if phase.Steps > 1 && phase.Iterations > 1 {
		f.failed = true
		d.faults.addIn(f.cell, fault(phase.Range, "Two kinds of iterations", "The workload %q has %d steps of its own, which are the phase's iterations, so the phase cannot ask for %d more.", w.name, phase.Steps, phase.Iterations))
	}
	if phase.Warmup > 0 && !w.typ.WarmUp {
		f.failed = true
		d.faults.addIn(f.cell, fault(phase.Range, "No warm-up", "The workload %q cannot run unmeasured for a time, so the phase cannot have a warmup.", w.name))
	}
	return !f.failed
}

// identities lists the identities of expressions' outcomes.
func identities(f *frame, exprs []*expression) string {
	if len(exprs) == 0 {
		return ""
	}
	key := make([]byte, 0, 4*len(exprs))
	for _, e := range exprs {
		key = binary.LittleEndian.AppendUint32(key, uint32(e.eval(f).identity(f.d)))
	}
	return string(key)
}

// inheritFrom returns the last phase of a workload type, whose attributes a later
// phase takes over, or nil.
func inheritFrom(before []*Phase, typ string) *Phase {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].Workload.Type == typ {
			return before[i]
		}
	}
	return nil
}

// firstIteration numbers a phase that continues another on from its last.
func firstIteration(p *phaseBlock, before []*Phase) int {
	if p.continues == "" {
		return 1
	}
	for i := len(before) - 1; i >= 0; i-- {
		if b := before[i]; b.Block == p.continues || b.Name == p.continues {
			return b.LastIteration() + 1
		}
	}
	return 1
}

func resolveSettle(f *frame, p *phaseBlock) *Settle {
	if p.settle == nil {
		return nil
	}
	s := &Settle{
		Compaction: evalAttr(f, p.settle, "compaction", false, boolValue),
		Vacuum:     evalAttr(f, p.settle, "vacuum", false, boolValue),
		Pause:      evalAttr(f, p.settle, "pause", 0, durationValue),
		MaxWait:    evalAttr(f, p.settle, "max_wait", defaultMaxWait, positiveDuration),
	}
	if p.settle["dirty_pages_pct"] != nil {
		s.DirtyPagesPct = evalAttr(f, p.settle, "dirty_pages_pct", nil, percentValue)
	}
	s.CheckpointAge = evalAttr(f, p.settle, "checkpoint_age", nil, pointer(sizeValue))
	s.PurgeHistory = evalAttr(f, p.settle, "purge_history", nil, pointer(sizeValue))
	return s
}

// pointer reads a value whose absence means something else than its zero.
func pointer[T any](as reader[T]) reader[*T] {
	return func(v cty.Value) (*T, string) {
		got, wrong := as(v)
		return &got, wrong
	}
}

func percentValue(v cty.Value) (*float64, string) {
	n, err := convert.Convert(v, cty.Number)
	if err != nil {
		return nil, "must be a number of percent"
	}
	got, _ := n.AsBigFloat().Float64()
	if got < 0 || got > 100 {
		return nil, "must be between 0 and 100 percent"
	}
	return &got, ""
}

// A resolvedWorkload is a workload with evaluated arguments. Phases whose
// arguments are equal share it.
type resolvedWorkload struct {
	Workload
	typ     *WorkloadType
	id      int32
	steps   int
	sources []Source // the files and programs that it names
	hash    identity // of all of these
}

// resolveWorkload evaluates the attributes of a phase's workload. Those that it
// does not give come from the nearest earlier phase of the same type. Where something
// is at fault it returns what is known.
func (d *decoder) resolveWorkload(f *frame, w *workloadBlock, s *Settings, inherited *Phase) (*resolvedWorkload, bool) {
	if w == nil {
		return &resolvedWorkload{steps: 1}, false
	}
	key := d.workloadKey(f, w, s, inherited)
	if r, ok := d.workloads[key]; ok {
		return r, true
	}
	r := &resolvedWorkload{typ: w.typ, steps: 1}
	r.Workload = Workload{Type: w.name, Version: w.typ.Version, Args: Args{}, Ranges: w.ranges, Range: w.rng}
	good := !w.open
	for i := range w.typ.Attributes {
		a := &w.typ.Attributes[i]
		v, ok := d.argument(f, w.args[a.Name], a, w.rng)
		good = good && ok
		switch {
		case !ok || !v.IsNull():
		case inherited != nil && !inherited.Workload.Args[a.Name].IsNull():
			v = inherited.Workload.Args[a.Name]
		case a.Default != cty.NilVal:
			v = a.Default
		case a.Required && (w.open || d.lostBlocks || inherited != nil && inherited.unsound):
			good = false // it may have been lost
		case a.Required:
			d.faults.addIn(f.cell, fault(w.rng, "Missing argument", "The workload %q needs the argument %q (%s).", w.name, a.Name, strings.TrimSuffix(a.Doc, ".")))
			good = false
		}
		r.Args[a.Name] = v
	}
	for i := range w.typ.Blocks {
		b := &w.typ.Blocks[i]
		v, ok := d.nested(f, b, w.blocks[b.Name])
		good = good && ok
		r.Args[b.Name] = v
	}
	if !good || !d.judgeWorkload(f, w, s, r) || !d.addFiles(f, w, s.Server, r) {
		return r, false
	}
	r.id = int32(len(d.workloads) + 1)
	r.hash = hashInputs(r.inputs())
	d.workloads[key] = r
	return r, true
}

// workloadKey names a resolved workload by what its evaluation depends on.
func (d *decoder) workloadKey(f *frame, w *workloadBlock, s *Settings, inherited *Phase) string {
	key := []byte(w.rng.String())
	if inherited != nil {
		key = binary.LittleEndian.AppendUint32(key, uint32(inherited.resolved.id))
	}
	if s.Server != nil {
		key = append(key, s.Server.Name...)
	}
	return string(append(key, identities(f, w.ordered)...))
}

// argument evaluates one attribute, converted to its type. It is null of that
// type where it is not set.
func (d *decoder) argument(f *frame, e *expression, a *Attribute, block hcl.Range) (cty.Value, bool) {
	null := cty.NullVal(a.Type)
	if e == nil {
		return null, true
	}
	o := e.eval(f)
	switch {
	case o.diags.HasErrors():
		d.faults.addIn(f.cell, o.diags...)
		return null, false
	case !o.value.IsWhollyKnown():
		if f.excuses(e) {
			return null, false
		}
		if f.absent() {
			return null, true
		}
		d.faults.addIn(f.cell, unknownValue(a.Name, e))
		return null, false
	case o.value.IsNull():
		return null, true
	}
	v, err := convert.Convert(o.value, a.Type)
	if err != nil {
		d.faults.addIn(f.cell, badValue(a.Name, e.Range(), wrongType(o.value, a.Type, err)))
		return null, false
	}
	if v.Type() == cty.String && len(a.Values) > 0 {
		if _, wrong := oneOf(a.Values...)(v); wrong != "" {
			d.faults.addIn(f.cell, badValue(a.Name, e.Range(), wrong))
			return null, false
		}
	}
	return v, true
}

// wrongType says that a value is not of the type that is wanted.
func wrongType(v cty.Value, want cty.Type, err error) string {
	if want.IsPrimitiveType() {
		return fmt.Sprintf("must be %s; it is %s", typeWords(want), show(v))
	}
	return fmt.Sprintf("must be %s: %s", typeWords(want), err)
}

func typeWords(t cty.Type) string {
	switch t {
	case cty.String:
		return "a text"
	case cty.Bool:
		return "true or false"
	case cty.Number:
		return "a number"
	}
	return "a " + t.FriendlyNameForConstraint()
}

// nested evaluates the nested blocks of one type into a list of objects, each
// with its label as name.
func (d *decoder) nested(f *frame, t *BlockType, blocks []nestedBlock) (cty.Value, bool) {
	good := true
	var list []cty.Value
	for _, b := range blocks {
		object := map[string]cty.Value{"name": cty.StringVal(b.label)}
		for i := range t.Attributes {
			a := &t.Attributes[i]
			v, ok := d.argument(f, b.args[a.Name], a, b.rng)
			if v.IsNull() && a.Default != cty.NilVal {
				v = a.Default
			}
			object[a.Name] = v
			good = good && ok
		}
		list = append(list, cty.ObjectVal(object))
	}
	return cty.TupleVal(list), good
}

// judgeWorkload lets the workload's own package judge the arguments.
func (d *decoder) judgeWorkload(f *frame, w *workloadBlock, s *Settings, r *resolvedWorkload) bool {
	var build Build
	if s.Server != nil {
		build = Build{Flavour: s.Server.Flavour, Version: s.Server.version(), Absent: s.Server.Build.Absent}
	} else if f.unsure || f.open {
		build.Absent = "it is not known which it is"
	} else if w.typ.Server == nil || w.typ.Server(r.Args) {
		d.faults.addIn(f.cell, fault(w.rng, "No server", "The workload %q needs a server, and no overlay of the cell sets one. Say for example `defaults { server = server.mariadb }`.", w.name))
		return false
	}
	good := true
	if w.typ.Check != nil {
		for _, e := range w.typ.Check(r.Args, build) {
			rng, ok := w.ranges[e.Attribute]
			if !ok {
				rng = w.rng
			}
			d.faults.addIn(f.cell, fault(rng, e.Summary, "%s", e.Detail))
			good = false
		}
	}
	if w.typ.Steps != nil && good {
		r.steps = max(1, w.typ.Steps(r.Args))
	}
	return good
}

// checkPhase reports what only shows when a phase is seen after another.
func (d *decoder) checkPhase(f *frame, p *phaseBlock, phase *Phase, before []*Phase) bool {
	if len(before) == 0 {
		return true
	}
	prior := before[len(before)-1]
	if phase.unsettled || prior.unsettled || before[0].unsettled {
		return true // at fault are the settings that would be compared
	}
	good := true
	if role := changedStorage(prior.Settings, phase.Settings); role != "" {
		d.faults.addIn(f.cell, fault(p.rng, "Storage changes between phases", "The files of role %s lie on another storage in phase %q. A run's files stay where they are; make it an axis of the whole run.", role, prior.Block))
		good = false
	}
	if name := d.changedInit(before[0].Settings, phase.Settings); name != "" {
		d.faults.addIn(f.cell, fault(p.rng, "Option of an empty data directory", "%s takes effect only when the data directory is made, so it cannot differ from phase %q. Set it for all phases.", name, before[0].Block))
		good = false
	}
	if diff := prior.Settings.differs(phase.Settings); good && diff != "" && !phase.Restart && prior.Snapshot == nil {
		d.faults.addIn(f.cell, fault(p.rng, "Restart needed",
			"%s differs between phase %q and this one, which takes effect only with a restart; without one in all cells, a cold server would be compared with a warm one. Say `restart = true`.", diff, prior.Block))
		good = false
	}
	return good
}

// differs names the first thing in which a server would run differently.
func (s *Settings) differs(t *Settings) string {
	if s == t {
		return ""
	}
	if s.Server != t.Server {
		return "The server"
	}
	a, b := s.optionTexts(), t.optionTexts()
	for _, name := range append(keys(a), keys(b)...) {
		if a[name] != b[name] {
			return "The option " + name
		}
	}
	return ""
}

func (s *Settings) optionTexts() map[string]string {
	texts := make(map[string]string, len(s.Options))
	for _, o := range s.Options {
		texts[o.Name] = o.Value.String()
	}
	return texts
}

func changedStorage(a, b *Settings) string {
	for _, role := range storageRoles {
		if a.Storage[role].Name != b.Storage[role].Name {
			return role
		}
	}
	return ""
}

func (d *decoder) changedInit(a, b *Settings) string {
	if a == b || b.Server == nil {
		return ""
	}
	dialect := d.dialect(b.Server)
	if dialect == nil {
		return ""
	}
	x, y := a.optionTexts(), b.optionTexts()
	for _, name := range keys(dialect.InitTime) {
		if x[name] != y[name] {
			return name
		}
	}
	return ""
}
