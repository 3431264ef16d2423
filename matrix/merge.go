package matrix

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A contribution is what one attribute of one overlay says, read once for each
// distinct value of the attribute.
type contribution struct {
	id      int32
	diags   hcl.Diagnostics
	unsound bool         // something of it has no value because of a fault
	entries []entry      // of options, env or storage, sorted by name
	params  []paramEntry // of params
	lists   [][]string   // of setup, teardown (argument lists) and prefix (one list)
}

// An entry is one name that a contribution sets or, with null, removes.
type entry struct {
	name  string
	part  string // key of a composite option
	value OptionValue
	text  string // canonical: equal for values that mean the same
	shown string
	null  bool
	loose bool
	rng   hcl.Range
}

type paramEntry struct {
	name  string
	index int
	value paramValue
}

// key returns the place of a key of the setting, else the setting's own.
func (s *setting) key(name string) hcl.Range {
	if rng, ok := s.keys[name]; ok {
		return rng
	}
	return s.rng
}

// A parsedKey names a contribution: an outcome, read as options of a dialect.
type parsedKey struct {
	outcome *outcome
	dialect *Dialect
}

// contribute returns the contribution of an outcome, made at its first use.
func (d *decoder) contribute(s *setting, o *outcome, dialect *Dialect, parse func() *contribution) *contribution {
	key := parsedKey{o, dialect}
	if c, ok := s.parsed[key]; ok {
		return c
	}
	c := parse()
	d.contributions++
	c.id = d.contributions
	s.parsed[key] = c
	return c
}

func (d *decoder) parseParams(s *setting, o *outcome) *contribution {
	return d.contribute(s, o, nil, func() *contribution {
		c := &contribution{}
		if !d.isObject(c, "params", s, o.value) {
			return c
		}
		for it := o.value.ElementIterator(); it.Next(); {
			k, v := it.Element()
			name := k.AsString()
			e := paramEntry{name: name, index: d.declareParam(name, s.key(name)), value: paramValue{value: v, id: idUnknown}}
			switch {
			case v.IsNull():
				e.value = noParam()
			case v.IsWhollyKnown():
				e.value.id = d.intern(v)
			}
			c.params = append(c.params, e)
		}
		return c
	})
}

// isObject reports a value that must be an object and is none. A null object
// sets nothing.
func (d *decoder) isObject(c *contribution, name string, s *setting, v cty.Value) bool {
	if v.IsNull() {
		return false
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		c.diags = append(c.diags, badValue(name, s.rng, "must be an object such as { name = value }, not "+kindOf(v)))
		return false
	}
	return true
}

// resolveSettings lays the overlays of a phase over each other, one attribute at
// a time. What the first attributes made is a layer, made once however many
// cells begin with the same ones. sound is false where something is at fault; then
// settled is true where that is only that overlays set one thing differently.
func (d *decoder) resolveSettings(f *frame, stack []applied) (s *Settings, sound, settled bool) {
	m := merger{d: d, f: f}
	if f.server != nil {
		m.dialect = d.dialect(f.server)
	}
	top, settled := m.stack(stack)
	unverified, adjusted := m.tolerated(stack)
	key := settingsKey{layer: top, server: f.server, params: d.paramsID(f), tolerated: strings.Join(append(append(unverified, ""), adjusted...), "\x00")}
	s, ok := d.settings[key]
	if !ok {
		s = m.settings(top)
		s.Unverified, s.Adjusted = unverified, adjusted
		if s.Server != nil && s.Server.Build.Absent == "" && d.opts.Implicit != nil {
			s.implicit = d.opts.Implicit(s)
		}
		s.id = int32(len(d.settings) + 1)
		d.settings[key] = s
	}
	if !f.open {
		d.faults.addIn(f.cell, top.diags...)
	}
	return s, settled && !top.diags.HasErrors(), settled
}

// A settingsKey names settings by what they are made of.
type settingsKey struct {
	layer     *layer
	server    *Server
	params    int32
	tolerated string // options that may stay unproven or end with another value
}

