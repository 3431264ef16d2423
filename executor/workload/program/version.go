package program

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// versionLimit bounds a version query, which takes some milliseconds.
const versionLimit = 20 * time.Second

// Version returns what a program prints at --version. One that does not end in
// time, or when ctx ends, is killed with all that it started: what it started
// may hold its output open.
func Version(ctx context.Context, path string) (string, error) {
	return version(ctx, path, versionLimit)
}

func version(ctx context.Context, path string, most time.Duration) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it did not answer within %s", most))
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for a process that left the group
	out, err := cmd.Output()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}
