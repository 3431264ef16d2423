package matrix

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A phaseBlock is a phase as it is decoded.
type phaseBlock struct {
	name      string
	index     int
	rng       hcl.Range
	content   *hcl.BodyContent
	overlay   *overlay
	continues string

	// compiled: attributes that may differ by cell
	exprs  map[string]*expression
	settle map[string]*expression // nil: no settle block

	// ordered are all of them in a fixed order: phases whose outcomes are
	// equal are one.
	ordered []*expression

	restart     bool
	cache       Cache
	snapshot    *SnapshotPolicy
	readOnly    bool
	onInterrupt OnInterrupt
	checks      []Check
	sample      Sample
	workload    *workloadBlock // nil: at fault

	open bool // it may say more than is known
}

func (p *phaseBlock) workloadType() string {
	if p.workload == nil {
		return ""
	}
	return p.workload.name
}

func (d *decoder) declarePhases(blocks hcl.Blocks) {
	byName := map[string]*phaseBlock{}
	for _, b := range blocks {
		name := b.Labels[0]
		if prior := byName[name]; prior != nil {
			d.faults.add(duplicate("phase", name, b.DefRange, prior.rng))
			continue
		}
		if name == "" {
			d.faults.add(fault(b.LabelRanges[0], "Bad name", "A phase needs a name."))
			continue
		}
		before := d.losses
		content := d.content(b.Body, phaseSchema())
		p := &phaseBlock{name: name, index: len(d.phases), rng: b.DefRange, content: content}
		p.overlay = &overlay{kind: OverlayPhase, name: "phase " + name, rng: b.DefRange}
		d.declareOverlay(p.overlay, content)
		p.open = d.losses > before
		byName[name] = p
		d.phases = append(d.phases, p)
	}
	if len(d.phases) == 0 && len(blocks) == 0 && !d.open {
		d.faults.add(fault(d.src.whole(), "Nothing to do", "The experiment has no phase block, so its cells would do nothing. Add one with a workload."))
	}
}

func (d *decoder) compilePhases() {
	for _, p := range d.phases {
		before := d.losses
		at := p.content.Attributes
		p.exprs = d.compileAttrs(at, stepParam, "when", "iterations", "warmup", "timeout")
		p.restart = read(d, at["restart"], false, boolValue)
		p.cache = read(d, at["cache"], CacheAsIs, oneOf(CacheAsIs, CacheCold, CacheWarm))
		p.readOnly = read(d, at["read_only"], false, boolValue)
		p.onInterrupt = read(d, at["on_interrupt"], Rerun, oneOf(Rerun, Continue))
		p.continues = read(d, at["continues"], "", textValue)
		d.checkContinues(p)
		p.snapshot = d.decodeSnapshot(p)
		p.settle = d.decodeSettle(p)
		d.decodeChecks(p)
		d.decodeSample(p)
		p.open = p.open || d.losses > before
		d.decodeWorkload(p)
		p.order()
	}
}

// order lists the phase's expressions, and the workload's, in a fixed order.
func (p *phaseBlock) order() {
	p.ordered = append(inOrder(p.exprs), inOrder(p.settle)...)
	if w := p.workload; w != nil {
		w.ordered = inOrder(w.args)
		for _, kind := range keys(w.blocks) {
			for _, b := range w.blocks[kind] {
				w.ordered = append(w.ordered, inOrder(b.args)...)
			}
		}
	}
}

func inOrder(exprs map[string]*expression) []*expression {
	var list []*expression
	for _, name := range keys(exprs) {
		list = append(list, exprs[name])
	}
	return list
}

// compileAttrs compiles the named attributes that are present.
func (d *decoder) compileAttrs(at hcl.Attributes, s step, names ...string) map[string]*expression {
	compiled := map[string]*expression{}
	for _, name := range names {
		if attr := at[name]; attr != nil {
			compiled[name] = d.compileAt(attr.Expr, s, nil)
		}
	}
	return compiled
}

func (d *decoder) checkContinues(p *phaseBlock) {
	attr := p.content.Attributes["continues"]
	if p.continues == "" || attr == nil {
		return
	}
	i := d.phaseIndex(p.continues, attr.Expr.Range(), "continues")
	if i < 0 {
		p.open = true
	}
	if i >= p.index {
		d.faults.add(fault(attr.Expr.Range(), "Phase out of order", "A phase can only continue one that comes before it; %q does not.", p.continues))
	}
}

// decodeSnapshot reads `snapshot = true` or a snapshot block.
func (d *decoder) decodeSnapshot(p *phaseBlock) *SnapshotPolicy {
	attr := p.content.Attributes["snapshot"]
	var policy *SnapshotPolicy
	if read(d, attr, false, boolValue) {
		policy = &SnapshotPolicy{}
	}
	for _, b := range p.content.Blocks.OfType("snapshot") {
		if policy != nil || attr != nil {
			d.faults.add(fault(b.DefRange, "Second snapshot", "The phase says already whether its state is kept. Give either `snapshot = true` or one snapshot block."))
			continue
		}
		content := d.content(b.Body, snapshotSchema())
		at := content.Attributes
		policy = &SnapshotPolicy{
			ShareReplicates: read(d, at["share"], "", oneOf("replicates")) != "",
			Reflink:         read(d, at["copy"], "", oneOf("copy", "reflink")) == "reflink",
			Budget:          read(d, at["budget"], 0, sizeValue),
		}
	}
	return policy
}

