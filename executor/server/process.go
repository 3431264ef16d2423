package server

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// A ProcessID names a process for good: pids come again, a pid with its start
// time in one boot does not.
type ProcessID struct {
	Boot  string `json:"boot"` // kernel's boot id
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, field 22 of /proc/PID/stat
}

// clockTick is the length of a tick in /proc/PID/stat. The kernel shows times to
// programs in USER_HZ, which is 100 on all architectures that Go runs on.
const clockTick = 10 * time.Millisecond

// processID returns the full name of a process that runs now.
func processID(pid int) (ProcessID, error) {
	boot, err := bootID()
	if err != nil {
		return ProcessID{}, err
	}
	st, err := processStat(pid)
	if err != nil {
		return ProcessID{}, err
	}
	return ProcessID{Boot: boot, PID: pid, Start: st.Starttime}, nil
}

// bootID returns the kernel's random name of this boot.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

// processStat reads /proc/PID/stat.
func processStat(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// runs reports whether the process still is there. A zombie that only waits for
// its parent is not; one that still has threads is: they hold its files.
func (id ProcessID) runs() bool {
	now, err := processID(id.PID)
	if err != nil || now != id {
		return false
	}
	st, err := processStat(id.PID)
	if err != nil || st.State != "Z" {
		return err == nil
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", id.PID))
	return err == nil && len(threads) > 1
}

// dying reports whether the process has given back its memory, which the kernel
// takes from one that ends before anything else.
func (id ProcessID) dying() bool {
	pages, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", id.PID))
	return err == nil && bytes.HasPrefix(pages, []byte("0 "))
}

// describe tells the state of a process that would not end: its own and that of
// its threads, with what the kernel waits for.
func (id ProcessID) describe() string {
	st, err := processStat(id.PID)
	if err != nil || !id.runs() {
		return ""
	}
	threads := fmt.Sprintf("/proc/%d/task", id.PID)
	entries, _ := os.ReadDir(threads)
	stuck, wait := 0, map[string]bool{}
	for _, e := range entries {
		b, err := os.ReadFile(threads + "/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if _, rest, ok := strings.Cut(string(b), ") "); ok && strings.HasPrefix(rest, "D") {
			stuck++
			if w, err := os.ReadFile(threads + "/" + e.Name() + "/wchan"); err == nil {
				wait[string(w)] = true
			}
		}
	}
	var in []string
	for w := range wait {
		in = append(in, w)
	}
	slices.Sort(in)
	text := fmt.Sprintf("pid %d (%s) is in state %s with %d threads, %d of them in state D", id.PID, st.Comm, st.State, len(entries), stuck)
	if len(in) > 0 {
		text += " in " + strings.Join(in, ", ")
	}
	return text
}