// tolerated lists the options that may stay unproven, and those that may end
// with another value than was asked.
func (m *merger) tolerated(stack []applied) (unverified, adjusted []string) {
	for _, a := range stack {
		unverified = append(unverified, m.foldAll(a.unverified)...)
		adjusted = append(adjusted, m.foldAll(a.adjusted)...)
	}
	return slices.Clip(unverified), adjusted
}

// foldAll returns the names of options as they are merged.
func (m *merger) foldAll(names []string) []string {
	if m.dialect == nil {
		return names
	}
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = m.dialect.Fold(name).Name
	}
	return folded
}

// paramsID numbers the combinations of params.
func (d *decoder) paramsID(f *frame) int32 {
	f.key = append(f.key[:0], "params "...)
	for _, v := range f.params {
		f.key = binary.LittleEndian.AppendUint32(f.key, uint32(v.id))
	}
	id, ok := d.values[string(f.key)]
	if !ok {
		id = int32(len(d.values) + 1)
		d.values[string(f.key)] = id
	}
	return id
}

// A layer is what some attributes made together, in the order of precedence.
// Layers share what does not differ between them and are never changed.
type layer struct {
	dialect    *Dialect       // nil: of a cell without a server
	options    []*optionSlots // sorted by name
	env        []*slot        // sorted by name
	storage    []*slot        // sorted by role
	setup      [][]string
	teardown   [][]string
	prefix     []string
	diags      hcl.Diagnostics
	hash       identity // of the options as they are measured
	hashed     bool
	finished   []Option
	removed    []Option
	isFinished bool
}

// A layerKey names a layer by the one below it and what is laid over that. A
// contribution belongs to one attribute of one overlay.
type layerKey struct {
	below        *layer
	contribution int32
	group        int
}

// A merger makes the settings of a phase.
type merger struct {
	d       *decoder
	f       *frame
	dialect *Dialect
	excused bool // what is unknown of the present attribute has no value because of a fault
}

// A part is one attribute of one overlay that takes part.
type part struct {
	applied
	attribute string
	*contribution
	may []string // names that it may decide against an earlier axis
}

// settingAttrs are merged here; server and params are settled before.
var settingAttrs = []string{"storage", "my_cnf", "postgresql_conf", "env", "setup", "teardown", "prefix"}

// stack evaluates the attributes and lays them over each other. What is at fault is
// left out, and sound false.
func (m *merger) stack(stack []applied) (top *layer, sound bool) {
	top, sound = m.d.base(m.dialect), true
	for _, a := range stack {
		for _, name := range settingAttrs {
			s := a.exprs[name]
			if s == nil || m.foreign(name) {
				continue
			}
			o := s.expr.eval(m.f)
			if o.diags.HasErrors() {
				m.d.faults.addIn(m.f.cell, o.diags...)
				sound = false
				continue
			}
			m.excused = !o.value.IsWhollyKnown() && m.f.excuses(s.expr)
			c := m.parse(name, s, o)
			m.d.faults.addIn(m.f.cell, c.diags...)
			sound = sound && !c.unsound && !c.diags.HasErrors()
			key := layerKey{top, c.id, a.group}
			next, ok := m.d.layers[key]
			if !ok {
				next = m.over(top, &part{a, name, c, m.may(a, name)})
				m.d.layers[key] = next
			}
			top = next
		}
	}
	return top, sound
}

// may lists the names of an attribute that an overlay may decide against an
// earlier axis. Those of options are folded; "storage" stands for all roles.
func (m *merger) may(a applied, attribute string) []string {
	switch {
	case attribute == "my_cnf" || attribute == "postgresql_conf":
		return m.foldAll(a.override)
	case attribute == "storage" && a.overrides("storage"):
		return storageRoles
	}
	return a.override
}

// base returns the empty layer of a dialect. Contributions are read by the
// dialect, so no layer serves two.
func (d *decoder) base(dialect *Dialect) *layer {
	l := d.bases[dialect]
	if l == nil {
		l = &layer{dialect: dialect}
		d.bases[dialect] = l
	}
	return l
}

