package reliability

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dbmatrix/executor/server/servertest"

	_ "github.com/mattn/go-sqlite3"
)

// program is the dbmatrix under test.
var program string

// TestMain builds the program.
func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dbmatrix-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "dbmatrix")
	build := exec.Command("go", "build", "-o", program, "dbmatrix/cmd/dbmatrix")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building dbmatrix: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A host is what dbmatrix takes for a host: a lock, a machine file, a place for
// data, and an experiment.
type host struct {
	t          *testing.T
	dir        string // that holds all of it, and is removed after the test
	data       string // data_dir of the machine file
	experiment string // directory of the definition, called e
	env        []string
}

// newHost returns a host whose experiment is not written yet. The data of a test
// can be moved to a filesystem of its own before that.
func newHost(t *testing.T) *host {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers take a minute")
	}
	dir := servertest.Dir(t)
	return &host{
		t: t, dir: dir, data: filepath.Join(dir, "data"), experiment: filepath.Join(dir, "e"),
		env: append(os.Environ(), "DBMATRIX_HOST_LOCK="+filepath.Join(dir, "lock"),
			"DBMATRIX_MACHINE="+filepath.Join(dir, "machine.hcl"), "NO_COLOR=1"),
	}
}

// machine writes the machine file: the place of the data, and servers under the
// names that tests know them by.
func (h *host) machine(more string, builds ...string) {
	h.t.Helper()
	text := fmt.Sprintf("data_dir = %q\n%s\n", h.data, more)
	for _, name := range builds {
		s := servertest.Need(h.t, name).Server
		text += fmt.Sprintf("server %q {\n", name)
		for _, a := range []struct{ name, value string }{
			{"mysqld", s.Mysqld}, {"basedir", s.Basedir}, {"bindir", s.Bindir}, {"user", s.User},
		} {
			if a.value != "" {
				text += fmt.Sprintf("  %s = %q\n", a.name, a.value)
			}
		}
		text += "}\n"
	}
	write(h.t, filepath.Join(h.dir, "machine.hcl"), text)
}

// define writes the experiment.
func (h *host) define(text string) {
	h.t.Helper()
	write(h.t, filepath.Join(h.experiment, "experiment.hcl"), text)
}

// write writes a file that servers may read, and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command returns a dbmatrix that has not started. All that it prints goes to
// one file, since a process that outlives it would hold a pipe open.
func (h *host) command(args ...string) (cmd *exec.Cmd, output *os.File) {
	h.t.Helper()
	output, err := os.CreateTemp(h.dir, "output-")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { output.Close() })
	cmd = exec.Command(program, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

// dbmatrix runs a command to its end, and returns its exit code and all that it
// printed.
func (h *host) dbmatrix(args ...string) (code int, output string) {
	h.t.Helper()
	cmd, out := h.command(args...)
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		h.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), read(h.t, out.Name())
}

// must runs a command that must end with 0.
func (h *host) must(args ...string) string {
	h.t.Helper()
	code, out := h.dbmatrix(args...)
	if code != 0 {
		h.t.Fatalf("dbmatrix %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A plan is what "dbmatrix plan --format json" prints, as far as tests look at it.
type plan struct {
	Runs []struct {
		Cell      string
		Replicate int
		Status    string
		Reason    string
		Phases    []struct{ Name, Status, Reason string }
	}
}

// failures are the statuses of the plan that a plain run leaves alone.
var failures = []string{"failed", "timeout", "hung", "crashed", "invalid"}

// plan returns the plan.
func (h *host) plan() plan {
	h.t.Helper()
	cmd, _ := h.command("plan", "--format", "json", h.experiment)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("planning: %v\n%s", err, &messages)
	}
	var p plan
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		h.t.Fatal(err)
	}
	return p
}

// left returns how many runs a plain run would take up, and how many wait for
// --status.
func (p plan) left() (plain, failed int) {
	for _, r := range p.Runs {
		switch {
		case slices.Contains(failures, r.Status):
			failed++
		case r.Status != "done":
			plain++
		}
	}
	return plain, failed
}

// announced returns the phases that the plan says will be executed, each with the
// reason. Failed runs are among them where they are asked for.
func (p plan) announced(failed bool) map[string]string {
	phases := map[string]string{}
	for _, r := range p.Runs {
		if slices.Contains(failures, r.Status) != failed {
			continue
		}
		for _, ph := range r.Phases {
			if ph.Status != "done" {
				phases[phaseName(r.Cell, r.Replicate, ph.Name)] = strings.TrimSpace(r.Reason + " " + ph.Reason)
			}
		}
	}
	return phases
}

func phaseName(cell string, replicate int, phase string) string {
	return fmt.Sprintf("%s/%d/%s", cell, replicate, phase)
}

// record opens the results database for reading; it is nil where there is none.
func (h *host) record() *sql.DB {
	h.t.Helper()
	path := filepath.Join(h.experiment, "results.db")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_busy_timeout=10000")
	if err != nil {
		h.t.Fatal(err)
	}
	return db
}

// rows returns the rows of a query of the record, each as its columns joined by
// spaces.
func rows(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	found, err := db.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for found.Next() {
		values, places := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := found.Scan(places...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range values {
			line = append(line, v.String)
		}
		lines = append(lines, strings.Join(line, " "))
	}
	if err := found.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return lines
}

// executed counts how often each phase was begun.
func (h *host) executed() map[string]int {
	h.t.Helper()
	counts := map[string]int{}
	db := h.record()
	if db == nil {
		return counts
	}
	defer db.Close()
	for _, name := range rows(h.t, db, `SELECT c.key || '/' || r.replicate || '/' || p.block
		FROM phase p JOIN attempt a ON a.id = p.attempt_id JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id
		WHERE p.taken_from IS NULL`) {
		counts[name]++
	}
	return counts
}

// intact checks the record as SQLite does.
func (h *host) intact() {
	h.t.Helper()
	db := h.record()
	if db == nil {
		h.t.Error("there is no record")
		return
	}
	defer db.Close()
	if got := rows(h.t, db, "PRAGMA integrity_check"); !slices.Equal(got, []string{"ok"}) {
		h.t.Errorf("integrity check: %q", got)
	}
	if got := rows(h.t, db, "PRAGMA foreign_key_check"); len(got) > 0 {
		h.t.Errorf("foreign key check: %q", got)
	}
}

// nothingLeft checks that no directory of a run, a snapshot, or anything half
// done lies in the data.
func (h *host) nothingLeft() {
	h.t.Helper()
	for _, pattern := range []string{"runs/*-r[0-9]*", "snapshots/*-*", "*/*.tmp-*", "*/*.trash-*"} {
		found, err := filepath.Glob(filepath.Join(h.data, pattern))
		if err != nil {
			h.t.Fatal(err)
		}
		for _, path := range found {
			if _, err := os.Stat(filepath.Join(path, "dbmatrix-owner.json")); err == nil {
				h.t.Errorf("left behind: %s", path)
			}
		}
	}
}

// exitOf returns how a process ended: its exit code, or -1 and the signal.
func exitOf(err error) (int, syscall.Signal) {
	var exited *exec.ExitError
	if !errors.As(err, &exited) {
		return 0, 0
	}
	ws := exited.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -1, ws.Signal()
	}
	return ws.ExitStatus(), 0
}
