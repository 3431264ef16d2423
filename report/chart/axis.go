package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// A scale is the range of an axis with its ticks.
type scale struct {
	min, max float64
	ticks    []plot.Tick
	log      bool
}

// fewTicks is about how many labelled ticks an axis gets.
const fewTicks = 5

// yScale returns the range of the y axis over all panels. It includes zero unless
// the axis is logarithmic: the length of a bar must be what it stands for, and a
// line that starts elsewhere makes noise look like a cliff.
func (c *Chart) yScale() scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, panel := range c.Panels {
		for i := range panel.Points {
			for _, y := range panel.Points[i].numbers(c.Kind) {
				low, high = min(low, y), max(high, y)
			}
		}
	}
	if c.Reference != 0 {
		low, high = min(low, c.Reference), max(high, c.Reference)
	}
	if c.Y.Log {
		return logScale(low, high)
	}
	low, high = min(low, 0), max(high, 0)
	if low == high {
		high = 1 // all values are zero
	}
	step := niceStep(high-low, fewTicks, c.Y.Integer)
	s := scale{min: math.Floor(low/step) * step, max: math.Ceil(high/step) * step}
	s.ticks = evenTicks(s.min, s.max, step)
	return s
}

// xScale returns the range of the x axis of a chart whose x is a number.
func (c *Chart) xScale() scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, panel := range c.Panels {
		for _, p := range panel.Points {
			low, high = min(low, p.X), max(high, p.X)
		}
	}
	s := scale{min: low, max: high, log: c.X.Log}
	switch {
	case c.X.Ticks != nil:
		for _, t := range c.X.Ticks {
			s.ticks = append(s.ticks, plot.Tick{Value: t.At, Label: t.Label})
		}
	case c.X.Log:
		s = logScale(low, high)
	default:
		step := niceStep(high-low, 2*fewTicks, c.X.Integer)
		s.ticks = evenTicks(math.Ceil(low/step)*step, high, step)
	}
	if s.min == s.max && s.log {
		s.min, s.max = s.min/2, s.max*2
	} else if s.min == s.max {
		s.min, s.max = s.min-1, s.max+1
	}
	return s
}

// niceStep returns the distance of ticks that divides a range into about n parts:
// 1, 2 or 5 times a power of ten.
func niceStep(span float64, n int, integer bool) float64 {
	if span <= 0 {
		return 1
	}
	rough := span / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, nice := range [...]float64{1, 2, 5} {
		if nice*power >= rough*(1-1e-9) {
			step = nice * power
			break
		}
	}
	if integer {
		step = max(1, math.Round(step))
	}
	return step
}

// evenTicks returns the multiples of step from low to high.
func evenTicks(low, high, step float64) []plot.Tick {
	var ticks []plot.Tick
	u := unitOf(max(math.Abs(low), math.Abs(high)))
	first := math.Round(low / step)
	for i := 0.0; (first+i)*step <= high+step/1e6; i++ {
		at := (first + i) * step
		ticks = append(ticks, plot.Tick{Value: at, Label: u.print(at, step)})
	}
	return ticks
}

// logScale returns a range of whole decades, or of the nearest 1, 2 or 5 where the
// values span less than two.
func logScale(low, high float64) scale {
	s := scale{log: true}
	steps := []float64{1, 2, 5}
	if high/low > 100 {
		steps = steps[:1]
	}
	for e := math.Floor(math.Log10(low)); ; e++ {
		for _, m := range steps {
			at := m * math.Pow(10, e)
			s.ticks = append(s.ticks, plot.Tick{Value: at, Label: unitOf(at).print(at, at)})
			if at <= low*(1+1e-9) { // the last tick not above the lowest value begins the axis
				s.ticks = s.ticks[len(s.ticks)-1:]
				continue
			}
			if at >= high*(1-1e-9) {
				s.min, s.max = s.ticks[0].Value, at
				return s
			}
		}
	}
}

// A unit shortens the large numbers of an axis.
type unit struct {
	size   float64
	suffix string
}

// unitOf returns the unit in which an axis that reaches to high is labelled.
func unitOf(high float64) unit {
	switch {
	case high >= 1e9:
		return unit{1e9, "G"}
	case high >= 1e6:
		return unit{1e6, "M"}
	case high >= 1e4:
		return unit{1e3, "k"}
	}
	return unit{1, ""}
}

// print writes the number of a tick with as many decimals as the distance of the
// ticks needs. Zero needs no suffix.
func (u unit) print(x, step float64) string {
	if math.Abs(x) < step/1e6 {
		return "0"
	}
	decimals := max(0, int(math.Ceil(-math.Log10(step/u.size)-1e-9)))
	return strconv.FormatFloat(x/u.size, 'f', decimals, 64) + u.suffix
}
