package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// markedPoints is up to how many points of a line carry a mark each: more would
// hide the line.
const markedPoints = 60

// lines draws the lines of a panel.
type lines struct {
	*sheet
	panel int
}

// Plot draws the lines, series by series.
func (l lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for series := range l.Series {
		points := l.seriesPoints(series)
		at := make([]vg.Point, len(points))
		for i, point := range points {
			at[i] = vg.Point{X: x(point.X), Y: c.Min.Y + 7*px} // where it is missing
			if point.known(Line) {
				at[i].Y = y(point.Y)
			}
		}
		l.drawSeries(c, lookOf(series), points, at, y)
	}
}

// seriesPoints returns the points of a series from left to right.
func (l lines) seriesPoints(series int) []*Point {
	var points []*Point
	for i := range l.Panels[l.panel].Points {
		if p := &l.Panels[l.panel].Points[i]; p.Series == series {
			points = append(points, p)
		}
	}
	slices.SortStableFunc(points, func(a, b *Point) int { return cmp.Compare(a.X, b.X) })
	return points
}

func (l lines) drawSeries(c draw.Canvas, style look, points []*Point, at []vg.Point, y func(float64) vg.Length) {
	marked := len(points) <= markedPoints
	line := style.line()
	if !marked {
		line.Width = 1.2 * px
	}
	for first := 0; first < len(points); {
		end := first
		for end < len(points) && points[end].known(Line) == points[first].known(Line) {
			end++
		}
		switch run := at[first:end]; {
		case points[first].known(Line):
			c.StrokeLines(line, run)
			if marked || len(run) == 1 {
				l.markPoints(c, style, points[first:end], run, y)
			}
		case marked:
			for _, pt := range run {
				c.DrawGlyphNoClip(gapMark(), pt)
			}
		default: // one mark for the whole gap
			c.DrawGlyphNoClip(gapMark(), run[len(run)/2])
		}
		first = end
	}
}

func (l lines) markPoints(c draw.Canvas, style look, points []*Point, at []vg.Point, y func(float64) vg.Length) {
	for i, p := range points {
		if p.Bounded {
			whisker(c, at[i].X, y(p.Low), y(p.High), 3*px)
		}
		c.DrawGlyphNoClip(style.mark(), at[i])
	}
}
