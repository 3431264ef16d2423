package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of what stands on a sheet.
const (
	margin      = 8 * px
	titleSize   = 16 // pixels
	wordSize    = 12 // pixels
	titleHeight = 28 * px
	legendLine  = 20 * px
	swatch      = 24 * px // the width of what stands before a word of the legend
	panelHeight = 260 * px
	panelGap    = 14 * px
	maxColumns  = 3

	// leastSlot is the width that a bar, or a box, with its gap needs.
	leastSlot = 9 * px
	// leastPanel is the width below which lines are hard to follow.
	leastPanel = 250 * px
	// yAxisWidth is about what the y axis takes of a panel.
	yAxisWidth = 60 * px
)

// A sheet is where the parts of a chart stand.
type sheet struct {
	*Chart
	width, height vg.Length
	columns, rows int
	legend        []entry
	legendHeight  vg.Length
	y, x          scale
	turn          float64 // of the labels of categories
}

func newSheet(c *Chart) *sheet {
	s := &sheet{Chart: c, width: vg.Length(c.width()) * px, y: c.yScale()}
	if c.Categories == nil {
		s.x = c.xScale()
	}
	s.legend = c.entries()
	s.legendHeight = flow(s.legend, s.width-2*margin)
	s.columns = s.chooseColumns()
	s.rows = (len(c.Panels) + s.columns - 1) / s.columns
	s.turn = s.chooseTurn()
	s.height = 2*margin + s.titleHeight() + s.legendHeight + vg.Length(s.rows)*(panelHeight+s.labelHeight()) + vg.Length(s.rows-1)*panelGap
	s.height = vg.Length(math.Ceil(float64(s.height/px))) * px
	return s
}

func (s *sheet) titleHeight() vg.Length {
	if s.Title == "" {
		return 0
	}
	return titleHeight
}

// chooseColumns returns how many panels stand side by side: as many as leave each
// of their bars the width that it needs.
func (s *sheet) chooseColumns() int {
	need := leastPanel
	if s.Categories != nil && s.Kind != Line {
		need = max(need/2, vg.Length(len(s.Categories)*s.crowd())*leastSlot)
	}
	n := min(len(s.Panels), maxColumns)
	for n > 1 && s.panelWidth(n) < need {
		n--
	}
	return max(n, 1)
}

// panelWidth returns about how wide the data area of a panel is.
func (s *sheet) panelWidth(columns int) vg.Length {
	return (s.width-2*margin-vg.Length(columns-1)*panelGap)/vg.Length(columns) - yAxisWidth
}

// crowd returns how many points share a category at most.
func (c *Chart) crowd() int {
	most := 1
	for _, panel := range c.Panels {
		count := map[float64]int{}
		for _, p := range panel.Points {
			count[p.X]++
			most = max(most, count[p.X])
		}
	}
	return most
}

// chooseTurn returns by how much the labels of categories are turned so that they
// do not run into each other.
func (s *sheet) chooseTurn() float64 {
	if len(s.Categories) == 0 {
		return 0
	}
	slot := s.panelWidth(s.columns) / vg.Length(len(s.Categories))
	if s.longestLabel() < slot-6*px {
		return 0
	}
	if slot > 20*px {
		return math.Pi / 4
	}
	return math.Pi / 2
}

func (s *sheet) longestLabel() vg.Length {
	longest := vg.Length(0)
	for _, label := range s.Categories {
		longest = max(longest, words(wordSize, false).Width(label))
	}
	return longest
}

// labelHeight is what turned labels need more than flat ones.
func (s *sheet) labelHeight() vg.Length {
	return s.longestLabel() * vg.Length(math.Sin(s.turn))
}

// draw draws the chart.
func (s *sheet) draw(dc draw.Canvas) error {
	area := draw.Crop(dc, margin, -margin, margin, -margin)
	if s.Title != "" {
		style := words(titleSize, true)
		style.YAlign = draw.YTop
		area.FillText(style, vg.Point{X: area.Min.X, Y: area.Max.Y}, s.Title)
		area.Max.Y -= titleHeight
	}
	s.drawLegend(area)
	area.Max.Y -= s.legendHeight

	plots := make([][]*plot.Plot, s.rows)
	for r := range plots {
		plots[r] = make([]*plot.Plot, s.columns)
		for k := range plots[r] {
			if i := r*s.columns + k; i < len(s.Panels) {
				p, err := s.plot(i)
				if err != nil {
					return err
				}
				plots[r][k] = p
			}
		}
	}
	tiles := draw.Tiles{Rows: s.rows, Cols: s.columns, PadX: panelGap, PadY: panelGap}
	for r, row := range plot.Align(plots, tiles, area) {
		for k, tile := range row {
			if plots[r][k] != nil {
				plots[r][k].Draw(tile)
			}
		}
	}
	return nil
}

