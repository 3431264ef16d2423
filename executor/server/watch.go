package server

import (
	"errors"
	"time"
)

// A LogEvent is a line of the error log that matters.
type LogEvent struct {
	At    time.Time // when it was read; servers' own stamps are of several clocks
	Class string    // error, warning, long_wait, corruption, no_space, io_error, crash
	Line  string
}

// LogEvents returns what the error log has gained since the last call.
func (i *Instance) LogEvents() ([]LogEvent, error) { return nil, errors.New("not built yet") }

// Movement is what shows that a server does something. Two equal values some
// time apart mean that it stands still.
type Movement struct {
	CPU      time.Duration // user and system, all threads
	Read     uint64        // bytes, from /proc/PID/io
	Written  uint64
	LogBytes int64
	State    string // of the process, such as "S" or "D"
}

// Movement reads the signs of life from /proc and the log, without a query.
func (i *Instance) Movement() (Movement, error) { return Movement{}, errors.New("not built yet") }
