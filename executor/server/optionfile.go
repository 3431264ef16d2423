package server

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// A placement is where one instance's files and socket are, for the options that
// a flavour sets itself.
type placement struct {
	layout  Layout
	server  *matrix.Server
	options []matrix.Option // of the settings
	sockets string          // private directory of the socket
	log     string          // path of the error log
	port    int             // on the loopback address; 0: no networking
	title   string          // what the file is for
}

// option returns an option of the settings by its folded name, or nil.
func (p placement) option(name string) *matrix.Option {
	for i := range p.options {
		if p.options[i].Name == name {
			return &p.options[i]
		}
	}
	return nil
}

// toolOption returns an option that dbmatrix sets itself; why says what for.
func toolOption(name, value, why string) matrix.Option {
	return matrix.Option{
		Name:    name,
		Value:   matrix.OptionValue{Kind: matrix.OptionText, Text: value},
		Origins: []matrix.Origin{{Kind: matrix.OverlayTool, Name: why, Value: value}},
	}
}

// toolSwitch returns a boolean option that dbmatrix sets itself.
func toolSwitch(name string, on bool, why string) matrix.Option {
	o := toolOption(name, fmt.Sprint(on), why)
	o.Value = matrix.OptionValue{Kind: matrix.OptionBool, Bool: on}
	return o
}

// effective returns the options in the order in which they are written: those
// that place the server's files, the defaults of dbmatrix that no one else sets,
// then those of the settings. A setting of an option that dbmatrix owns is an
// error.
func effective(f Flavour, p placement) ([]matrix.Option, error) {
	owned := f.Dialect().Owned
	for _, o := range p.options {
		if reason, ok := owned[o.Name]; ok {
			return nil, fmt.Errorf("%s: option %s is decided by dbmatrix: %s", place(o), o.Name, reason)
		}
		if err := inside(f, o); err != nil {
			return nil, fmt.Errorf("%s: option %s: %w", place(o), o.Name, err)
		}
	}
	fixed, defaults := f.own(p)
	all := slices.Clone(fixed)
	for _, o := range defaults {
		if p.option(o.Name) == nil {
			all = append(all, o)
		}
	}
	return append(all, p.options...), nil
}

// optionText returns the text of an option file: each line under a comment that
// says where it comes from and what it replaces.
func optionText(f Flavour, p placement) (string, error) {
	options, err := effective(f, p)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# Written by dbmatrix at each start; changes here are lost.\n", comment(p.title))
	for _, line := range f.header() {
		fmt.Fprintln(&b, line)
	}
	for _, o := range options {
		lines, err := f.spell(p, o)
		if err != nil {
			return "", fmt.Errorf("%s: option %s: %w", place(o), o.Name, err)
		}
		fmt.Fprintf(&b, "\n# %s\n", comment(provenance(o)))
		for _, line := range lines {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String(), nil
}

// comment makes a text fit for one comment line.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// place names the place that decides an option, as file and line.
func place(o matrix.Option) string {
	if len(o.Origins) == 0 {
		return "option " + o.Name
	}
	return originText(o.Origins[len(o.Origins)-1])
}

// originText names one place: the overlay, and file and line where it has them.
func originText(o matrix.Origin) string {
	name := o.Name
	if o.Kind == matrix.OverlayTool {
		name = "dbmatrix: " + o.Name
	}
	if o.Range.Filename == "" {
		return name
	}
	at := fmt.Sprintf("%s:%d", filepath.Base(o.Range.Filename), o.Range.Start.Line)
	if name == "" {
		return at
	}
	return name + ", " + at
}

// provenance tells where an option comes from: the place that decides, then each
// place that it overrides, from the nearest on. Of a composite option every part
// is told.
func provenance(o matrix.Option) string {
	if len(o.Origins) == 0 {
		return "of unknown origin"
	}
	var parts []string // keys, in the order in which they were first set
	chains := map[string][]matrix.Origin{}
	for _, g := range o.Origins {
		if _, ok := chains[g.Part]; !ok {
			parts = append(parts, g.Part)
		}
		chains[g.Part] = append(chains[g.Part], g)
	}
	var texts []string
	for _, part := range parts {
		text := chainText(chains[part])
		if part != "" {
			text = part + ": " + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// chainText tells the places of one value, the deciding one first.
func chainText(chain []matrix.Origin) string {
	text := originText(chain[len(chain)-1])
	for i := len(chain) - 2; i >= 0; i-- {
		was := chain[i].Value
		if chain[i].Null {
			was = "null"
		}
		text += fmt.Sprintf(", over %s (%s)", was, originText(chain[i]))
	}
	return text
}

// Defaults returns the options that dbmatrix sets where the settings do not, of
// those that say nothing of this host: they are part of what is measured, as the
// options of the settings are.
func Defaults(s *matrix.Settings) ([]matrix.Option, error) {
	f, err := FlavourOf(s.Server.Build.Flavour)
	if err != nil {
		return nil, err
	}
	// Without a place nothing is placed in the defaults.
	bare := *s.Server
	bare.Basedir, bare.Bindir, bare.Mysqld = "", "", ""
	p := placement{server: &bare, options: s.Options}
	_, defaults := f.own(p)
	return slices.DeleteFunc(defaults, func(o matrix.Option) bool { return p.option(o.Name) != nil }), nil
}
