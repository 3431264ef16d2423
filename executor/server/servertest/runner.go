package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	Server  matrix.Server
	Options []matrix.Option
	Layout  server.Layout
}

// playRunner starts the server of a task, prints "ready", and waits.
func playRunner(args []string) int {
	var task runnerTask
	if err := json.Unmarshal([]byte(args[0]), &task); err != nil {
		fmt.Println(err)
		return 1
	}
	ctx := context.Background()
	g, err := server.StartGuardian(ctx, "")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	set := &matrix.Settings{Server: &task.Server, Options: task.Options}
	if _, err := server.Start(ctx, server.Launch{Guardian: g, Settings: set, Layout: task.Layout}); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
	return 0
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
		deadline := time.Now().Add(survival)
		left := s.left(t, l)
		for left != "" && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
			left = s.left(t, l)
		}
		if left != "" {
			t.Fatalf("killed %s after its start, the runner left %s", after, left)
		}
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
	task, err := json.Marshal(runnerTask{Server: s.build.Server, Options: s.build.Options, Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	before, err := l.Owner()
	if err != nil {
		t.Fatal(err)
	}
	runner := osexec.Command("/proc/self/exe", runnerCommand, string(task))
	out, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
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

// left names what is left of a server, or "".
func (s *suite) left(t *testing.T, l server.Layout) string {
	t.Helper()
	orphans, err := server.Orphans(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(orphans) > 0 {
		return fmt.Sprintf("process %d: %s", orphans[0].ID.PID, orphans[0].Command)
	}
	return usersOf(t, l.Data())
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
