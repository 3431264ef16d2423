package server

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// LogEvents returns what the error log has gained since the last call, of lines
// that matter. It is to be called from one goroutine at a time.
func (i *Instance) LogEvents() ([]LogEvent, error) {
	lines, err := i.events.next()
	var events []LogEvent
	for _, line := range lines {
		if class := classify(line); class != "" {
			events = append(events, LogEvent{At: time.Now(), Class: class, Line: line})
		}
	}
	return events, err
}

// Movement is what shows that a server does something. Two equal values some
// time apart mean that it stands still.
type Movement struct {
	CPU      time.Duration // user and system, all threads
	Read     uint64        // bytes, from /proc/PID/io; 0 where that may not be read
	Written  uint64
	LogBytes int64
	State    string // of the process, such as "S" or "D"
}

// Movement reads the signs of life from /proc and the log, without a query.
func (i *Instance) Movement() (Movement, error) {
	p, err := procfs.NewProc(i.process.ID.PID)
	if err != nil {
		return Movement{}, err
	}
	st, err := p.Stat()
	if err != nil || st.Starttime != i.process.ID.Start {
		return Movement{}, fmt.Errorf("process %d has ended", i.process.ID.PID)
	}
	m := Movement{CPU: time.Duration(st.UTime+st.STime) * clockTick, State: st.State}
	if io, err := p.IO(); err == nil {
		m.Read, m.Written = io.RChar, io.WChar
	}
	if info, err := os.Stat(i.log); err == nil {
		m.LogBytes = info.Size()
	}
	return m, nil
}

// A patience says when a wait has lasted too long: in all, or without anything
// having moved.
type patience struct {
	limits ReadyLimits
	begin  time.Time
	moved  time.Time
	last   Movement
}

// newPatience begins a wait now.
func newPatience(l ReadyLimits) *patience {
	now := time.Now()
	return &patience{limits: l, begin: now, moved: now}
}

// idleCPU is the share of one CPU that a server uses while it only waits: timers
// of its background threads. More than that is movement.
const idleCPU = 0.02

// Moved reports whether a server has done more than wait since an earlier look,
// which was so long ago.
func (m Movement) Moved(earlier Movement, ago time.Duration) bool {
	busy := m.CPU-earlier.CPU > time.Duration(idleCPU*float64(ago))+clockTick
	return busy || m.Written != earlier.Written || m.LogBytes != earlier.LogBytes || m.Read > earlier.Read+1<<16
}

// lost says why the wait is over, or "".
func (p *patience) lost(m Movement, now time.Time) string {
	quiet := now.Sub(p.moved)
	if m.Moved(p.last, quiet) {
		p.last, p.moved, quiet = m, now, 0
	}
	if quiet > p.limits.Still {
		return fmt.Sprintf("nothing has moved for %s", quiet.Round(time.Second))
	}
	if all := now.Sub(p.begin); all > p.limits.Total {
		return fmt.Sprintf("it took over %s", p.limits.Total)
	}
	return ""
}
