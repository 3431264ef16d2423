package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"dbmatrix/executor/workload"
)

// Error numbers that mean another client was in the way: the statement was
// rolled back and may be sent again.
const (
	lockWaitTimeout = 1205
	deadlock        = 1213
)

// tooManyConnections is the number of the error that a server with all its
// connections taken gives to one more.
const tooManyConnections = 1040

// number returns the server's number of an error, 0 where it is not the server's.
func number(err error) uint16 {
	var server *mysql.MySQLError
	if !errors.As(err, &server) {
		return 0
	}
	return server.Number
}

// maxTries bounds how often one statement is sent. A statement that meets a
// thousand deadlocks in a row will meet the next.
const maxTries = 1000

// A Policy says what becomes of a statement that failed.
type Policy struct {
	recorder *workload.Recorder
	allowed  []uint16
}

// NewPolicy returns a policy that lets errors of the given numbers pass,
// counted. It counts on the recorder: deadlocks, lock_waits and errors.
func NewPolicy(r *workload.Recorder, allowed []uint16) *Policy {
	for _, name := range []string{"deadlocks", "lock_waits", "errors"} {
		r.Count(name, 0)
	}
	return &Policy{recorder: r, allowed: allowed}
}

// Allows reports whether errors and warnings of that number pass.
func (p *Policy) Allows(number uint16) bool { return slices.Contains(p.allowed, number) }

// A Verdict says how to go on after a statement.
type Verdict int

// Verdicts.
const (
	Done  Verdict = iota // it worked
	Again                // it was rolled back: send it again
	Skip                 // it failed, which is allowed: go on with the next
	Fail                 // it failed: the phase does
)

// Judge judges the outcome of the try-th sending of a statement, from 1. The
// error it returns is that of the verdict Fail.
func (p *Policy) Judge(err error, try int) (Verdict, error) {
	if err == nil {
		return Done, nil
	}
	switch number := number(err); number {
	case deadlock:
		p.recorder.Count("deadlocks", 1)
	case lockWaitTimeout:
		p.recorder.Count("lock_waits", 1)
	default:
		if p.Allows(number) {
			p.recorder.Count("errors", 1)
			return Skip, nil
		}
		return Fail, err
	}
	if try >= maxTries {
		return Fail, fmt.Errorf("sent %d times: %w", try, err)
	}
	return Again, nil
}

// ErrSkipped says that a statement failed in a way that the phase allows.
var ErrSkipped = errors.New("the statement failed, which is allowed")

// Send sends a statement until it worked, or must not be sent again, and returns
// what it did. The error is ErrSkipped where it failed and that is allowed.
func (p *Policy) Send(statement func() (int64, error)) (int64, error) {
	for try := 1; ; try++ {
		n, err := statement()
		verdict, err := p.Judge(err, try)
		switch verdict {
		case Done:
			return n, nil
		case Skip:
			return 0, ErrSkipped
		case Fail:
			return n, err
		}
	}
}
