package servertest

import (
	"context"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func (s *suite) testTemplate(t *testing.T) {
	templates := server.Templates{DataDir: s.dir, Guardian: s.guardian}
	var err error
	begin := time.Now()
	if s.template, err = templates.Make(context.Background(), s.settings()); err != nil {
		s.template = server.Layout{}
		t.Fatal(err)
	}
	s.took = time.Since(begin)
	o, err := s.template.Owner()
	if err != nil {
		t.Fatal(err)
	}
	if !o.Clean || o.Kind != server.KindTemplate || o.Process != nil {
		t.Errorf("the template's owner is %+v, want a clean template", o)
	}
	again, err := templates.Make(context.Background(), s.settings(s.profile.before))
	if err != nil {
		t.Fatal(err)
	}
	if again.Dir != s.template.Dir {
		t.Errorf("an option that is not of the initialisation makes another template: %s, not %s", again.Dir, s.template.Dir)
	}
	if left, err := server.Leftovers(s.dir); err != nil || len(left) > 0 {
		t.Errorf("the template left %v behind (%v)", left, err)
	}
}

func (s *suite) testStart(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	i := s.start(t, l, set)
	o, err := l.Owner()
	if err != nil {
		t.Fatal(err)
	}
	if o.Clean || o.Process == nil || o.Process.PID != i.PID() {
		t.Errorf("while the server runs its owner file says %+v", o)
	}
	facts, err := i.Facts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(facts.Version, strings.TrimSuffix(s.build.Server.Build.Version, ".0")) || len(facts.Variables) < 200 || len(facts.Plugins) == 0 {
		t.Errorf("facts are version %s, %d variables, %d plugins", facts.Version, len(facts.Variables), len(facts.Plugins))
	}
	d, err := i.Debt(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if s.build.Server.Build.Flavour != "postgres" && (d.DirtyPagesPct == nil || d.CheckpointAge == nil || d.PurgeHistory == nil) {
		t.Errorf("debt is not known: %+v", d)
	}
	if m, err := i.Movement(); err != nil || m.CPU == 0 || m.State == "" {
		t.Errorf("movement is %+v, %v", m, err)
	}
	s.stop(t, i)
	if o, err = l.Owner(); err != nil || !o.Clean || o.Process != nil {
		t.Errorf("after a clean stop the owner file says %+v, %v", o, err)
	}
}

func (s *suite) testRestart(t *testing.T) {
	l := s.shared(t)
	logs := map[string]bool{}
	for n, o := range []matrix.Option{s.profile.before, s.profile.after} {
		i := s.start(t, l, s.settings(o))
		if got := query(t, i, s.profile.show); got != s.profile.shown[n] {
			t.Errorf("start %d: %s is %s, want %s", n+1, o.Name, got, s.profile.shown[n])
		}
		logs[i.ErrorLog()] = true
		s.stop(t, i)
	}
	if len(logs) != 2 {
		t.Errorf("two starts wrote to the logs %v", logs)
	}
}

// testDrain checks that a server that is told to do its work does it, and that
// nothing of its options is left changed.
func (s *suite) testDrain(t *testing.T) {
	set := s.settings()
	i := s.start(t, s.shared(t), set)
	s.schema(t, i)
	for n := range 100 {
		exec(t, i, fmt.Sprintf(s.profile.write, n))
	}
	ctx := context.Background()
	before, err := i.Facts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	none, age := 0.0, uint64(0)
	restore, err := i.Drain(ctx, &matrix.Settle{DirtyPagesPct: &none, CheckpointAge: &age, Compaction: true, Vacuum: true})
	if err != nil {
		t.Fatal(err)
	}
	// A checkpoint comes after the vacuums: what they write is not left over. An idle
	// PostgreSQL writes a few records of its own.
	if d, err := i.Debt(ctx); err != nil || d.Vacuums != nil && *d.CheckpointAge > 4096 {
		t.Errorf("after the checkpoint %d bytes of redo are left, %v", *d.CheckpointAge, err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		d, err := i.Debt(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d.DirtyPagesPct == nil || *d.DirtyPagesPct < 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("dirty pages stay: %v %%", *d.DirtyPagesPct)
		}
	}
	if err := restore(ctx); err != nil {
		t.Fatal(err)
	}
	after, err := i.Facts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	was := map[string]string{}
	for _, v := range before.Variables {
		was[v.Name] = v.Value
	}
	for _, v := range after.Variables {
		if strings.Contains(v.Name, "dirty_pages") && was[v.Name] != v.Value {
			t.Errorf("%s was %s and is %s", v.Name, was[v.Name], v.Value)
		}
	}
	s.stop(t, i)
}

func (s *suite) testCrash(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	i := s.start(t, l, set)
	s.schema(t, i)
	for n := range 10 {
		exec(t, i, fmt.Sprintf(s.profile.write, n))
	}
	if err := syscall.Kill(i.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-i.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the end of the server was not seen")
	}
	if e := i.Exit(); e.Signal != syscall.SIGKILL || !strings.Contains(i.Crash(), "signal 9") {
		t.Errorf("exit is %+v, and the message %q", e, i.Crash())
	}
	to, err := server.NewLayout(s.dir, server.KindSnapshot, "crashed", set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Copy(context.Background(), l, to, server.Owner{Kind: server.KindSnapshot}, server.CopyBytes); err == nil {
		t.Error("a data directory was copied whose server had crashed")
	}
	i = s.start(t, l, set)
	if got := query(t, i, s.profile.read); got != "10" {
		t.Errorf("after the recovery there are %s rows, want 10", got)
	}
	s.stop(t, i)
}

func (s *suite) testOtherBuild(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	other := s.build.Server
	other.Build.Content = "another"
	set.Server = &other
	if err := s.refused(t, l, set); !strings.Contains(err.Error(), "another build") {
		t.Errorf("got %v", err)
	}
}

// A program that starts the server as a child would start it again after a
// crash, and hide that.
func (s *suite) testSupervisor(t *testing.T) {
	program := s.build.Server.Mysqld
	if program == "" {
		program = filepath.Join(s.build.Server.Bindir, "postgres")
	}
	path := filepath.Join(Dir(t), filepath.Base(program))
	text := fmt.Sprintf("#!/bin/sh\n%q \"$@\"\nexit $?\n", program)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	wrapped := s.build.Server
	if wrapped.Mysqld == "" {
		wrapped.Bindir = filepath.Dir(path)
	} else {
		wrapped.Mysqld = path
	}
	set := s.settings()
	set.Server = &wrapped
	if err := s.refused(t, s.shared(t), set); !strings.Contains(err.Error(), "as a child") {
		t.Errorf("got %v", err)
	}
}

// testCancelled breaks a start off as soon as there is a process.
func (s *suite) testCancelled(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	for range 10 {
		if !s.startBrokenOff(t, l, set) {
			continue // it was ready before
		}
		o, err := l.Owner()
		if err != nil || o.Clean || o.Process != nil {
			t.Errorf("the owner file says %+v, %v; want it unclean, without a process", o, err)
		}
		s.stop(t, s.start(t, l, set))
		return
	}
	t.Error("ten times the server was ready before its start could be broken off")
}

// startBrokenOff reports whether a start was broken off before the server was
// ready.
func (s *suite) startBrokenOff(t *testing.T, l server.Layout, set *matrix.Settings) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if o, err := l.Owner(); err == nil && o.Process != nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	i, err := server.Start(ctx, server.Launch{Guardian: s.guardian, Settings: set, Layout: l})
	if err == nil {
		s.stop(t, i)
		return false
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	return true
}

// testOtherVersion starts a program that is of another version than it said.
func (s *suite) testOtherVersion(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	other := s.build.Server
	other.Build.Version = other.Build.Version[:strings.LastIndex(other.Build.Version, ".")] + ".99"
	set.Server = &other
	if err := s.refused(t, l, set); !strings.Contains(err.Error(), "it says that it is version "+strings.TrimSuffix(s.build.Server.Build.Version, ".0")) {
		t.Errorf("got %v", err)
	}
}

// testStalePid starts a server again that was killed and left its pid file,
// when another process has that process id.
func (s *suite) testStalePid(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	i := s.start(t, l, set)
	if _, err := i.Kill(context.Background()); err != nil {
		t.Fatal(err)
	}
	old, other := strconv.Itoa(i.PID()), strconv.Itoa(s.bystander(t, l))
	for _, path := range []string{filepath.Join(l.Data(), "postmaster.pid"), filepath.Join(filepath.Dir(i.Address().Socket), "pid"), i.Address().Socket + ".lock"} {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		content = []byte(strings.Replace(string(content), old, other, 1))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.stop(t, s.start(t, l, set))
}

// testSlowStop stops a server that does nothing for a while, and waits for it.
func (s *suite) testSlowStop(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	i := s.start(t, l, set)
	if err := syscall.Kill(i.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	const pause = time.Second
	time.AfterFunc(pause, func() { syscall.Kill(i.PID(), syscall.SIGCONT) })
	begin := time.Now()
	s.stop(t, i)
	if took := time.Since(begin); took < pause {
		t.Errorf("it stopped after %s, while it was halted", took)
	}
}

// testHangingStop stops a server that never does, and gives up.
func (s *suite) testHangingStop(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	i := s.start(t, l, set)
	s.schema(t, i)
	exec(t, i, fmt.Sprintf(s.profile.write, 1))
	if err := syscall.Kill(i.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	stopped, err := i.Stop(ctx)
	if err != nil || stopped.Clean || stopped.Exit.Signal != syscall.SIGKILL {
		t.Errorf("the stop was %+v, %v; want it unclean, by SIGKILL", stopped, err)
	}
	if o, err := l.Owner(); err != nil || o.Clean || o.Process != nil {
		t.Errorf("the owner file says %+v, %v", o, err)
	}
	i = s.start(t, l, set)
	if got := query(t, i, s.profile.read); got != "1" {
		t.Errorf("after the recovery there are %s rows, want 1", got)
	}
	s.stop(t, i)
}

// bystander starts a process of the server's user that has nothing to do with it.
func (s *suite) bystander(t *testing.T, l server.Layout) int {
	t.Helper()
	info, err := os.Stat(l.Data())
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command("/bin/sleep", "60")
	cmd.Dir = "/"
	if st := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: st.Uid, Gid: st.Gid}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}