// sizeValue reads a size in bytes, such as "200G" (of 1024 each) or a number.
func sizeValue(v cty.Value) (uint64, string) {
	if v.Type() == cty.Number {
		n, wrong := wholeValue(v)
		if wrong == "" && n < 0 {
			wrong = "must not be negative"
		}
		return uint64(n), wrong
	}
	text, wrong := textValue(v)
	if wrong != "" {
		return 0, `must be a size, such as "200G"`
	}
	n, err := ParseSize(text)
	if err != nil {
		return 0, "must be a size: " + err.Error()
	}
	return n, ""
}

func (d *decoder) decodeSettle(p *phaseBlock) map[string]*expression {
	var settle map[string]*expression
	for _, b := range p.content.Blocks.OfType("settle") {
		if settle != nil {
			d.faults.add(fault(b.DefRange, "Second settle block", "A phase settles once. Join the two blocks."))
			continue
		}
		content := d.content(b.Body, settleSchema())
		settle = d.compileAttrs(content.Attributes, stepParam,
			"dirty_pages_pct", "checkpoint_age", "purge_history", "compaction", "vacuum", "pause", "max_wait")
	}
	return settle
}

func (d *decoder) decodeChecks(p *phaseBlock) {
	seen := map[string]hcl.Range{}
	for _, b := range p.content.Blocks.OfType("check") {
		name := b.Labels[0]
		if prior, dup := seen[name]; dup {
			d.faults.add(duplicate("check", name, b.DefRange, prior))
			continue
		}
		seen[name] = b.DefRange
		content := d.content(b.Body, checkSchema())
		cond := d.required(content, "condition", b.DefRange, "check")
		msg := d.required(content, "error_message", b.DefRange, "check")
		if cond == nil || msg == nil {
			continue
		}
		c := Check{Name: name, Condition: cond.Expr, ErrorMessage: msg.Expr}
		d.checkReport(c.Condition)
		d.checkReport(c.ErrorMessage)
		p.checks = append(p.checks, c)
	}
}

// reportNames are what a report adds to the names of the language.
var reportNames = []string{"col", "base"}

// checkReport checks an expression of the report's names, and notes what it
// reads. It reports whether it can be evaluated.
func (d *decoder) checkReport(expr hcl.Expression) (sound bool) {
	bound := map[string]cty.Value{}
	for _, name := range reportNames {
		bound[name] = cty.DynamicVal
	}
	return !d.compileAt(expr, stepReport, bound).atFault()
}

// defaultInterval is how often counters are read in between the two ends of a
// window.
const defaultInterval = time.Second

func (d *decoder) decodeSample(p *phaseBlock) {
	p.sample.Interval = defaultInterval
	for i, b := range p.content.Blocks.OfType("sample") {
		if i > 0 {
			d.faults.add(fault(b.DefRange, "Second sample block", "A phase has one sample block. Join the two."))
			continue
		}
		content := d.content(b.Body, sampleSchema())
		at := content.Attributes
		p.sample.Interval = read(d, at["interval"], defaultInterval, positiveDuration)
		p.sample.Status = read(d, at["status"], nil, textsValue)
		p.sample.Extents = read(d, at["extents"], false, boolValue)
		p.sample.Exec = read(d, at["exec"], nil, sampleCommands)
	}
}

func positiveDuration(v cty.Value) (time.Duration, string) {
	got, wrong := durationValue(v)
	if wrong == "" && got <= 0 {
		wrong = "must be longer than nothing"
	}
	return got, wrong
}

func sampleCommands(v cty.Value) ([]SampleCommand, string) {
	const form = `must be a list of objects such as { name = "stacks", command = ["pmp"], every = "10s" }`
	if !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() {
		return nil, form
	}
	var commands []SampleCommand
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if !e.Type().IsObjectType() || !e.Type().HasAttribute("name") || !e.Type().HasAttribute("command") || !e.Type().HasAttribute("every") {
			return nil, form
		}
		name, wrong1 := textValue(e.GetAttr("name"))
		args, wrong2 := textsValue(e.GetAttr("command"))
		every, wrong3 := positiveDuration(e.GetAttr("every"))
		if wrong1+wrong2+wrong3 != "" || len(args) == 0 {
			return nil, form
		}
		commands = append(commands, SampleCommand{Name: name, Command: args, Every: every})
	}
	return commands, ""
}

// A workloadBlock is the workload of a phase as it is decoded.
type workloadBlock struct {
	name   string
	typ    *WorkloadType
	rng    hcl.Range
	args   map[string]*expression
	ranges map[string]hcl.Range
	blocks map[string][]nestedBlock // by the block's type
	open   bool                     // arguments or blocks of it were lost

	ordered []*expression // all of its expressions in a fixed order
}

