package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"dbmatrix/executor/server"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// ErrInterrupted is the cause with which the context of Run is cancelled to stop
// the server that is running and leave.
var ErrInterrupted = errors.New("interrupted")

// errFinished ends a run between two iterations, because the caller asked for an
// end after the iteration under way.
var errFinished = errors.New("ended after the iteration under way, as asked")

// A failure is an error that ends a phase, with the status that it ends with.
type failure struct {
	status  matrix.Status
	err     error    // one sentence: the cause
	details []string // evidence: log lines, paths
	build   bool     // the build of the cell cannot start at all
	init    string   // not "": the key of the template that the build cannot make
	host    error    // an *EnvironmentError: the host is at fault, nothing more is started
	kill    bool     // the server cannot stop by itself: what it writes does not arrive
	device  string   // not "": nothing more may run on this directory's device, and why
	stale   bool     // what was to be measured has changed: the next plan has something new
}

// Error returns the cause fit for a terminal and the record: it may quote what a
// program printed.
func (f *failure) Error() string { return server.Clean(f.err.Error()) }
func (f *failure) Unwrap() error { return f.err }

// failed returns a failure of status failed.
func failed(format string, args ...any) *failure {
	return &failure{status: matrix.Failed, err: fmt.Errorf(format, args...)}
}

// judge turns any error into a failure: what it is of itself, or what its kind
// says. An error of no known kind is the status failed.
func judge(err error) *failure {
	var f *failure
	var start *server.StartError
	var init *server.InitError
	var survived *server.SurvivedError
	var sla *workload.SLAError
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrInterrupted), errors.Is(err, errFinished), errors.Is(err, context.Canceled):
		return &failure{status: matrix.Interrupted, err: err}
	case errors.As(err, &sla):
		return &failure{status: matrix.SLAMissed, err: err}
	case errors.As(err, &survived):
		return &failure{status: matrix.Hung, err: survived, device: survived.Dir}
	case errors.As(err, &init):
		return &failure{status: matrix.Failed, err: err, init: init.Key}
	case errors.As(err, &start):
		return startFailure(start)
	}
	return &failure{status: matrix.Failed, err: err}
}

// startFailure words a server that did not start. Where the server names an
// option, the option's cells are at fault; else the build is, and its other
// cells need not be tried.
func startFailure(e *server.StartError) *failure {
	f := &failure{status: matrix.Failed, build: e.Option == ""}
	f.err = fmt.Errorf("%s %s: %s", e.Doing, e.Server, e.Cause)
	if e.Option != "" {
		f.err = fmt.Errorf("%w; dbmatrix plan --check-options asks the server about all option files before a run", f.err)
	}
	f.details = append(f.details, e.Tail...)
	if e.LogPath != "" {
		f.details = append(f.details, "error log: "+e.LogPath)
	}
	return f
}

// worst returns the worse of two statuses: the status of a run is the worst of
// its phases'.
func worst(a, b matrix.Status) matrix.Status {
	order := []matrix.Status{
		"", matrix.OK, matrix.SLAMissed, matrix.Interrupted, matrix.Skipped,
		matrix.Invalid, matrix.Failed, matrix.TimedOut, matrix.Hung, matrix.Crashed,
	}
	for i := len(order) - 1; i >= 0; i-- {
		if order[i] == a || order[i] == b {
			return order[i]
		}
	}
	return matrix.Failed
}

// isDiskFull reports whether an error comes from a full disk or quota.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(err.Error(), "database or disk is full") // SQLite, whose error holds no errno
}
