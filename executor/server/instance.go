package server

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"dbmatrix/matrix"
)

// A Launch is what a start needs.
type Launch struct {
	Guardian *Guardian
	Settings *matrix.Settings // Server, Options, Env, Storage
	Layout   Layout

	// Port makes the server listen on the loopback address; 0: only the
	// private socket.
	Port int

	// Limits bound the wait for readiness; zero values are the defaults.
	Limits ReadyLimits
}

// ReadyLimits bound the wait until a server is ready.
type ReadyLimits struct {
	Still time.Duration // without any sign of progress; 2 minutes
	Total time.Duration // 5 minutes after a clean stop, else 2 hours
}

// An Address is where a server answers.
type Address struct {
	Flavour string
	Socket  string // path of the unix socket
	Port    int    // on 127.0.0.1; 0: none
	User    string // of the database
}

// DSN returns the data source name for the driver of the flavour
// (go-sql-driver/mysql, pgx), with all timeouts set; database may be "".
func (a Address) DSN(database string) string { return "" }

// An Instance is one running server with its data directory.
type Instance struct{}

// Start writes the option file, starts the server under the guardian, and waits
// until it is ready: the process is alive, a query over its own socket answers,
// and data directory, pid file and version are its own. The error is a
// *StartError where the server is to blame; nothing runs then.
func Start(ctx context.Context, l Launch) (*Instance, error) {
	return nil, errors.New("not built yet")
}

// Address returns where the server answers.
func (i *Instance) Address() Address { return Address{} }

// PID returns the server's process id.
func (i *Instance) PID() int { return 0 }

// DB returns the control connections: few, with timeouts, kept apart from those
// of workloads.
func (i *Instance) DB() *sql.DB { return nil }

// Layout returns where the instance's files are.
func (i *Instance) Layout() Layout { return Layout{} }

// OptionFile returns the path of the option file it was started with.
func (i *Instance) OptionFile() string { return "" }

// ErrorLog returns the path of the error log of this start.
func (i *Instance) ErrorLog() string { return "" }

// Token returns what its processes carry as DBMATRIX_TOKEN.
func (i *Instance) Token() string { return "" }

// StartTook returns the time from the start of the process until it was ready.
func (i *Instance) StartTook() time.Duration { return 0 }

// Done is closed when the server's process has ended.
func (i *Instance) Done() <-chan struct{} { return nil }

// Exit returns how the process ended; it is valid once Done is closed.
func (i *Instance) Exit() Exit { return Exit{} }

// Crash describes an end that nobody asked for: the signal or exit code and what
// the log says, with its last lines. It is for a server whose Done is closed.
func (i *Instance) Crash() string { return "" }

// Stopped is how a stop went.
type Stopped struct {
	Clean    bool // the server ended by itself with exit code 0
	Exit     Exit
	Took     time.Duration
	Why      string // why it is not clean
	Survivor string // what is known of a process that survived SIGKILL, else ""
}

// Stop stops the server by its stop signal, and waits as long as something moves
// (bytes written, dirty pages, log lines): ten minutes without movement or thirty
// minutes in all, then SIGKILL. When ctx ends, SIGKILL comes at once.
func (i *Instance) Stop(ctx context.Context) (Stopped, error) {
	return Stopped{}, errors.New("not built yet")
}

// Kill ends the server by SIGKILL.
func (i *Instance) Kill(ctx context.Context) (Stopped, error) {
	return Stopped{}, errors.New("not built yet")
}

// An identity is what a server says of itself when asked.
type identity struct {
	dataDir string
	pidFile string
	version string
	comment string
	socket  string
}

// A StartError is a start that failed.
type StartError struct {
	Server  string
	Doing   string // what was being done, such as "starting"
	Cause   string // one sentence: the first [ERROR] line where there is one
	Option  string // the option that the cause names, else ""
	LogPath string
	Tail    []string // the last lines of the error log
}

// Error returns all of it.
func (e *StartError) Error() string { return e.Cause }
