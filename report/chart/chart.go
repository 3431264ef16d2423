package chart

import (
	"fmt"
	"math"
)

// A Kind is how a chart shows its points.
type Kind string

// Kinds of charts.
const (
	Bar  Kind = "bar"  // a bar for each point, grouped by category
	Line Kind = "line" // the points of a series joined
	Box  Kind = "box"  // the quartiles of each point's sample
)

// DefaultWidth is the width of a chart in pixels: that of a blog's column.
const DefaultWidth = 800

// A Chart is a chart with all numbers in place.
type Chart struct {
	Name  string
	Title string // "" leaves the line out
	Kind  Kind
	Width int // pixels; 0 is DefaultWidth

	X, Y Axis

	// Categories are the places on the x axis in their order; nil where it
	// is an axis of numbers.
	Categories []string

	// Series are the names in the legend. A single series needs no name.
	Series []string

	// Panels share their axes. One that is alone needs no title.
	Panels []Panel

	// Reference is where a line is drawn across, such as at the 1 of
	// ratios; 0 is no line.
	Reference     float64
	ReferenceName string // in the legend
}

// An Axis is one axis of all panels.
type Axis struct {
	Title   string // with the unit
	Log     bool
	Integer bool // has ticks at whole numbers only

	// Ticks are the places that carry a label; nil leaves them to the range.
	Ticks []Tick
}

// A Tick is a labelled place on an axis.
type Tick struct {
	At    float64
	Label string
}

// A Panel is one of the plots of a chart.
type Panel struct {
	Title  string
	Points []Point
}

// A Point is one value of a series. A series has at most one point at each place
// of a panel.
type Point struct {
	Series int     // index into the chart's Series
	X      float64 // a number, or an index into the chart's Categories
	Y      float64

	// Missing says that there should be a value, but there is none: Y does
	// not count, and the place is marked.
	Missing bool

	// Low and High are the ends of the whisker, where Bounded.
	Low, High float64
	Bounded   bool

	Sample []float64 // of a Box: the values whose quartiles are drawn
}

// maxSeries is how many series a reader can tell apart: each colour in each of
// the ways to fill a bar and to dash a line.
const maxSeries = colours * rounds

// Check returns an error that says why the chart cannot be drawn, or nil.
func (c *Chart) Check() error {
	points, known := 0, 0
	for _, panel := range c.Panels {
		for i := range panel.Points {
			points++
			if panel.Points[i].known(c.Kind) {
				known++
			}
		}
	}
	switch {
	case points == 0:
		return fmt.Errorf("chart %q has nothing to draw: no row has a point in it", c.Name)
	case known == 0:
		return fmt.Errorf("chart %q has nothing to draw: not one of its %d points has a value", c.Name, points)
	case len(c.Series) > maxSeries:
		return fmt.Errorf("chart %q has %d series, of which a reader tells %d apart: name fewer axes in series, more in facet, or keep rows out with only", c.Name, len(c.Series), maxSeries)
	}
	return c.checkRange()
}

func (c *Chart) checkRange() error {
	for _, panel := range c.Panels {
		for i := range panel.Points {
			p := &panel.Points[i]
			for _, y := range p.numbers(c.Kind) {
				if math.IsInf(y, 0) || math.IsNaN(y) {
					return fmt.Errorf("chart %q: %g cannot be drawn", c.Name, y)
				}
				if c.Y.Log && y <= 0 {
					return fmt.Errorf("chart %q: %g has no place on a logarithmic axis; leave out log", c.Name, y)
				}
			}
			if c.X.Log && p.X <= 0 {
				return fmt.Errorf("chart %q: %g has no place on a logarithmic axis; leave out log", c.Name, p.X)
			}
		}
	}
	if c.Kind == Bar && c.Y.Log {
		return fmt.Errorf("chart %q: bars stand on zero, which has no place on a logarithmic axis; leave out log, or use kind line or box", c.Name)
	}
	return nil
}

// known reports whether the point has something to draw.
func (p *Point) known(kind Kind) bool {
	return !p.Missing && (kind != Box || len(p.Sample) > 0)
}

// numbers returns what the y axis must have room for.
func (p *Point) numbers(kind Kind) []float64 {
	switch {
	case !p.known(kind):
		return nil
	case kind == Box:
		return p.Sample
	case p.Bounded:
		return []float64{p.Y, p.Low, p.High}
	}
	return []float64{p.Y}
}

// missing reports whether some place is marked as a gap.
func (c *Chart) missing() bool {
	for _, panel := range c.Panels {
		for i := range panel.Points {
			if !panel.Points[i].known(c.Kind) {
				return true
			}
		}
	}
	return false
}

func (c *Chart) width() int {
	if c.Width == 0 {
		return DefaultWidth
	}
	return c.Width
}
