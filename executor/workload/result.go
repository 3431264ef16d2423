package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Units of metrics.
const (
	UnitSeconds = "s"
	UnitBytes   = "B"
	UnitRate    = "1/s"
	UnitCount   = "count"
)

// A Result is what one iteration yielded.
type Result struct {
	Start, End time.Time // of the window; zero where it never began, or never ended
	Metrics    []Metric  // sorted by name
	Histograms []Histogram
	Series     []Series
	Facts      []Fact
	Plans      []Plan
	Artifacts  []string // names of files in the recorder's directory
}

// Metric returns the value of the named metric, and whether there is one.
func (r *Result) Metric(name string) (float64, bool) {
	for _, m := range r.Metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// A Metric is one named number.
type Metric struct {
	Name, Unit string // the unit is one of those above
	Value      float64
}

// A Histogram is the response times of one operation, all clients together, in
// nanoseconds.
type Histogram struct {
	Op   string
	Hist *hdrhistogram.Histogram
}

// A Series is a rate over time.
type Series struct {
	Name     string // such as ips
	Client   int    // from 1; 0 is all together
	Unit     string // "" is UnitRate
	Interval time.Duration
	Values   []float64 // the i-th is of [i, i+1) intervals after Start
}

// A Fact is a named text.
type Fact struct{ Name, Value string }

// A Plan is how the server says it runs a query.
type Plan struct{ Query, Text string }

// Result returns all that was recorded. Call it once the workload has returned.
// Rates and response times are there only where the window has ended.
func (r *Recorder) Result() Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := Result{
		End:        r.end,
		Histograms: slices.Clone(r.histograms),
		Series:     slices.Clone(r.series),
		Facts:      slices.Clone(r.facts),
		Plans:      slices.Clone(r.plans),
		Artifacts:  slices.Clone(r.artifacts),
	}
	if start := r.start.Load(); start != nil {
		result.Start = *start
	}
	metrics := maps.Clone(r.metrics)
	if !result.Start.IsZero() && !result.End.IsZero() {
		window := result.End.Sub(result.Start)
		add := func(name, unit string, value float64) { metrics[name] = Metric{name, unit, value} }
		add("secs", UnitSeconds, window.Seconds())
		for _, o := range r.operations {
			o.result(&result, add, window, r.firstClient)
		}
	}
	result.Metrics = slices.SortedFunc(maps.Values(metrics), func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return result
}

// result adds what the tracks of an operation hold.
func (o *operation) result(result *Result, add func(name, unit string, value float64), window time.Duration, firstClient bool) {
	hist := hdrhistogram.New(lowestLatency, highestLatency, latencyDigits)
	var calls, items, longest int64
	var sum float64
	for _, t := range o.tracks {
		hist.Merge(t.hist)
		calls, items, sum, longest = calls+t.calls, items+t.items, sum+t.sum, max(longest, t.longest)
	}
	if o.Calls != "" {
		add(o.Calls, UnitCount, float64(calls))
	}
	if o.Items != "" {
		add(o.Items, UnitCount, float64(items))
	}
	if calls > 0 {
		for _, p := range []float64{50, 95, 99} {
			add(fmt.Sprintf("lat_%s_p%g", o.Name, p), UnitSeconds, float64(hist.ValueAtQuantile(p))/1e9)
		}
		add("lat_"+o.Name+"_mean", UnitSeconds, sum/float64(calls)/1e9)
		add("lat_"+o.Name+"_max", UnitSeconds, float64(longest)/1e9)
		result.Histograms = append(result.Histograms, Histogram{o.Name, hist})
	}
	if o.Rate != "" {
		o.rates(result, add, window, firstClient)
	}
}

// rates adds the rates of each interval, and their percentiles where there are
// intervals enough.
func (o *operation) rates(result *Result, add func(name, unit string, value float64), window time.Duration, firstClient bool) {
	total, longestEach := make([]float64, int(window/Interval)), make([]float64, int(window/Interval))
	var pooled []float64
	longest := 0
	for _, t := range o.tracks {
		rates := t.rates(window)
		result.Series = append(result.Series, Series{Name: o.Rate, Client: t.client, Interval: Interval, Values: rates})
		for i := range total {
			if i < len(t.each) {
				total[i] += float64(t.each[i].Done) / Interval.Seconds()
				longestEach[i] = max(longestEach[i], t.each[i].Longest.Seconds())
			}
		}
		if !firstClient || t.client == 1 {
			pooled = append(pooled, rates...)
			longest = max(longest, len(rates))
		}
	}
	result.Series = append(result.Series, Series{Name: o.Rate, Interval: Interval, Values: total},
		Series{Name: "lat_" + o.Name + "_max", Unit: UnitSeconds, Interval: Interval, Values: longestEach})
	if longest < minIntervals {
		return
	}
	for _, p := range ratePercentiles {
		add(fmt.Sprintf("%s_p%d", o.Rate, p), UnitRate, rate(pooled, p))
	}
}
