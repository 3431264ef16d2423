package matrix

import "strings"

// Folded is the one name of an option that may be written in many ways, with
// what its prefixes said.
type Folded struct {
	Name    string // lower case, underscores, aliases resolved, no prefixes
	Negated bool   // a prefix such as skip_ turns the meaning of the value round
	Loose   bool   // a server that does not know the option shall start all the same
}

// Fold returns the name under which an option is merged, hashed and checked.
//
// It lowers case, turns dashes into underscores and resolves the dialect's
// aliases. Where the dialect has negations it also takes off loose_, then one of
// skip_, disable_ and enable_, unless the whole name is an option of its own
// (skip_networking). A prefix on top of another is left alone, since servers make
// of it what nobody expects (MariaDB 10.11 takes skip_disable_x for skip_x, and
// ignores skip_loose_x): as written, the check of the options in force will not
// find it.
func (d *Dialect) Fold(name string) Folded {
	f := Folded{Name: lowerASCII(strings.ReplaceAll(name, "-", "_"))}
	if !d.Negations {
		f.Name = d.resolve(f.Name)
		return f
	}
	for {
		rest, ok := cutPrefix(f.Name, "loose_")
		if !ok {
			break
		}
		f.Name, f.Loose = rest, true
	}
	if d.whole(f.Name) {
		f.Name = d.resolve(f.Name)
		return f
	}
	rest, negated, ok := cutNegation(f.Name)
	if !ok || !d.whole(rest) {
		return f
	}
	f.Name, f.Negated = d.resolve(rest), negated
	return f
}

// resolve returns the name that is used for an option of a folded name.
func (d *Dialect) resolve(name string) string {
	if used, ok := d.Aliases[name]; ok {
		return used
	}
	return name
}

// whole reports whether a folded name is an option's own, so that nothing may be
// taken off it: because it begins with no prefix, or the dialect knows it as it
// is.
func (d *Dialect) whole(name string) bool {
	if !prefixed(name) || d.Whole[name] {
		return true
	}
	for alias, used := range d.Aliases {
		if name == alias || name == used {
			return true
		}
	}
	return false
}

// prefixed reports whether a folded name begins with a word that can be a prefix.
func prefixed(name string) bool {
	if _, ok := cutPrefix(name, "loose_"); ok {
		return true
	}
	_, _, ok := cutNegation(name)
	return ok
}

// cutNegation takes one of the prefixes that negate or affirm an option off its
// folded name.
func cutNegation(name string) (rest string, negated, ok bool) {
	for _, prefix := range []string{"skip_", "disable_"} {
		if rest, ok := cutPrefix(name, prefix); ok {
			return rest, true, true
		}
	}
	rest, ok = cutPrefix(name, "enable_")
	return rest, false, ok
}

// cutPrefix is strings.CutPrefix for a prefix that must leave something behind.
func cutPrefix(name, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || rest == "" {
		return name, false
	}
	return rest, true
}

// lowerASCII lowers the letters that option names are made of and no others: a
// Kelvin sign must not become a k, which would make a wrong name right.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
