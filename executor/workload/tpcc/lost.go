package tpcc

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// quiet is how long the program may print nothing before the server is asked
// whether it is still there: while transactions are done it prints each second.
const quiet = 3 * time.Second

// looks is how many times in a row, a second apart, the server must have no
// session of the program: between two of its connections it may have none.
const looks = 2

// errLost says that the program goes on without connections.
var errLost = errors.New("the program has lost its connections to the server, says nothing of it, and does not end")

// A silence is how long the program has printed nothing.
type silence struct{ since atomic.Int64 } // Unix time, ns

// broken notes that something was printed.
func (s *silence) broken() { s.since.Store(time.Now().UnixNano()) }

func (s *silence) lasts() time.Duration { return time.Duration(time.Now().UnixNano() - s.since.Load()) }

// watch calls stop where the program is silent and has no session in the server.
// Its driver for PostgreSQL can block for good once connections broke, without a
// line of output (seen with go-tpc 1.0.12). It returns when ctx ends.
func watch(ctx context.Context, t workload.Target, s *silence, stop func(error)) {
	without := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if s.lasts() < quiet {
			without = 0
			continue
		}
		n, err := client.CountSessions(ctx, t, database)
		switch {
		case err == nil && n > 0:
			without = 0
		case err == nil || nobodyListens(err):
			without++
		}
		if without == looks {
			stop(errLost)
			return
		}
	}
}

// nobodyListens reports whether there is no server. One that does not answer is
// somebody else's finding.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}
