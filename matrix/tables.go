package matrix

import (
	"github.com/hashicorp/hcl/v2"
)

// A ReportBlock is a table, chart, text or import block. They keep their source
// order, in which a report shows them.
type ReportBlock interface {
	BlockName() string
	DefRange() hcl.Range
}

// A Table is a table block: which numbers of which rows, and how they are shown.
// Its expressions are of the report's names (design step 4); evaluate them with
// the Scope of a row.
type Table struct {
	Name      string
	Title     hcl.Expression // nil: none
	Phase     string         // that columns without a phase of their own refer to; "" where none is
	Iteration int            // 0: the phase's last
	Columns   []Column
	Rows      []string // axes that make a row; nil: all that vary
	Across    []string // axes that are laid over the columns
	Transpose bool
	Group     *Group // nil: no groups
	Label     Label
	Sort      []SortKey
	Only      hcl.Expression    // row filter; nil: all rows
	Baseline  map[string]string // axis to level; nil: none
	Missing   string            // printed where there is no number
	Source    string            // "own", or the name of an import block, or "all"
	Aggregate string            // "run" (a run that happened) or "median"
	Interval  bool
	Geomean   bool // whether a row with the geometric mean of the others ends it
	Legend    bool // whether a legend is printed under the table
	Faulty    bool // faults were told of it, and what they are in is left out
	Range     hcl.Range
}

// BlockName returns the table's name.
func (t *Table) BlockName() string { return t.Name }

// DefRange returns the place of the block's header.
func (t *Table) DefRange() hcl.Range { return t.Range }

// A Column is one column of a table.
type Column struct {
	Label     string         // by which col["x"] finds it, and its heading unless Heading says otherwise
	Of        string         // the token that it shows
	Phase     string         // "" is the table's
	Iteration int            // 0 is the table's
	Value     hcl.Expression // computed in place of a token; nil: none
	Cell      hcl.Expression // a template that makes the cell's text of several values; nil: none
	Format    string         // such as "%.1f"; "" is the token's own
	Heading   []string       // one or two lines; nil: the label
	Relative  bool           // shown as a ratio to the baseline row
	Divisor   int            // kB to the MB, GB ...: 1000 or 1024; 0 is the token's own
	Range     hcl.Range
}

// A Group puts rows together.
type Group struct {
	Axes    []string       // group_by; nil where Key is set
	Key     hcl.Expression // text; nil where Axes is set
	Heading hcl.Expression // nil: none
	Order   []string       // keys in the order wanted; keys not named follow in row order
	Style   string         // "line" (a "." line between groups), "heading" or "rule"
	Range   hcl.Range
}

// A Label is the text that names a row.
type Label struct {
	Heading string
	HasHead bool           // Heading was given, though it may be empty
	Text    hcl.Expression // nil: the labels of the row's axes, joined by "."
	Side    string         // "right" (the default: numbers first) or "left"
	Range   hcl.Range
}

// A SortKey orders rows by a column or an axis.
type SortKey struct {
	By         string // a column label, else an axis
	Descending bool
}

// A Chart is a chart block.
type Chart struct {
	Name      string
	Kind      string // bar, line or box
	Title     string
	Phase     string
	Iteration int
	X         string // an axis, "time" or "iteration"
	Y         string // a token
	Series    []string
	Facet     []string
	Only      hcl.Expression
	Log       bool
	Baseline  map[string]string
	Width     int // pixels; 0 is the default
	Faulty    bool
	Range     hcl.Range
}

// BlockName returns the chart's name.
func (c *Chart) BlockName() string { return c.Name }

// DefRange returns the place of the block's header.
func (c *Chart) DefRange() hcl.Range { return c.Range }

// A Text is a text block: Markdown between tables.
type Text struct {
	Name  string
	Body  hcl.Expression
	Range hcl.Range
}

// BlockName returns the text's name.
func (t *Text) BlockName() string { return t.Name }

// DefRange returns the place of the block's header.
func (t *Text) DefRange() hcl.Range { return t.Range }

// An Import is an import block: numbers that were measured elsewhere.
type Import struct {
	Name   string
	File   string // absolute
	Checks []ImportCheck
	Faulty bool
	Range  hcl.Range
}

// BlockName returns the import's name.
func (i *Import) BlockName() string { return i.Name }

// DefRange returns the place of the block's header.
func (i *Import) DefRange() hcl.Range { return i.Range }

// An ImportCheck is a relation between imported columns.
type ImportCheck struct {
	Column  string
	Formula hcl.Expression
	Phase   string
	Range   hcl.Range
}
