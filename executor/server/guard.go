package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// guardianFile is the descriptor at which a guardian finds its connection: the
// first after the standard three.
const guardianFile = 3

// openFiles is the limit of open files of everything that a guardian starts. It
// is set, not inherited: with a huge limit MySQL 5.7 takes gigabytes of memory
// at its start, with a tiny one servers lower max_connections.
const openFiles = 65536

// stopGrace is how long a ready server may take to stop when the runner is gone.
const stopGrace = 5 * time.Second

// reapGrace is how long a guardian waits after SIGKILL for the kernel to be done.
const reapGrace = 3 * time.Second

// GuardianMain is the guardian's side: what dbmatrix does when its first
// argument is GuardianCommand. It returns the exit code: 2 where it was not
// started by a runner.
func GuardianMain(ctx context.Context, stderr io.Writer) int {
	keepFiles()
	conn, err := unixConn(guardianFile)
	if err != nil {
		fmt.Fprintf(stderr, "the guardian is started by dbmatrix run, not by hand: %v\n", err)
		return 2
	}
	// All signals that could end this process are taken: as a guardian it
	// ends after what it guards. Taken, not ignored, since programs inherit
	// what is ignored.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGHUP, unix.SIGTERM, unix.SIGQUIT, unix.SIGPIPE)
	limitOpenFiles()
	// Processes whose parent ends become children of the guardian.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

	g := &guard{conn: conn, children: map[uint64]*child{}, starts: make(chan func())}
	go g.starter()
	requests := make(chan received)
	go receive(conn, requests)
	for {
		select {
		case r, ok := <-requests:
			if !ok {
				g.endAll()
				return 0
			}
			g.serve(r)
		case s := <-signals:
			if s == unix.SIGTERM {
				g.endAll()
				return 0
			}
		case <-ctx.Done():
			g.endAll()
			return 0
		}
	}
}

// keepFiles keeps all open files but the standard three from what the guardian
// starts: its own connection, whose other end must show when the guardian ends,
// and files that the runner inherited from its own parent.
func keepFiles() {
	unix.CloseOnExec(guardianFile)
	unix.CloseRange(guardianFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11; before, only ours
}

// limitOpenFiles sets the limit of open files that children inherit.
func limitOpenFiles() {
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now) != nil {
		return
	}
	most := max(now.Max, openFiles)
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: openFiles, Max: most}) != nil {
		// Only root raises the hard limit.
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(now.Max, openFiles), Max: now.Max})
	}
}

// A received is a request with the files that came with it.
type received struct {
	request
	files []*os.File
}

// receive reads requests until the runner is gone, and closes the channel then.
func receive(conn *net.UnixConn, out chan<- received) {
	defer close(out)
	buf, oob := make([]byte, messageSize), make([]byte, unix.CmsgSpace(3*4))
	for {
		n, oobn, _, _, err := conn.ReadMsgUnix(buf, oob)
		if err != nil {
			return
		}
		r := received{files: openedFiles(oob[:oobn])}
		if err := json.Unmarshal(buf[:n], &r.request); err != nil {
			return
		}
		out <- r
	}
}

// openedFiles returns the files that came with a message.
func openedFiles(oob []byte) []*os.File {
	var files []*os.File
	messages, _ := unix.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files
}

// A guard is the state of a guardian process.
type guard struct {
	conn   *net.UnixConn
	starts chan func()

	mu       sync.Mutex
	children map[uint64]*child
}

// A child is a process that the guardian started.
type child struct {
	pid   int
	stop  syscall.Signal // 0: not a server
	alone bool           // what it leaves in its group is told of
	ready bool
	done  chan struct{}
}

// starter runs all starts on one thread that never ends. The kernel sends the
// parent-death signal when the thread ends that forked, not the process.
func (g *guard) starter() {
	runtime.LockOSThread()
	for start := range g.starts {
		start()
	}
}

// serve does what one request asks and answers it.
func (g *guard) serve(r received) {
	a := answer{ID: r.ID, Process: r.Process}
	var err error
	switch r.Op {
	case opHello:
	case opStart:
		started := make(chan struct{})
		g.starts <- func() {
			a.ProcID, err = g.start(r)
			close(started)
		}
		<-started
	case opReady:
		err = g.with(r.Process, func(c *child) error { c.ready = true; return nil })
	case opSignal:
		err = g.with(r.Process, func(c *child) error { return c.signal(r.Signal, r.Group) })
	default:
		err = fmt.Errorf("unknown operation %q", r.Op)
	}
	for _, f := range r.files {
		f.Close()
	}
	if err != nil {
		a.Error = err.Error()
	}
	send(g.conn, a, nil) // a runner that is gone shows in receive
}

// with calls f with a child that has not ended.
func (g *guard) with(number uint64, f func(*child) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.children[number]; c != nil {
		return f(c)
	}
	return nil
}

