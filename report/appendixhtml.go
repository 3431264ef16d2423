package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
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
	Plots   template.HTML
	Still   string // what was 0 all the time
}

// The size of a plot in the whole numbers that its path is written in. It is drawn
// as wide as the page has room.
const (
	plotWidth  = 300
	plotHeight = 60
)

func newPageAppendix(a *Appendix) *pageAppendix {
	return &pageAppendix{Appendix: a, OverTime: inParallel(len(a.Runs), func(i int) pageRun {
		run := pageRun{Name: a.Runs[i].Name}
		for k := range a.Runs[i].Phases {
			run.Phases = append(run.Phases, newPagePhase(&a.Runs[i].Phases[k]))
		}
		return run
	})}
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
	var plots strings.Builder
	for i := range p.Series {
		p.Series[i].plot(&plots)
	}
	out.Plots = template.HTML(plots.String())
	return out
}

// plot draws a series as a line, small and with its name and its bounds over it,
// since a page has thousands.
func (s *TimeSeries) plot(b *strings.Builder) {
	name, between, title := escapeHTML(s.Name), s.Low+" to "+s.High, ""
	if s.Low == s.High {
		between = s.High
	}
	between = escapeHTML(between)
	if s.Legend != "" {
		title = ` title="` + escapeHTML(s.Legend) + `"`
	}
	unit := ""
	if s.Unit != "" && s.Unit != "1" {
		unit = " (" + escapeHTML(s.Unit) + ")"
	}
	fmt.Fprintf(b, "\n<figure><figcaption><b%s>%s%s</b><span>%s</span></figcaption>\n", title, name, unit, between)
	fmt.Fprintf(b, `<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s over time: %s"><path d="`, plotWidth, plotHeight, name, between)
	b.WriteString(s.path())
	b.WriteString(`"/></svg></figure>`)
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
	var path []byte
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
			path = strconv.AppendInt(append(path, 'v'), int64(toY-y), 10)
		} else {
			path = strconv.AppendInt(append(path, 'M'), int64(x), 10)
			path = strconv.AppendInt(append(path, ' '), int64(toY), 10)
		}
		path = strconv.AppendInt(append(path, 'h'), int64(toX-x), 10)
		drawing, x, y = true, toX, toY
	}
	return string(path)
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
