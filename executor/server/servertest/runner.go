package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// runnerCommand makes a test program a runner that starts a server and waits to
// be killed.
const runnerCommand = "servertest-runner"

// A runnerTask is what such a runner does.
type runnerTask struct {
	Do      string // init, start or live
	Server  matrix.Server
	Options []matrix.Option
	DataDir string        // of init and live
	Layout  server.Layout // of start
}

// playRunner does a task.
func playRunner(args []string) int {
	var task runnerTask
	err := json.Unmarshal([]byte(args[0]), &task)
	if err == nil {
		err = task.play(context.Background())
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// play makes a template, starts a server and waits to be killed, or goes through
// a server's whole life.
func (r *runnerTask) play(ctx context.Context) error {
	g, err := server.StartGuardian(ctx, "")
	if err != nil {
		return err
	}
	defer g.Close()
	set := &matrix.Settings{Server: &r.Server, Options: r.Options}
	templates := server.Templates{DataDir: r.DataDir, Guardian: g}
	switch r.Do {
	case "init":
		_, err := templates.Make(ctx, set)
		return err
	case "start":
		if _, err := server.Start(ctx, server.Launch{Guardian: g, Settings: set, Layout: r.Layout}); err != nil {
			return err
		}
		fmt.Println("ready")
		time.Sleep(time.Minute)
		return nil
	}
	return r.live(ctx, g, &templates, set)
}

// live makes a template and a run, starts its server, asks it, stops it and
// removes both.
func (r *runnerTask) live(ctx context.Context, g *server.Guardian, templates *server.Templates, set *matrix.Settings) error {
	template, err := templates.Make(ctx, set)
	if err != nil {
		return err
	}
	l, err := server.NewLayout(r.DataDir, server.KindRun, "r", set)
	if err != nil {
		return err
	}
	if _, err := server.Copy(ctx, template, l, server.Owner{Kind: server.KindRun}, server.CopyBytes); err != nil {
		return err
	}
	i, err := server.Start(ctx, server.Launch{Guardian: g, Settings: set, Layout: l})
	if err != nil {
		return err
	}
	verdicts, err := i.InForce(ctx)
	if err != nil {
		return err
	}
	if faults := server.Faults(set, verdicts); len(faults) > 0 {
		return fmt.Errorf("faults are %q", faults)
	}
	stopped, err := i.Stop(ctx)
	if err == nil && !stopped.Clean {
		err = fmt.Errorf("the stop was not clean: %s", stopped.Why)
	}
	return errors.Join(err, server.Remove(l), server.Remove(template))
}

// survival is how long a server may outlive its runner.
const survival = 10 * time.Second

// testRunnerKilled kills runners with kill -9 while their server is ready and
// while it is starting. Nothing may be left of it after ten seconds, and the
// data directory must recover.
func (s *suite) testRunnerKilled(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond} {
		s.killRunner(t, l, after)
		s.awaitGone(t, s.dir, fmt.Sprintf("killed %s after its start", after))
	}
	i := s.start(t, l, set)
	if got := query(t, i, "SELECT 1"); got != "1" {
		t.Error("the server does not answer after its recovery")
	}
	s.stop(t, i)
}

// killRunner starts a runner and kills it a time after its server was started,
// or with 0 once the server is ready.
func (s *suite) killRunner(t *testing.T, l server.Layout, after time.Duration) {
	t.Helper()
	before, err := l.Owner()
	if err != nil {
		t.Fatal(err)
	}
	runner, out := s.runner(t, runnerTask{Do: "start", Server: s.build.Server, Options: s.build.Options, Layout: l})
	defer func() {
		runner.Process.Kill()
		runner.Wait()
	}()
	if after == 0 {
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("the runner said %q, %v", line, err)
		}
		return
	}
	for deadline := time.Now().Add(survival); ; time.Sleep(time.Millisecond) {
		if o, err := l.Owner(); err == nil && o.Starts > before.Starts && o.Process != nil {
			break
		}
		if time.Now().After(deadline) {
			runner.Process.Kill()
			said, _ := io.ReadAll(out)
			t.Fatalf("the runner did not start the server; it said %q", said)
		}
	}
	time.Sleep(after)
}

// left names what is left of servers below a data_dir, or "".
func left(t *testing.T, dir string) string {
	t.Helper()
	orphans, err := server.Orphans(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(orphans) > 0 {
		return fmt.Sprintf("process %d: %s", orphans[0].ID.PID, orphans[0].Command)
	}
	return usersOf(t, dir)
}

// usersOf names the processes that have a file below a directory open, or "".
func usersOf(t *testing.T, dir string) string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, dir+"/") {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			return fmt.Sprintf("process %d uses %s", pid, to)
		}
	}
	return ""
}

