package matrix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// parseOptions reads an object of server options: names are folded, values keep
// the kind that they were written with.
func (m *merger) parseOptions(c *contribution, attribute string, s *setting, v cty.Value) {
	if !m.d.isObject(c, attribute, s, v) {
		return
	}
	seen := map[string]string{}
	for it := v.ElementIterator(); it.Next(); {
		k, value := it.Element()
		written := k.AsString()
		if !optionName.MatchString(written) {
			c.diags = append(c.diags, fault(s.key(foldKey(attribute, written)), "Bad name", "%q cannot be the name of an option: it is of letters, digits, _, - and dots, and begins with a letter.", written))
			continue
		}
		folded := m.dialect.Fold(written)
		rng := s.key(foldKey(attribute, written))
		if prior, dup := seen[folded.Name]; dup {
			if c.unsound = s.twice; s.twice {
				continue
			}
			c.diags = append(c.diags, fault(rng, "Set twice", "%s and %s are one option, %s, and one of the two values would be lost. Remove one.",
				prior, written, folded.Name))
			continue
		}
		seen[folded.Name] = written
		if why, owned := m.dialect.Owned[folded.Name]; owned {
			c.diags = append(c.diags, fault(rng, "Option that dbmatrix decides", "%s cannot be set: %s.", written, strings.TrimSuffix(why, ".")))
			continue
		}
		if whole := m.shortForm(folded.Name); whole != "" {
			c.diags = append(c.diags, fault(rng, "Option that dbmatrix decides", "A server takes %s for %s, which cannot be set: %s. Write the whole name of another option, if that is meant.",
				written, whole, strings.TrimSuffix(m.dialect.Owned[whole], ".")))
			continue
		}
		m.parseOption(c, folded, written, value, s, rng)
	}
}

// shortest is the length from which on the beginning of a name is looked at:
// one or two letters are ambiguous to every server, which says so.
const shortest = 3

// optionName is what a name must be to stand on a line of an option file.
var optionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// shortForm returns the option that dbmatrix decides and that a server would
// take a name for, or "".
func (m *merger) shortForm(name string) string {
	if !m.dialect.Short || m.dialect.Own[name] || len(name) < shortest {
		return ""
	}
	for _, whole := range keys(m.dialect.Owned) {
		if strings.HasPrefix(whole, name) {
			return whole
		}
	}
	return ""
}

func (m *merger) parseOption(c *contribution, f Folded, written string, v cty.Value, s *setting, rng hcl.Range) {
	e := entry{name: f.Name, loose: f.Loose, rng: rng}
	if v.IsNull() {
		e.null = true
		c.entries = append(c.entries, e)
		return
	}
	if (v.Type().IsObjectType() || v.Type().IsMapType()) && v.IsKnown() {
		m.parseComposite(c, f, written, v, s, rng)
		return
	}
	if !v.IsWhollyKnown() && m.excused {
		c.unsound = true
		return
	}
	value, wrong := m.optionValue(v)
	if wrong == "" && f.Negated {
		value, wrong = negate(value)
	}
	if wrong == "" {
		wrong = m.wrongSize(f.Name, value)
	}
	if wrong != "" {
		c.diags = append(c.diags, badValue(written, rng, wrong))
		return
	}
	e.value, e.text, e.shown = value, m.canonical(value), value.String()
	c.entries = append(c.entries, e)
}

// wrongSize says what is wrong with a number and unit that an option of a size is
// set to: a server reads 64MM as 64M, with a warning or none.
func (m *merger) wrongSize(name string, v OptionValue) string {
	isSize := slices.ContainsFunc(m.dialect.Sizes, func(ending string) bool { return strings.HasSuffix(name, ending) })
	digits, rest := splitDigits(v.Text)
	if !isSize || v.Kind != OptionText || digits == "" || m.dialect.Fractions && strings.ContainsAny(rest, ". ") {
		return ""
	}
	if _, err := m.dialect.Size(v.Text); err != nil {
		return "must be a size: " + err.Error()
	}
	return ""
}