// A nestedBlock is a block inside a workload, such as metric "n".
type nestedBlock struct {
	label string
	rng   hcl.Range
	typ   *BlockType
	args  map[string]*expression
}

func (d *decoder) decodeWorkload(p *phaseBlock) {
	blocks := p.content.Blocks.OfType("workload")
	if len(blocks) == 0 && p.open {
		return // it may have been lost
	}
	if len(blocks) != 1 {
		d.faults.add(fault(p.rng, "One workload each", "A phase has exactly one workload block; %q has %d.", p.name, len(blocks)))
		return
	}
	b := blocks[0]
	w := &workloadBlock{name: b.Labels[0], rng: b.DefRange, ranges: map[string]hcl.Range{}, blocks: map[string][]nestedBlock{}}
	w.typ = d.types[w.name]
	if w.typ == nil {
		d.faults.add(fault(b.LabelRanges[0], "Unknown workload", "There is no workload %q%s", w.name, alternatives(w.name, "", keys(d.types))))
		w.name = nearest(w.name, keys(d.types))
		if w.typ = d.types[w.name]; w.typ == nil {
			return
		}
	}
	schema := attrs(attributeNames(w.typ.Attributes)...)
	for i := range w.typ.Blocks {
		schema = with(schema, block(w.typ.Blocks[i].Name, "name"))
	}
	before := d.losses
	content := d.content(b.Body, schema, w.typ.withOwnName)
	w.args = d.compileAttrs(content.Attributes, stepParam, attributeNames(w.typ.Attributes)...)
	for name, attr := range content.Attributes {
		w.ranges[name] = attr.Expr.Range()
	}
	for i := range w.typ.Blocks {
		d.decodeNested(w, &w.typ.Blocks[i], content.Blocks.OfType(w.typ.Blocks[i].Name))
	}
	w.open = d.losses > before
	p.workload = w
}

// withOwnName adds the name that an attribute has here to HCL's words about one that
// there is not.
func (t *WorkloadType) withOwnName(diag *hcl.Diagnostic) *hcl.Diagnostic {
	for i := range t.Attributes {
		for _, name := range t.Attributes[i].Also {
			if diag.Summary == "Unsupported argument" && strings.Contains(diag.Detail, fmt.Sprintf("named %q", name)) {
				changed := *diag
				changed.Detail = fmt.Sprintf("An argument named %q is not expected here. Did you mean %q?", name, t.Attributes[i].Name)
				return &changed
			}
		}
	}
	return diag
}

func attributeNames(list []Attribute) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

func (d *decoder) decodeNested(w *workloadBlock, t *BlockType, blocks hcl.Blocks) {
	seen := map[string]hcl.Range{}
	for _, b := range blocks {
		name := b.Labels[0]
		if prior, dup := seen[name]; dup {
			d.faults.add(duplicate(t.Name, name, b.DefRange, prior))
			continue
		}
		seen[name] = b.DefRange
		before := d.losses
		content := d.content(b.Body, attrs(attributeNames(t.Attributes)...))
		n := nestedBlock{label: name, rng: b.DefRange, typ: t}
		n.args = d.compileAttrs(content.Attributes, stepParam, attributeNames(t.Attributes)...)
		for i := range t.Attributes {
			if t.Attributes[i].Required && content.Attributes[t.Attributes[i].Name] == nil && d.losses == before {
				d.faults.add(fault(b.DefRange, "Missing argument", "This %s needs the argument %q.", t.Name, t.Attributes[i].Name))
			}
		}
		w.blocks[t.Name] = append(w.blocks[t.Name], n)
	}
}

// evalAttr evaluates a phase's attribute in a cell; fallback stands for one that
// is absent, null or faulty.
func evalAttr[T any](f *frame, exprs map[string]*expression, name string, fallback T, as reader[T]) T {
	e := exprs[name]
	if e == nil {
		return fallback
	}
	o := e.eval(f)
	switch {
	case o.diags.HasErrors():
		f.failed = true
		f.d.faults.addIn(f.cell, o.diags...)
		return fallback
	case !o.value.IsKnown() && f.excuses(e):
		f.failed = true
		return fallback
	case !o.value.IsKnown() && f.absent():
		return fallback // such a cell is planned, and cannot run
	case !o.value.IsKnown():
		f.failed = true
		f.d.faults.addIn(f.cell, unknownValue(name, e))
		return fallback
	case o.value.IsNull():
		return fallback
	}
	got, wrong := as(o.value)
	if wrong != "" {
		f.failed = true
		f.d.faults.addIn(f.cell, badValue(name, e.Range(), wrong))
		return fallback
	}
	return got
}

// unknownValue reports a value that hangs on the build of a cell which has no
// server: at_least says nothing of a version that is not there.
func unknownValue(name string, e *expression) *hcl.Diagnostic {
	return fault(e.Range(), "Value not known", "%s depends on the server's version, and the cell has no server. Test for that first, as in build.version != null && ....", name)
}
