package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// portFree says who listens on a port of the loopback address: the server would
// tell only that somebody does, after it has opened its files. 0 is no port.
func portFree(port int) error {
	if port == 0 {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil // such as a port that only root opens: the server says so
	}
	who := "another process"
	if pid := listener(port); pid != 0 {
		who = describeProcess(pid)
	}
	return fmt.Errorf("port %d of the loopback address is in use by %s", port, who)
}

// listener returns the process that listens on a TCP port, or 0 where that cannot
// be seen: only root sees the sockets of other users' processes.
func listener(port int) int {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table) // one that is not there lists nothing
		for line := range strings.Lines(string(text)) {
			if inode := listening(line, port); inode != "" {
				sockets["socket:["+inode+"]"] = true
			}
		}
	}
	procs, _ := procfs.AllProcs()
	for _, p := range procs {
		targets, _ := p.FileDescriptorTargets()
		for _, to := range targets {
			if sockets[to] {
				return p.PID
			}
		}
	}
	return 0
}

// listening returns the inode of the socket that a line of /proc/net/tcp is about
// where it listens on a port, else "" (proc_net_tcp.txt of the kernel: the second
// field is address and port in hexadecimal, the fourth the state, the tenth the
// inode).
func listening(line string, port int) string {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != "0A" || !strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
		return ""
	}
	return f[9]
}

// describeProcess names a process for messages: its id and the name of its
// program, without arguments, which may hold a password.
func describeProcess(pid int) string {
	text := fmt.Sprintf("process %d", pid)
	if p, err := procfs.NewProc(pid); err == nil {
		if name, err := p.Comm(); err == nil {
			text += " (" + clean(name) + ")"
		}
	}
	return text
}

// clearSockets removes from the private directory of a socket what a server left
// there that was killed: with a process id in it that another process has by now,
// MySQL would refuse to start. Somebody who listens there is an error.
func clearSockets(dir, socket string) error {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		c.Close()
		return fmt.Errorf("another process listens on its socket %s", socket)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if socketFile(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
