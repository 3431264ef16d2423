package sysbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"dbmatrix/executor/workload"
)

// tailLines is how many of the last lines a message shows.
const tailLines = 8

// An output takes what the program prints while it runs: it keeps it, reads it
// line by line, and marks the ends of the measured window.
type output struct {
	raw      io.Writer
	recorder *workload.Recorder
	run      bool // else the window is the whole life of the program
	interval int64

	mu     sync.Mutex
	part   []byte // of a line that is not whole yet
	report report
	tail   []string
	err    error // of writing to raw
}

func newOutput(raw io.Writer, r *workload.Recorder, step string, interval int64) *output {
	return &output{raw: raw, recorder: r, run: step == stepRun, interval: interval}
}

// Write takes a part of the output. The program's two streams may share it.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.raw.Write(p); err != nil && o.err == nil {
		o.err = err // the program is not to fail for it
	}
	o.part = append(o.part, p...)
	for {
		line, rest, whole := bytes.Cut(o.part, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		o.line(string(line))
		o.part = rest
	}
}

func (o *output) line(text string) {
	before := o.report
	o.report.line(text)
	if strings.TrimSpace(text) != "" {
		o.tail = append(o.tail, text)
		o.tail = o.tail[max(0, len(o.tail)-tailLines):]
	}
	if !o.run {
		return
	}
	if o.report.started && !before.started {
		o.recorder.Begin()
	}
	if o.report.reporting && !before.reporting {
		o.recorder.End()
	}
	if n := len(o.report.intervals); n > len(before.intervals) {
		rates := o.report.intervals[n-1].rates
		o.recorder.Advance(int64(math.Round((rates["tps"] + rates["eps"]) * float64(o.interval))))
	}
}

// finish judges the program's end and returns its report. The error shows the
// end of the output.
func (o *output) finish(ctx context.Context, ended error, required []string) (*report, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.part) > 0 {
		o.line(string(o.part))
		o.part = nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	err := ended
	if o.run {
		err = errors.Join(err, o.report.check(required))
	} else if len(o.report.faults) > 0 {
		err = errors.Join(err, errors.New(strings.Join(o.report.faults, "\n")))
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, strings.Join(o.tail, "\n"))
	}
	if o.err != nil {
		return nil, fmt.Errorf("keeping its output: %w", o.err)
	}
	return &o.report, nil
}
