package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// px is a pixel: there are 96 to the inch, and 72 points.
const px = vg.Length(72.0 / 96)

const (
	colours = 8 // of the palette
	rounds  = 3 // ways to use each
)

// palette returns the colours of series, those that stand out most first: the set
// that Masataka Okabe and Kei Ito published as Color Universal Design (2002,
// revised 2008), so that people with protanopia, deuteranopia or tritanopia tell
// them apart. Yellow comes late, as it is pale on white; their black is the ink.
func palette() [colours]color.RGBA {
	return [colours]color.RGBA{
		{0x00, 0x72, 0xB2, 0xFF}, // blue
		{0xE6, 0x9F, 0x00, 0xFF}, // orange
		{0x00, 0x9E, 0x73, 0xFF}, // bluish green
		{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
		{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
		{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
		{0xF0, 0xE4, 0x42, 0xFF}, // yellow
		ink(),
	}
}

// ink is the colour of words and axes, and muted that of what is beside them.
// Each differs from every other colour here, since a page that shows a chart
// inline puts its own in their place.
func ink() color.RGBA   { return color.RGBA{0x1F, 0x23, 0x28, 0xFF} }
func muted() color.RGBA { return color.RGBA{0x59, 0x63, 0x6E, 0xFF} }
func rule() color.RGBA  { return color.RGBA{0xD8, 0xDE, 0xE4, 0xFF} }

// A look is how a series is drawn.
type look struct {
	colour color.RGBA
	round  int
	glyph  draw.GlyphDrawer
}

func lookOf(series int) look {
	glyphs := [...]draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
	}
	return look{colour: palette()[series%colours], round: series / colours % rounds, glyph: glyphs[series%len(glyphs)]}
}

// fill returns the colour inside a bar or box: the series' own, a tint of it, or
// the background.
func (l look) fill() color.Color {
	const tint = 90 // of 255
	switch l.round {
	case 0:
		return l.colour
	case 1:
		return color.NRGBA{l.colour.R, l.colour.G, l.colour.B, tint}
	}
	return nil
}

// outline is the edge of a bar or box, which those that are filled do without.
func (l look) outline() draw.LineStyle {
	if l.round == 0 {
		return draw.LineStyle{}
	}
	return draw.LineStyle{Color: l.colour, Width: 1.5 * px}
}

func (l look) line() draw.LineStyle {
	dashes := [rounds][]vg.Length{nil, {6 * px, 3 * px}, {2 * px, 2 * px}}
	return draw.LineStyle{Color: l.colour, Width: 2 * px, Dashes: dashes[l.round]}
}

func (l look) mark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.colour, Radius: 3.5 * px, Shape: l.glyph}
}

// gapMark is what stands where a value is missing.
func gapMark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: muted(), Radius: 5 * px, Shape: draw.CrossGlyph{}}
}

func thin(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: px} }

// dashed is the line of the reference.
func dashed() draw.LineStyle {
	style := thin(muted())
	style.Dashes = []vg.Length{4 * px, 3 * px}
	return style
}

// words returns the style of text of a size in pixels.
func words(size vg.Length, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = 3 // CSS 700, as golang.org/x/image/font counts weights
	}
	return text.Style{Color: ink(), Font: font.From(f, size*px), Handler: plot.DefaultTextHandler, XAlign: draw.XLeft, YAlign: draw.YBottom}
}
