package chart

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG writes the chart as a file of its own, on white.
func (c *Chart) SVG(w io.Writer) error {
	body, s, err := c.drawSVG()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	s.openSVG(&b)
	b.WriteString("<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n")
	b.WriteString(body)
	_, err = w.Write(b.Bytes())
	return err
}

// InlineSVG writes the chart as an element of an HTML page: without a background,
// words and axes in the page's own colour, and what is beside them in the colours
// --chart-muted and --chart-rule of the page's style.
func (c *Chart) InlineSVG(w io.Writer) error {
	body, s, err := c.drawSVG()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	s.openSVG(&b)
	b.WriteString(strings.NewReplacer(
		hex(ink()), "currentColor",
		hex(muted()), "var(--chart-muted,"+hex(muted())+")",
		hex(rule()), "var(--chart-rule,"+hex(rule())+")",
	).Replace(body))
	_, err = w.Write(b.Bytes())
	return err
}

// drawSVG draws the chart and returns what follows the opening tag.
func (c *Chart) drawSVG() (string, *sheet, error) {
	if err := c.Check(); err != nil {
		return "", nil, err
	}
	s := newSheet(c)
	canvas := vgsvg.New(s.width, s.height)
	if err := s.draw(draw.New(canvas)); err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", nil, fmt.Errorf("chart %q: %w", c.Name, err)
	}
	_, body, found := strings.Cut(b.String(), "xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n")
	if !found {
		return "", nil, fmt.Errorf("chart %q: the SVG does not begin as it should", c.Name)
	}
	// Arial and Helvetica have the measures of Liberation Sans, so that words
	// fit where that font is not installed.
	return strings.ReplaceAll(body, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;"), s, nil
}

// openSVG writes the opening tag: the size in pixels, and what the image is
// called for those who do not see it.
func (s *sheet) openSVG(b *bytes.Buffer) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %g %g" role="img" aria-label="%s">`+"\n",
		s.Chart.width(), int(math.Round(float64(s.height/px))), s.width.Points(), s.height.Points(), html.EscapeString(s.Describe()))
}

// Describe returns the chart's title, or what it shows.
func (c *Chart) Describe() string {
	if c.Title != "" {
		return c.Title
	}
	return fmt.Sprintf("%s by %s", c.Y.Title, c.X.Title)
}

// hex writes a colour as the SVG has it.
func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }
