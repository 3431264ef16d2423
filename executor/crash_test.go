package executor

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestCrasherKillsAtTheCountedPass(t *testing.T) {
	if spec := os.Getenv(CrashVariable); spec != "" {
		c, err := newCrasher(spec)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			c.at(crashWindowClosed)
			c.at(crashWindowOpen)
			_, _ = os.Stdout.WriteString("passed\n")
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrasherKillsAtTheCountedPass$")
	cmd.Env = append(os.Environ(), CrashVariable+"=window-open:3")
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
		t.Errorf("ended with %v, want killed", cmd.ProcessState)
	}
	if got := strings.Count(string(out), "passed"); got != 2 {
		t.Errorf("%d passes before the kill, want 2", got)
	}
}

func TestNewCrasherRefuses(t *testing.T) {
	for _, spec := range []string{"window", "window-open:0", "window-open:x", ":2"} {
		if _, err := newCrasher(spec); err == nil {
			t.Errorf("%q is taken", spec)
		}
	}
}
