package matrix

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Settings are what a phase of a cell runs with, after all overlays were laid
// over each other: server, defaults, axes in their order, matrix, phase.
type Settings struct {
	Server  *Server            // nil: the cell has no server
	Storage map[string]Storage // by role: data, redo, binlog, tmp; roles not named lie with data

	// Options are the server's options, sorted by name.
	Options []Option

	Env      []EnvVar // for the server and for workload programs, sorted by name
	Params   map[string]cty.Value
	Setup    [][]string // commands before the start of the run (of the phase, when set there)
	Teardown [][]string
	Prefix   []string // put before workload commands

	// Unverified and Adjusted name options that may stay unproven, or may
	// end with another value than was asked.
	Unverified []string
	Adjusted   []string

	id      int32
	options identity // hash of Options as they are measured
	layer   *layer   // what the settings are made of, for explanations

	implicit []Input // what the server runs with beside the settings
}

// Option returns the option of the given folded name, or nil.
func (s *Settings) Option(name string) *Option {
	for i := range s.Options {
		if s.Options[i].Name == name {
			return &s.Options[i]
		}
	}
	return nil
}

// An Option is one server option with the value that it shall have in force.
type Option struct {
	Name  string // folded: lower case, underscores, aliases resolved
	Value OptionValue
	Loose bool // the definition wrote it with the prefix loose_

	// Origins are the places that set, overrode or removed the option, in
	// the order of their precedence; the last one decides.
	Origins []Origin
}

// Varied reports whether an axis, a matrix or a phase decides the option, so
// that a server which does not take it spoils the comparison.
func (o *Option) Varied() bool {
	last := o.Origins[len(o.Origins)-1].Kind
	return last == OverlayLevel || last == OverlayMatrix || last == OverlayPhase
}

// An Origin is one place that says something of a setting.
type Origin struct {
	Kind  OverlayKind
	Name  string // such as "level compression.c1"
	Value string // as text; "" where it removes the setting
	Null  bool   // it removes the setting
	Part  string // of a composite option: the key that it sets, else ""
	Range hcl.Range
}

// An OverlayKind is the kind of block that a setting comes from, in the order
// of precedence.
type OverlayKind int

// The overlays, from the one that yields to all others.
const (
	OverlayTool OverlayKind = iota // what dbmatrix itself sets
	OverlayServer
	OverlayDefaults
	OverlayLevel
	OverlayMatrix
	OverlayPhase
)

// An OptionKind is the type of an option's value in the definition.
type OptionKind int

// Kinds of option values.
const (
	OptionText OptionKind = iota
	OptionNumber
	OptionBool
	OptionList
	OptionComposite
)

// An OptionValue is what an option is set to, before a flavour spells it.
type OptionValue struct {
	Kind  OptionKind
	Text  string   // text, or the exact decimal digits of a number
	Bool  bool     // of a bool
	Items []string // of a list
	Parts []OptionPart
}

// An OptionPart is one key of a composite option.
type OptionPart struct{ Key, Value string }

// An EnvVar is one environment variable.
type EnvVar struct {
	Name, Value string
	Origins     []Origin
}

// A Server is a build under test, as the definition and the machine file
// describe it.
type Server struct {
	Name     string
	Flavour  string // mysql, mariadb or postgres: as declared, then as the build says
	Mysqld   string // absolute path of the server program, or ""
	Bindir   string // absolute path of the folder with the server's programs, or ""
	Basedir  string // absolute path, or ""
	InitArgs []string
	User     string // that it runs as when dbmatrix runs as root; "" is the flavour's default
	Prefix   []string
	Version  string // declared, for builds that are not there
	Min      string // min_version

	// Build is what the program said of itself. Its Absent is not empty
	// where there is no such program on this host.
	Build Build

	Range hcl.Range

	prefix   string     // the program that Prefix begins with, as written
	overlays []*overlay // its options and environment, machine file first
	probed   bool
}

// A Build is what a server program says of itself.
type Build struct {
	Flavour string // mysql, mariadb or postgres
	Version string // three numbers, such as 10.11.19
	Comment string // the build's own words, such as "MySQL Community Server - GPL"

	// Content identifies the build by what it is made of: the executable,
	// the libraries it resolves to, the program that a wrapper script names.
	Content string

	// Dir is the folder in which the program lies: of a wrapper script, the
	// one of the program that it starts.
	Dir string

	Absent string // why there is no build, else ""
}

// A Storage is a named place for files.
type Storage struct {
	Name string // "" is the machine's data_dir
	Dir  string // absolute, or "" where this host has no such storage
}