// signal signals a child that was not reaped yet.
func (c *child) signal(s syscall.Signal, group bool) error {
	pid := c.pid
	if group {
		pid = -pid
	}
	if err := unix.Kill(pid, s); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// start starts a program and watches for its end.
func (g *guard) start(r received) (ProcessID, error) {
	s := r.Start
	cmd := &exec.Cmd{Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true,
		Pdeathsig:  syscall.SIGKILL,
		Credential: s.Credential,
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be the guardian's own
	}
	for i, fd := range s.Files {
		if i >= len(r.files) {
			return ProcessID{}, errors.New("an open file was lost on its way to the guardian")
		}
		switch fd {
		case 0:
			cmd.Stdin = r.files[i]
		case 1:
			cmd.Stdout = r.files[i]
		case 2:
			cmd.Stderr = r.files[i]
		}
	}
	if err := cmd.Start(); err != nil {
		return ProcessID{}, err
	}
	c := &child{pid: cmd.Process.Pid, stop: s.Stop, alone: s.Alone, done: make(chan struct{})}
	id, err := processID(c.pid) // as long as it is not reaped, it is there
	if err != nil {
		c.signal(unix.SIGKILL, true)
		cmd.Wait()
		return ProcessID{}, err
	}
	g.mu.Lock()
	g.children[r.Process] = c
	g.mu.Unlock()
	go g.reap(r.Process, id, c, cmd)
	return id, nil
}

// reap waits for a child's end, ends what is left of its group, and reports it.
func (g *guard) reap(number uint64, id ProcessID, c *child, cmd *exec.Cmd) {
	// Until the child is reaped, its pid and group belong to it: so the rest
	// of the group is killed before that.
	for {
		err := unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	left := ""
	if c.alone {
		left = leftIn(c.pid)
	}
	g.mu.Lock()
	c.signal(unix.SIGKILL, true)
	delete(g.children, number)
	g.mu.Unlock()
	cmd.Wait() // its error is the exit code, which exitOf reports
	reapGroup(c.pid)
	exit := exitOf(cmd.ProcessState)
	exit.Left = left
	send(g.conn, answer{Op: opExit, Process: number, ProcID: id, Exit: exit}, nil)
	close(c.done)
}

// leaveGrace is how long a process that becomes a daemon may take to leave the
// group of the command that started it, which ends first.
const leaveGrace = time.Second

// leftIn waits until nothing but its leader, which has ended, is in a group. It
// returns the name of a process that stays, or "".
func leftIn(group int) string {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		name := member(group)
		if name == "" || time.Since(begin) > leaveGrace {
			return name
		}
	}
}

// member names a process of a group beside its leader, or returns "".
func member(group int) string {
	all, err := procfs.AllProcs()
	if err != nil {
		return ""
	}
	for _, p := range all {
		st, err := p.Stat()
		if err == nil && st.PGRP == group && st.PID != group && st.State != "Z" {
			return fmt.Sprintf("%s (pid %d)", st.Comm, st.PID)
		}
	}
	return ""
}

// reapGroup waits until the rest of a group is gone, which was killed: only then
// are its files free. Its members are children of the guardian since their own
// parents ended.
func reapGroup(group int) {
	for begin := time.Now(); time.Since(begin) < reapGrace; time.Sleep(time.Millisecond) {
		for {
			pid, err := unix.Wait4(-group, nil, unix.WNOHANG, nil)
			if errors.Is(err, unix.ECHILD) {
				return
			}
			if pid <= 0 {
				break // not yet
			}
		}
	}
}

// exitOf tells how a process ended.
func exitOf(s *os.ProcessState) Exit {
	e := Exit{Code: -1, At: time.Now()}
	if s == nil {
		return e
	}
	e.Code, e.User, e.System = s.ExitCode(), s.UserTime(), s.SystemTime()
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Signal, e.Core = w.Signal(), w.CoreDump()
	}
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		e.PeakRSS = uint64(u.Maxrss) * 1024 // ru_maxrss counts KiB
	}
	return e
}

// endAll ends all children, because the runner is gone.
func (g *guard) endAll() {
	g.mu.Lock()
	var left []*child
	graceful := false
	for _, c := range g.children {
		left = append(left, c)
		if c.stop != 0 && c.ready {
			graceful = true
			c.signal(c.stop, false)
		} else {
			c.signal(unix.SIGKILL, true)
		}
	}
	g.mu.Unlock()
	if graceful && !allDone(left, stopGrace) {
		g.mu.Lock()
		for _, c := range g.children {
			c.signal(unix.SIGKILL, true)
		}
		g.mu.Unlock()
	}
	allDone(left, reapGrace)
}

// allDone waits until all children have ended, for a time at most.
func allDone(children []*child, most time.Duration) bool {
	limit := time.NewTimer(most)
	defer limit.Stop()
	for _, c := range children {
		select {
		case <-c.done:
		case <-limit.C:
			return false
		}
	}
	return true
}