// over lays a part over a layer.
func (m *merger) over(below *layer, p *part) *layer {
	l := *below
	l.diags = slices.Clip(l.diags)
	l.hashed, l.isFinished, l.finished, l.removed = false, false, nil, nil
	switch p.attribute {
	case "my_cnf", "postgresql_conf":
		l.options = slices.Clone(l.options)
		for _, e := range p.entries {
			l.layOption(p, e)
		}
	case "env":
		l.env = slices.Clone(l.env)
		for _, e := range p.entries {
			l.env = l.layEntry(l.env, p, e, "env")
		}
	case "storage":
		l.storage = slices.Clone(l.storage)
		for _, e := range p.entries {
			l.storage = l.layEntry(l.storage, p, e, "storage")
		}
	case "setup":
		l.setup = append(slices.Clip(l.setup), p.lists...)
	case "teardown":
		l.teardown = append(slices.Clip(l.teardown), p.lists...)
	case "prefix":
		if len(p.lists) > 0 {
			l.prefix = p.lists[0]
		}
	}
	return &l
}

// foreign reports an attribute that holds another flavour's options.
func (m *merger) foreign(name string) bool {
	if name != "my_cnf" && name != "postgresql_conf" {
		return false
	}
	return m.dialect == nil || m.dialect.Attribute != name
}

func (m *merger) parse(name string, s *setting, o *outcome) *contribution {
	return m.d.contribute(s, o, m.dialect, func() *contribution {
		c := &contribution{}
		v := o.value
		if !v.IsKnown() {
			if c.unsound = m.excused; !m.excused && !m.f.absent() {
				c.diags = append(c.diags, unknownValue(name, s.expr))
			}
			return c
		}
		switch name {
		case "my_cnf", "postgresql_conf":
			m.parseOptions(c, name, s, v)
		case "env":
			m.parseEnv(c, s, v)
		case "storage":
			m.parseStorage(c, s, v)
		case "prefix":
			m.parseLists(c, name, s, v, func(v cty.Value) ([][]string, string) {
				args, wrong := textsValue(v)
				return [][]string{args}, wrong
			})
		default:
			m.parseLists(c, name, s, v, commandsValue)
		}
		sort.SliceStable(c.entries, func(i, j int) bool { return c.entries[i].name < c.entries[j].name })
		return c
	})
}

func (m *merger) parseLists(c *contribution, name string, s *setting, v cty.Value, as reader[[][]string]) {
	if !v.IsWhollyKnown() && m.excused {
		c.unsound = true
		return
	}
	if v.IsNull() || !v.IsWhollyKnown() && m.f.absent() {
		return
	}
	lists, wrong := as(v)
	if wrong != "" {
		c.diags = append(c.diags, badValue(name, s.rng, wrong))
		return
	}
	c.lists = lists
}

func (m *merger) parseEnv(c *contribution, s *setting, v cty.Value) {
	if !m.d.isObject(c, "env", s, v) {
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		entry := entry{name: k.AsString(), null: e.IsNull(), rng: s.key(k.AsString())}
		if !e.IsKnown() && m.excused {
			c.unsound = true
			continue
		}
		if !e.IsKnown() && m.f.absent() {
			entry.text, entry.shown = absentBuild, absentBuild
		} else if !entry.null {
			text, wrong := textValue(e)
			if wrong != "" {
				c.diags = append(c.diags, badValue("env "+entry.name, entry.rng, wrong))
				continue
			}
			entry.text, entry.shown = text, text
		}
		c.entries = append(c.entries, entry)
	}
}

// storageRoles are the kinds of files that can lie apart.
var storageRoles = []string{"data", "redo", "binlog", "tmp"}

func (m *merger) parseStorage(c *contribution, s *setting, v cty.Value) {
	if v.IsNull() {
		return
	}
	if v.Type().Equals(storageType) {
		st := v.EncapsulatedValue().(*Storage)
		for _, role := range storageRoles {
			c.entries = append(c.entries, entry{name: role, text: st.Name, shown: "storage." + st.Name, rng: s.rng})
		}
		return
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		c.diags = append(c.diags, badValue("storage", s.rng, "must be a storage, such as storage.ssd, or an object of them by role: data, redo, binlog, tmp"))
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		role := k.AsString()
		en := entry{name: role, null: e.IsNull(), rng: s.key(role)}
		known := false
		for _, r := range storageRoles {
			known = known || r == role
		}
		switch {
		case !known:
			c.diags = append(c.diags, fault(en.rng, "Unknown role", "There is no storage role %q%s", role, alternatives(role, "", storageRoles)))
			continue
		case en.null:
		case !e.IsKnown() && m.excused:
			c.unsound = true
			continue
		case e.Type().Equals(storageType):
			en.text = e.EncapsulatedValue().(*Storage).Name
			en.shown = "storage." + en.text
		default:
			c.diags = append(c.diags, badValue("storage."+role, en.rng, "must be a storage, such as storage.ssd"))
			continue
		}
		c.entries = append(c.entries, en)
	}
}

