package main

import (
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

	"dbmatrix/executor/server"
	"dbmatrix/executor/server/servertest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test program a dbmatrix for the scripts, and a guardian for
// the servers that they start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == server.GuardianCommand {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("DBMATRIX_TEST_MAIN") != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"dbmatrix": main})
}

// TestScripts runs the scripts that need no server.
func TestScripts(t *testing.T) { runScripts(t, "testdata/script") }

// TestServerScripts runs the scripts that start real servers.
func TestServerScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("real servers take a minute")
	}
	servertest.Need(t, "mariadb")
	runScripts(t, "testdata/server")
}

// runScripts runs the scripts of a folder, each on a host of its own as far as
// locks and machine files go.
func runScripts(t *testing.T, dir string) {
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			// Servers do not run as root, and need to reach their data.
			for _, d := range []string{e.WorkDir, filepath.Dir(e.WorkDir)} {
				if err := os.Chmod(d, 0o711); err != nil {
					return err
				}
			}
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("DBMATRIX_HOST_LOCK", filepath.Join(e.WorkDir, "lock"))
			e.Setenv("DBMATRIX_MACHINE", filepath.Join(e.WorkDir, "machine.hcl"))
			e.Setenv("NO_COLOR", "1")
			return os.WriteFile(filepath.Join(e.WorkDir, "machine.hcl"), nil, 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    exits,
			"nothing":  nothingRuns,
			"signal":   signalProcess,
			"waitfile": waitFile,
			"glob":     globFiles,
			"measured": measured,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits runs a command and checks its exit code: exits 2 dbmatrix plan nowhere.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exited *exec.ExitError
	switch {
	case errors.As(err, &exited):
		got = exited.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// globFiles checks that files match a pattern, or that none does: ! glob PATTERN.
func globFiles(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if neg && len(found) > 0 {
		ts.Fatalf("these are there: %s", strings.Join(found, " "))
	}
	if !neg && len(found) == 0 {
		ts.Fatalf("nothing matches %s", args[0])
	}
}

// nothingRuns checks that no process of the script's data directories is alive.
func nothingRuns(ts *testscript.TestScript, neg bool, _ []string) {
	left, err := survivors(ts.MkAbs("."))
	ts.Check(err)
	if neg || len(left) > 0 {
		ts.Fatalf("these still run: %s", strings.Join(left, "; "))
	}
}

// survivors returns the command lines of processes that name a directory.
func survivors(dir string) ([]string, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			continue // it has ended
		}
		line := strings.ReplaceAll(string(b), "\x00", " ")
		if strings.Contains(line, dir+"/") && !strings.Contains(p, fmt.Sprintf("/%d/", os.Getpid())) {
			found = append(found, line)
		}
	}
	return found, nil
}

// signalProcess sends a signal to the process whose id a file holds: signal INT
// pid.
func signalProcess(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

// waitFile waits until a file that matches is there and holds a text: waitfile
// PATTERN TEXT.
func waitFile(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		paths, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), args[1]) {
				return
			}
		}
	}
	ts.Fatalf("no %s with %q", args[0], args[1])
}
