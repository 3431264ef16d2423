package servertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// A suite is one build under test, with its template.
type suite struct {
	build    Build
	profile  profile
	guardian *server.Guardian
	dir      string
	template server.Layout
}

// Run tests everything that dbmatrix asks of a server with one build.
func Run(t *testing.T, b Build) {
	g, err := server.StartGuardian(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	s := &suite{build: b, profile: profileOf(b.Server.Build, len(b.Options) > 0), guardian: g, dir: Dir(t)}
	t.Run("template", s.testTemplate)
	if t.Failed() {
		return
	}
	t.Run("start and clean stop", s.testStart)
	t.Run("options in force", s.testInForce)
	t.Run("restart with other options", s.testRestart)
	t.Run("port and binary log", s.testPort)
	t.Run("work put off", s.testDrain)
	t.Run("crash and recovery", s.testCrash)
	t.Run("refused value", s.testMisspelt)
	t.Run("unknown option", s.testUnknown)
	t.Run("missing plugin", s.testPlugin)
	t.Run("check without a start", s.testCheck)
	t.Run("directory in use", s.testInUse)
	t.Run("foreign directory", s.testForeign)
	t.Run("read-only directory", s.testReadOnly)
	t.Run("other build", s.testOtherBuild)
	t.Run("supervisor", s.testSupervisor)
	t.Run("start broken off", s.testCancelled)
	t.Run("storage of its own for the redo log", s.testStorage)
	t.Run("runner killed", s.testRunnerKilled)
}

// settings returns settings of the build with further options.
func (s *suite) settings(options ...matrix.Option) *matrix.Settings {
	return &matrix.Settings{Server: &s.build.Server, Options: slices.Concat(s.build.Options, options)}
}

// run makes the data directory of a run.
func (s *suite) run(t *testing.T, settings *matrix.Settings) server.Layout {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' {
			return '-'
		}
		return r
	}, t.Name())
	l, err := server.NewLayout(s.dir, server.KindRun, name, settings)
	if err != nil {
		t.Fatal(err)
	}
	o := server.Owner{Kind: server.KindRun, Cell: "test=it", Replicate: 1}
	if _, err := server.Copy(context.Background(), s.template, l, o, server.CopyBytes); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Remove(l); err != nil {
			t.Errorf("removing the run: %v", err)
		}
	})
	return l
}

// start starts a server that must start, and stops it after the test.
func (s *suite) start(t *testing.T, l server.Layout, settings *matrix.Settings) *server.Instance {
	t.Helper()
	i, err := server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: settings, Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-i.Done():
		default:
			i.Kill(context.Background())
		}
	})
	return i
}

// stop stops a server that must stop cleanly.
func (s *suite) stop(t *testing.T, i *server.Instance) {
	t.Helper()
	stopped, err := i.Stop(context.Background())
	if err != nil || !stopped.Clean {
		t.Fatalf("the server did not stop cleanly: %+v, %v", stopped, err)
	}
}

// refused starts a server that must not start, and returns why.
func (s *suite) refused(t *testing.T, l server.Layout, settings *matrix.Settings) error {
	t.Helper()
	i, err := server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: settings, Layout: l})
	if err == nil {
		i.Kill(context.Background())
		t.Fatal("the server started")
	}
	return err
}

