package tpcc

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dbmatrix/executor/workload/program"
)

// Numbers of the server's errors that say another client was in the way. That of
// a record that has changed since it was read comes under snapshot isolation,
// which MariaDB has by default from 11.6.2 on.
const (
	recordChanged   = 1020
	lockWaitTimeout = 1205
	deadlock        = 1213
)

// interval is how often the program prints what was done.
const interval = time.Second

// A report is what the program has printed, read line by line.
type report struct {
	allowed []string // numbers of errors

	finished  bool
	summary   map[string]operation // by name, such as NEW_ORDER
	values    map[string]float64   // tpmC, tpm, efficiency
	done      []map[string]float64 // in each interval, by name
	last      string               // name of the last line of an interval
	lastAt    time.Duration        // when it came
	lastIndex int                  // of its interval

	// errors are those that allow_errors lets pass, and unnamed those whose
	// reason the program has lost.
	deadlocks, lockWaits, conflicts, errors, unnamed int64

	pending string   // an error whose number is still to come
	faults  []string // lines that say that it failed, or have no known form
}

// An operation is what a line tells of one kind of transaction. Times are in
// milliseconds.
type operation struct {
	takes                                float64 // seconds
	count                                int64
	perMinute                            float64
	sum                                  float64
	mean, p50, p90, p95, p99, p999, most float64
}

var (
	operationLine = regexp.MustCompile(strings.ReplaceAll(
		`^\[(Current|Summary)\] ([A-Z_]+) * - Takes\(s\): N, Count: ([0-9]+), TPM: N, Sum\(ms\): N, Avg\(ms\): N, `+
			`50th\(ms\): N, 90th\(ms\): N, 95th\(ms\): N, 99th\(ms\): N, 99\.9th\(ms\): N, Max\(ms\): N$`, "N", `([0-9]+\.[0-9])`))
	ratesLine = regexp.MustCompile(strings.ReplaceAll(`^tpmC: N, tpmTotal: N, efficiency: N%$`, "N", `([0-9]+\.[0-9])`))

	// errorStart begins what the program says of a transaction that failed; it
	// may go on for lines, since statements do.
	errorStart = regexp.MustCompile(`^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\] execute run failed, err `)
	// unnamedError is what it says where the server ends a statement while its
	// rows are read: it takes the rows that did not come for rows that are
	// not there. The load has counted them all.
	unnamedError = regexp.MustCompile(`, err (item \([0-9]+, [0-9]+\) not found in stock|item [0-9]+ not found|customer for \(.*\) not found)$`)
	errorNumber  = regexp.MustCompile(`Error ([0-9]+)(?: \([0-9A-Z]+\))?: `)

	// loadLine is what it prints while it loads.
	loadLine = regexp.MustCompile(`^(creating (table|index) \w+|load to \w+( in warehouse [0-9]+( district [0-9]+)?)?)$`)

	// panicLine is how it ends where it cannot go on.
	panicLine = regexp.MustCompile(`^(panic|fatal error): `)
)

// newOrder is the kind of transaction that the benchmark's rate counts.
const newOrder = "NEW_ORDER"

// errSuffix marks the kinds of transactions that failed.
const errSuffix = "_ERR"

// line takes one line, which came at a time since the start of the program.
func (r *report) line(s program.Stream, text string, at time.Duration) {
	if s == program.Stderr {
		// Beside the reasons of its end it says here how many CPUs it uses.
		if panicLine.MatchString(text) {
			r.fault(text)
		}
		return
	}
	switch {
	case errorStart.MatchString(text):
		r.endError()
		r.error(text)
	case r.pending != "" && !r.known(text):
		r.error(r.pending + " " + strings.TrimSpace(text))
	case text == "":
	default:
		r.endError()
		r.whole(text, at)
	}
}

// known reports whether a line has a form of its own, so that it is no part of
// an error.
func (r *report) known(text string) bool {
	return text == "Finished" || strings.HasPrefix(text, "[Current] ") || strings.HasPrefix(text, "[Summary] ") || strings.HasPrefix(text, "tpmC: ")
}

// whole takes a line that is no part of an error.
func (r *report) whole(text string, at time.Duration) {
	switch {
	case text == "Finished":
		r.finished = true
	case loadLine.MatchString(text):
	case strings.HasPrefix(text, "exec statement error: ") && r.serverError(text):
	default:
		if !r.operation(text, at) && !r.rates(text) {
			r.fault("a line of no known form: " + text)
		}
	}
}

