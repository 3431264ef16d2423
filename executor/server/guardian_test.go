package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// guardianFor starts a guardian for a test.
func guardianFor(t *testing.T) *Guardian {
	t.Helper()
	g, err := StartGuardian(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("closing the guardian: %v", err)
		}
	})
	return g
}

func TestGuardianRun(t *testing.T) {
	g := guardianFor(t)
	var out, errs bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", "cat; echo $X; pwd; echo bad >&2; ulimit -n")
	cmd.Env, cmd.Dir = []string{"X=from the environment"}, "/usr"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("from stdin\n"), &out, &errs
	if err := g.Run(context.Background(), cmd); err != nil {
		t.Fatal(err)
	}
	limit := uint64(openFiles)
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	if now.Max < limit && !strings.Contains(out.String(), strconv.Itoa(openFiles)) {
		limit = now.Max // only some may raise it
	}
	if got, want := out.String(), fmt.Sprintf("from stdin\nfrom the environment\n/usr\n%d\n", limit); got != want {
		t.Errorf("stdout is %q, want %q", got, want)
	}
	if got, want := errs.String(), "bad\n"; got != want {
		t.Errorf("stderr is %q, want %q", got, want)
	}
}

func TestGuardianRunEnds(t *testing.T) {
	g := guardianFor(t)
	tests := []struct {
		name, script string
		code         int
		signal       syscall.Signal
	}{
		{"exit code", "exit 3", 3, 0},
		{"signal", "kill -SEGV $$", -1, syscall.SIGSEGV},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := g.Run(context.Background(), exec.Command("/bin/sh", "-c", tt.script))
			var e *ExitError
			if !errors.As(err, &e) || e.Exit.Code != tt.code || e.Exit.Signal != tt.signal {
				t.Errorf("got %v, want exit code %d or signal %d", err, tt.code, tt.signal)
			}
		})
	}
}

func TestGuardianRunNoProgram(t *testing.T) {
	g := guardianFor(t)
	if err := g.Run(context.Background(), exec.Command("/no/such/program")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	if err := g.Run(context.Background(), exec.Command("no-such-program-on-path")); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestGuardianRunCancelled(t *testing.T) {
	g := guardianFor(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the phase timed out")
	go func() {
		for { // until the grandchild runs
			if b, _ := os.ReadFile(pidFile); len(b) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel(why)
	}()
	err := g.Run(ctx, exec.Command("/bin/sh", "-c", "sleep 60 & echo $! >"+pidFile+"; wait"))
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := processID(pid); err == nil {
		if took, ok := gone(id, 5*time.Second); !ok {
			t.Errorf("its grandchild runs %s after the command was ended", took)
		}
	}
}

// A process that its command left behind must not outlive it.
func TestGuardianEndsGroup(t *testing.T) {
	g := guardianFor(t)
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!")
	cmd.Stdout = &out
	if err := g.Run(context.Background(), cmd); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := processID(pid); err == nil {
		if took, ok := gone(id, 5*time.Second); !ok {
			t.Errorf("it still runs after %s", took)
		}
	}
}

// Each program of a runner must be gone within ten seconds of the runner's end by
// kill -9, whatever it does with the stop signal.
func TestGuardianEndsWithRunner(t *testing.T) {
	stubborn := script(t, `trap "" TERM; while :; do sleep 0.1; done`)
	obedient := script(t, `trap "exit 0" TERM; while :; do sleep 0.1; done`)
	tests := []struct {
		name, state, program string
		least, most          time.Duration
	}{
		{"ready server that stops", "ready", obedient, 0, 4 * time.Second},
		{"ready server that does not stop", "ready", stubborn, 4 * time.Second, 10 * time.Second},
		{"starting server", "starting", obedient, 0, 4 * time.Second},
		{"starting server that ignores signals", "starting", stubborn, 0, 4 * time.Second},
		{"client", "client", stubborn, 0, 4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			runner, guardian, child := startRunner(t, tt.state, tt.program)
			time.Sleep(200 * time.Millisecond) // until the script's trap is set
			if err := runner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			took, ok := gone(child, tt.most)
			if !ok || took < tt.least {
				t.Errorf("the program was gone (%v) after %s, want between %s and %s", ok, took, tt.least, tt.most)
			}
			if took, ok := gone(guardian, 5*time.Second); !ok {
				t.Errorf("the guardian still runs after %s", took)
			}
		})
	}
}

// The kernel's parent-death signal is the second line: it ends what a guardian
// leaves that is killed itself.
func TestGuardianKilled(t *testing.T) {
	stubborn := script(t, `trap "" TERM; while :; do sleep 0.1; done`)
	runner, guardian, child := startRunner(t, "ready", stubborn)
	syscall.Kill(guardian.PID, syscall.SIGKILL)
	if took, ok := gone(child, 5*time.Second); !ok {
		t.Errorf("the program still runs %s after its guardian's end", took)
	}
	runner.Process.Kill()
}

func TestGuardianLost(t *testing.T) {
	g, err := StartGuardian(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Start(context.Background(), Command{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if g.Lost() {
		t.Error("it counts as lost from the beginning")
	}
	syscall.Kill(g.PID(), syscall.SIGKILL)
	select {
	case <-p.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the process did not count as ended")
	}
	if e := p.Exit(); !e.Unobserved || e.Signal != syscall.SIGKILL {
		t.Errorf("got %+v, want an unobserved SIGKILL", e)
	}
	if err := g.Run(context.Background(), exec.Command("/bin/true")); !errors.Is(err, errGuardianLost) {
		t.Errorf("got %v, want %v", err, errGuardianLost)
	}
	if !g.Lost() {
		t.Error("it does not count as lost")
	}
	g.Close()
}

// Nothing that a guardian starts may hold the connection: else its end would
// not show.
func TestGuardianPassesNoFiles(t *testing.T) {
	g := guardianFor(t)
	var out bytes.Buffer
	cmd := exec.Command("/bin/ls", "/proc/self/fd")
	cmd.Stdout = &out
	if err := g.Run(context.Background(), cmd); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(out.String()), 4; len(got) != want { // 0, 1, 2 and that of the directory
		t.Errorf("the program has the open files %v, want %d", got, want)
	}
}

func TestGuardianByHand(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", GuardianCommand)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "started by dbmatrix") {
		t.Errorf("got %v, %q", err, out)
	}
}

// What a setup command leaves in the background ends with it, and that is an error;
// a daemon has a session of its own and lives.
func TestGuardianRunAlone(t *testing.T) {
	g := guardianFor(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	for _, tt := range []struct{ script, want string }{
		{"true", ""},
		{"sleep 30 & wait $!", "was ended"},
		{"sleep 30 & exit 0", "it left sleep (pid "},
		{"sleep 30 & exit 3", "exit code 3"},
		{"setsid sleep 30 & echo $! >" + pidFile, ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := g.RunAlone(ctx, exec.Command("/bin/sh", "-c", tt.script))
		cancel()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.script, err, tt.want)
		}
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the daemon did not live on: %v", err)
	}
}