// query returns the single value of a query.
func query(t *testing.T, i *server.Instance, text string) string {
	t.Helper()
	var v string
	if err := i.DB().QueryRow(text).Scan(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// exec runs a statement.
func exec(t *testing.T, i *server.Instance, text string) {
	t.Helper()
	if _, err := i.DB().Exec(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// schema makes the suite's table.
func (s *suite) schema(t *testing.T, i *server.Instance) {
	t.Helper()
	if strings.Contains(s.profile.schema, "test.") {
		exec(t, i, "CREATE DATABASE IF NOT EXISTS test")
	}
	exec(t, i, s.profile.schema)
}

func (s *suite) testTemplate(t *testing.T) {
	templates := server.Templates{DataDir: s.dir, Guardian: s.guardian}
	var err error
	if s.template, err = templates.Make(context.Background(), s.settings()); err != nil {
		t.Fatal(err)
	}
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
	l := s.run(t, set)
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

func (s *suite) testInForce(t *testing.T) {
	set := s.settings(s.profile.plain...)
	want := map[string]outcome{}
	for _, o := range set.Options {
		want[o.Name] = outcome{o, server.Verified, false}
	}
	for _, o := range s.profile.inForce {
		set.Options = append(set.Options, o.option)
		want[o.option.Name] = o
	}
	i := s.start(t, s.run(t, set), set)
	got, err := i.InForce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(set.Options) {
		t.Errorf("%d options were judged of %d", len(got), len(set.Options))
	}
	bad := 0
	for _, v := range got {
		w := want[v.Option.Name]
		if v.Verdict != w.verdict || v.Granule != w.granule {
			t.Errorf("%s; want %s, granule %v", v, w.verdict, w.granule)
		}
		if v.Verdict != server.Verified && !v.Granule {
			bad++
		}
	}
	if faults := server.Faults(set, got); len(faults) != bad {
		t.Errorf("faults are %q, want %d of them", faults, bad)
	}
	s.noBinaryLog(t, i)
	s.stop(t, i)
}

// noBinaryLog checks that log_bin = false did not make files.
func (s *suite) noBinaryLog(t *testing.T, i *server.Instance) {
	t.Helper()
	if s.build.Server.Build.Flavour == "postgres" {
		return
	}
	if got := query(t, i, "SELECT @@log_bin"); got != "0" {
		t.Errorf("@@log_bin is %s", got)
	}
	for _, pattern := range []string{"OFF*", "binlog*", "*.index", "*-bin*"} {
		if found, _ := filepath.Glob(filepath.Join(i.Layout().Data(), pattern)); len(found) > 0 {
			t.Errorf("there is a binary log: %v", found)
		}
	}
}

func (s *suite) testRestart(t *testing.T) {
	l := s.run(t, s.settings())
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

// testPort starts a server that listens on the loopback address and, of the MySQL
// family, writes a binary log to a storage of its own.
func (s *suite) testPort(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	set := s.settings()
	family := s.build.Server.Build.Flavour != "postgres"
	if family {
		set.Options = append(set.Options, Switch("log_bin", true))
		set.Storage = map[string]matrix.Storage{"binlog": {Name: "logs", Dir: Dir(t)}}
	}
	l := s.run(t, set)
	i, err := server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: set, Layout: l, Port: port})
	if err != nil {
		t.Fatal(err)
	}
	if family {
		db := openTCP(t, port)
		if err := db.Ping(); err != nil {
			t.Errorf("by the port: %v", err)
		}
		db.Close()
	} else if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
		t.Errorf("by the port: %v", err)
	} else {
		c.Close()
	}
	if family {
		if found, _ := filepath.Glob(l.Role("binlog") + "/binlog.0*"); len(found) == 0 {
			t.Errorf("there is no binary log in %s", l.Role("binlog"))
		}
		verdicts, err := i.InForce(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if faults := server.Faults(set, verdicts); len(faults) > 0 {
			t.Errorf("faults are %q", faults)
		}
	}
	s.stop(t, i)
}

// testDrain checks that a server that is told to do its work does it, and that
// nothing of its options is left changed.
func (s *suite) testDrain(t *testing.T) {
	set := s.settings()
	i := s.start(t, s.run(t, set), set)
	s.schema(t, i)
	for n := range 100 {
		exec(t, i, fmt.Sprintf(s.profile.write, n))
	}
	ctx := context.Background()
	before, err := i.Facts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	none := 0.0
	restore, err := i.Drain(ctx, &matrix.Settle{DirtyPagesPct: &none, Compaction: true, Vacuum: true})
	if err != nil {
		t.Fatal(err)
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

func (s *suite) testMisspelt(t *testing.T) {
	set := s.settings(s.profile.misspelt)
	err := s.refused(t, s.run(t, set), set)
	var start *server.StartError
	if !errors.As(err, &start) {
		t.Fatalf("got %v, want a StartError", err)
	}
	if !strings.Contains(start.Cause, s.profile.misspelt.Value.Text) && start.Option != s.profile.misspelt.Name || len(start.Tail) == 0 {
		t.Errorf("the error names neither option nor value, or has no log: %v", err)
	}
}

func (s *suite) testUnknown(t *testing.T) {
	set := s.settings(s.profile.unknown)
	err := s.refused(t, s.run(t, set), set)
	var start *server.StartError
	if !errors.As(err, &start) || start.Option != s.profile.unknown.Name || !strings.Contains(err.Error(), "level test.it") {
		t.Errorf("the error does not name the option and its place: %v", err)
	}
}

func (s *suite) testPlugin(t *testing.T) {
	if s.profile.plugin == nil {
		t.Skip("the flavour loads no plugins so")
	}
	set := &matrix.Settings{Server: &s.build.Server, Options: []matrix.Option{*s.profile.plugin}}
	err := s.refused(t, s.run(t, set), set)
	if !strings.Contains(err.Error(), s.profile.plugin.Value.Text) {
		t.Errorf("the error does not name the plugin: %v", err)
	}
}

func (s *suite) testCheck(t *testing.T) {
	ctx := context.Background()
	good, err := server.Check(ctx, s.settings(s.profile.plain...))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range good {
		if c.Fatal {
			t.Errorf("a good option file is refused: %+v", c)
		}
	}
	for _, o := range []matrix.Option{s.profile.misspelt, s.profile.unknown} {
		bad, err := server.Check(ctx, s.settings(o))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(bad, func(c server.Complaint) bool { return c.Fatal }) {
			t.Errorf("%s = %s is not refused: %+v", o.Name, o.Value.Text, bad)
		}
	}
}

func (s *suite) testInUse(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	i := s.start(t, l, set)
	if err := s.refused(t, l, set); !strings.Contains(err.Error(), fmt.Sprint(i.PID())) {
		t.Errorf("the error does not name the process: %v", err)
	}
	if err := server.Remove(l); err == nil || !strings.Contains(err.Error(), "still uses") {
		t.Errorf("removing it: got %v", err)
	}
	if got := query(t, i, "SELECT 1"); got != "1" {
		t.Error("the server that ran was disturbed")
	}
	s.stop(t, i)
}

func (s *suite) testForeign(t *testing.T) {
	set := s.settings()
	l, err := server.NewLayout(s.dir, server.KindRun, "foreign", set)
	if err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(l.Data(), "precious")
	if err := os.MkdirAll(l.Data(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.refused(t, l, set); !errors.Is(err, server.ErrForeign) {
		t.Errorf("starting in it: got %v", err)
	}
	if err := server.Remove(l); !errors.Is(err, server.ErrForeign) {
		t.Errorf("removing it: got %v", err)
	}
	if _, err := server.Copy(context.Background(), s.template, l, server.Owner{Kind: server.KindRun}, server.CopyBytes); !errors.Is(err, server.ErrForeign) {
		t.Errorf("copying to it: got %v", err)
	}
	if err := l.Create(server.Owner{Kind: server.KindRun}); !errors.Is(err, server.ErrForeign) {
		t.Errorf("creating it: got %v", err)
	}
	if b, err := os.ReadFile(precious); err != nil || string(b) != "mine" {
		t.Errorf("its file is %q, %v", b, err)
	}
}

func (s *suite) testReadOnly(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	if err := syscall.Mount(l.Dir, l.Dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("a read-only mount cannot be made here: %v", err)
	}
	defer syscall.Unmount(l.Dir, 0)
	if err := syscall.Mount("", l.Dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.refused(t, l, set); !errors.Is(err, syscall.EROFS) {
		t.Errorf("starting in it: got %v, want %v", err, syscall.EROFS)
	}
	if err := server.Remove(l); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("removing a mount point: got %v", err)
	}
}

func (s *suite) testOtherBuild(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
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
	if s.build.Server.Mysqld == "" {
		t.Skip("the flavour's program cannot be named")
	}
	path := filepath.Join(Dir(t), "supervisor")
	text := fmt.Sprintf("#!/bin/sh\n%q \"$@\"\nexit $?\n", s.build.Server.Mysqld)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	wrapped := s.build.Server
	wrapped.Mysqld = path
	set := s.settings()
	set.Server = &wrapped
	if err := s.refused(t, s.run(t, set), set); !strings.Contains(err.Error(), "as a child") {
		t.Errorf("got %v", err)
	}
}

func (s *suite) testCancelled(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Millisecond)
	defer cancel()
	i, err := server.Start(ctx, server.Launch{Guardian: s.guardian, Settings: set, Layout: l})
	if err == nil {
		s.stop(t, i)
		t.Skip("the server was ready before its start could be broken off")
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	o, err := l.Owner()
	if err != nil || o.Clean || o.Process != nil {
		t.Errorf("the owner file says %+v, %v; want it unclean, without a process", o, err)
	}
	s.stop(t, s.start(t, l, set))
}

func (s *suite) testStorage(t *testing.T) {
	fast := Dir(t)
	set := s.settings()
	set.Storage = map[string]matrix.Storage{"redo": {Name: "fast", Dir: fast}, "tmp": {Name: "fast", Dir: fast}}
	l := s.run(t, set)
	i := s.start(t, l, set)
	s.schema(t, i)
	exec(t, i, fmt.Sprintf(s.profile.write, 1))
	s.stop(t, i)
	if found, err := os.ReadDir(l.Role("redo")); err != nil || len(found) == 0 {
		t.Errorf("there is no redo log in %s: %v", l.Role("redo"), err)
	}
	at, err := server.LayoutAt(l.Dir)
	if err != nil || at.Role("redo") != l.Role("redo") {
		t.Errorf("the owner file says that the redo log is in %s (%v)", at.Role("redo"), err)
	}
	to, err := server.NewLayout(s.dir, server.KindSnapshot, "with-redo", set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Copy(context.Background(), l, to, server.Owner{Kind: server.KindSnapshot}, server.CopyBytes); err != nil {
		t.Fatal(err)
	}
	i = s.start(t, to, set)
	if got := query(t, i, s.profile.read); got != "1" {
		t.Errorf("the copy has %s rows, want 1", got)
	}
	s.stop(t, i)
	if err := server.Remove(to); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(fast, "snapshots")); err != nil || len(left) > 0 {
		t.Errorf("after the removal %s has %v, %v", fast, left, err)
	}
}
