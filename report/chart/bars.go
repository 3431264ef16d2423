package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A place is where the points of a category stand side by side.
type place struct {
	at    int     // index of the point in its panel
	shift float64 // from the middle of the category, in slots
}

// groupShare is how much of a category its bars fill.
const groupShare = 0.8

// maxBar is the greatest width of a bar: few bars need not fill the page.
const maxBar = 64 * px

// places returns where each point of a panel stands. A category shows the series
// that it has, side by side around its middle: one that no cell has leaves no
// hole. All bars of a chart have the same width.
func (s *sheet) places(panel int) (places []place, share float64) {
	share = groupShare / float64(s.crowd())
	if slot := s.panelWidth(s.columns) / vg.Length(len(s.Categories)); vg.Length(share)*slot > maxBar {
		share = float64(maxBar / slot)
	}
	points := s.Panels[panel].Points
	for category := range s.Categories {
		var here []int
		for series := range s.Series {
			for i := range points {
				if points[i].Series == series && int(points[i].X) == category {
					here = append(here, i)
				}
			}
		}
		for k, i := range here {
			places = append(places, place{i, (float64(k) - float64(len(here)-1)/2) * share})
		}
	}
	return places, share
}

// bars draws the bars of a panel.
type bars struct {
	*sheet
	panel int
}

// Plot draws the bars with their whiskers.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	places, share := b.places(b.panel)
	half := vg.Length(share) * (x(1) - x(0)) / 2
	gap := min(px, half/4) // between two bars
	for _, at := range places {
		point := &b.Panels[b.panel].Points[at.at]
		middle := x(point.X + at.shift)
		if !point.known(Bar) {
			c.DrawGlyph(gapMark(), vg.Point{X: middle, Y: y(0) + 7*px})
			continue
		}
		fillBox(c, lookOf(point.Series), vg.Rectangle{
			Min: vg.Point{X: middle - half + gap, Y: y(min(0, point.Y))},
			Max: vg.Point{X: middle + half - gap, Y: y(max(0, point.Y))},
		})
		if point.Bounded {
			whisker(c, middle, y(point.Low), y(point.High), min(4*px, half-gap))
		}
	}
	c.StrokeLine2(thin(ink()), c.Min.X, y(0), c.Max.X, y(0))
}

// whisker draws the range of a value.
func whisker(c draw.Canvas, x, low, high, half vg.Length) {
	style := thin(ink())
	c.StrokeLine2(style, x, low, x, high)
	c.StrokeLine2(style, x-half, low, x+half, low)
	c.StrokeLine2(style, x-half, high, x+half, high)
}