// A slot is what the overlays so far made of one name.
type slot struct {
	entry
	by      applied
	origins []Origin
}

func (e entry) label() string {
	if e.part != "" {
		return e.name + "." + e.part
	}
	return e.name
}

// clashes reports whether an entry may not replace what a slot holds: both are
// set by something that varies, differently, and the later does not say that it
// overrides.
func (s *slot) clashes(p *part, e entry) bool {
	return s != nil && s.by.varied() && p.varied() && s.by.group != p.group && !slices.Contains(p.may, e.name) && (s.null != e.null || s.text != e.text)
}

// fill returns the slot with an entry laid over it.
func (s *slot) fill(p *part, e entry) *slot {
	next := &slot{entry: e, by: p.applied}
	if s != nil {
		next.origins = slices.Clip(s.origins)
	}
	next.origins = append(next.origins, p.origin(e))
	return next
}

func (p *part) origin(e entry) Origin {
	return Origin{Kind: p.kind, Name: p.name, Value: e.shown, Null: e.null, Part: e.part, Range: e.rng}
}

// layEntry lays an entry of env or storage over the slots of a layer.
func (l *layer) layEntry(slots []*slot, p *part, e entry, what string) []*slot {
	i, found := slices.BinarySearchFunc(slots, e.name, func(s *slot, name string) int { return strings.Compare(s.name, name) })
	if !found {
		return slices.Insert(slots, i, (*slot)(nil).fill(p, e))
	}
	if slots[i].clashes(p, e) {
		l.diags = append(l.diags, conflict(what+" "+e.name, slots[i].by, slots[i].rng, p.applied, e.rng))
		return slots
	}
	slots[i] = slots[i].fill(p, e)
	return slots
}

// optionSlots are one option: as a whole, or by the keys of a composite. They
// are never changed once a layer holds them.
type optionSlots struct {
	name  string
	whole *slot
	parts []*slot // sorted by key
	order []Origin
	hash  identity // of the option as it is measured
}

// layOption lays an entry over the options of a layer.
func (l *layer) layOption(p *part, e entry) {
	i, found := slices.BinarySearchFunc(l.options, e.name, func(o *optionSlots, name string) int { return strings.Compare(o.name, name) })
	if !found {
		l.options = slices.Insert(l.options, i, &optionSlots{name: e.name})
	}
	old := l.options[i]
	if by := old.clash(p, e); by != nil {
		l.diags = append(l.diags, conflict("option "+e.label(), by.by, by.rng, p.applied, e.rng))
		return
	}
	next := &optionSlots{name: e.name, order: append(slices.Clip(old.order), p.origin(e))}
	if e.part == "" { // a whole replaces the keys, and a key the whole
		next.whole = old.whole.fill(p, e)
	} else {
		next.parts = slices.Clone(old.parts)
		j, found := slices.BinarySearchFunc(next.parts, e.part, func(s *slot, key string) int { return strings.Compare(s.part, key) })
		if found {
			next.parts[j] = next.parts[j].fill(p, e)
		} else {
			next.parts = slices.Insert(next.parts, j, (*slot)(nil).fill(p, e))
		}
	}
	next.hash = next.measured()
	l.options[i] = next
}

// clash finds what an entry may not replace.
func (o *optionSlots) clash(p *part, e entry) *slot {
	if o.whole.clashes(p, e) || e.part != "" && o.whole != nil && o.whole.by.varied() && p.varied() && o.whole.by.group != p.group && !slices.Contains(p.may, e.name) {
		return o.whole
	}
	for _, s := range o.parts {
		if (e.part == "" || s.part == e.part) && s.clashes(p, e) {
			return s
		}
	}
	return nil
}

