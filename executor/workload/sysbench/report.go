package sysbench

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/program"
)

// A report is what the program has printed, read line by line.
type report struct {
	started   bool // the threads run
	reporting bool // the measuring is over

	intervals []interval
	buckets   []bucket           // of the histogram, by rising value
	values    map[string]float64 // by our names, see finalLines
	faults    []string           // lines that say FATAL, or have no known form
}

// An interval is a line that the program prints while it runs.
type interval struct {
	at    float64 // seconds since its start
	rates map[string]float64
}

// A bucket is a line of the histogram.
type bucket struct {
	milliseconds float64
	count        int64
}

const number = `([0-9]+(?:\.[0-9]+)?)`

// intervalForms are the lines "[ 1s ] ...", with the names of their numbers. A
// name that is empty is not kept.
var intervalForms = []form{
	newForm(`thds: \d+ tps: N qps: N \(r/w/o: N/N/N\) lat \(ms,\d+%\): N err/s: N reconn/s: N`,
		"tps", "qps", "", "", "", "", "errors", "reconnects"),
	newForm(`thds: \d+ eps: N lat \(ms,\d+%\): N`, "eps", ""),
	newForm(`reads: N MiB/s writes: N MiB/s fsyncs: N/s latency \(ms,\d+%\): N`,
		"file_read_mib", "file_write_mib", "file_fsyncs", ""),
	newForm(`N MiB/sec`, "memory_mib"),
	newForm(`queue length: N,? concurrency: N`, "", ""),
}

// finalForms are the lines of the report. Those of 1.0 and 1.1 differ in
// where the totals stand and in how file rates are told.
var finalForms = []form{
	newForm(`transactions: +N +\(N per sec\.\)`, "transactions", "tps"),
	newForm(`queries: +N +\(N per sec\.\)`, "queries", "qps"),
	newForm(`ignored errors: +N +\(N per sec\.\)`, "errors", ""),
	newForm(`reconnects: +N +\(N per sec\.\)`, "reconnects", ""),
	newForm(`total number of events: +N`, "events"),
	newForm(`total time: +N?s`, "total_time"),
	newForm(`time elapsed: +N?s`, "total_time"),
	newForm(`events per second: +N`, "eps"),
	newForm(`events/s \(eps\): +N`, "eps"),
	newForm(`reads/s: +N`, "file_reads"),
	newForm(`writes/s: +N`, "file_writes"),
	newForm(`fsyncs/s: +N`, "file_fsyncs"),
	newForm(`read, MiB/s: +N`, "file_read_mib"),
	newForm(`written, MiB/s: +N`, "file_write_mib"),
	newForm(`read: +IOPS=N N MiB/s \(N MB/s\)`, "file_reads", "file_read_mib", ""),
	newForm(`write: +IOPS=N N MiB/s \(N MB/s\)`, "file_writes", "file_write_mib", ""),
	newForm(`fsync: +IOPS=N`, "file_fsyncs"),
	newForm(`N MiB transferred \(N MiB/sec\)`, "", "memory_mib"),
	newForm(`min: +N`, "lat_min"),
	newForm(`avg: +N`, "lat_mean"),
	newForm(`max: +N`, "lat_max"),
	newForm(`sum: +N`, "lat_sum"),
}

// A form is a line with numbers.
type form struct {
	pattern *regexp.Regexp
	names   []string // of its numbers
}

func newForm(pattern string, names ...string) form {
	return form{regexp.MustCompile("^" + strings.ReplaceAll(strings.ReplaceAll(pattern, "N?", number), "N", number) + "$"), names}
}

// read takes the numbers of a line of this form.
func (f *form) read(line string, into map[string]float64) bool {
	match := f.pattern.FindStringSubmatch(line)
	if match == nil {
		return false
	}
	for i, name := range f.names {
		if name == "" {
			continue
		}
		// The pattern lets nothing through that is no number.
		into[name], _ = strconv.ParseFloat(match[i+1], 64)
	}
	return true
}

var (
	intervalLine = regexp.MustCompile(`^\[ ` + number + `s \] (.*)$`)
	bucketLine   = regexp.MustCompile(`^ *` + number + ` \|[* ]* ?([0-9]+)$`)
)

// reportHeads begin the report; whichever comes first ends the measuring.
var reportHeads = []string{
	"Latency histogram", "SQL statistics:", "File operations:", "CPU speed:", "Throughput:",
	"General statistics:", "Total operations:",
}

