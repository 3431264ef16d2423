package matrix

// A CellKey names a cell: the level on each of its axes, in the order in which
// the axes are declared, as "engine=myrocks,dio=dio". It is comparable, so a
// map of cells needs nothing else.
type CellKey string

// A Cell is one level from each axis of a matrix, with every setting resolved.
// (Other words for it: treatment, configuration.)
type Cell struct {
	Key CellKey

	// Levels are the cell's own levels, in the order of the axes. An axis
	// that the cell's matrix leaves out is not among them.
	Levels []CellLevel

	// Matrix is the first matrix, in source order, that yields the cell. It
	// is empty where the experiment has no matrix block.
	Matrix string

	// Phases are the steps of each run of the cell, in the order they run.
	// Cells whose phases are equal in every evaluated input share them.
	Phases []*Phase

	// Fingerprints holds the fingerprint of each of Phases, or "" from the
	// first phase on whose server is not on this host.
	Fingerprints []Fingerprint

	// Unsound says that something of the cell is at fault, so that it cannot
	// run: Phases holds what is known of it.
	Unsound bool

	candidate *candidate // to evaluate it for another replicate, and to explain it
}

// A CellLevel is the point that a cell takes on one axis.
type CellLevel struct {
	Axis string
	Name string // the level's name, as in the cell's key
	Text string // its label: how tables show it, "" where it is left out of labels
	Pos  int    // its place on the axis, from 0
}

// Level returns the cell's level on the named axis, and whether it has one.
func (c *Cell) Level(axis string) (CellLevel, bool) {
	for _, l := range c.Levels {
		if l.Axis == axis {
			return l, true
		}
	}
	return CellLevel{}, false
}
