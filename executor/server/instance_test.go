package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/matrix"
)

// launchOf returns a launch of a script in the place of a server: it gets as far
// as a server that never answers.
func launchOf(t *testing.T, text string) Launch {
	t.Helper()
	root, err := os.MkdirTemp("", "dbmatrix-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	program := filepath.Join(root, "mysqld")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+strings.TrimSpace(text)+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	s := build("mariadb", "10.11.19", program)
	if os.Geteuid() == 0 {
		s.User = "nobody"
	}
	l := layoutIn(t, root, "a", "")
	made(t, l)
	t.Cleanup(func() {
		if err := Remove(l); err != nil {
			t.Errorf("removing the run: %v", err)
		}
	})
	return Launch{Guardian: guardianFor(t), Settings: &matrix.Settings{Server: &s}, Layout: l}
}

func TestStartFails(t *testing.T) {
	tests := []struct {
		name, script string
		want         []string
	}{
		{"it ends before it opens its log", "echo 'mysqld: Could not open required defaults file' >&2; exit 1",
			[]string{`starting server "s" failed: it ended with exit code 1`, "Could not open required defaults file", "error.1.log"}},
		{"it says why", "echo '2026-01-02 10:00:00 0 [ERROR] the cause'; echo '2026-01-02 10:00:00 0 [ERROR] what follows'; exit 1",
			[]string{"[ERROR] the cause (it ended with exit code 1)"}},
		{"it crashes", "kill -SEGV $$", []string{"it ended with signal 11"}},
		{"it never answers", "exec sleep 60", []string{`waiting for server "s" failed`, "it runs but does not answer (nothing has moved for", "state S"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := launchOf(t, tt.script)
			l.Limits = ReadyLimits{Still: 300 * time.Millisecond, Total: 5 * time.Second}
			_, err := Start(context.Background(), l)
			var start *StartError
			if !errors.As(err, &start) {
				t.Fatalf("got %v, want a StartError", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			if o, err := l.Layout.Owner(); err != nil || o.Clean || o.Process != nil || o.Starts != 1 {
				t.Errorf("the owner file says %+v, %v", o, err)
			}
		})
	}
}

// An initialisation that hangs ends with its limit, and with an interrupt.
func TestInitialiseHangs(t *testing.T) {
	l := launchOf(t, "trap '' TERM; sleep 60 & sleep 60")
	l.Settings.Server.Build.Flavour, l.Settings.Server.Build.Version = "mysql", "8.0.30"
	l.Settings.Server.Build.Content = "c"
	root, err := os.MkdirTemp("", "dbmatrix-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	templates := Templates{DataDir: root + "/data", Guardian: l.Guardian, Limit: 300 * time.Millisecond}
	began := time.Now()
	var init *InitError
	if _, err := templates.Make(context.Background(), l.Settings); !errors.As(err, &init) || !strings.Contains(err.Error(), "it was not done within 300ms") {
		t.Errorf("got %v", err)
	}
	if key, err := InitKey(l.Settings); err != nil || init == nil || init.Key != key {
		t.Errorf("the key is not that of the template: %+v, %v", init, err)
	}
	templates.Limit = 0
	stop := errors.New("stop")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 300*time.Millisecond, stop)
	defer cancel()
	if _, err := templates.Make(ctx, l.Settings); !errors.Is(err, stop) || errors.As(err, &init) {
		t.Errorf("interrupted: got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if left, err := Leftovers(root + "/data"); err != nil || left != nil {
		t.Errorf("it left %v, %v", left, err)
	}
}

// The log of a server that does not start on its new data directory goes with the
// directory: the error has it all, and names no file that is not there.
func TestTemplateQuotesLog(t *testing.T) {
	l := launchOf(t, `
case "$*" in *--initialize-insecure*) touch "$PWD/data/ibdata1"; exit 0;; esac
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "2026-01-02 10:00:00 0 [Note] line $i"; done
echo '2026-01-02 10:00:00 0 [ERROR] the cause'; exit 1`)
	l.Settings.Server.Build.Flavour, l.Settings.Server.Build.Version = "mysql", "8.0.30"
	l.Settings.Server.Build.Content = "c"
	root := filepath.Dir(filepath.Dir(l.Layout.Dir))
	_, err := (&Templates{DataDir: filepath.Join(root, "other"), Guardian: l.Guardian}).Make(context.Background(), l.Settings)
	var start *StartError
	if !errors.As(err, &start) || start.LogPath != "" || start.OptionFile != "" {
		t.Fatalf("got %v, %+v", err, start)
	}
	for _, want := range []string{"[ERROR] the cause (it ended with exit code 1)", "the last lines of its log", "line 1\n", "line 12"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "error.1.log") {
		t.Errorf("it names a file that is gone: %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, l *Launch) error
		want  string
	}{
		{"no build", func(t *testing.T, l *Launch) error { l.Settings.Server.Build.Absent = "gone"; return nil }, `starting server "s": it is not on this host: gone`},
		{"never initialised", func(t *testing.T, l *Launch) error { return os.RemoveAll(l.Layout.Data()) }, "was never initialised"},
		{"an option of ours", func(t *testing.T, l *Launch) error {
			l.Settings.Options = []matrix.Option{textOption("socket", "/tmp/s")}
			return nil
		}, "each instance has a private socket"},
		{"the process of an earlier run", func(t *testing.T, l *Launch) error {
			self, err := processID(os.Getpid())
			if err != nil {
				return err
			}
			f, err := os.Open(l.Layout.Data() + "/holes")
			if err != nil {
				return err
			}
			t.Cleanup(func() { f.Close() })
			return l.Layout.Update(func(o *Owner) { o.Process = &self })
		}, "in use by a server of an earlier run: pid"},
		{"no such prefix", func(t *testing.T, l *Launch) error {
			l.Settings.Server.Prefix = []string{"no-such-taskset"}
			return nil
		}, "no-such-taskset"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := launchOf(t, "exit 0")
			if err := tt.spoil(t, &l); err != nil {
				t.Fatal(err)
			}
			if _, err := Start(context.Background(), l); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// The environment of a server holds what the settings say and the token, and
// nothing of the caller's that could change its options.
func TestServerEnvironment(t *testing.T) {
	t.Setenv("MYSQL_HOME", "/elsewhere")
	t.Setenv("LD_PRELOAD", "")
	l := launchOf(t, "env; pwd; exit 1")
	l.Settings.Env = []matrix.EnvVar{{Name: "MALLOC_ARENA_MAX", Value: "2"}}
	_, err := Start(context.Background(), l)
	var start *StartError
	if !errors.As(err, &start) {
		t.Fatal(err)
	}
	o, err := l.Layout.Owner()
	if err != nil {
		t.Fatal(err)
	}
	log := strings.Join(readLog(start.LogPath), "\n")
	for _, want := range []string{"MALLOC_ARENA_MAX=2", tokenVariable + o.Token, "LC_ALL=C", l.Layout.Dir} {
		if !strings.Contains(log, want) {
			t.Errorf("it misses %s:\n%s", want, log)
		}
	}
	for _, bad := range []string{"MYSQL_HOME", "LD_PRELOAD", "HOME="} {
		if strings.Contains(log, bad) {
			t.Errorf("it holds %s:\n%s", bad, log)
		}
	}
}

// running starts a script as an instance that counts as ready.
func running(t *testing.T, text string) *Instance {
	t.Helper()
	i, _, err := prepare(context.Background(), launchOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if i.db, err = i.flavour.open(i.address); err != nil {
		t.Fatal(err)
	}
	if err := i.spawn(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.process.Signal(syscall.SIGKILL, true) })
	for range 500 { // until the script's trap is set
		if len(readLog(i.log)) > 0 {
			return i
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the script does not run")
	return nil
}

func TestStop(t *testing.T) {
	tests := []struct {
		name, script string
		limits       ReadyLimits
		clean        bool
		why          string
	}{
		{"clean", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done", ReadyLimits{Still: 5 * time.Second, Total: 5 * time.Second}, true, ""},
		{"with an error", "trap 'exit 3' TERM; echo up; while :; do sleep 0.05; done", ReadyLimits{Still: 5 * time.Second, Total: 5 * time.Second}, false, "it ended with exit code 3"},
		{"it ignores the signal and stands still", "trap '' TERM; echo up; exec sleep 60", ReadyLimits{Still: 300 * time.Millisecond, Total: 10 * time.Second}, false, "it did not stop: nothing has moved"},
		{"it moves and takes too long", "trap '' TERM; while :; do echo up; sleep 0.05; done", ReadyLimits{Still: 5 * time.Second, Total: time.Second}, false, "it did not stop: it took over 1s"},
		{"it moves and ends at last", "trap 'for i in 1 2 3 4 5 6; do sleep 0.2; echo flushing; done; exit 0' TERM; echo up; while :; do sleep 0.05; done", ReadyLimits{Still: 900 * time.Millisecond, Total: 20 * time.Second}, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := running(t, tt.script)
			i.stopLimits = tt.limits
			s, err := i.Stop(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if s.Clean != tt.clean || !strings.HasPrefix(s.Why, tt.why) || tt.why == "" && s.Why != "" {
				t.Errorf("got %+v, want clean %v, %q", s, tt.clean, tt.why)
			}
			if o, err := i.launch.Layout.Owner(); err != nil || o.Clean != tt.clean || o.Process != nil {
				t.Errorf("the owner file says %+v, %v", o, err)
			}
		})
	}
}

func TestStopBrokenOff(t *testing.T) {
	i := running(t, "trap '' TERM; echo up; exec sleep 60")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	s, err := i.Stop(ctx)
	if err != nil || s.Clean || s.Exit.Signal != syscall.SIGKILL || !strings.HasPrefix(s.Why, "its stop was broken off") {
		t.Errorf("got %+v, %v", s, err)
	}
}

// A frozen process takes SIGKILL only when it is thawed, as one does whose I/O
// the kernel is not done with.
func TestKillSurvived(t *testing.T) {
	freezer := filepath.Join("/sys/fs/cgroup/freezer", "dbmatrix-test-"+randomHex(4))
	if err := os.Mkdir(freezer, 0o755); err != nil {
		t.Skipf("no process can be frozen here: %v", err)
	}
	t.Cleanup(func() { os.Remove(freezer) })
	i := running(t, "echo up; exec sleep 60")
	set := func(name, value string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(freezer, name), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set("cgroup.procs", strconv.Itoa(i.PID()))
	set("freezer.state", "FROZEN")
	defer set("freezer.state", "THAWED")
	i.killWait = 300 * time.Millisecond
	s, err := i.Kill(context.Background())
	var survived *SurvivedError
	if !errors.As(err, &survived) || s.Clean || survived.Dir != i.launch.Layout.Dir || !strings.Contains(survived.State, "pid "+strconv.Itoa(i.PID())+" (") || !strings.Contains(survived.State, "is in state D") {
		t.Errorf("got %+v, %v", s, err)
	}
	if o, err := i.launch.Layout.Owner(); err != nil || o.Clean || o.Process == nil {
		t.Errorf("the owner file says %+v, %v; want the process on record", o, err)
	}
	if err := Remove(i.launch.Layout); err == nil {
		t.Error("its directory was removed")
	}
	set("freezer.state", "THAWED")
	select {
	case <-i.Done():
	case <-time.After(10 * time.Second):
		t.Error("it still runs after it was thawed")
	}
}

func TestCrash(t *testing.T) {
	i := running(t, "echo up; echo '2026-01-02 10:00:00 0 [ERROR] mysqld got signal 11 ;'; kill -SEGV $$")
	<-i.Done()
	if got := i.Crash(); !strings.Contains(got, "ended with signal 11") || !strings.Contains(got, "got signal 11 ;") {
		t.Errorf("got %q", got)
	}
	events, err := i.LogEvents()
	if err != nil || len(events) != 1 || events[0].Class != "crash" {
		t.Errorf("events are %+v, %v", events, err)
	}
	silent := running(t, "echo up; kill -KILL $$")
	<-silent.Done()
	if got := silent.Crash(); !strings.Contains(got, "its log says nothing of it; killed from outside, or by the kernel for lack of memory") {
		t.Errorf("got %q", got)
	}
}
