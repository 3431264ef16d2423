package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dbmatrix/matrix"
)

// recordOf makes a closed record of some host, with two replicates of two cells,
// and more of everything that a merge copies.
func recordOf(t *testing.T, host string, began time.Time) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "results.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	at := began
	s.now = func() time.Time { at = at.Add(time.Second); return at }
	p := plan(2, 2)
	p.Host.ID = host
	r := record(t, s, p)
	if _, err := s.BeginEpoch(r.ctx, r.exp, Epoch{BootID: host, Reason: "first", Facts: []Fact{{"kernel", host}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Cells {
		for k := 1; k <= 2; k++ {
			r.whole(c, k, float64(1000*k))
		}
	}
	a := r.attempt(p.Cells[0], 1)
	load := r.begin(a, p.Cells[0], 0)
	if _, err := s.FinishIteration(r.ctx, load, Iteration{
		Number: 1, Status: matrix.OK, Flags: []matrix.Flag{{Name: "swap", Detail: "much"}},
		Metrics:    []matrix.Metric{{Name: "secs", Unit: "s", Value: 2}, {Name: "only_" + host, Unit: "count", Value: 3}},
		Series:     []matrix.Series{{Metric: "qps", Unit: "1/s", Readings: []matrix.Reading{{At: time.Second, Value: 5}}}},
		QueryPlans: []QueryPlan{{"select 1", "no table"}},
		Artifacts:  []Artifact{{Kind: "error log", Path: "artifacts/log", Bytes: 4}},
	}); err != nil {
		t.Fatal(err)
	}
	r.finish(load, matrix.OK, "")
	r.end(a, matrix.Failed, "on purpose")
	if err := s.AddFacts(r.ctx, a, []Fact{{"kernel", host}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddImport(r.ctx, "dio", Import{Name: host, Rows: []ImportedRow{{
		Cell: "io=1", Levels: map[string]string{"io": "1"}, Phase: "load", Iteration: 1, Replicate: 1, Status: matrix.OK,
		Values: map[string]ImportedValue{"ips": {"7", 7, true}},
	}}}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

var firstBegan = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// results reads what a record has of a host, without ids.
func results(t *testing.T, path, host string) []Attempt {
	t.Helper()
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Results(t.Context(), "dio", Selection{Host: host, All: true})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMerge merges the records of two hosts: each keeps its results, and a second
// merge adds nothing.
func TestMerge(t *testing.T) {
	a, b := recordOf(t, "host-a", firstBegan), recordOf(t, "host-b", firstBegan)
	want := map[string][]Attempt{"host-a": results(t, a, "host-a"), "host-b": results(t, b, "host-b")}
	s, err := Open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, want := range []Merged{{Attempts: 5}, {Known: 5}} {
		got, err := s.Merge(t.Context(), b)
		if err != nil || got != want {
			t.Fatalf("merge %d: %+v, %v; want %+v", i+1, got, err, want)
		}
	}
	ids := cmpopts.IgnoreTypes(AttemptID(0), PhaseID(0), IterationID(0), EpochID(0))
	for host, want := range want {
		if diff := cmp.Diff(want, results(t, a, host), ids); diff != "" {
			t.Errorf("%s (-before +merged):\n%s", host, diff)
		}
	}
	wantRows(t, s, "PRAGMA integrity_check", "ok")
	wantRows(t, s, "PRAGMA foreign_key_check")
	wantRows(t, s, `SELECT e.host, count(*) FROM reading r JOIN series s ON s.id = r.series_id JOIN iteration i ON i.id = s.iteration_id
		JOIN phase p ON p.id = i.phase_id JOIN attempt a ON a.id = p.attempt_id JOIN run u ON u.id = a.run_id JOIN cell c ON c.id = u.cell_id
		JOIN experiment e ON e.id = c.experiment_id WHERE a.status = 'failed' GROUP BY 1`, "host-a|1", "host-b|1")
	wantRows(t, s, "SELECT path FROM artifact ORDER BY path", "artifacts/log", "hosts/host-b/artifacts/log")
	wantRows(t, s, "SELECT count(*) FROM input", "8")
	wantRows(t, s, `SELECT i.name, v.token, v.text, l.level FROM import i JOIN import_row r ON r.import_id = i.id
		JOIN import_value v ON v.row_id = r.id JOIN import_level l ON l.row_id = r.id ORDER BY 1`, "host-a|ips|7|1", "host-b|ips|7|1")
	wantRows(t, s, "SELECT s.value FROM fact f JOIN setting s ON s.id = f.setting_id ORDER BY 1", "host-a", "host-b")
}

// TestMergeCopy merges a record with a copy of itself that went on: the attempts of
// both are numbered by time, and what was withdrawn since is.
func TestMergeCopy(t *testing.T) {
	a, b := recordOf(t, "host-a", firstBegan), recordOf(t, "host-a", firstBegan)
	later, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(2, 2)
	at := firstBegan.Add(time.Hour)
	later.now = func() time.Time { at = at.Add(time.Second); return at }
	added := record(t, later, p)
	added.whole(p.Cells[1], 1, 7)
	if err := later.Withdraw(t.Context(), 1, "noise", "me"); err != nil {
		t.Fatal(err)
	}
	if err := later.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Merge(t.Context(), b)
	if want := (Merged{Attempts: 1, Known: 5}); err != nil || got != want {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	wantRows(t, s, `SELECT c.key, r.replicate, a.number, a.status FROM attempt a JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id
		WHERE c.key = 'io=1' ORDER BY 1, 2, 3`, "io=1|1|1|ok", "io=1|1|2|ok", "io=1|2|1|ok")
	wantRows(t, s, "SELECT attempt_id, reason FROM withdrawal", "1|noise")
}

// TestMergeOlder merges a record of the first version, which stays as it is.
func TestMergeOlder(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.db")
	load(t, old, versionFile(1))
	before, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	if got, err := s.Merge(t.Context(), old); err != nil || got.Attempts != 3 {
		t.Fatalf("%+v, %v; want 3 attempts", got, err)
	}
	wantRows(t, s, "PRAGMA foreign_key_check")
	if after, err := os.ReadFile(old); err != nil || string(after) != string(before) {
		t.Errorf("the older record was changed (%v)", err)
	}
}

// TestMergeOlderWithoutRoom checks that a copy that cannot be made is an error.
func TestMergeOlderWithoutRoom(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.db")
	load(t, old, versionFile(1))
	s := newStore(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	if _, err := s.Merge(t.Context(), old); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v; want an error that names the place", err)
	}
	wantRows(t, s, "SELECT count(*) FROM experiment", "0")
}

// TestMergeRefuses checks what is not merged, and that nothing is added then.
func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	running := filepath.Join(dir, "running.db")
	r, err := Open(t.Context(), running)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(1, 1)
	record(t, r, p).attempt(p.Cells[0], 1)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	for path, want := range map[string]string{
		running:                     "1 attempts under way",
		text:                        "it is no database",
		filepath.Join(dir, "no.db"): "no such file",
		s.Path():                    "merged into",
	} {
		if _, err := s.Merge(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", filepath.Base(path), err, want)
		}
	}
	wantRows(t, s, "SELECT count(*) FROM experiment", "0")
}
