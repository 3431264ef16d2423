package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor"
	"dbmatrix/executor/server"
)

// lightExperiment needs no server: what it leaves is what every experiment does.
const lightExperiment = `
experiment { replicates = REPLICATES }
phase "load" {
  iterations   = 3
  on_interrupt = "continue"
  workload "exec" {
    server  = false
    command = ["sh", "-c", "echo n=1; sleep 0.1"]
    metric "n" { regex = "n=([0-9]+)" }
  }
}
`

// newLight returns a victim without servers.
func newLight(t *testing.T) *victim {
	t.Helper()
	top := t.TempDir()
	v := newVictim(t, top, "light")
	v.text, v.n = lightExperiment, 0
	v.grow()
	return v
}

// mustRun runs until the end and returns what was printed.
func (v *victim) mustRun(env ...string) string {
	v.t.Helper()
	killed, out := v.run(env, nil)
	if killed {
		v.t.Fatalf("killed by whom?\n%s", out)
	}
	if left := v.toRun(); len(left) > 0 {
		v.t.Errorf("left: %v\n%s", left, out)
	}
	return out
}

// crash runs until a crash point.
func (v *victim) crash(point string) {
	v.t.Helper()
	if killed, out := v.run([]string{executor.CrashVariable + "=" + point}, nil); !killed {
		v.t.Fatalf("the runner passed no %s\n%s", point, out)
	}
}

// there reports whether a path below the data directory is there.
func (v *victim) there(name string) bool {
	_, err := os.Lstat(filepath.Join(v.data, name))
	return err == nil
}

// make makes a directory below the data directory as an earlier runner would have.
func (v *victim) make(name string) server.Owner {
	v.t.Helper()
	o := server.Owner{Kind: server.KindRun, Experiment: v.dir, Token: server.NewToken(), Replicate: 9, Attempt: 9}
	l := server.Layout{Dir: filepath.Join(v.data, name)}
	if err := l.Create(o); err != nil {
		v.t.Fatal(err)
	}
	if err := os.MkdirAll(l.Data(), 0o700); err != nil {
		v.t.Fatal(err)
	}
	return o
}

// quick returns one number of the record.
func (v *victim) quick(query string) (n int) {
	v.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(v.dir, recordName)+"?mode=ro")
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		v.t.Fatal(err)
	}
	return n
}