func (r *report) operation(text string, at time.Duration) bool {
	match := operationLine.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	count, err := strconv.ParseInt(match[4], 10, 64)
	if err != nil {
		return false
	}
	var o operation
	o.count = count
	for i, number := range []*float64{&o.takes, nil, &o.perMinute, &o.sum, &o.mean, &o.p50, &o.p90, &o.p95, &o.p99, &o.p999, &o.most} {
		if number != nil {
			// The pattern lets nothing through that is no number.
			*number, _ = strconv.ParseFloat(match[i+3], 64)
		}
	}
	if match[1] == "Current" {
		r.current(match[2], count, at)
		return true
	}
	if r.summary == nil {
		r.summary = map[string]operation{}
	}
	r.summary[match[2]] = o
	return true
}

// longestRun bounds the series: a year.
const longestRun = 366 * 24 * time.Hour

// current takes what was done in an interval. The lines of one come together, in
// the order of their names; an interval in which nothing was done has none, so
// the time of the first tells which it is.
func (r *report) current(name string, count int64, at time.Duration) {
	if r.last == "" || name <= r.last || at-r.lastAt > interval/2 {
		// The intervals begin when the program is ready, a moment late.
		ended := int((min(max(at, 0), longestRun) + interval/4) / interval)
		r.lastIndex = max(ended-1, len(r.done))
		for len(r.done) <= r.lastIndex {
			r.done = append(r.done, map[string]float64{})
		}
	}
	r.last, r.lastAt = name, at
	r.done[r.lastIndex][name] += float64(count) / interval.Seconds()
}

func (r *report) rates(text string) bool {
	match := ratesLine.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	r.values = map[string]float64{}
	for i, name := range []string{"tpmC", "tpm", "efficiency"} {
		r.values[name], _ = strconv.ParseFloat(match[i+1], 64)
	}
	return true
}

// error takes what is known so far of a transaction that failed.
func (r *report) error(text string) {
	if unnamedError.MatchString(text) {
		r.pending = ""
		r.unnamed++
		return
	}
	if r.serverError(text) {
		r.pending = ""
		return
	}
	r.pending = program.Shorten(text, longestError)
}

// serverError judges the error of the server that a text tells of, if it does.
func (r *report) serverError(text string) bool {
	if match := errorNumber.FindStringSubmatch(text); match != nil {
		r.judge(match[1], text)
		return true
	}
	if match := postgresError.FindStringSubmatch(text); match != nil {
		r.judgeWords(match[1], text)
		return true
	}
	return false
}

// longestError bounds how long the text of an error may be.
const longestError = 4000

// endError ends an error that has no number: it is not the server's.
func (r *report) endError() {
	if r.pending != "" {
		r.fault(r.pending)
		r.pending = ""
	}
}

// judge counts an error of the server, or finds that it may not be.
func (r *report) judge(number, text string) {
	n, err := strconv.ParseUint(number, 10, 16)
	switch {
	case err != nil:
		r.fault(text)
	case n == deadlock:
		r.deadlocks++
	case n == lockWaitTimeout:
		r.lockWaits++
	case n == recordChanged:
		r.conflicts++
	case slices.Contains(r.allowed, number):
		r.errors++
	default:
		r.fault(text)
	}
}

// mostFaults bounds how many lines of faults a message shows.
const mostFaults = 5

func (r *report) fault(text string) {
	if len(r.faults) < mostFaults {
		r.faults = append(r.faults, program.Shorten(text, 400))
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

// checkLoad reports what is wrong with the output of a load.
func (r *report) checkLoad() error {
	r.endError()
	if err := r.failures(); err != nil {
		return err
	}
	if !r.finished {
		return errors.New("the output is cut short: it does not say Finished")
	}
	return nil
}

// checkRun reports what is wrong with the report of a run, of which the rates
// are the last line.
func (r *report) checkRun() error {
	if err := r.checkLoad(); err != nil {
		return err
	}
	for _, name := range []string{"tpmC", "tpm", "efficiency"} {
		if _, ok := r.values[name]; !ok {
			return fmt.Errorf("the report is cut short, or of a form that is not known, or no new order was done: it does not say %s", name)
		}
	}
	if r.summary[newOrder].count == 0 {
		return errors.New("the report is of a form that is not known: it has a rate of new orders, and no new order")
	}
	return nil
}

// transactions returns how many were done, of all kinds.
func (r *report) transactions() int64 {
	var n int64
	for name, o := range r.summary {
		if !strings.HasSuffix(name, errSuffix) {
			n += o.count
		}
	}
	return n
}

// perSecond returns how many transactions of a kind were done in each second; of
// all kinds where it is "".
func (r *report) perSecond(kind string) []float64 {
	rates := make([]float64, len(r.done))
	for i, done := range r.done {
		for name, n := range done {
			if name == kind || kind == "" && !strings.HasSuffix(name, errSuffix) {
				rates[i] += n
			}
		}
	}
	return rates
}
