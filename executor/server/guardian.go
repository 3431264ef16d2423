package server

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Guardian is a second process of dbmatrix that is the parent of servers and
// workload programs. It ends them all when the runner is gone, however that came
// about: when the connection between the two closes, a server that is not ready
// gets SIGKILL, one that is ready its stop signal and five seconds later
// SIGKILL, and all other programs SIGKILL.
//
// Its methods may be called from several goroutines.
type Guardian struct{}

// GuardianCommand is the argument that makes dbmatrix a guardian.
const GuardianCommand = "guardian"

// StartGuardian starts exe with the argument GuardianCommand; exe is "" for the
// running program. The guardian lives until Close, or until this process ends.
func StartGuardian(ctx context.Context, exe string) (*Guardian, error) {
	return nil, errors.New("not built yet")
}

// GuardianMain is the guardian's side: what dbmatrix does when its first
// argument is GuardianCommand. It returns the exit code.
func GuardianMain(ctx context.Context, stderr io.Writer) int { return 4 }

// Close ends the guardian and all that it still runs.
func (g *Guardian) Close() error { return errors.New("not built yet") }

// PID returns the guardian's process id.
func (g *Guardian) PID() int { return 0 }

// A Command is a program to be run by the guardian.
type Command struct {
	Path   string
	Args   []string // without the program's own name
	Env    []string
	Dir    string
	Stdin  *os.File // nil: /dev/null
	Stdout *os.File // nil: /dev/null
	Stderr *os.File

	// Stop is the signal that ends a server cleanly once it is ready. Zero:
	// the program is no server and is killed.
	Stop syscall.Signal

	Credential *syscall.Credential // nil: as dbmatrix runs
	OpenFiles  uint64              // limit of open files; 0: as inherited
}

// Start starts a program in a process group of its own.
func (g *Guardian) Start(ctx context.Context, c Command) (*Process, error) {
	return nil, errors.New("not built yet")
}

// Run runs a command of os/exec under the guardian and waits for it, with the
// meaning of exec.Cmd.Run: an exit code other than 0 is an *ExitError. When ctx
// ends, the command's process group gets SIGKILL. Of the command's fields, Path,
// Args, Env, Dir, Stdin, Stdout and Stderr are used.
func (g *Guardian) Run(ctx context.Context, c *exec.Cmd) error {
	return errors.New("not built yet")
}

// A Process is a program that runs under the guardian.
type Process struct {
	ID ProcessID
}

// Done is closed when the process has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return nil }

// Exit returns how the process ended; it is valid once Done is closed.
func (p *Process) Exit() Exit { return Exit{} }

// Signal sends a signal to the process, or to its whole group.
func (p *Process) Signal(s syscall.Signal, group bool) error { return errors.New("not built yet") }

// Ready tells the guardian that the process may be stopped by its stop signal.
func (p *Process) Ready() error { return errors.New("not built yet") }

// An Exit is how a process ended.
type Exit struct {
	Code       int            // exit code, -1 where a signal ended it
	Signal     syscall.Signal // 0: none
	Core       bool           // a core file was written
	User       time.Duration  // CPU time, children that it waited for included
	System     time.Duration
	PeakRSS    uint64 // bytes
	At         time.Time
	Unobserved bool // the guardian itself was lost
}

// An ExitError says that a program ended with something other than 0.
type ExitError struct {
	Program string
	Exit    Exit
}

// Error returns such as "sysbench ended with exit code 1".
func (e *ExitError) Error() string { return e.Program }
