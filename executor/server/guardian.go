package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// GuardianCommand is the argument that makes dbmatrix a guardian.
const GuardianCommand = "guardian"

// A Guardian is a second process of dbmatrix that is the parent of servers and
// workload programs. It ends them all when the runner is gone, however that came
// about: when the connection between the two closes, a server that is not ready
// gets SIGKILL, one that is ready its stop signal and five seconds later
// SIGKILL, and all other programs SIGKILL.
//
// Its methods may be called from several goroutines.
type Guardian struct {
	cmd  *exec.Cmd
	id   ProcessID
	conn *net.UnixConn

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan answer
	running map[uint64]*Process
	lost    error // why the connection is gone
}

// StartGuardian starts exe with the argument GuardianCommand; exe is "" for the
// running program. The guardian lives until Close, or until this process ends.
// It has a session of its own, so that Ctrl-C and a closed terminal reach only
// the runner.
func StartGuardian(ctx context.Context, exe string) (*Guardian, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if exe == "" {
		// Not os.Executable's path: the program may have been replaced
		// since it was started.
		exe = "/proc/self/exe"
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("connecting to the guardian: %w", err)
	}
	defer theirs.Close()
	cmd := exec.Command(exe, GuardianCommand)
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("starting the guardian: %w", err)
	}
	g := &Guardian{cmd: cmd, conn: ours, waiting: map[uint64]chan answer{}, running: map[uint64]*Process{}}
	if g.id, err = processID(cmd.Process.Pid); err != nil {
		g.Close()
		return nil, fmt.Errorf("starting the guardian: %w", err)
	}
	go g.listen()
	if _, err := g.ask(ctx, request{Op: opHello}, nil); err != nil {
		g.Close()
		return nil, fmt.Errorf("starting the guardian (%s %s): %w", exe, GuardianCommand, err)
	}
	return g, nil
}

// socketPair returns the two ends of the connection. Messages keep their
// boundaries, carry open files, and the end of one side shows on the other.
func socketPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "guardian")
	ours, err := unixConn(fds[0])
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// unixConn makes a connection of a socket, and takes the socket over.
func unixConn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "guardian")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("file %d is a connection of type %T", fd, c)
	}
	return conn, nil
}

// Lost reports whether the guardian has ended: all that it ran has ended with it.
func (g *Guardian) Lost() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lost != nil
}

// PID returns the guardian's process id.
func (g *Guardian) PID() int { return g.cmd.Process.Pid }

// Close ends the guardian and all that it still runs. It waits for that: at most
// the time that the guardian gives a server to stop.
func (g *Guardian) Close() error {
	err := g.conn.Close()
	if werr := g.cmd.Wait(); err == nil {
		err = werr
	}
	return err
}

// Operations of a request.
const (
	opHello  = "hello"
	opStart  = "start"
	opReady  = "ready"
	opSignal = "signal"
	opExit   = "exit" // of an answer that nobody asked for: a process has ended
)

// A request is what the runner asks of the guardian; open files travel with it.
type request struct {
	ID      uint64
	Op      string
	Process uint64 // number that the runner gives a process
	Start   *startRequest
	Signal  syscall.Signal
	Group   bool
}

// A startRequest describes a program to start. Its standard files are the open
// files of the message, in the order of Files.
type startRequest struct {
	Path       string
	Args       []string // with the program's own name first
	Env        []string
	Dir        string
	Files      []int // descriptors in the new process: 0, 1, 2
	Stop       syscall.Signal
	Alone      bool
	Credential *syscall.Credential
}

// An answer is what the guardian says to a request, or by itself when a process
// has ended.
type answer struct {
	ID      uint64
	Op      string
	Process uint64
	Error   string
	ProcID  ProcessID
	Exit    Exit
}

// ask sends a request and waits for its answer.
func (g *Guardian) ask(ctx context.Context, r request, files []*os.File) (answer, error) {
	reply := make(chan answer, 1)
	g.mu.Lock()
	if g.lost != nil {
		g.mu.Unlock()
		return answer{}, g.lost
	}
	g.last++
	r.ID = g.last
	g.waiting[r.ID] = reply
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.waiting, r.ID)
		g.mu.Unlock()
	}()
	if err := send(g.conn, r, files); err != nil {
		return answer{}, err
	}
	select {
	case a, ok := <-reply:
		if !ok {
			return answer{}, errGuardianLost
		}
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

// errGuardianLost says that the guardian has ended: everything it ran has ended
// with it.
var errGuardianLost = errors.New("the guardian process is gone, and with it all that it ran")

// send writes one message with open files.
func send(conn *net.UnixConn, message any, files []*os.File) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err = conn.WriteMsgUnix(b, oob, nil)
	if errors.Is(err, unix.EMSGSIZE) {
		err = fmt.Errorf("its arguments and environment are too long: %d bytes", len(b))
	}
	return err
}

// messageSize bounds a message: the default limit of a socket's buffer, which
// bounds it in any case, is smaller.
const messageSize = 1 << 20