// plot makes the plot of a panel: axes and points.
func (s *sheet) plot(i int) (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = nil
	if title := s.Panels[i].Title; title != "" {
		p.Title.Text = fitted(title, s.panelWidth(s.columns))
		p.Title.TextStyle = words(wordSize, true)
		p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
		p.Title.Padding = 6 * px
	}
	setAxis(&p.X, fitted(s.X.Title, s.panelWidth(s.columns)))
	setAxis(&p.Y, fitted(s.Y.Title, panelHeight-2*titleHeight))
	s.setX(p, i)
	p.Y.Tick.Marker = plot.ConstantTicks(s.y.ticks)
	p.Y.Tick.LineStyle.Width, p.Y.LineStyle.Width = 0, 0 // the rules across do their work
	if i%s.columns > 0 {
		p.Y.Label.Text = ""
	}
	p.Add(rules{s})
	points, err := s.plotters(i)
	if err != nil {
		return nil, err
	}
	p.Add(points...)
	p.Y.Min, p.Y.Max = s.y.min, s.y.max
	if s.y.log {
		p.Y.Scale = plot.LogScale{}
	}
	s.setXRange(p)
	return p, nil
}

// fitted cuts a text that is longer than its place.
func fitted(text string, place vg.Length) string {
	style := words(wordSize, false)
	if style.Width(text) <= place {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && style.Width(string(letters)+"\u2026") > place {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "\u2026"
}

func setAxis(a *plot.Axis, title string) {
	a.Padding = 0
	a.Color, a.Tick.Color = ink(), muted()
	a.Width, a.Tick.Width, a.Tick.Length = px, px, 4*px
	a.Label.Text, a.Label.Padding = title, 4*px
	label := words(wordSize, false)
	label.XAlign, label.YAlign = a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign
	a.Label.TextStyle = label
	tick := words(wordSize, false)
	tick.XAlign, tick.YAlign = a.Tick.Label.XAlign, a.Tick.Label.YAlign
	a.Tick.Label = tick
}

func (s *sheet) setX(p *plot.Plot, i int) {
	if s.Categories == nil {
		p.X.Tick.Marker = plot.ConstantTicks(s.x.ticks)
		return
	}
	var ticks []plot.Tick
	for at, label := range s.Categories {
		ticks = append(ticks, plot.Tick{Value: float64(at), Label: label})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	if s.turn != 0 {
		p.X.Tick.Label.Rotation = s.turn
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

func (s *sheet) setXRange(p *plot.Plot) {
	if s.Categories != nil {
		p.X.Min, p.X.Max = -0.5, float64(len(s.Categories))-0.5
		return
	}
	// The first and the last mark stand a little inside.
	const inside = 0.015
	if s.x.log {
		room := math.Pow(s.x.max/s.x.min, inside)
		p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, s.x.min/room, s.x.max*room
		return
	}
	room := (s.x.max - s.x.min) * inside
	p.X.Min, p.X.Max = s.x.min-room, s.x.max+room
}

// plotters returns what draws the points of a panel.
func (s *sheet) plotters(i int) ([]plot.Plotter, error) {
	switch s.Kind {
	case Line:
		return []plot.Plotter{lines{s, i}}, nil
	case Box:
		return s.boxes(i)
	}
	return []plot.Plotter{bars{s, i}}, nil
}

// rules are the lines across a panel at its ticks, and at the reference.
type rules struct{ *sheet }

// Plot draws the rules.
func (r rules) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range r.y.ticks {
		c.StrokeLine2(thin(rule()), c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
	if r.Reference != 0 {
		c.StrokeLine2(dashed(), c.Min.X, y(r.Reference), c.Max.X, y(r.Reference))
	}
}