// option returns the option as it ends up; ok is false where it is removed.
func (o *optionSlots) option() (option Option, ok bool) {
	option = Option{Name: o.name, Origins: o.order}
	if o.whole != nil && len(o.parts) == 0 {
		option.Value, option.Loose = o.whole.value, o.whole.loose
		return option, !o.whole.null
	}
	option.Value.Kind = OptionComposite
	for _, s := range o.parts {
		if !s.null {
			option.Value.Parts = append(option.Value.Parts, OptionPart{s.part, s.value.Text})
		}
	}
	return option, len(option.Value.Parts) > 0
}

// measured hashes what the option means to a server.
func (o *optionSlots) measured() identity {
	var text strings.Builder
	text.WriteString(o.name)
	for _, s := range append(o.parts, o.whole) {
		if s != nil && !s.null {
			fmt.Fprintf(&text, "\x00%s=%s", s.part, s.text)
		}
	}
	return sha256.Sum256([]byte(text.String()))
}

// finish turns the slots into options, and those that were removed.
func (l *layer) finish() {
	if l.isFinished {
		return
	}
	l.isFinished = true
	l.finished = make([]Option, 0, len(l.options))
	for _, o := range l.options {
		if option, ok := o.option(); ok {
			l.finished = append(l.finished, option)
		} else {
			l.removed = append(l.removed, option)
		}
	}
}

// measured hashes the options, but for those that were removed and those that
// name places of the host.
func (l *layer) measured() identity {
	if !l.hashed {
		buf := make([]byte, 0, len(l.options)*sha256.Size)
		for _, o := range l.options {
			if o.whole != nil && o.whole.null && len(o.parts) == 0 || l.dialect.Places[o.name] {
				continue
			}
			buf = append(buf, o.hash[:]...)
		}
		l.hash, l.hashed = sha256.Sum256(buf), true
	}
	return l.hash
}

// conflict reports two places that set one thing differently.
func conflict(what string, a applied, at hcl.Range, b applied, rng hcl.Range) *hcl.Diagnostic {
	kind, name, ok := strings.Cut(what, " ")
	if !ok {
		name = kind
	}
	switch kind {
	case "option":
		name, _, _ = strings.Cut(name, ".") // a composite option is overridden as a whole
	case "storage":
		name = kind
	}
	return fault(rng, "Set differently by two overlays",
		"%s sets %s at %s, and %s sets it to something else here, so the cell would not be what its labels say. Set it in one place, or say `override = [%q]` in the later one.",
		a.name, what, place(at), b.name, name)
}

// settings makes the settings of a layer.
func (m *merger) settings(l *layer) *Settings {
	l.finish()
	s := &Settings{
		Server: m.f.server, Options: l.finished, layer: l, options: l.measured(),
		Setup: l.setup, Teardown: l.teardown, Prefix: l.prefix, Params: m.params(),
	}
	for _, e := range l.env {
		if !e.null {
			s.Env = append(s.Env, EnvVar{Name: e.name, Value: e.text, Origins: e.origins})
		}
	}
	for _, e := range l.storage {
		if !e.null {
			if s.Storage == nil {
				s.Storage = map[string]Storage{}
			}
			s.Storage[e.name] = *m.d.storages[e.text]
		}
	}
	return s
}

// params returns the params that are set. Settings with equal params share them.
func (m *merger) params() map[string]cty.Value {
	id := m.d.paramsID(m.f)
	if set, ok := m.d.paramSets[id]; ok {
		return set
	}
	set := map[string]cty.Value{}
	for i, v := range m.f.params {
		if v.id != idNull {
			set[m.d.paramOrder[i].name] = v.value
		}
	}
	m.d.paramSets[id] = set
	return set
}

func (v OptionValue) String() string {
	switch v.Kind {
	case OptionBool:
		return onOff(v.Bool)
	case OptionList:
		return strings.Join(v.Items, ", ")
	case OptionComposite:
		parts := make([]string, len(v.Parts))
		for i, p := range v.Parts {
			parts[i] = fmt.Sprintf("%s=%s", p.Key, p.Value)
		}
		return strings.Join(parts, "; ")
	}
	return v.Text
}

func onOff(b bool) string {
	if b {
		return "ON"
	}
	return "OFF"
}
