package reliability

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// orphanBound is how long a server or client may outlive its runner: the five
// seconds that a guardian gives a server to stop, three for the kernel to be done
// with one that was killed, and as much again on a busy host.
const orphanBound = 20 * time.Second

// A process is one that ran when it was looked at.
type process struct {
	pid, parent int
	start       uint64 // in clock ticks since the boot
	name        string
}

// processes returns all processes of this host.
func processes(t *testing.T) []process {
	t.Helper()
	all, err := procfs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil || stat.State == "Z" {
			continue // it has ended
		}
		found = append(found, process{pid: p.PID, parent: stat.PPID, start: stat.Starttime, name: stat.Comm})
	}
	return found
}

// children returns the processes that a process has started.
func children(all []process, parent int) []process {
	var found []process
	for _, p := range all {
		if p.parent == parent {
			found = append(found, p)
		}
	}
	return found
}

// signal sends a signal to the process, and to no other that has its pid now. It
// reports whether the process still was there.
func (p process) signal(t *testing.T, s unix.Signal) bool {
	t.Helper()
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if !p.runs() {
		return false
	}
	return unix.PidfdSendSignal(fd, s, nil, 0) == nil
}

// runs reports whether the process is still there.
func (p process) runs() bool {
	proc, err := procfs.NewProc(p.pid)
	if err != nil {
		return false
	}
	stat, err := proc.Stat()
	return err == nil && stat.Starttime == p.start && stat.State != "Z"
}

// The members of a family: dbmatrix and what it has started.
type family struct {
	runner, guardian, server, backend, client *process
}

// serverNames are the programs that are servers.
var serverNames = []string{"mariadbd", "mysqld", "postgres"}

// familyOf returns the processes that a runner has started. Only they are ever
// signalled: they are found by their parents, never by their names.
func familyOf(t *testing.T, runner int) family {
	t.Helper()
	var f family
	all := processes(t)
	for _, p := range all {
		if p.pid == runner {
			f.runner = &p
		}
	}
	for _, g := range children(all, runner) {
		if exe, err := os.Readlink(filepath.Join("/proc", itoa(g.pid), "exe")); err != nil || exe != program {
			continue
		}
		f.guardian = &g
		for _, p := range children(all, g.pid) {
			if !slices.Contains(serverNames, p.name) {
				f.client = &p
				continue
			}
			f.server = &p
			if c := children(all, p.pid); len(c) > 0 {
				f.backend = &c[len(c)-1]
			}
		}
	}
	return f
}

// survivors returns the command lines of processes that belong to the host: they
// are the program under test, name its directory, work in it, or carry it in
// their environment.
func (h *host) survivors(but ...int) []string {
	h.t.Helper()
	var found []string
	for _, p := range processes(h.t) {
		if p.pid == os.Getpid() || slices.Contains(but, p.pid) {
			continue
		}
		root := filepath.Join("/proc", itoa(p.pid))
		line, _ := os.ReadFile(filepath.Join(root, "cmdline")) // what has ended is none of them
		env, _ := os.ReadFile(filepath.Join(root, "environ"))
		cwd, _ := os.Readlink(filepath.Join(root, "cwd"))
		text := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if strings.Contains(string(env), h.dir+"/") || strings.Contains(text, h.dir+"/") || strings.HasPrefix(cwd, h.dir+"/") {
			found = append(found, itoa(p.pid)+" "+text)
		}
	}
	return found
}

// nothingSurvives waits until no process of the host is left.
func (h *host) nothingSurvives(but ...int) {
	h.t.Helper()
	deadline := time.Now().Add(orphanBound)
	for {
		left := h.survivors(but...)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("after %s these still run:\n%s", orphanBound, strings.Join(left, "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
