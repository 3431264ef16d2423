package matrix

import (
	"encoding/binary"
	"fmt"
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

// contribute returns the contribution of an outcome, made at its first use.
func (d *decoder) contribute(s *setting, o *outcome, parse func() *contribution) *contribution {
	if c, ok := s.parsed[o]; ok {
		return c
	}
	c := parse()
	d.contributions++
	c.id = d.contributions
	s.parsed[o] = c
	return c
}

func (d *decoder) parseParams(s *setting, o *outcome) *contribution {
	return d.contribute(s, o, func() *contribution {
		c := &contribution{}
		if !d.isObject(c, "params", s, o.value) {
			return c
		}
		for it := o.value.ElementIterator(); it.Next(); {
			k, v := it.Element()
			name := k.AsString()
			e := paramEntry{name: name, index: d.declareParam(name, s.key(name)), value: paramValue{v, idUnknown}}
			switch {
			case v.IsNull():
				e.value = paramValue{cty.NullVal(cty.DynamicPseudoType), idNull}
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
		c.diags = append(c.diags, badValue(name, s.rng, "must be an object such as { name = value }, not "+v.Type().FriendlyName()))
		return false
	}
	return true
}

// resolveSettings lays the overlays of a phase over each other.
func (d *decoder) resolveSettings(f *frame, stack []applied) (*Settings, bool) {
	m := merger{d: d, f: f, key: f.key[:0:0]}
	m.key = append(m.key, "server "...)
	if f.server != nil {
		m.key = append(m.key, f.server.Name...)
		m.dialect = d.dialect(f.server)
	}
	if !m.collect(stack) {
		return nil, false
	}
	if s, ok := d.settings[string(m.key)]; ok {
		d.faults.addIn(f.cell, s.diags...)
		return s, !s.diags.HasErrors()
	}
	s := m.merge(stack)
	s.id = int32(len(d.settings) + 1)
	d.settings[string(m.key)] = s
	d.faults.addIn(f.cell, s.diags...)
	return s, !s.diags.HasErrors()
}

// A merger makes the settings of a phase.
type merger struct {
	d       *decoder
	f       *frame
	dialect *Dialect
	key     []byte
	parts   []part
	diags   hcl.Diagnostics
}

// A part is one attribute of one overlay that takes part.
type part struct {
	applied
	attribute string
	setting   *setting
	*contribution
}

// settingAttrs are merged here; server and params are settled before.
var settingAttrs = []string{"storage", "my_cnf", "postgresql_conf", "env", "setup", "teardown", "prefix"}

// collect evaluates the attributes and makes the key under which the merged
// settings are remembered.
func (m *merger) collect(stack []applied) bool {
	for _, a := range stack {
		for _, name := range settingAttrs {
			s := a.exprs[name]
			if s == nil || m.foreign(name) {
				continue
			}
			o := s.expr.eval(m.f)
			if o.diags.HasErrors() {
				m.d.faults.addIn(m.f.cell, o.diags...)
				return false
			}
			c := m.parse(name, s, o)
			if c.diags.HasErrors() {
				m.d.faults.addIn(m.f.cell, c.diags...)
				return false
			}
			m.parts = append(m.parts, part{a, name, s, c})
			m.key = binary.LittleEndian.AppendUint32(m.key, uint32(c.id))
			m.key = append(m.key, byte(a.kind))
		}
	}
	for _, v := range m.f.params {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(v.id))
	}
	return true
}

// foreign reports an attribute that holds another flavour's options.
func (m *merger) foreign(name string) bool {
	if name != "my_cnf" && name != "postgresql_conf" {
		return false
	}
	return m.dialect == nil || m.dialect.Attribute != name
}

func (m *merger) parse(name string, s *setting, o *outcome) *contribution {
	return m.d.contribute(s, o, func() *contribution {
		c := &contribution{}
		v := o.value
		if !v.IsKnown() {
			c.diags = append(c.diags, unknownValue(name, s.expr))
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
	if v.IsNull() {
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
		if !entry.null {
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
	set     bool
	origins []Origin
}

// fill lays one entry over a slot. Two overlays that vary must agree, unless the
// later one says that it overrides.
func (m *merger) fill(s *slot, p *part, e entry, what string) {
	if s.set && s.by.varied() && p.varied() && s.by.group != p.group && !p.overrides(e.name) && (s.null != e.null || s.text != e.text) {
		m.diags = append(m.diags, conflict(what+" "+e.label(), s.by, s.rng, p.applied, e.rng))
		return
	}
	s.origins = append(s.origins, Origin{Kind: p.kind, Name: p.name, Value: e.shown, Null: e.null, Part: e.part, Range: e.rng})
	origins := s.origins
	s.entry, s.by, s.set, s.origins = e, p.applied, true, origins
}

func (e entry) label() string {
	if e.part != "" {
		return e.name + "." + e.part
	}
	return e.name
}

// conflict reports two places that set one thing differently.
func conflict(what string, a applied, at hcl.Range, b applied, rng hcl.Range) *hcl.Diagnostic {
	word := what
	if i := strings.IndexByte(what, ' '); i >= 0 {
		word = what[i+1:]
	}
	if i := strings.IndexByte(word, '.'); i >= 0 {
		word = word[:i]
	}
	return fault(rng, "Set differently by two overlays",
		"%s sets %s at %s, and %s sets it to something else here, so the cell would not be what its labels say. Set it in one place, or say `override = [%q]` in the later one.",
		a.name, what, place(at), b.name, word)
}

// merge makes the settings from all parts.
func (m *merger) merge(stack []applied) *Settings {
	s := &Settings{Server: m.f.server, Params: map[string]cty.Value{}}
	options, env, storage := map[string]*optionSlots{}, map[string]*slot{}, map[string]*slot{}
	for i := range m.parts {
		p := &m.parts[i]
		switch p.attribute {
		case "my_cnf", "postgresql_conf":
			m.mergeOptions(options, p)
		case "env":
			m.mergeEntries(env, p, "env")
		case "storage":
			m.mergeEntries(storage, p, "storage")
		case "setup":
			s.Setup = append(s.Setup, p.lists...)
		case "teardown":
			s.Teardown = append(s.Teardown, p.lists...)
		case "prefix":
			if len(p.lists) > 0 {
				s.Prefix = p.lists[0]
			}
		}
	}
	s.Options, s.removed = finishOptions(options)
	for _, name := range keys(env) {
		if e := env[name]; !e.null {
			s.Env = append(s.Env, EnvVar{Name: name, Value: e.text, Origins: e.origins})
		}
	}
	for _, role := range keys(storage) {
		if e := storage[role]; !e.null {
			if s.Storage == nil {
				s.Storage = map[string]Storage{}
			}
			s.Storage[role] = *m.d.storages[e.text]
		}
	}
	for _, p := range m.d.paramOrder {
		if i := m.d.params[p.name]; i < len(m.f.params) && m.f.params[i].id != idNull {
			s.Params[p.name] = m.f.params[i].value
		}
	}
	for _, a := range stack {
		s.Unverified = append(s.Unverified, a.unverified...)
		s.Adjusted = append(s.Adjusted, a.adjusted...)
	}
	s.diags = m.diags
	return s
}

func (m *merger) mergeEntries(slots map[string]*slot, p *part, what string) {
	for _, e := range p.entries {
		if slots[e.name] == nil {
			slots[e.name] = &slot{}
		}
		m.fill(slots[e.name], p, e, what)
	}
}

// optionSlots are one option: as a whole, or by the keys of a composite.
type optionSlots struct {
	whole slot
	parts map[string]*slot
	order []Origin
}

func (m *merger) mergeOptions(options map[string]*optionSlots, p *part) {
	for _, e := range p.entries {
		o := options[e.name]
		if o == nil {
			o = &optionSlots{parts: map[string]*slot{}}
			options[e.name] = o
		}
		s := &o.whole
		if e.part != "" {
			if o.whole.set && o.whole.by.varied() && p.varied() && o.whole.by.group != p.group && !p.overrides(e.name) {
				m.diags = append(m.diags, conflict("option "+e.label(), o.whole.by, o.whole.rng, p.applied, e.rng))
				continue
			}
			if o.whole.set { // an object replaces what was set as a whole
				o.whole = slot{}
			}
			if o.parts[e.part] == nil {
				o.parts[e.part] = &slot{}
			}
			s = o.parts[e.part]
		} else if clash := o.clash(p); clash != nil && !p.overrides(e.name) {
			m.diags = append(m.diags, conflict("option "+e.name, clash.by, clash.rng, p.applied, e.rng))
			continue
		}
		had := len(s.origins)
		m.fill(s, p, e, "option")
		o.order = append(o.order, s.origins[had:]...)
		if e.part == "" {
			o.parts = map[string]*slot{}
		}
	}
}

// clash finds a key of a composite that an overlay which varies has set, and
// that another now would replace as a whole.
func (o *optionSlots) clash(p *part) *slot {
	for _, name := range keys(o.parts) {
		s := o.parts[name]
		if s.set && s.by.varied() && p.varied() && s.by.group != p.group {
			return s
		}
	}
	return nil
}

// finishOptions turns the slots into options, and those that were removed.
func finishOptions(slots map[string]*optionSlots) (options, removed []Option) {
	for _, name := range keys(slots) {
		o := slots[name]
		option := Option{Name: name, Origins: o.order}
		switch {
		case o.whole.set && !o.whole.null:
			option.Value, option.Loose = o.whole.value, o.whole.loose
		case o.whole.set:
			removed = append(removed, option)
			continue
		default:
			option.Value.Kind = OptionComposite
			for _, key := range keys(o.parts) {
				if s := o.parts[key]; s.set && !s.null {
					option.Value.Parts = append(option.Value.Parts, OptionPart{key, s.value.Text})
				}
			}
			if len(option.Value.Parts) == 0 {
				removed = append(removed, option)
				continue
			}
		}
		options = append(options, option)
	}
	return options, removed
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
