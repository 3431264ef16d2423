package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another program kept the record locked for longer than a
// connection waits.
var ErrLocked = errors.New("another program keeps it locked")

// lockedError says who keeps a record locked, where that can be told, and what to do.
func lockedError(abs string) error {
	return fmt.Errorf("%w%s: let that end, or copy the file and use the copy", ErrLocked, holders(abs))
}

// holders names the processes with a lock on a database or on the shared memory of
// its log, in parentheses; it is "" where there are none.
func holders(abs string) string {
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	var names []string
	for _, path := range []string{abs, abs + "-shm"} {
		for _, pid := range lockPIDs(string(table), path) {
			name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
			if err != nil {
				continue // it has ended
			}
			names = append(names, fmt.Sprintf("pid %d, %s", pid, strings.TrimSpace(string(name))))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, "; ") + ")"
}

// lockPIDs returns the other processes that a table of the kernel (proc(5), locks)
// shows with a lock for writing on a file. The table has its device as hexadecimal
// numbers and the inode as a decimal one.
func lockPIDs(table, path string) []int {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil
	}
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	var pids []int
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[3] != "WRITE" || fields[5] != file {
			continue // one that waits has "->" before its kind
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
