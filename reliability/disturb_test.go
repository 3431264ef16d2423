package reliability

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A kill is what is done to a process, and to which.
type kill struct{ target, kind string }

func (k kill) String() string { return k.kind + " " + k.target }

// Targets of kills, each as often as it is to be chosen, and the kinds of kills. A
// client is a program of a workload or of a setup; a backend is a process that a
// server has started.
var (
	targets = []string{"runner", "runner", "server", "server", "server", "guardian", "backend", "client"}
	kinds   = []string{"KILL", "STOP and KILL", "STOP and CONT", "TERM", "SEGV"}
)

// member returns the process of a family that a kill is for; nil: there is none
// now.
func (f family) member(target string) *process {
	switch target {
	case "runner":
		return f.runner
	case "guardian":
		return f.guardian
	case "server":
		return f.server
	case "backend":
		return f.backend
	}
	return f.client
}

// serverBound is how long a kill waits for the server that it is meant for: a
// runner that copies files has none.
const serverBound = 2 * time.Second

// kill does a random thing to a random process of a runner. It reports what, and
// false where the runner ended before there was something to do it to.
func (c *chaos) kill(r *runner) (kill, bool) {
	f := familyOf(c.t, r.cmd.Process.Pid)
	if c.random.IntN(2) == 0 {
		for deadline := time.Now().Add(serverBound); f.server == nil && time.Now().Before(deadline) && !r.wait(10*time.Millisecond); {
			f = familyOf(c.t, r.cmd.Process.Pid)
		}
	}
	there := slices.DeleteFunc(slices.Clone(targets), func(target string) bool { return f.member(target) == nil })
	if len(there) == 0 {
		return kill{}, false
	}
	k := kill{there[c.random.IntN(len(there))], kinds[c.random.IntN(len(kinds))]}
	return k, c.do(k.kind, *f.member(k.target))
}

// do does one kind of thing to a process. It reports whether the process was
// there.
func (c *chaos) do(kind string, p process) bool {
	pause := between(c.random, 50*time.Millisecond, 800*time.Millisecond)
	switch kind {
	case "KILL":
		return p.signal(c.t, unix.SIGKILL)
	case "TERM":
		return p.signal(c.t, unix.SIGTERM)
	case "SEGV":
		return p.signal(c.t, unix.SIGSEGV)
	case "STOP and KILL", "STOP and CONT":
		if !p.signal(c.t, unix.SIGSTOP) {
			return false
		}
		time.Sleep(pause)
		if kind == "STOP and KILL" {
			return p.signal(c.t, unix.SIGKILL)
		}
		p.signal(c.t, unix.SIGCONT) // it may have been killed meanwhile
		return true
	}
	panic(fmt.Sprintf("no kind of kill is called %q", kind))
}

// between returns a random duration.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}
