package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An entry is a word of the legend.
type entry struct {
	text   string
	series int // or missingEntry, or referenceEntry
	x, y   vg.Length
}

// Entries that are no series.
const (
	missingEntry   = -1
	referenceEntry = -2
)

// entries returns what the legend explains: series with a name, the reference and
// the mark of what is missing.
func (c *Chart) entries() []entry {
	var all []entry
	for i, name := range c.Series {
		if name != "" {
			all = append(all, entry{text: name, series: i})
		}
	}
	if c.ReferenceName != "" {
		all = append(all, entry{text: c.ReferenceName, series: referenceEntry})
	}
	if c.missing() {
		all = append(all, entry{text: "no value", series: missingEntry})
	}
	return all
}

// flow places the entries of a legend in lines and returns the height of all.
func flow(entries []entry, width vg.Length) vg.Length {
	const gap = 16 * px
	x, line := vg.Length(0), 1
	for i := range entries {
		need := swatch + words(wordSize, false).Width(entries[i].text) + gap
		if x > 0 && x+need-gap > width {
			x = 0
			line++
		}
		entries[i].x, entries[i].y = x, vg.Length(line)*legendLine
		x += need
	}
	if len(entries) == 0 {
		return 0
	}
	return vg.Length(line)*legendLine + 6*px
}

func (s *sheet) drawLegend(area draw.Canvas) {
	for _, e := range s.legend {
		at := vg.Point{X: area.Min.X + e.x, Y: area.Max.Y - e.y}
		s.drawSwatch(area, e.series, at)
		area.FillText(words(wordSize, false), vg.Point{X: at.X + swatch, Y: at.Y + 2*px}, e.text)
	}
}

func (s *sheet) drawSwatch(c draw.Canvas, series int, at vg.Point) {
	middle := vg.Point{X: at.X + swatch/2 - 3*px, Y: at.Y + legendLine/2 - px}
	switch series {
	case missingEntry:
		c.DrawGlyphNoClip(gapMark(), middle)
		return
	case referenceEntry:
		c.StrokeLine2(dashed(), at.X, middle.Y, at.X+swatch-6*px, middle.Y)
		return
	}
	l := lookOf(series)
	if s.Kind == Line {
		c.StrokeLine2(l.line(), at.X, middle.Y, at.X+swatch-6*px, middle.Y)
		c.DrawGlyphNoClip(l.mark(), middle)
		return
	}
	const half = 5 * px
	fillBox(c, l, vg.Rectangle{Min: vg.Point{X: middle.X - half, Y: middle.Y - half}, Max: vg.Point{X: middle.X + half, Y: middle.Y + half}})
}

// fillBox draws a rectangle in the look of a series.
func fillBox(c draw.Canvas, l look, r vg.Rectangle) {
	corners := []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
	if fill := l.fill(); fill != nil {
		c.FillPolygon(fill, corners)
	}
	if style := l.outline(); style.Width > 0 {
		c.StrokeLines(style, append(corners, r.Min))
	}
}