// A directory without an owner file is told of, and neither used nor removed: it
// may be somebody else's, whatever its name.
func TestDirectoriesWithoutOwnerStay(t *testing.T) {
	v := newLight(t)
	for _, name := range []string{"runs/x.tmp-01234567", "runs/foreign", "snapshots/foreign"} {
		if err := os.MkdirAll(filepath.Join(v.data, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := v.mustRun()
	for _, name := range []string{"runs/x.tmp-01234567", "runs/foreign", "snapshots/foreign"} {
		if !v.there(name) {
			t.Errorf("%s was removed", name)
		}
		if !strings.Contains(out, name+" has no owner file") {
			t.Errorf("%s is not told of\n%s", name, out)
		}
	}
}

// What was being made, and what was being removed, when the runner died is removed.
func TestHalfMadeAndHalfRemovedGo(t *testing.T) {
	v := newLight(t)
	for _, name := range []string{"runs/half", "runs/trash", "runs/whole"} {
		v.make(name)
	}
	for from, to := range map[string]string{"half": "half.tmp-01234567", "trash": "trash.trash-01234567"} {
		if err := os.Rename(filepath.Join(v.data, "runs", from), filepath.Join(v.data, "runs", to)); err != nil {
			t.Fatal(err)
		}
	}
	v.mustRun()
	if left, _ := filepath.Glob(v.data + "/runs/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a runner left that died after its last result goes, though nothing is left to
// be executed.
func TestLeftAfterTheLastResult(t *testing.T) {
	v := newLight(t)
	v.crash("attempt-finished")
	if left, _ := filepath.Glob(v.data + "/runs/*"); len(left) != 1 {
		t.Fatalf("there is nothing to remove: %v", left)
	}
	if out := v.mustRun(); !strings.Contains(out, "Nothing is left to do") || !strings.Contains(out, "left by an earlier runner") {
		t.Errorf("it does not tell of it\n%s", out)
	}
	if left, _ := filepath.Glob(v.data + "/runs/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A process with the token of one of our directories is an orphan, also where
// nobody has written down its pid. A pid file proves nothing.
func TestOrphanIsFoundByItsToken(t *testing.T) {
	v := newLight(t)
	o := v.make("runs/old")
	start := func(token string) *exec.Cmd {
		cmd := exec.Command("sleep", "300")
		cmd.Env = append(os.Environ(), "DBMATRIX_TOKEN="+token)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	orphan, other := start(o.Token), start(server.NewToken())
	pidFile := filepath.Join(v.data, "runs/old/data/server.pid")
	if err := os.WriteFile(pidFile, []byte(fmt.Sprint(other.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := v.mustRun()
	if err := orphan.Wait(); err == nil || orphan.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the orphan ended with %v", err)
	}
	if !strings.Contains(out, fmt.Sprintf("ended pid %d, left by an earlier runner", orphan.Process.Pid)) {
		t.Errorf("the orphan is not told of\n%s", out)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process that the pid file names was ended: %v", err)
	}
}

// A record whose log is lost, as in a copy of results.db alone, is that of an
// earlier moment: what was measured since is measured again, and nothing else is
// wrong.
func TestRecordWithoutItsLog(t *testing.T) {
	v := newLight(t)
	v.mustRun()
	v.grow()
	v.crash("iteration-recorded:2")
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(v.dir, recordName+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	v.mustRun()
	if n := v.quick("SELECT count(*) FROM attempt WHERE status = 'ok'"); n != 2 {
		t.Errorf("%d complete attempts, want 2", n)
	}
	if left, _ := filepath.Glob(v.data + "/runs/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Files that a power cut left empty or full of zeros are not taken for results.
func TestFilesThatAPowerCutEmptied(t *testing.T) {
	v := newLight(t)
	v.crash("window-closed:2")
	for _, pattern := range []string{v.dir + "/artifacts/*/*/*/*/*", v.data + "/runs/*/data/*", v.data + "/runs/*/scratch/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if err := os.WriteFile(path, make([]byte, 100*(i%2)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	v.mustRun()
	if n := v.quick("SELECT count(*) FROM result WHERE metric = 'n' AND value = 1"); n != 3 {
		t.Errorf("%d results, want 3", n)
	}
}

// An interrupted phase goes on in its own attempt, and its first iteration after
// the gap carries the flag, in the record, in show and in tables.
func TestContinuedIterationIsFlagged(t *testing.T) {
	v := newLight(t)
	v.crash("window-open:3")
	plan := v.toRun()
	if reason := plan["/1/load"]; !strings.Contains(reason, "goes on at iteration 3") {
		t.Errorf("the plan says %q", reason)
	}
	v.mustRun()
	if n := v.quick("SELECT max(number) FROM attempt"); n != 1 {
		t.Errorf("attempt %d was made", n)
	}
	if n := v.quick("SELECT count(*) FROM flag f JOIN iteration i ON i.id = f.iteration_id WHERE f.name = 'continued' AND i.number = 3"); n != 1 {
		t.Errorf("%d flags on iteration 3", n)
	}
	for _, args := range [][]string{{"status", v.dir}, {"show", v.dir, "(the only cell)"}, {"table", "--phase", "load", "--columns", "n@load.3", v.dir}} {
		cmd, out := v.command(nil, args...)
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "on the same data directory") {
			t.Errorf("%s does not tell of it: %v\n%s", args[0], err, out)
		}
	}
}

// Two runners of one record are kept apart although their hosts' locks and their
// data directories are not the same, and so are two of one host.
func TestSecondRunnerIsRefused(t *testing.T) {
	v := newLight(t)
	v.text = strings.Replace(lightExperiment, "sleep 0.1", "sleep 60", 1)
	v.grow()
	first, firstOut := v.command(nil, "run", v.dir)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() })
	deadline := time.Now().Add(30 * time.Second)
	for {
		if paths, _ := filepath.Glob(v.data + "/runs/*"); len(paths) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the first runner does not begin\n%s", firstOut)
		}
		time.Sleep(20 * time.Millisecond)
	}
	elsewhere := filepath.Join(t.TempDir(), "machine.hcl")
	if err := os.WriteFile(elsewhere, []byte(fmt.Sprintf("data_dir = %q\n", filepath.Join(filepath.Dir(elsewhere), "data"))), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"same host":   nil,
		"same record": {"DBMATRIX_HOST_LOCK=" + elsewhere + ".lock", "DBMATRIX_MACHINE=" + elsewhere},
		"same data":   {"DBMATRIX_HOST_LOCK=" + elsewhere + ".lock"},
	} {
		began := time.Now()
		cmd, out := v.command(env, "run", v.dir)
		err := cmd.Run()
		var exited *exec.ExitError
		if !errors.As(err, &exited) || exited.ExitCode() != exitEnvironment {
			t.Errorf("%s: ended with %v\n%s", name, err, out)
		}
		if want := fmt.Sprintf("is locked by pid %d", first.Process.Pid); !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q does not say %q", name, out, want)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: it took %s to say so", name, took)
		}
	}
	// A lock goes with its holder, whatever its file says.
	_ = first.Process.Kill()
	_ = first.Wait()
	v.nothingSurvives()
	v.text = lightExperiment
	v.n--
	v.grow()
	v.mustRun()
}

// A runner that root started is not the one that the kernel kills when memory runs
// out.
func TestRunnerIsSparedWhenMemoryRunsOut(t *testing.T) {
	if err := exec.Command("sh", "-c", "echo -500 > /proc/self/oom_score_adj").Run(); err != nil {
		t.Skip("this user, or this kernel, does not let the score be lowered")
	}
	v := newLight(t)
	v.text = strings.Replace(lightExperiment, "echo n=1; sleep 0.1", "echo n=$(cat /proc/self/oom_score_adj | tr -d -); echo r=$(cat /proc/$(ps -o ppid= -p $PPID | tr -d ' ')/oom_score_adj)", 1)
	v.n--
	v.grow()
	v.mustRun()
	files, err := filepath.Glob(v.dir + "/artifacts/*/*/*/*/*/*")
	if err != nil {
		t.Fatal(err)
	}
	var printed string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		printed += string(b)
	}
	if !strings.Contains(printed, "r=-500") || !strings.Contains(printed, "n=0") {
		t.Errorf("scores: %s", printed)
	}
}

// killWhen kills a runner once a pattern of paths below the data directory matches.
func (v *victim) killWhen(pattern string) func(*os.Process) {
	return func(p *os.Process) {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if paths, _ := filepath.Glob(filepath.Join(v.data, pattern)); len(paths) > 0 {
				break
			}
		}
		_ = p.Kill() // it may have ended
	}
}

// A runner that dies while a server initialises, starts or copies leaves nothing
// that the next one takes for whole.
func TestKilledInTheMiddle(t *testing.T) {
	top := victimHost(t)
	for name, pattern := range map[string]string{
		"initialising": "templates/*.tmp-*/data/*",
		"copying":      "runs/*.tmp-*/data/*",
		"starting":     "runs/*/logs/error.1.log",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, top, name)
			if killed, out := v.run(nil, v.killWhen(pattern)); !killed {
				t.Fatalf("nothing was killed\n%s", out)
			}
			v.finish()
			if name != "initialising" {
				return
			}
			// Initialised, and killed before it had its name.
			whole, err := filepath.Glob(v.data + "/templates/*")
			if err != nil || len(whole) != 1 {
				t.Fatalf("templates: %v, %v", whole, err)
			}
			if err := os.Rename(whole[0], whole[0]+".tmp-01234567"); err != nil {
				t.Fatal(err)
			}
			v.grow()
			v.finish()
		})
	}
}

// An option file that was half written goes with its directory, and is made anew in
// one that a run goes on in.
func TestHalfWrittenOptionFile(t *testing.T) {
	v := newVictim(t, victimHost(t), "half")
	v.crash("window-open:3")
	files, err := filepath.Glob(v.data + "/runs/*/my.cnf")
	if err != nil || len(files) != 1 {
		t.Fatalf("option files: %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	half := append(whole[:len(whole)/2:len(whole)/2], "\nno_such_opt"...)
	for _, path := range []string{files[0], files[0] + ".tmp-01234567"} {
		if err := os.WriteFile(path, half, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v.finish()
	if n := v.quick("SELECT count(*) FROM flag WHERE name = 'continued'"); n != 1 {
		t.Errorf("%d iterations went on in their directory, want 1", n)
	}
}

// A report is the old one or the new one, wherever its writer was killed.
func TestKilledReport(t *testing.T) {
	v := newLight(t)
	v.text, v.n = v.text+`
table "all" { columns = ["n"] }
`, 0
	v.grow()
	v.mustRun()
	path := filepath.Join(v.dir, "RESULTS.md")
	report := func() string {
		t.Helper()
		cmd, out := v.command(nil, "report", "-o", path, v.dir)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := report()
	killed := 0
	for range 10 {
		if err := os.WriteFile(path, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd, _ := v.command(nil, "report", "-o", path, v.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
				waiting = false
			default:
				if half, _ := filepath.Glob(path + ".tmp-*"); len(half) > killed {
					_ = cmd.Process.Kill() // it may have ended
					<-ended
					killed, waiting = len(half), false
				}
			}
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "old\n" && string(b) != want {
			t.Fatalf("%v, and the report is %q", err, b)
		}
	}
	if killed == 0 {
		t.Error("no writer was killed in the middle of its work")
	}
	if got := report(); got != want {
		t.Errorf("then the report is %q, want %q", got, want)
	}
}
