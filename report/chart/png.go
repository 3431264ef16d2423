package chart

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// PNG writes the chart as an image of its width in pixels, on white.
func (c *Chart) PNG(w io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	s := newSheet(c)
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(s.width, s.height), vgimg.UseDPI(96))}
	if err := s.draw(draw.New(canvas)); err != nil {
		return err
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("chart %q: %w", c.Name, err)
	}
	return nil
}
