package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
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

	"dbmatrix/executor"
	"dbmatrix/executor/server/servertest"
	"dbmatrix/executor/store"

	_ "github.com/mattn/go-sqlite3"
)

// crashExperiment has what a crash can leave half done: a shared snapshot, a
// setup to be undone, a settle, several phases and replicates, one of which goes on
// where it was interrupted.
const crashExperiment = `
experiment { replicates = REPLICATES }
defaults {
  server   = server.mariadb
  setup    = [["sh", "-c", "touch set-up"]]
  teardown = [["sh", "-c", "rm -f set-up"]]
}
axis "a" {
  level "x" { params = { n = 1 } }
  level "y" { params = { n = 2 } }
}
phase "load" {
  snapshot = true
  workload "insert_benchmark" {
    step   = "load"
    tables = 1
    rows   = 3000
  }
  settle { dirty_pages_pct = 90 }
}
phase "query" {
  iterations   = 2
  on_interrupt = "continue"
  workload "sql" { statements = ["select count(*) * ${param.n} from ib.pi1", "select sleep(0.2)"] }
}
table "load" {
  phase   = "load"
  columns = ["ips"]
}
`

// orphanBound is how long a server or client may outlive its runner.
const orphanBound = 10 * time.Second

// A victim is an experiment whose runners are killed.
type victim struct {
	t    *testing.T
	dir  string
	data string // where data directories lie
	text string // of the experiment
	n    int    // replicates
	env  []string
}

// victimHost returns a directory for several victims.
func victimHost(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers take a minute")
	}
	servertest.Need(t, "mariadb")
	top := t.TempDir()
	for dir := top; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil { // servers do not run as root
			t.Fatal(err)
		}
	}
	return top
}

// newVictim writes the experiment.
func newVictim(t *testing.T, top, name string) *victim {
	t.Helper()
	top = filepath.Join(top, name)
	v := &victim{t: t, dir: filepath.Join(top, "e"), data: filepath.Join(top, "data"), text: crashExperiment}
	v.env = append(os.Environ(), "DBMATRIX_TEST_MAIN=1", "DBMATRIX_HOST_LOCK="+filepath.Join(top, "lock"),
		"DBMATRIX_MACHINE="+filepath.Join(top, "machine.hcl"), "NO_COLOR=1")
	if err := os.MkdirAll(top, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "machine.hcl"), []byte(fmt.Sprintf("data_dir = %q\n", v.data)), 0o600); err != nil {
		t.Fatal(err)
	}
	v.grow()
	return v
}

// grow writes the experiment with one replicate more.
func (v *victim) grow() {
	v.t.Helper()
	v.n++
	text := strings.Replace(v.text, "REPLICATES", strconv.Itoa(v.n), 1)
	if err := os.MkdirAll(v.dir, 0o711); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(v.dir, "experiment.hcl"), []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// command returns a dbmatrix that has not started.
func (v *victim) command(env []string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append([]string{}, v.env...), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// toRun returns the phases that the plan says will be executed, each with the
// reason.
func (v *victim) toRun() map[string]string {
	v.t.Helper()
	cmd, _ := v.command(nil, "plan", "--format", "json", v.dir)
	cmd.Stderr = os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		v.t.Fatalf("planning: %v", err)
	}
	var plan planJSON
	if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
		v.t.Fatal(err)
	}
	phases := map[string]string{}
	for _, r := range plan.Runs {
		for _, p := range r.Phases {
			if p.Status != "done" {
				phases[fmt.Sprintf("%s/%d/%s", r.Cell, r.Replicate, p.Name)] = strings.TrimSpace(r.Reason + " " + p.Reason)
			}
		}
	}
	return phases
}

// executed counts how often each phase was begun.
func (v *victim) executed() map[string]int {
	v.t.Helper()
	counts := map[string]int{}
	s, err := store.OpenReadOnly(v.t.Context(), filepath.Join(v.dir, recordName))
	if errors.Is(err, os.ErrNotExist) {
		return counts
	}
	if err != nil {
		v.t.Fatal(err)
	}
	defer s.Close()
	attempts, err := s.Results(v.t.Context(), "e", store.Selection{All: true})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, a := range attempts {
		for _, p := range a.Phases {
			if p.From == 0 {
				counts[fmt.Sprintf("%s/%d/%s", a.Cell, a.Replicate, p.Block)]++
			}
		}
	}
	return counts
}

// run runs until the end or the kill, and checks that nothing was executed that
// the plan had not announced. It reports whether the runner was killed.
func (v *victim) run(env []string, kill func(*os.Process)) (killed bool, output string) {
	v.t.Helper()
	announced, before := v.toRun(), v.executed()
	cmd, out := v.command(env, "run", "-v", v.dir)
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	if kill != nil {
		kill(cmd.Process)
	}
	err := cmd.Wait()
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		killed = exited.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	}
	if err != nil && !killed {
		v.t.Fatalf("running: %v\n%s", err, out)
	}
	if killed {
		v.nothingSurvives()
	}
	for phase, n := range v.executed() {
		if n > before[phase] && announced[phase] == "" {
			v.t.Errorf("%s was executed again, and the plan did not say why\n%s", phase, out)
		}
	}
	return killed, out.String()
}

// nothingSurvives waits until no process of the experiment is left.
func (v *victim) nothingSurvives() {
	v.t.Helper()
	deadline := time.Now().Add(orphanBound)
	for {
		left, err := survivors(v.data)
		if err != nil {
			v.t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			v.t.Fatalf("after %s these still run: %s", orphanBound, strings.Join(left, "; "))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// finish runs what is left and checks that everything is there, once.
func (v *victim) finish() {
	v.t.Helper()
	if killed, out := v.run(nil, nil); killed {
		v.t.Fatalf("killed by whom?\n%s", out)
	}
	if left := v.toRun(); len(left) > 0 {
		v.t.Errorf("after the last run these are left: %v", left)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(v.dir, recordName)+"?mode=ro")
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	var runs int
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		v.t.Errorf("integrity check: %s, %v", verdict, err)
	}
	if err := db.QueryRow("SELECT count(DISTINCT cell || replicate) FROM throughput WHERE phase = 'load'").Scan(&runs); err != nil || runs != 2*v.n {
		v.t.Errorf("%d runs have a load, want %d (%v)", runs, 2*v.n, err)
	}
	cmd, out := v.command(nil, "report", "--format", "csv", v.dir)
	if err := cmd.Run(); err != nil || strings.Contains(out.String(), "X") {
		v.t.Errorf("the report is not complete: %v\n%s", err, out)
	}
	for _, pattern := range []string{v.data + "/runs/*", v.data + "/snapshots/*", v.data + "/*/*tmp*", v.data + "/*/*trash*", v.dir + "/set-up"} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			v.t.Errorf("left behind: %v", left)
		}
	}
}

// TestCrashPoints kills the runner at each place where a step is half done, and
// goes on.
func TestCrashPoints(t *testing.T) {
	top := victimHost(t)
	for _, point := range executor.CrashPoints() {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, top, point)
			if point == "attempt-continued" { // there must be one to go on with
				if killed, out := v.run([]string{executor.CrashVariable + "=window-open:3"}, nil); !killed {
					t.Fatalf("the runner passed no third window\n%s", out)
				}
			}
			killed, out := v.run([]string{executor.CrashVariable + "=" + point}, nil)
			if !killed {
				t.Fatalf("the runner passed no point of this name\n%s", out)
			}
			v.finish()
		})
	}
}