// testGuardianHalted kills a runner whose guardian was halted and sees nothing of
// it: the next runner finds both the server and the guardian, and ends them.
func (s *suite) testGuardianHalted(t *testing.T) {
	ctx := context.Background()
	set := s.settings()
	l := s.run(t, set)
	runner, out := s.runner(t, runnerTask{Do: "start", Server: s.build.Server, Options: s.build.Options, Layout: l})
	defer runner.Wait()
	defer runner.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the runner said %q, %v", line, err)
	}
	o, err := l.Owner()
	if err != nil || o.Guardian == nil || o.Process == nil {
		t.Fatalf("the owner file says %+v, %v; want server and guardian", o, err)
	}
	if err := syscall.Kill(o.Guardian.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	runner.Process.Kill()
	runner.Wait()
	orphans, err := server.Orphans(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for _, orphan := range orphans {
		found[orphan.ID.PID] = true
		if err := orphan.End(ctx); err != nil {
			t.Error(err)
		}
	}
	if !found[o.Guardian.PID] || !found[o.Process.PID] {
		t.Errorf("found are %v, want server %d and guardian %d among them", orphans, o.Process.PID, o.Guardian.PID)
	}
	s.awaitGone(t, s.dir, "with its guardian halted")
	s.stop(t, s.start(t, l, set))
	if o, err := l.Owner(); err != nil || o.Guardian != nil {
		t.Errorf("after a clean stop the owner file names a guardian: %+v, %v", o, err)
	}
}

// testInitKilled kills runners with kill -9 while they make a template: nothing
// half-made may be taken for one, nothing may run on, and the next one is whole.
func (s *suite) testInitKilled(t *testing.T) {
	dir := Dir(t)
	set := s.settings()
	key, err := server.InitKey(set)
	if err != nil {
		t.Fatal(err)
	}
	whole := server.Layout{Dir: filepath.Join(dir, server.KindTemplate+"s", key)}
	halves := 0
	for _, part := range []float64{0.1, 0.35, 0.6, 0.85} {
		halves += s.killInit(t, dir, whole, time.Duration(part*float64(s.took)))
	}
	if halves == 0 {
		t.Error("no initialisation was killed on its way")
	}
	made, err := (&server.Templates{DataDir: dir, Guardian: s.guardian}).Make(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	s.stop(t, s.start(t, made, set))
	if err := server.Remove(made); err != nil {
		t.Error(err)
	}
}

// killInit kills a runner a time after it began to make a template. It returns
// how many half-made ones that left, which it removes.
func (s *suite) killInit(t *testing.T, dir string, whole server.Layout, after time.Duration) int {
	t.Helper()
	runner, _ := s.runner(t, runnerTask{Do: "init", Server: s.build.Server, Options: s.build.Options, DataDir: dir})
	time.Sleep(after)
	runner.Process.Kill()
	runner.Wait()
	s.awaitGone(t, dir, fmt.Sprintf("killed after %s", after))
	if there, err := whole.Exists(); err != nil {
		t.Fatal(err)
	} else if there { // it was done before
		if err := server.Remove(whole); err != nil {
			t.Fatal(err)
		}
	}
	left, err := server.Leftovers(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		if err := server.Remove(l); err != nil {
			t.Errorf("killed after %s: %v", after, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(whole.Dir)); err == nil && len(entries) > 0 {
		t.Errorf("killed after %s, it left %v, which is not found as left over", after, entries)
	}
	return len(left)
}

// runner starts a runner with a task, and returns it with what it prints.
func (s *suite) runner(t *testing.T, task runnerTask) (*osexec.Cmd, io.ReadCloser) {
	t.Helper()
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	runner := osexec.Command("/proc/self/exe", runnerCommand, string(text))
	out, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	return runner, out
}

// awaitGone waits until nothing is left of a killed runner's server.
func (s *suite) awaitGone(t *testing.T, dir, what string) {
	t.Helper()
	deadline := time.Now().Add(survival)
	rest := left(t, dir)
	for rest != "" && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
		rest = left(t, dir)
	}
	if rest != "" {
		t.Fatalf("%s, the runner left %s", what, rest)
	}
}

// testWithoutRoot goes through a server's life as the user that servers run as,
// where the tests themselves run as root.
func (s *suite) testWithoutRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		s.record.without(s.name, "without root", "all of the suite runs without root")
		return
	}
	dir := Dir(t)
	info, err := os.Stat(s.template.Data())
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(dir, int(st.Uid), int(st.Gid)); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(runnerTask{Do: "live", Server: s.build.Server, Options: s.build.Options, DataDir: filepath.Join(dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	runner := osexec.Command("/proc/self/exe", runnerCommand, string(text))
	runner.Dir, runner.Env = dir, append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "TMPDIR="+dir)
	runner.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: st.Uid, Gid: st.Gid}}
	if out, err := runner.CombinedOutput(); err != nil {
		t.Errorf("as user %d: %v\n%s", st.Uid, err, out)
	}
}
