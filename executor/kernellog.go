package executor

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A kernelLog reads the lines that the kernel logs from now on. It is nil where
// this user may not read them. Its methods may be called from several goroutines.
type kernelLog struct {
	fd int

	mu      sync.Mutex
	held    []string       // lines that were read and not asked for yet
	victims map[int]string // processes killed for lack of memory, with the line that says so
}

// openKernelLog opens /dev/kmsg at its end.
func openKernelLog() *kernelLog {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_END); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	// Some containers show a log that cannot be read.
	var b [1]byte
	if _, err := unix.Read(fd, b[:]); err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINVAL) {
		_ = unix.Close(fd)
		return nil
	}
	return &kernelLog{fd: fd, victims: map[int]string{}}
}

// kernelWords mark the lines that matter to a measurement: lack of memory, disks
// and filesystems in trouble, tasks that hang.
var kernelWords = []string{
	"Out of memory", "oom-kill", "Killed process",
	"I/O error", "blk_update_request", "critical medium error",
	"XFS", "EXT4-fs", "BTRFS", "possible memory allocation deadlock",
	"blocked for more than", "soft lockup", "rcu_sched",
	"Machine check", "thermal",
}

// killedLine matches the line that names a process killed for lack of memory.
var killedLine = regexp.MustCompile(`Killed process (\d+) `)

// lines returns the lines since the last call that matter.
func (k *kernelLog) lines() []string {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read()
	lines := k.held
	k.held = nil
	return lines
}

// victim returns the line that says that a process was killed for lack of memory,
// or "".
func (k *kernelLog) victim(pid int) string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read()
	return k.victims[pid]
}

// read reads what the kernel has logged meanwhile.
func (k *kernelLog) read() {
	// A record is at most 8 KiB (CONSOLE_EXT_LOG_MAX); a read yields one.
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.Read(k.fd, buf)
		if errors.Is(err, unix.EPIPE) {
			continue // records were overwritten before they were read; the next is there
		}
		if err != nil || n == 0 {
			return
		}
		k.take(string(buf[:n]))
	}
}

// take takes a record, "priority,sequence,microseconds,flags;text\n KEY=value ...",
// if it matters.
func (k *kernelLog) take(record string) {
	_, text, _ := strings.Cut(record, ";")
	text, _, _ = strings.Cut(text, "\n")
	if !slices.ContainsFunc(kernelWords, func(w string) bool { return strings.Contains(text, w) }) {
		return
	}
	k.held = append(k.held, text)
	if m := killedLine.FindStringSubmatch(text); m != nil {
		pid, _ := strconv.Atoi(m[1])
		k.victims[pid] = text
	}
}

// close gives the log up.
func (k *kernelLog) close() {
	if k != nil {
		_ = unix.Close(k.fd)
	}
}
