package report

import "dbmatrix/matrix"

// A Document is a report: tables, charts and texts in the order of the definition.
type Document struct {
	Title       string
	Description string
	Source      string // where the experiment was published first
	Blocks      []Block
	Appendix    *Appendix // nil: none was asked for, or nothing was measured

	leftOut []string // tables that have faults
}

// A Block is one part of a document; exactly one of Table, Chart and Text is set.
type Block struct {
	Table *Table
	Chart *Chart
	Text  *Text
}

// name is the name of the block in the definition.
func (b *Block) name() string {
	switch {
	case b.Table != nil:
		return b.Table.Name
	case b.Chart != nil:
		return b.Chart.Name
	default:
		return b.Text.Name
	}
}

// A Text is a text block, evaluated.
type Text struct {
	Name     string
	Markdown string
}

// Table returns the named table, or nil.
func (d *Document) Table(name string) *Table {
	for _, b := range d.Blocks {
		if b.Table != nil && b.Table.Name == name {
			return b.Table
		}
	}
	return nil
}

// Tables returns the names of all tables in their order.
func (d *Document) Tables() []string {
	var names []string
	for _, b := range d.Blocks {
		if b.Table != nil {
			names = append(names, b.Table.Name)
		}
	}
	return names
}

// Charts returns all charts in their order.
func (d *Document) Charts() []*Chart {
	var charts []*Chart
	for _, b := range d.Blocks {
		if b.Chart != nil {
			charts = append(charts, b.Chart)
		}
	}
	return charts
}

// A Table is a table with all numbers in place.
type Table struct {
	Name  string
	Title string

	// Caption tells what all rows have in common: the axes that do not
	// vary in them, as "io = buffered".
	Caption []string

	Axes    []string // that make a row
	Label   LabelColumn
	Columns []Column
	Rows    []Row
	Mean    *Row // the geometric mean of the rows; nil: the table has none

	// GroupStyle says how groups are kept apart: GroupLine, GroupHeading or
	// GroupRule; "" where the table has no groups.
	GroupStyle string

	// Transposed tables show Columns downwards and Rows across.
	Transposed bool

	// Footnotes are what the marks on cells and rows refer to: mark n is
	// Footnotes[n-1]. Remarks are about the table as a whole.
	Footnotes []string
	Remarks   []string

	// Legend explains the columns and levels that are shown.
	Legend []LegendEntry
}

// A LabelColumn is the column of the row labels.
type LabelColumn struct {
	Heading string
	Left    bool // stands before the numbers, not behind them
}

// A Column is a resolved column of a table.
type Column struct {
	Label     string // by which expressions find it
	Token     string // that it shows; "" for expressions
	Phase     string
	Iteration int // 0: the last
	Unit      string
	Heading   []string // one or more lines
	// Over are the labels of the levels that are laid across, outermost
	// first; the cells below belong to them. Levels are their names.
	Over   []string
	Levels map[string]string
	Number bool // the cells are numbers, printed flush right
}

// A Row is one row of a table.
type Row struct {
	Label  string
	Levels map[string]string // on the axes that make the row
	Source string            // Own, or the name of an import block
	Group  string            // the heading of its group, or its key
	First  bool              // the first row of its group
	Notes  []int             // footnote marks on the label
	Cells  []Cell            // one for each column

	// Remarks are all that footnotes say of the row and its cells, with its
	// own numbers where a footnote gives a range over several rows.
	Remarks []string
}

// A Cell is one number or text of a table.
type Cell struct {
	Text   string  // as printed
	Number float64 // valid where Known
	Known  bool
	Status matrix.Status // of the phase that it comes from; "" where there is none
	Runs   int           // how many runs the cell stands for
	Sample []RunValue    // the values of those runs, from low to high
	Low    float64       // with Interval: the bounds
	High   float64
	Bound  string // "interval" (of the median) or "range" (minimum and maximum); "" where there is none
	Notes  []int  // footnote marks

	absent bool // there is no number, nor text in its place
	beside bool // these are the bounds of the cell before
}

// A RunValue is the value of one run.
type RunValue struct {
	Cell      matrix.CellKey
	Replicate int
	Number    float64
}

// A LegendEntry explains one heading or level.
type LegendEntry struct {
	Term string
	Text string
}

// Ways to keep groups of rows apart.
const (
	GroupLine    = "line"    // a line with a "."
	GroupHeading = "heading" // a line with the group's heading
	GroupRule    = "rule"    // a drawn line
)
