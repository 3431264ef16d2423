package report

import (
	"fmt"
	"math"
	"strings"

	"dbmatrix/matrix"
)

// A pageAppendix is an appendix as the HTML template sees it.
type pageAppendix struct {
	*Appendix
	OverTime []pageRun
}

// A pageRun is a run with its phases.
type pageRun struct {
	Name   string
	Phases []pagePhase
}

// A pagePhase is an iteration of a phase.
type pagePhase struct {
	Heading string
	Plots   []plot
	Still   string // what was 0 all the time
}

// A plot is a series drawn as a line: small, since a page has hundreds.
type plot struct {
	Name, Unit, Legend string
	Between            string // its bounds
	Path               string // in the coordinates of an SVG of plotWidth by plotHeight
}

// The size of a plot in the whole numbers that its path is written in. It is drawn
// as wide as the page has room.
const (
	plotWidth  = 300
	plotHeight = 60
)

func newPageAppendix(a *Appendix) *pageAppendix {
	out := &pageAppendix{Appendix: a}
	for _, r := range a.Runs {
		run := pageRun{Name: r.Name}
		for i := range r.Phases {
			run.Phases = append(run.Phases, newPagePhase(&r.Phases[i]))
		}
		out.OverTime = append(out.OverTime, run)
	}
	return out
}

func newPagePhase(p *PhaseOverTime) pagePhase {
	out := pagePhase{Heading: p.Phase, Still: strings.Join(p.Still, ", ")}
	if p.Iteration > 0 {
		out.Heading += fmt.Sprintf(" %d", p.Iteration)
	}
	if !math.IsNaN(p.Seconds) {
		out.Heading += fmt.Sprintf(", %s s", common([]float64{p.Seconds}).print(p.Seconds))
	}
	if p.Status != matrix.OK {
		out.Heading += ", " + string(p.Status)
	}
	for _, s := range p.Series {
		between := s.Low + " to " + s.High
		if s.Low == s.High {
			between = s.High
		}
		out.Plots = append(out.Plots, plot{Name: s.Name, Unit: s.Unit, Legend: s.Legend, Between: between, Path: s.path()})
	}
	return out
}

// pageDifferences are differences with the headings of their table.
type pageDifferences struct {
	Name, Of string
	List     []Difference
}

func newDifferences(name, of string, list []Difference) pageDifferences {
	return pageDifferences{name, of, list}
}

// path draws a series in steps, since each value is of an interval, between 0 and
// its highest value, or its lowest where that is below 0. Where there are more points than the drawing has places, each place
// shows the lowest and the highest of its points.
func (s *TimeSeries) path() string {
	last, low, high := 0.0, 0.0, 0.0
	for _, p := range s.Points {
		last = max(last, p.At)
		if !math.IsNaN(p.Value) {
			low, high = min(low, p.Value), max(high, p.Value)
		}
	}
	if last <= 0 || high <= low {
		return ""
	}
	var b strings.Builder
	drawing := false
	var x, y int // where the pen is
	for _, p := range thinnedTimes(s.Points) {
		toX := int(math.Round(plotWidth * p.At / last))
		if math.IsNaN(p.Value) {
			drawing, x = false, toX
			continue
		}
		toY := int(math.Round(plotHeight * (high - p.Value) / (high - low)))
		if drawing {
			fmt.Fprintf(&b, "v%d", toY-y)
		} else {
			fmt.Fprintf(&b, "M%d %d", x, toY)
		}
		fmt.Fprintf(&b, "h%d", toX-x)
		drawing, x, y = true, toX, toY
	}
	return b.String()
}

// thinnedTimes keeps of the points in each place of a plot the lowest and the
// highest.
func thinnedTimes(points []TimePoint) []TimePoint {
	if len(points) <= 2*plotWidth {
		return points
	}
	var kept []TimePoint
	for k := range plotWidth {
		part := points[k*len(points)/plotWidth : (k+1)*len(points)/plotWidth]
		low, high := part[0], part[0]
		for _, p := range part {
			if math.IsNaN(low.Value) || p.Value < low.Value {
				low = p
			}
			if math.IsNaN(high.Value) || p.Value > high.Value {
				high = p
			}
		}
		if low.At > high.At {
			low, high = high, low
		}
		kept = append(kept, low, high)
	}
	return kept
}
