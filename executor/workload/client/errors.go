package client

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"dbmatrix/executor/workload"
)

// A class is what an error of a server means to the statement that met it.
type class int

const (
	other class = iota

	// Another client was in the way: the statement, or its transaction, was
	// rolled back and may be sent again.
	deadlock
	lockWait

	duplicate
	tooManyConnections
)

// classes are the errors that mean something, by their code: the numbers of
// MySQL and MariaDB, and the states of PostgreSQL, which are longer.
var classes = map[string]class{
	"1020":  deadlock, // MariaDB with innodb_snapshot_isolation: the row was changed since the transaction began
	"1040":  tooManyConnections,
	"1062":  duplicate,
	"1205":  lockWait,
	"1213":  deadlock,
	"1586":  duplicate, // with the name of the key
	"23505": duplicate,
	"40001": deadlock, // serialization failure
	"40P01": deadlock,
	"53300": tooManyConnections,
	"55P03": lockWait, // lock_timeout, and NOWAIT
}

// codeOf returns the server's code of an error, "" where it is not the server's.
func codeOf(err error) string {
	var m *mysql.MySQLError
	if errors.As(err, &m) {
		return strconv.Itoa(int(m.Number))
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func classOf(err error) class {
	if err == nil {
		return other
	}
	return classes[codeOf(err)]
}

// Duplicate reports whether the error is that of a row whose key is there
// already.
func Duplicate(err error) bool { return classOf(err) == duplicate }

// maxTries bounds how often one statement is sent. A statement that meets a
// thousand deadlocks in a row will meet the next.
const maxTries = 1000

// A Policy says what becomes of a statement that failed.
type Policy struct {
	recorder *workload.Recorder
	allowed  []string
}

// NewPolicy returns a policy that lets errors of the given codes pass, counted.
// It counts on the recorder: deadlocks, lock_waits and errors.
func NewPolicy(r *workload.Recorder, allowed []string) *Policy {
	for _, name := range []string{"deadlocks", "lock_waits", "errors"} {
		r.Count(name, 0)
	}
	return &Policy{recorder: r, allowed: allowed}
}

// Allows reports whether errors and warnings of that code pass.
func (p *Policy) Allows(code string) bool { return slices.Contains(p.allowed, code) }

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
	switch code := codeOf(err); classes[code] {
	case deadlock:
		p.recorder.Count("deadlocks", 1)
	case lockWait:
		p.recorder.Count("lock_waits", 1)
	default:
		if code != "" && p.Allows(code) {
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
// what it did. Retries are counted on the track too. The error is ErrSkipped where
// it failed and that is allowed.
func (p *Policy) Send(t *workload.Track, statement func() (int64, error)) (int64, error) {
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
		t.Retried(1, p.recorder.Elapsed())
	}
}
