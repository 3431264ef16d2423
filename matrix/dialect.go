package matrix

// A Dialect tells the language how one flavour of server names and writes its
// options. It is data: the flavour's own package fills it in.
type Dialect struct {
	Flavour   string
	Attribute string // the overlay attribute that holds its options: my_cnf or postgresql_conf

	// Aliases maps other names of an option to the one that is used.
	Aliases map[string]string

	// Negations says that a leading skip_ or disable_ negates the option
	// that follows, and enable_ affirms it. Whole names the options whose
	// own names begin so.
	Negations bool
	Whole     map[string]bool

	// Owned maps options that dbmatrix decides itself to the reason.
	Owned map[string]string

	// Short says that a server takes the beginning of a name for the whole,
	// so that the beginning of an owned name is refused too. Own are names
	// with which an owned one begins, and which are options themselves.
	Short bool
	Own   map[string]bool

	// InitTime names options that only an empty data directory takes.
	InitTime map[string]bool

	// Places names options that only say where files of the build lie on a
	// host. They are no part of what is measured; what lies there is.
	Places map[string]bool

	// Separators maps composite options to the text between their parts.
	Separators map[string]string

	// Units maps suffixes of sizes to bytes, in the spelling that the
	// server takes; FoldUnits says that their case does not matter.
	Units     map[string]uint64
	FoldUnits bool

	// Sizes are the endings of names of options that are sizes, each with a unit
	// or without. Fractions says that the server takes 1.5GB and 64 MB.
	Sizes     []string
	Fractions bool

	// Footprint returns about how many bytes a data directory of a server
	// with the settings takes while it runs with so many bytes of tables in
	// it: these, what the server makes for itself, and its logs. Nil adds
	// nothing.
	Footprint func(s *Settings, data uint64) uint64
}
