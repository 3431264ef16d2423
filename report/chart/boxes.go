package chart

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// boxes returns the box plots of a panel: box and line are quartiles and median,
// whiskers reach to the last value within 1.5 times the height of the box, and
// values beyond are dots (John Tukey's schematic plot).
func (s *sheet) boxes(panel int) ([]plot.Plotter, error) {
	places, share := s.places(panel)
	width := vg.Length(share*groupShare) * s.panelWidth(s.columns) / vg.Length(len(s.Categories))
	all := []plot.Plotter{gaps{s, panel, places}}
	for _, at := range places {
		point := &s.Panels[panel].Points[at.at]
		if !point.known(Box) {
			continue
		}
		b, err := plotter.NewBoxPlot(width, point.X+at.shift, plotter.Values(point.Sample))
		if err != nil {
			return nil, fmt.Errorf("chart %q: %w", s.Name, err)
		}
		l := lookOf(point.Series)
		b.FillColor = l.fill()
		b.CapWidth = width / 2
		b.BoxStyle, b.WhiskerStyle = thin(ink()), thin(ink())
		b.MedianStyle = draw.LineStyle{Color: ink(), Width: 2 * px}
		b.GlyphStyle = draw.GlyphStyle{Color: l.colour, Radius: 1.5 * px, Shape: draw.CircleGlyph{}}
		if l.round > 0 {
			b.BoxStyle = l.outline()
		}
		all = append(all, b)
	}
	return all, nil
}

// gaps marks the places of a panel that have no value.
type gaps struct {
	*sheet
	panel  int
	places []place
}

// Plot draws the marks.
func (g gaps) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, at := range g.places {
		if point := &g.Panels[g.panel].Points[at.at]; !point.known(Box) {
			c.DrawGlyph(gapMark(), vg.Point{X: x(point.X + at.shift), Y: c.Min.Y + 7*px})
		}
	}
}
