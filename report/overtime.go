package report

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
	"dbmatrix/report/chart"
)

// A moment is the value of a column over one interval of an iteration.
type moment struct {
	at    time.Duration // the end of the interval
	value Value
}

// moments computes a column for each interval between two readings of a run. A
// rate that was recorded over time is taken as it is; else the column's formula is
// applied to each interval, as it is to a phase. why says why there are none.
func (cb *chartBuilder) moments(r *run, c *column) (all []moment, why string) {
	n := r.iterationOf(c.phase, c.iteration)
	result := r.results[iteration{c.phase, n}]
	switch {
	case result == nil || !result.Status.Complete():
		return nil, r.missing(c.phase, n, result)
	case r.source != Own:
		return nil, r.source + " has no readings over time"
	case cb.b.in.Readings == nil || result.Record == 0:
		return nil, "no readings over time were recorded"
	}
	direct := cb.readings(result, c.token)
	if len(direct) > 0 {
		return momentsOf(direct[0]), ""
	}
	if c.spec == nil {
		return nil, c.token + " was not recorded over time"
	}
	series := cb.readings(result, formulaMetrics(c.spec)...)
	if all = computeMoments(series, c.spec, c.divisor); all == nil {
		why = c.token + " cannot be computed from what was recorded over time"
	}
	return all, why
}

// readings returns the recorded series of an iteration that are about all sources
// together.
func (cb *chartBuilder) readings(result *PhaseResult, metrics ...string) []matrix.Series {
	series, err := cb.b.in.Readings(result.Record, metrics...)
	if err != nil {
		cb.b.fault(cb.def.Range, "Readings not read", "%s.", err)
		return nil
	}
	series = slices.DeleteFunc(series, func(s matrix.Series) bool { return s.Instance != "" || len(s.Readings) == 0 })
	if len(series) > 0 && cb.unit == "" {
		cb.unit = series[0].Unit
	}
	return series
}

func momentsOf(s matrix.Series) []moment {
	all := make([]moment, 0, len(s.Readings))
	for _, r := range s.Readings {
		all = append(all, moment{r.At, number(r.Value)})
	}
	return all
}

// computeMoments applies the formula of a column to the readings of each interval.
func computeMoments(series []matrix.Series, spec *Spec, divisor int) []moment {
	if len(series) == 0 {
		return nil
	}
	clock := series[0]
	all := make([]moment, 0, len(clock.Readings))
	rates, m := countedRates(), Metrics{}
	known := false
	var from time.Duration
	for i, tick := range clock.Readings {
		interval := tick.At - from
		if shortEnd(clock.Readings, i, interval) {
			break
		}
		m = m[:0]
		m.put("secs", interval.Seconds())
		for _, s := range series {
			if v, ok := readingAt(s, i, tick.At, interval); ok {
				m.put(s.Metric, v)
			}
		}
		m.countRates(rates, interval.Seconds())
		v := spec.Value(m, divisor)
		known = known || v.Known
		all = append(all, moment{tick.At, v})
		from = tick.At
	}
	if !known {
		return nil
	}
	return all
}

// shortEnd reports whether an interval is what the end of a window left: too short
// for a rate.
func shortEnd(readings []matrix.Reading, i int, interval time.Duration) bool {
	return i > 0 && i == len(readings)-1 && 2*interval < readings[i].At/time.Duration(i+1)
}

// readingAt returns the reading of a series that belongs to the same round of
// readings: its own of that number, or the one next to it in time.
func readingAt(s matrix.Series, i int, at, interval time.Duration) (float64, bool) {
	near := func(r matrix.Reading) bool { return (r.At - at).Abs() <= interval/2 }
	if i < len(s.Readings) && near(s.Readings[i]) {
		return s.Readings[i].Value, true
	}
	k, _ := slices.BinarySearchFunc(s.Readings, at-interval/2, func(r matrix.Reading, t time.Duration) int { return int(r.At - t) })
	if k < len(s.Readings) && near(s.Readings[k]) {
		return s.Readings[k].Value, true
	}
	return math.NaN(), false
}

func (m *Metrics) put(name string, x float64) {
	*m = Metrics(store.Metrics(*m).With(matrix.Metric{Name: name, Value: x}))
}

// countedRates are the counts of which rates are recorded over time, by the name
// of the rate.
func countedRates() map[string]string {
	return map[string]string{"ips": "rows_inserted", "dps": "rows_deleted", "qps": "queries", "tps": "transactions"}
}

