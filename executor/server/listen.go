package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
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
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	v4, _ := fs.NetTCP() // what cannot be read lists nothing
	v6, _ := fs.NetTCP6()
	const listening = 10 // TCP_LISTEN of the kernel's tcp_states.h
	sockets := map[string]bool{}
	for _, line := range append(v4, v6...) {
		if line.St == listening && line.LocalPort == uint64(port) {
			sockets[fmt.Sprintf("socket:[%d]", line.Inode)] = true
		}
	}
	procs, _ := fs.AllProcs()
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