// listen takes what the guardian says until the connection ends.
func (g *Guardian) listen() {
	buf := make([]byte, messageSize)
	for {
		n, err := g.conn.Read(buf)
		if err != nil {
			g.lose()
			return
		}
		var a answer
		if err := json.Unmarshal(buf[:n], &a); err != nil {
			continue // only our own other half writes here
		}
		g.hear(a)
	}
}

// hear acts on one answer. The end of a short process may be told before its
// start.
func (g *Guardian) hear(a answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.running[a.Process]
	if p != nil && p.ID.PID == 0 {
		p.ID = a.ProcID
	}
	if a.Op != opExit {
		if c := g.waiting[a.ID]; c != nil {
			c <- a
		}
		return
	}
	if p != nil {
		delete(g.running, a.Process)
		p.end(a.Exit)
	}
}

// lose ends all waits after the guardian is gone. Its processes get SIGKILL from
// the kernel then; they count as ended once they are gone.
func (g *Guardian) lose() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = errGuardianLost
	for _, c := range g.waiting {
		close(c)
	}
	for _, p := range g.running {
		go p.endUnobserved()
	}
	g.waiting, g.running = map[uint64]chan answer{}, map[uint64]*Process{}
}

// A Command is a program to be run by the guardian.
type Command struct {
	Path   string
	Args   []string // with the program's own name first, as in exec.Cmd
	Env    []string
	Dir    string
	Stdin  *os.File // nil: /dev/null
	Stdout *os.File // nil: /dev/null
	Stderr *os.File

	// Stop is the signal that ends a server cleanly once it is ready. Zero:
	// the program is no server and is killed.
	Stop syscall.Signal

	// Alone has its exit tell of a process that it leaves in its group, once
	// that has had a second to leave it, as daemons do.
	Alone bool

	Credential *syscall.Credential // nil: as dbmatrix runs
}

// Start starts a program in a process group of its own. It waits only for the
// start, not for the program.
func (g *Guardian) Start(ctx context.Context, c Command) (*Process, error) {
	s := &startRequest{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Stop: c.Stop, Alone: c.Alone, Credential: c.Credential}
	var files []*os.File
	for fd, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if f != nil {
			files = append(files, f)
			s.Files = append(s.Files, fd)
		}
	}
	g.mu.Lock()
	g.last++
	p := &Process{guardian: g, number: g.last, done: make(chan struct{})}
	g.running[p.number] = p
	g.mu.Unlock()
	// A start is not broken off halfway: there would be a process that
	// nobody knows of.
	_, err := g.ask(context.WithoutCancel(ctx), request{Op: opStart, Process: p.number, Start: s}, files)
	if err != nil {
		g.mu.Lock()
		delete(g.running, p.number)
		g.mu.Unlock()
		return nil, fmt.Errorf("starting %s: %w", c.Path, err)
	}
	return p, nil
}

// outputDelay bounds the wait for the output of a command that has ended: its
// process group is dead then, and only a process that left the group can still
// hold the pipe.
const outputDelay = 5 * time.Second

// Run runs a command of os/exec under the guardian and waits for it, with the
// meaning of exec.Cmd.Run: an exit code other than 0 is an *ExitError. When ctx
// ends, the command's process group gets SIGKILL. Of the command's fields, Path,
// Args, Env, Dir, Stdin, Stdout, Stderr, Err and the credential are used.
func (g *Guardian) Run(ctx context.Context, c *exec.Cmd) error { return g.run(ctx, c, false) }

// RunAlone is Run for a command that must leave nothing in the background that
// would end with it: that is an error.
func (g *Guardian) RunAlone(ctx context.Context, c *exec.Cmd) error { return g.run(ctx, c, true) }

func (g *Guardian) run(ctx context.Context, c *exec.Cmd, alone bool) error {
	if c.Err != nil {
		return c.Err
	}
	var s streams
	defer s.close()
	command := Command{Path: c.Path, Args: c.Args, Env: c.Environ(), Dir: c.Dir, Alone: alone}
	if c.SysProcAttr != nil {
		command.Credential = c.SysProcAttr.Credential
	}
	if err := s.connect(&command, c); err != nil {
		return err
	}
	p, err := g.Start(ctx, command)
	if err != nil {
		return err
	}
	s.closeTheirs()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Signal(syscall.SIGKILL, true)
		<-p.Done()
		s.wait(outputDelay) // nothing is written to the caller's any more
		return fmt.Errorf("%s was ended: %w", c.Path, context.Cause(ctx))
	}
	if err := s.wait(outputDelay); err != nil {
		return fmt.Errorf("reading what %s prints: %w", c.Path, err)
	}
	if e := p.Exit(); e.Code != 0 {
		return &ExitError{Program: c.Path, Exit: e}
	} else if e.Left != "" {
		return fmt.Errorf("it left %s in the background, which ended with it; what is to live on needs a session of its own: setsid", e.Left)
	}
	return nil
}

// streams are the pipes between a command and the readers and writers that its
// exec.Cmd names.
type streams struct {
	theirs []*os.File // ends that the program gets, where they are ours to close
	ours   []*os.File
	copies []func() error
	done   chan error
}

