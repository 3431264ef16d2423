package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest path of a unix socket, in bytes: sun_path has
// 108, one of them the closing zero.
const maxSocketPath = 107

// firstLength is how much is kept of the first packet of a connection: that part
// in which client and server agree on their protocol.
const firstLength = 36

// yieldAfter is for how long a goroutine writes before it offers its place to
// others. One that has not done so for 10 ms Go's monitor takes for one that must
// be made to: it sends a signal, takes the place away and then looks again fifty
// times, 20 us apart each. On two cores that was a fifth and more of the client's
// CPU time. An offer costs 0.3 us.
const yieldAfter = 4 * time.Millisecond

// A socket is a unix socket whose calls block their OS thread. It implements
// net.Conn for the driver.
type socket struct {
	fd      int
	path    string
	closed  atomic.Bool
	wait    [1]unix.PollFd
	limit   int // of a wait, in milliseconds; -1 is none
	opened  time.Time
	yielded time.Duration // since then, when the place was last offered
	first   []byte        // what was written first, up to firstLength bytes of it

	// users counts the calls under way, plus one until Close. The last one
	// to leave closes the descriptor, so that no call ever reads from a
	// descriptor number that was given to something else meanwhile.
	users atomic.Int32
}

// dialSocket connects to the socket at path. No single read or write may take
// longer than timeout until setTimeout says otherwise; 0 is no bound.
func dialSocket(path string, timeout time.Duration) (*socket, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("socket path %s has %d bytes, at most %d are possible", path, len(path), maxSocketPath)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &socket{fd: fd, path: path, opened: time.Now(), wait: [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}}
	s.users.Store(1)
	if err := s.setTimeout(timeout); err != nil {
		s.Close()
		return nil, err
	}
	if err := ignoringEINTR(func() error { return unix.Connect(fd, &unix.SockaddrUnix{Name: path}) }); err != nil {
		s.Close()
		return nil, &net.OpError{Op: "dial", Net: "unix", Addr: s.RemoteAddr(), Err: os.NewSyscallError("connect", err)}
	}
	return s, nil
}

// setTimeout bounds each single read and write.
func (s *socket) setTimeout(d time.Duration) error {
	if !s.enter() {
		return net.ErrClosed
	}
	defer s.leave()
	s.limit = -1
	if d > 0 {
		s.limit = int(d.Milliseconds())
	}
	tv := unix.NsecToTimeval(int64(d))
	if err := unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	return nil
}

// Read reads what is there, or waits for something to be.
//
// It waits in poll. In a read the kernel would wake the thread twice for each
// answer: also when the server has taken the statement, as there is room to
// write then. That would cost more than the one call does.
func (s *socket) Read(p []byte) (int, error) {
	if !s.enter() {
		return 0, net.ErrClosed
	}
	defer s.leave()
	for {
		ready, err := unix.Poll(s.wait[:], s.limit)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, s.translate("poll", err)
		case ready == 0:
			return 0, s.translate("read", unix.EAGAIN)
		}
		n, err := unix.Read(s.fd, p)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, s.translate("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write writes all of p. Where the server is gone it fails: the SIGPIPE that
// comes with it ends a Go program only on its standard output and error.
func (s *socket) Write(p []byte) (int, error) {
	if !s.enter() {
		return 0, net.ErrClosed
	}
	defer s.leave()
	if now := time.Since(s.opened); now-s.yielded > yieldAfter {
		s.yielded = now
		runtime.Gosched()
	}
	if s.first == nil {
		s.first = append([]byte{}, p[:min(len(p), firstLength)]...)
	}
	done := 0
	for done < len(p) {
		n, err := unix.Write(s.fd, p[done:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, s.translate("write", err)
		}
		done += n
	}
	return done, nil
}

// translate gives the error of a call the form that callers of net.Conn know.
func (s *socket) translate(call string, err error) error {
	if s.closed.Load() {
		return net.ErrClosed
	}
	if errors.Is(err, unix.EAGAIN) {
		return &net.OpError{Op: call, Net: "unix", Addr: s.RemoteAddr(), Err: os.ErrDeadlineExceeded}
	}
	return &net.OpError{Op: call, Net: "unix", Addr: s.RemoteAddr(), Err: os.NewSyscallError(call, err)}
}

// Close ends the connection. A call that another thread waits in returns.
func (s *socket) Close() error {
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	// The error of an unconnected socket does not matter here.
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
	s.leave()
	return nil
}

// enter registers a call on the descriptor; false means that it is closed.
func (s *socket) enter() bool {
	for {
		n := s.users.Load()
		if n == 0 || s.closed.Load() {
			return false
		}
		if s.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *socket) leave() {
	if s.users.Add(-1) == 0 {
		unix.Close(s.fd)
	}
}

// LocalAddr returns an address without a name: clients have none.
func (s *socket) LocalAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// RemoteAddr returns the socket's path.
func (s *socket) RemoteAddr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// SetDeadline is not supported: calls are bounded by setTimeout, and
// interrupted by Close.
func (s *socket) SetDeadline(time.Time) error { return errors.ErrUnsupported }

// SetReadDeadline is not supported, see SetDeadline.
func (s *socket) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

// SetWriteDeadline is not supported, see SetDeadline.
func (s *socket) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

var _ net.Conn = (*socket)(nil)
