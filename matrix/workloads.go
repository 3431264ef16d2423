package matrix

import (
	"time"

	"github.com/zclconf/go-cty/cty"
)

// A WorkloadType describes a type of workload to the language: which
// attributes its block may have and what they mean. The workload's own package
// declares it; the language knows no workload by name.
type WorkloadType struct {
	Name    string
	Summary string

	// Version is raised whenever the data or the statements change, since
	// results of two versions must not be compared unseen.
	Version int

	Attributes []Attribute
	Blocks     []BlockType // nested blocks with one label, such as metric "n"

	// Server reports whether the workload, with these arguments, runs
	// against a server. Nil means it does.
	Server func(Args) bool

	// Port reports whether the workload, with these arguments, needs the
	// server to listen on a port of the loopback address, beside its socket.
	// Nil means it does not.
	Port func(Args) bool

	// Steps returns how many steps of its own a phase has, each recorded
	// as an iteration. Nil means one.
	Steps func(Args) int

	// Follows returns the steps one of which an earlier phase of the run must
	// have, since it makes what this one works on: an insert_benchmark's query
	// follows its load. Nil, or none: the phase can come first.
	Follows func(Args) []string

	// Opaque reports whether what the workload, with these arguments, leaves
	// in the server cannot be told from them: after statements or a program
	// of the user's own, any table may be there. Nil means that it can.
	Opaque func(Args) bool

	// Duration returns how long an iteration lasts by its arguments, for
	// estimates; 0 where it ends with its work. Nil is 0.
	Duration func(Args) time.Duration

	// Bytes returns about how much disk the workload's data takes by its
	// arguments, for estimates; 0 where nothing is known of it. Nil is 0.
	Bytes func(Args) uint64

	// Check judges evaluated arguments. It returns all that is wrong.
	Check func(Args, Build) []ArgError

	// WarmUp says that the workload can run unmeasured for a duration.
	WarmUp bool

	// Built says that this version of dbmatrix can run the workload; the
	// language knows those of coming versions too.
	Built bool
}

// Attribute returns the named attribute, or nil.
func (t *WorkloadType) Attribute(name string) *Attribute {
	for i := range t.Attributes {
		if t.Attributes[i].Name == name {
			return &t.Attributes[i]
		}
	}
	return nil
}

// An Attribute is one attribute of a workload block.
type Attribute struct {
	Name string
	Type cty.Type

	// Default is the value where the attribute is not written; cty.NilVal
	// stands for none (null).
	Default  cty.Value
	Required bool
	Values   []string // the texts that it may have; empty is any

	// Also are other names that the writer of a definition may try, such as
	// those of the program's own options; the fault names the attribute.
	Also []string

	Unit string // such as "rows", "seconds"; "" where it has none
	Doc  string // one sentence

	// File says that the attribute names files beside the experiment whose
	// content is part of what is measured; Program that it names a program
	// (an argument list, or a name to be found on PATH).
	File, Program bool

	// Beside is the name of a program that runs where the attribute names
	// none: the one that lies beside the server's own programs, or else the
	// one on PATH. "" is no program.
	Beside string

	// Outside says that the attribute does not change what is measured.
	Outside bool
}

// A BlockType is a nested block of a workload with one label.
type BlockType struct {
	Name       string
	Doc        string
	Attributes []Attribute
}

// An ArgError is a fault in a workload's arguments.
type ArgError struct {
	Attribute string // "" is the block as a whole
	Summary   string
	Detail    string // says what to do
}