// connect fills in the command's standard files.
func (s *streams) connect(c *Command, from *exec.Cmd) (err error) {
	if c.Stdin, err = s.input(from.Stdin); err != nil {
		return err
	}
	if c.Stdout, err = s.output(from.Stdout); err != nil {
		return err
	}
	if from.Stderr != nil && from.Stderr == from.Stdout {
		c.Stderr = c.Stdout
	} else if c.Stderr, err = s.output(from.Stderr); err != nil {
		return err
	}
	s.done = make(chan error, len(s.copies))
	for _, copy := range s.copies {
		go func() { s.done <- copy() }()
	}
	return nil
}

// input returns the file from which a program reads what r yields.
func (s *streams) input(r io.Reader) (*os.File, error) {
	if f, ok := r.(*os.File); ok || r == nil {
		return f, nil
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.theirs, s.ours = append(s.theirs, pr), append(s.ours, pw)
	s.copies = append(s.copies, func() error {
		_, err := io.Copy(pw, r)
		pw.Close()
		if errors.Is(err, unix.EPIPE) { // the program did not want it all
			return nil
		}
		return err
	})
	return pr, nil
}

// output returns the file to which a program writes what w gets.
func (s *streams) output(w io.Writer) (*os.File, error) {
	if f, ok := w.(*os.File); ok || w == nil {
		return f, nil
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.theirs, s.ours = append(s.theirs, pw), append(s.ours, pr)
	s.copies = append(s.copies, func() error {
		_, err := io.Copy(w, pr)
		return err
	})
	return pw, nil
}

// closeTheirs closes the program's ends once it has them.
func (s *streams) closeTheirs() {
	for _, f := range s.theirs {
		f.Close()
	}
	s.theirs = nil
}

// close closes all that is left open.
func (s *streams) close() {
	s.closeTheirs()
	for _, f := range s.ours {
		f.Close()
	}
}

// wait waits until all output was read. After that time our ends are closed, so
// that nobody writes to the caller's any more.
func (s *streams) wait(most time.Duration) error {
	limit := time.NewTimer(most)
	defer limit.Stop()
	var first error
	for left := len(s.copies); left > 0; {
		select {
		case err := <-s.done:
			left--
			if first == nil {
				first = err
			}
		case <-limit.C:
			if first == errHeldOpen {
				return first // not even closing helped
			}
			s.close()
			first = errHeldOpen
			limit.Reset(closedDelay)
		}
	}
	return first
}

// closedDelay bounds the wait for a reader after what it reads was closed.
const closedDelay = time.Second

// errHeldOpen says that the output of a command did not end with it.
var errHeldOpen = errors.New("a process that it started still holds its output open")

// A Process is a program that runs under the guardian.
type Process struct {
	ID ProcessID

	guardian *Guardian
	number   uint64
	done     chan struct{}
	exit     Exit
}

// end records how the process ended.
func (p *Process) end(e Exit) {
	p.exit = e
	close(p.done)
}

// endUnobserved waits until a process is gone whose end nobody will report.
func (p *Process) endUnobserved() {
	for p.ID.runs() {
		time.Sleep(50 * time.Millisecond)
	}
	p.end(Exit{Code: -1, Signal: syscall.SIGKILL, At: time.Now(), Unobserved: true})
}

// Done is closed when the process has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended; it is valid once Done is closed.
func (p *Process) Exit() Exit { return p.exit }

// Signal sends a signal to the process, or to its whole group. A process that
// has ended takes none; that is no error.
func (p *Process) Signal(s syscall.Signal, group bool) error {
	_, err := p.guardian.ask(context.Background(), request{Op: opSignal, Process: p.number, Signal: s, Group: group}, nil)
	return err
}

// Ready tells the guardian that the process may be stopped by its stop signal.
func (p *Process) Ready() error {
	_, err := p.guardian.ask(context.Background(), request{Op: opReady, Process: p.number}, nil)
	return err
}

// An Exit is how a process ended.
type Exit struct {
	Code       int            // exit code, -1 where a signal ended it
	Signal     syscall.Signal // 0: none
	Core       bool           // a core file was written
	User       time.Duration  // CPU time, children that it waited for included
	System     time.Duration
	PeakRSS    uint64 // bytes, of the largest of the process and those children
	At         time.Time
	Left       string // of a command that is to be alone: what it left in its group, such as "sleep (pid 7)"
	Unobserved bool   // the guardian was lost: the signal is what the kernel sends then
}

// String returns such as "exit code 1" or "signal 9 (killed)".
func (e Exit) String() string {
	if e.Signal == 0 {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	text := fmt.Sprintf("signal %d (%s)", int(e.Signal), e.Signal)
	if e.Core {
		text += ", core dumped"
	}
	return text
}

// An ExitError says that a program ended with something other than 0.
type ExitError struct {
	Program string
	Exit    Exit
}

// Error returns such as "sysbench ended with exit code 1".
func (e *ExitError) Error() string { return e.Program + " ended with " + e.Exit.String() }
