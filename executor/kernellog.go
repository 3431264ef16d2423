package executor

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// A kernelLog reads the lines that the kernel logs from now on. It is nil where
// this user may not read them.
type kernelLog struct{ fd int }

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
	return &kernelLog{fd}
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

// lines returns the lines since the last call that matter.
func (k *kernelLog) lines() []string {
	if k == nil {
		return nil
	}
	var lines []string
	// A record is at most 8 KiB (CONSOLE_EXT_LOG_MAX); a read yields one.
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.Read(k.fd, buf)
		if errors.Is(err, unix.EPIPE) {
			continue // records were overwritten before they were read; the next is there
		}
		if err != nil || n == 0 {
			return lines
		}
		// "priority,sequence,microseconds,flags;text\n KEY=value ..."
		_, text, _ := strings.Cut(string(buf[:n]), ";")
		text, _, _ = strings.Cut(text, "\n")
		for _, w := range kernelWords {
			if strings.Contains(text, w) {
				lines = append(lines, text)
				break
			}
		}
	}
}

// close gives the log up.
func (k *kernelLog) close() {
	if k != nil {
		_ = unix.Close(k.fd)
	}
}
