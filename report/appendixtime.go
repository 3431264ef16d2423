package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"dbmatrix/matrix"
)

// A RunOverTime is how the phases of a run went.
type RunOverTime struct {
	Name   string
	Phases []PhaseOverTime
}

// A PhaseOverTime is how one iteration of a phase went.
type PhaseOverTime struct {
	Phase     string
	Iteration int     // 0: the phase has one
	Seconds   float64 // its length
	Status    matrix.Status
	Series    []TimeSeries
	Still     []string // what was 0 all the time
}

// A TimeSeries is a number over the time of an iteration.
type TimeSeries struct {
	Name, Unit string
	Legend     string
	Points     []TimePoint
	Low, High  string // the bounds of its numbers, as they are printed
}

// A TimePoint is the value of an interval that ends at a time.
type TimePoint struct {
	At    float64 // s since the window began
	Value float64 // NaN where it is missing
}

// overTimeTokens are the columns that an appendix shows over time.
func overTimeTokens() []string {
	return []string{"ips", "dps", "qps", "tps", "r/s", "w/s", "rMB/s", "wMB/s", "util", "cpu", "wa", "st", "cs/s", "dutil", "cutil", "rss", "pss"}
}

// addReadings adds how the runs went, in so many iterations at most.
func (b *builder) addReadings(a *Appendix, runs []*run, names map[*run]string, most int) {
	if b.in.Readings == nil {
		return
	}
	specs := b.specsOverTime()
	type shown struct {
		run   *run
		phase *PhaseResult
	}
	var all []shown
	seen := map[int64]bool{}
	for _, r := range runs {
		for i := range r.attempt.Phases {
			p := &r.attempt.Phases[i]
			if p.Record == 0 || seen[p.Record] {
				continue // nothing over time, or a phase that another run has shown
			}
			seen[p.Record] = true
			if len(all) < most {
				all = append(all, shown{r, p})
			} else {
				a.HeldBack++
			}
		}
	}
	type result struct {
		PhaseOverTime
		err error
	}
	var last *run
	for i, now := range inParallel(len(all), func(i int) result {
		phase, err := b.phaseOverTime(all[i].run, all[i].phase, specs)
		return result{phase, err}
	}) {
		if now.err != nil {
			b.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Readings not read", Detail: now.err.Error() + "."})
		}
		if len(now.Series) == 0 {
			continue
		}
		if r := all[i].run; r != last {
			a.Runs, last = append(a.Runs, RunOverTime{Name: names[r]}), r
		}
		of := &a.Runs[len(a.Runs)-1]
		of.Phases = append(of.Phases, now.PhaseOverTime)
	}
}

// A timeSpec is a column with the metrics that its formula needs.
type timeSpec struct {
	*Spec
	needs []string
}

func (b *builder) specsOverTime() []timeSpec {
	var specs []timeSpec
	for _, token := range overTimeTokens() {
		spec := b.library.Lookup(token)
		specs = append(specs, timeSpec{spec, formulaMetrics(spec)})
	}
	return specs
}

// phaseOverTime computes what is known of an iteration over time: columns, then
// series that no column shows.
func (b *builder) phaseOverTime(r *run, p *PhaseResult, specs []timeSpec) (PhaseOverTime, error) {
	out := PhaseOverTime{Phase: p.Phase, Seconds: p.Metrics.get("secs"), Status: p.Status}
	if r.last[p.Phase] > 1 {
		out.Iteration = p.Iteration
	}
	series, err := b.in.Readings(p.Record)
	if err != nil {
		return out, err
	}
	series = slices.DeleteFunc(series, func(s matrix.Series) bool { return s.Instance != "" || len(s.Readings) == 0 }) // of a part of the clients
	used := map[string]bool{}
	for _, spec := range specs {
		var all []moment
		if i := slices.IndexFunc(series, func(s matrix.Series) bool { return s.Metric == spec.Token }); i >= 0 {
			all = momentsOf(series[i])
			used[spec.Token] = true
		} else {
			all = computeMoments(only(series, spec.needs), spec.Spec, 0)
		}
		if len(all) == 0 {
			continue
		}
		for _, name := range spec.needs {
			used[name] = true
		}
		format, err := parseFormat(spec.Format)
		if err == nil {
			out.add(TimeSeries{Name: spec.Token, Unit: spec.Unit, Legend: strings.Replace(spec.Legend, ", average of the phase", "", 1)}, all, format)
		}
	}
	for _, s := range series {
		if !used[s.Metric] && !slices.Contains(notOverTime(), s.Metric) {
			all, unit := rawMoments(inMegabytes(s))
			out.add(TimeSeries{Name: s.Metric, Unit: unit}, all, decimals(0))
		}
	}
	return out, nil
}

// notOverTime are metrics that say nothing over time, or what others say.
func notOverTime() []string { return []string{"cpus", "client_rss_peak", "server_rss_peak"} }

func only(series []matrix.Series, metrics []string) []matrix.Series {
	return slices.DeleteFunc(slices.Clone(series), func(s matrix.Series) bool { return !slices.Contains(metrics, s.Metric) })
}

// inMegabytes returns a series of bytes in MB of 1024 kB.
func inMegabytes(s matrix.Series) matrix.Series {
	if s.Unit != "B" {
		return s
	}
	s.Unit, s.Readings = "MB", slices.Clone(s.Readings)
	for i := range s.Readings {
		s.Readings[i].Value /= kB * kB
	}
	return s
}

// isState reports whether readings of a metric are what there was at the time, not
// an increase.
func isState(metric string) bool {
	return strings.HasPrefix(metric, "status_") || strings.Contains(metric, "/") ||
		slices.ContainsFunc([]string{"_rss", "_pss", "_swap"}, func(end string) bool { return strings.HasSuffix(metric, end) })
}

// rawMoments returns the readings of a series that no column shows: a state or a
// rate as it is, an increase for each second of its interval.
func rawMoments(s matrix.Series) ([]moment, string) {
	if isState(s.Metric) || strings.Contains(s.Unit, "/") {
		return momentsOf(s), s.Unit
	}
	var all []moment
	var from time.Duration
	for i, r := range s.Readings {
		interval := r.At - from
		if shortEnd(s.Readings, i, interval) {
			break
		}
		all = append(all, moment{r.At, number(r.Value / interval.Seconds())})
		from = r.At
	}
	return all, s.Unit + "/s"
}

// add adds a series, or its name where it is 0 throughout.
func (p *PhaseOverTime) add(s TimeSeries, all []moment, format numberFormat) {
	low, high := math.Inf(1), math.Inf(-1)
	var known []float64
	for _, m := range all {
		point := TimePoint{At: m.at.Seconds(), Value: math.NaN()}
		if m.value.Known {
			point.Value = m.value.Number
			known = append(known, point.Value)
			low, high = min(low, point.Value), max(high, point.Value)
		}
		s.Points = append(s.Points, point)
	}
	switch {
	case len(known) == 0:
	case low == 0 && high == 0:
		p.Still = append(p.Still, s.Name)
	default:
		format = format.fitted(known)
		s.Low, s.High = format.print(low), format.print(high)
		p.Series = append(p.Series, s)
	}
}