func (m *merger) parseComposite(c *contribution, f Folded, written string, v cty.Value, s *setting, rng hcl.Range) {
	if _, ok := m.dialect.Separators[f.Name]; !ok {
		c.diags = append(c.diags, badValue(written, rng, fmt.Sprintf("must be one value, not an object: %s is no option of several parts", f.Name)))
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, value := it.Element()
		e := entry{name: f.Name, part: k.AsString(), loose: f.Loose, rng: rng, null: value.IsNull()}
		if at, ok := s.keys[foldKey("my_cnf", written)+"\x00"+foldKey("my_cnf", e.part)]; ok {
			e.rng = at
		}
		if !value.IsWhollyKnown() && m.excused {
			c.unsound = true
			continue
		}
		if !e.null {
			text, wrong := m.partText(value)
			if wrong != "" {
				c.diags = append(c.diags, badValue(written+"."+e.part, e.rng, wrong))
				continue
			}
			e.value, e.text, e.shown = OptionValue{Kind: OptionText, Text: text}, text, text
		}
		c.entries = append(c.entries, e)
	}
}

// partText spells a key's value inside a composite option.
func (m *merger) partText(v cty.Value) (string, string) {
	if v.IsKnown() && v.Type() == cty.Bool {
		return fmt.Sprint(v.True()), ""
	}
	value, wrong := m.optionValue(v)
	return value.Text, wrong
}

// absentBuild stands for the value of an option that hangs on a build which is
// not on this host. Such a cell is planned, and cannot run.
const absentBuild = "(not known before the server is on this host)"

// optionValue reads the value of an option, keeping what it was written as.
func (m *merger) optionValue(v cty.Value) (OptionValue, string) {
	if !v.IsWhollyKnown() {
		if m.f.absent() {
			return OptionValue{Kind: OptionText, Text: absentBuild}, ""
		}
		return OptionValue{}, "has a value that is not known"
	}
	switch t := v.Type(); {
	case t == cty.Bool:
		return OptionValue{Kind: OptionBool, Bool: v.True()}, ""
	case t == cty.Number:
		text, err := numberText(v)
		if err != nil {
			return OptionValue{}, "must be a number that a server can read: " + err.Error()
		}
		return OptionValue{Kind: OptionNumber, Text: text}, ""
	case t == cty.String:
		if strings.ContainsAny(v.AsString(), "\n\r\x00") {
			return OptionValue{}, "must be on one line"
		}
		return OptionValue{Kind: OptionText, Text: v.AsString()}, ""
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		return m.listValue(v)
	}
	return OptionValue{}, "must be a text, number, bool, list or object, not " + kindOf(v)
}

func (m *merger) listValue(v cty.Value) (OptionValue, string) {
	list := OptionValue{Kind: OptionList}
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e.IsNull() {
			continue
		}
		item, wrong := m.optionValue(e)
		if wrong != "" || item.Kind == OptionList {
			return list, "must be a list of texts or numbers"
		}
		list.Items = append(list.Items, item.String())
	}
	return list, ""
}

// negate turns the value of skip_x round, so that it becomes one of x.
func negate(v OptionValue) (OptionValue, string) {
	truth, ok := boolWords[strings.ToLower(v.String())]
	if !ok {
		return v, "must be true or false, since the prefix turns its meaning round"
	}
	return OptionValue{Kind: OptionBool, Bool: !truth}, ""
}

// boolWords are the texts that servers read as a bool.
var boolWords = map[string]bool{"on": true, "true": true, "1": true, "off": false, "false": false, "0": false}

// canonical returns a text that is equal for values which mean the same.
func (m *merger) canonical(v OptionValue) string {
	switch v.Kind {
	case OptionText:
		switch strings.ToLower(v.Text) {
		case "on", "true":
			return onOff(true)
		case "off", "false":
			return onOff(false)
		}
		return m.dialect.Normalise(v.Text)
	case OptionNumber:
		return m.dialect.Normalise(v.Text)
	}
	return v.String()
}

// Canonical returns a text for the option's value that is equal for values which
// mean the same to a server of this dialect: 128M and 134217728.
func (d *Dialect) Canonical(v OptionValue) string { return (&merger{dialect: d}).canonical(v) }
