package server

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test program play the other parts: guardian, and a runner
// that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case GuardianCommand:
			os.Exit(GuardianMain(context.Background(), os.Stderr))
		case runnerCommand:
			os.Exit(playRunner(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// runnerCommand makes the test program a runner that starts one program under a
// guardian, tells the pids, and waits to be killed.
const runnerCommand = "test-runner"

// playRunner starts the program args[1:] under a guardian. args[0] is "ready" for
// a server that is ready, "starting" for one that is not, "client" for a program.
func playRunner(args []string) int {
	ctx := context.Background()
	g, err := StartGuardian(ctx, "")
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	c := Command{Path: args[1], Args: args[1:], Dir: "/", Env: os.Environ()}
	if args[0] != "client" {
		c.Stop = syscall.SIGTERM
	}
	p, err := g.Start(ctx, c)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	if args[0] == "ready" {
		if err := p.Ready(); err != nil {
			fmt.Println("error", err)
			return 1
		}
	}
	fmt.Println(g.PID(), p.ID.PID)
	time.Sleep(time.Minute)
	return 0
}

// startRunner starts a runner as a process and returns it with the names of its
// guardian and of the guardian's child.
func startRunner(t *testing.T, state string, program ...string) (runner *exec.Cmd, guardian, child ProcessID) {
	t.Helper()
	runner = exec.Command("/proc/self/exe", append([]string{runnerCommand, state}, program...)...)
	out, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		runner.Process.Kill()
		runner.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the runner said %q: %v", line, err)
	}
	var gpid, cpid int
	if _, err := fmt.Sscan(line, &gpid, &cpid); err != nil {
		t.Fatalf("the runner said %q", line)
	}
	return runner, nameOf(t, gpid), nameOf(t, cpid)
}

// nameOf returns the full name of a process that runs.
func nameOf(t *testing.T, pid int) ProcessID {
	t.Helper()
	id, err := processID(pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// gone waits until a process is gone, and reports after how long.
func gone(id ProcessID, most time.Duration) (time.Duration, bool) {
	begin := time.Now()
	for id.runs() {
		if time.Since(begin) > most {
			return time.Since(begin), false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begin), true
}

// script writes a shell script and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.TrimSpace(text)+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