// line takes one line of the program's output.
func (r *report) line(text string) {
	line := strings.TrimSpace(text)
	switch {
	case strings.Contains(line, "FATAL:") || strings.HasPrefix(line, "ALERT:"):
		r.fault(line)
	case line == "Threads started!":
		r.started = true
	case strings.HasPrefix(line, "[ "):
		r.interval(line)
	case slices.ContainsFunc(reportHeads, func(head string) bool { return strings.HasPrefix(line, head) }):
		r.reporting = true
	case !r.reporting:
	default:
		r.final(text, line)
	}
}

func (r *report) interval(line string) {
	match := intervalLine.FindStringSubmatch(line)
	if match == nil {
		r.fault("a line of no known form: " + line)
		return
	}
	at, _ := strconv.ParseFloat(match[1], 64)
	rates := map[string]float64{}
	for _, f := range intervalForms {
		if f.read(match[2], rates) {
			if len(rates) > 0 {
				r.intervals = append(r.intervals, interval{at, rates})
			}
			return
		}
	}
	r.fault("a line of no known form: " + line)
}

// final takes a line of the report.
func (r *report) final(text, line string) {
	if match := bucketLine.FindStringSubmatch(text); match != nil {
		ms, _ := strconv.ParseFloat(match[1], 64)
		count, err := strconv.ParseInt(match[2], 10, 64)
		if err != nil {
			r.fault("a line of no known form: " + line)
			return
		}
		r.buckets = append(r.buckets, bucket{ms, count})
		return
	}
	if r.values == nil {
		r.values = map[string]float64{}
	}
	for _, f := range finalForms {
		if f.read(line, r.values) {
			return
		}
	}
}

const (
	// mostFaults bounds how many lines of faults a message shows, and
	// longestFault the length of each.
	mostFaults   = 5
	longestFault = 400
)

func (r *report) fault(text string) {
	if len(r.faults) < mostFaults {
		r.faults = append(r.faults, program.Shorten(text, longestFault))
	}
}

// mark marks the ends of the measured window as the lines tell them, and what is
// done so far; before is the report without the newest line, interval how many
// seconds a line of rates is about.
func (r *report) mark(to *workload.Recorder, before *report, interval int64) {
	if r.started && !before.started {
		to.Begin()
	}
	if r.reporting && !before.reporting {
		to.End()
	}
	if n := len(r.intervals); n > len(before.intervals) {
		rates := r.intervals[n-1].rates
		to.Advance(int64(math.Round((rates["tps"] + rates["eps"]) * float64(interval))))
	}
}

// failures returns the faults as an error, or nil.
func (r *report) failures() error {
	var faults []error
	for _, fault := range r.faults {
		faults = append(faults, errors.New(fault))
	}
	return errors.Join(faults...)
}

// check reports what the report of a run lacks: above all the named values.
func (r *report) check(required []string) error {
	var faults []error
	if err := r.failures(); err != nil {
		faults = append(faults, err)
	}
	if !r.started {
		faults = append(faults, errors.New("the threads did not start"))
	}
	// The sum of the response times is what the report ends with.
	for _, name := range append([]string{"lat_mean", "lat_max", "lat_sum"}, required...) {
		if _, ok := r.values[name]; !ok {
			faults = append(faults, fmt.Errorf("the report is cut short, or of a form that is not known: it does not say %s", name))
			break
		}
	}
	if len(faults) == 0 && r.work() == 0 {
		faults = append(faults, errors.New("no event was done, or the report is of a form that is not known"))
	}
	return errors.Join(faults...)
}

// work returns something that is not 0 where the run did anything.
func (r *report) work() float64 {
	return r.values["events"] + r.values["transactions"] + r.values["file_reads"] + r.values["file_writes"] + r.values["file_fsyncs"]
}

// latency returns the response time, in milliseconds, that p percent of the
// events did not exceed: the value of the first bucket at which as many are
// reached, as the program itself has it. It is false without a histogram.
func (r *report) latency(p float64) (float64, bool) {
	var total int64
	for _, b := range r.buckets {
		total += b.count
	}
	wanted := int64(math.Floor(float64(total)*p/100 + 0.5))
	var reached int64
	for _, b := range r.buckets {
		if reached += b.count; reached >= wanted {
			return b.milliseconds, true
		}
	}
	return 0, false
}
