package pgbench

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"dbmatrix/executor/workload/program"
)

// A report is what the program has printed, read line by line.
type report struct {
	seconds []second
	values  map[string]float64 // by our names, see forms
	faults  []string           // lines that say that a client failed, or have no known form
}

// A second is a progress line: what happened since the line before.
type second struct {
	at  float64 // since the start, seconds
	tps float64
}

// A form is a line of the report with its numbers, each of which has a name of
// ours. A name that is empty is not kept.
type form struct {
	pattern *regexp.Regexp
	names   []string
}

func newForm(pattern string, names ...string) form {
	return form{regexp.MustCompile("^" + strings.NewReplacer(
		"N", `([0-9]+(?:\.[0-9]+)?)`,
		" = ", `(?: =|:) `, // until 9.5 with a colon
		"SHARE", `\((?:[0-9.]+|-?[nN]a[nN]) ?%\)`,
	).Replace(pattern) + "$"), names}
}

// forms are the lines that the program prints to its standard output.
var forms = []form{
	newForm(`pgbench \(.*\)`),
	newForm(`transaction type: .+`),
	newForm(`scaling factor: N`, ""),
	newForm(`partition method: \w+`),
	newForm(`partitions: N`, ""),
	newForm(`query mode: \w+`),
	newForm(`number of clients: N`, "clients"),
	newForm(`number of threads: N`, "threads"),
	newForm(`maximum number of tries: N`, ""),
	newForm(`number of transactions per client: N`, ""),
	newForm(`duration: N s`, ""),
	newForm(`number of transactions actually processed: N`, "transactions"),
	newForm(`number of transactions actually processed: N/N`, "transactions", "wanted"),
	newForm(`number of failed transactions: N SHARE`, "failed"),
	newForm(`number of serialization failures: N SHARE`, "serialization_failures"),
	newForm(`number of deadlock failures: N SHARE`, "deadlocks"),
	newForm(`number of transactions retried: N SHARE`, "retried"),
	newForm(`total number of retries: N`, "retries"),
	newForm(`number of transactions skipped: N SHARE`, "skipped"),
	newForm(`number of transactions above the N ms latency limit: N/N SHARE`, "", "late", ""),
	newForm(`latency average = N ms(?: \(including failures\))?`, "lat_mean"),
	newForm(`latency stddev = N ms`, "lat_stddev"),
	newForm(`rate limit schedule lag: avg N \(max N\) ms`, "lag_mean", "lag_max"),
	newForm(`initial connection time = N ms`, "connect"),
	newForm(`tps = N \(without initial connection time\)`, "tps"),
	newForm(`tps = N \(including connections establishing\)`, "tps_connecting"),
	newForm(`tps = N \(excluding connections establishing\)`, "tps"),
	newForm(`SQL script [0-9]+: .+`),
	newForm(` - .+`), // of each script
}

// progressLine is that of 9.4 to 17. Where nothing was done its response times
// are 0, or no numbers in older versions.
var progressLine = regexp.MustCompile(`^progress: ([0-9]+\.[0-9]) s, ([0-9]+\.[0-9]) tps, lat (?:[0-9.]+|-?nan) ms stddev (?:[0-9.]+|-?nan)` +
	`(?:, [0-9]+ failed)?(?:, lag (?:[0-9.]+|-?nan) ms)?(?:, [0-9]+ skipped)?(?:, [0-9]+ retried, [0-9]+ retries)?$`)

// failureLine says that a client failed, or the program did.
var failureLine = regexp.MustCompile(`^pgbench: (error|fatal): |(?i:^(pgbench: )?client [0-9]+ .*aborted)|^(ERROR|FATAL|PANIC): `)

// line takes one line of the program's output.
func (r *report) line(s program.Stream, text string) {
	switch {
	case text == "":
	case failureLine.MatchString(text):
		r.fault(text)
	case strings.HasPrefix(text, "progress: "):
		r.progress(text)
	case s == program.Stdout:
		r.final(text)
	}
}

func (r *report) progress(text string) {
	match := progressLine.FindStringSubmatch(text)
	if match == nil {
		r.unknown(text)
		return
	}
	// The pattern lets nothing through that is no number.
	at, _ := strconv.ParseFloat(match[1], 64)
	tps, _ := strconv.ParseFloat(match[2], 64)
	r.seconds = append(r.seconds, second{at, tps})
}

func (r *report) final(text string) {
	if r.values == nil {
		r.values = map[string]float64{}
	}
	for _, f := range forms {
		match := f.pattern.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		for i, name := range f.names {
			if name != "" {
				r.values[name], _ = strconv.ParseFloat(match[i+1], 64)
			}
		}
		return
	}
	r.unknown(text)
}

func (r *report) unknown(text string) {
	r.fault("a line of no known form: " + text)
}

// mostFaults bounds how many lines of faults a message shows.
const mostFaults = 5

func (r *report) fault(text string) {
	if len(r.faults) < mostFaults {
		r.faults = append(r.faults, program.Shorten(text, longestFault))
	}
}

// longestFault bounds the length of each of them.
const longestFault = 400

// failures returns the faults as an error, or nil.
func (r *report) failures() error {
	var faults []error
	for _, fault := range r.faults {
		faults = append(faults, errors.New(fault))
	}
	return errors.Join(faults...)
}

// check reports what is wrong with the report of a run: clients that failed,
// lines of other forms, values that are not there.
func (r *report) check() error {
	var faults []error
	if err := r.failures(); err != nil {
		faults = append(faults, err)
	}
	for _, name := range []string{"clients", "transactions", "lat_mean", "tps"} {
		if _, ok := r.values[name]; !ok {
			faults = append(faults, fmt.Errorf("the report is cut short, or of a form that is not known: it does not say %s", name))
			break
		}
	}
	wanted, bounded := r.values["wanted"]
	done := r.values["transactions"] + r.values["failed"] + r.values["skipped"]
	switch {
	case len(faults) > 0:
	case r.values["transactions"] == 0:
		faults = append(faults, errors.New("no transaction was done"))
	case bounded && done < wanted:
		faults = append(faults, fmt.Errorf("only %.0f of %.0f transactions were done", done, wanted))
	}
	return errors.Join(faults...)
}

// rates returns the transactions per second of each second. A line that is late,
// since the program or the server stood still, tells of all seconds since the
// one before.
func (r *report) rates() []float64 {
	var rates []float64
	for _, s := range r.seconds {
		for len(rates) < int(math.Round(s.at)) && len(rates) < mostSeconds {
			rates = append(rates, s.tps)
		}
	}
	return rates
}

// mostSeconds bounds the series: a year.
const mostSeconds = 366 * 24 * 3600