// countRates turns the rates of an interval into the counts that formulas are
// made of.
func (m *Metrics) countRates(rates map[string]string, secs float64) {
	for rate, count := range rates {
		if v, ok := store.Metrics(*m).Get(rate); ok {
			m.put(count, v.Value*secs)
		}
	}
}

// formulaMetrics returns the metrics that a column's formula can need: those it
// names, the CPU times that stand behind its "cpu percent", and rates.
func formulaMetrics(spec *Spec) []string {
	names := regexp.MustCompile(`[a-z][a-z_]+`).FindAllString(spec.Formula, -1)
	if strings.Contains(strings.ToLower(spec.Formula), "cpu ") {
		names = append(names, "cpu_user", "cpu_system", "cpu_iowait", "cpu_idle", "cpu_steal")
	}
	for rate, count := range countedRates() {
		if slices.Contains(names, count) {
			names = append(names, rate)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// timePoints returns the readings of the run that stands for a slot.
func (cb *chartBuilder) timePoints(s *slot, c *column) []chart.Point {
	r := cb.shown(s)
	if r == nil {
		return nil
	}
	all, why := cb.moments(r, c)
	if why != "" {
		cb.note(s, []int{cb.mark(why)})
		return []chart.Point{{Missing: true}}
	}
	cb.note(s, cb.flagsOf(r, c))
	var points []chart.Point
	for _, m := range all {
		p := chart.Point{X: m.at.Seconds(), Missing: true}
		if m.value.Known {
			p.Y, p.Missing = m.value.Number, false
		}
		points = append(points, p)
	}
	return thinned(points, cmp.Or(cb.def.Width, chart.DefaultWidth))
}

// flagsOf returns the footnotes of the phase that readings belong to.
func (cb *chartBuilder) flagsOf(r *run, c *column) []int {
	result := r.results[iteration{c.phase, r.iterationOf(c.phase, c.iteration)}]
	if result == nil || !result.Status.Complete() {
		return nil
	}
	return cb.valueNotes(measured{Value: Value{Known: true}, from: []origin{{r, result}}})
}

// thinned keeps, of more points than pixels, the lowest and the highest of each
// pixel: spikes and stalls stay, and every point that is left is a reading.
func thinned(points []chart.Point, pixels int) []chart.Point {
	if len(points) <= 2*pixels {
		return points
	}
	var kept []chart.Point
	for k := range pixels {
		part := points[k*len(points)/pixels : (k+1)*len(points)/pixels]
		low, high := -1, -1
		for i, p := range part {
			if p.Missing {
				kept = append(kept, p)
				continue
			}
			if low < 0 || p.Y < part[low].Y {
				low = i
			}
			if high < 0 || p.Y > part[high].Y {
				high = i
			}
		}
		if low >= 0 {
			kept = append(kept, part[min(low, high)])
		}
		if high != low {
			kept = append(kept, part[max(low, high)])
		}
	}
	return kept
}

// boxPoint returns the readings of all runs of a slot.
func (cb *chartBuilder) boxPoint(s *slot, c *column) chart.Point {
	p := chart.Point{}
	seen := map[int64]bool{}
	for _, r := range s.runs {
		result := r.results[iteration{c.phase, r.iterationOf(c.phase, c.iteration)}]
		if result != nil && result.Record != 0 && seen[result.Record] {
			continue // one measurement that several runs share
		}
		all, why := cb.moments(r, c)
		if why != "" {
			cb.note(s, []int{cb.mark(why)})
			continue
		}
		seen[result.Record] = true
		cb.note(s, cb.flagsOf(r, c))
		for _, m := range all {
			if m.value.Known {
				p.Sample = append(p.Sample, m.value.Number)
			}
		}
	}
	p.Missing = len(p.Sample) == 0
	return p
}

// longPhase is how long a phase is whose time is counted in minutes.
const longPhase = 2 * time.Hour

// scaleTime counts a long time in minutes.
func (cb *chartBuilder) scaleTime(d *chart.Chart) {
	last := 0.0
	for _, panel := range d.Panels {
		for _, p := range panel.Points {
			last = max(last, p.X)
		}
	}
	if last < longPhase.Seconds() {
		return
	}
	d.X.Title = "time (min)"
	for _, panel := range d.Panels {
		for i := range panel.Points {
			panel.Points[i].X /= time.Minute.Seconds()
		}
	}
}
