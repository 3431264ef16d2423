package store

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "record the current schema version with some results in testdata/versions")

// schema returns the definitions of all tables, indexes and views.
func schema(t *testing.T, s *Store) []string {
	return rows(t, s, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
}

// TestPastVersions opens a recorded database of every past version, and of the
// current one, for writing: it is migrated, has the schema of a new one, and what
// was measured reads as it did.
func TestPastVersions(t *testing.T) {
	steps, err := migrationSteps(migrations)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		recordVersion(t, len(steps))
	}
	fresh := schema(t, newStore(t))
	for version := 1; version <= len(steps); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "results.db")
			load(t, path, versionFile(version))
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if diff := cmp.Diff(fresh, schema(t, s)); diff != "" {
				t.Errorf("schema (-new +migrated):\n%s", diff)
			}
			wantRows(t, s, "PRAGMA integrity_check", "ok")
			wantRows(t, s, "PRAGMA foreign_key_check")
			wantRows(t, s, "SELECT cell, replicate, iteration, ips FROM throughput WHERE phase = 'load' ORDER BY cell",
				"io=1|1|1|100") // that of io=0 was withdrawn
			h, err := s.History(t.Context(), "dio", "host-a")
			if err != nil || len(h.Attempts) != 3 || len(h.Attempts[2].Phases) != 2 || h.Attempts[1].Withdrawn != "noise" {
				t.Errorf("history %+v, %v", h.Attempts, err)
			}
			_, err = os.Stat(fmt.Sprintf("%s-v%d.backup", path, version))
			if migrated := version < len(steps); migrated != (err == nil) {
				t.Errorf("the backup: %v; want one: %v", err, migrated)
			}
		})
	}
}

func versionFile(version int) string {
	return filepath.Join("testdata", "versions", fmt.Sprintf("%04d.sql", version))
}

// recordVersion writes a database of the current version as SQL.
func recordVersion(t *testing.T, version int) {
	t.Helper()
	s := newStore(t)
	p := plan(2, 1)
	r := record(t, s, p)
	r.whole(p.Cells[0], 1, 1000)
	a := r.whole(p.Cells[0], 1, 5)
	r.whole(p.Cells[1], 1, 1000)
	if err := s.Withdraw(r.ctx, a, "noise", "me"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(versionFile(version), []byte(dump(t, s, version)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dump returns a database as SQL.
func dump(t *testing.T, s *Store, version int) string {
	t.Helper()
	out := strings.Builder{}
	for _, statement := range rows(t, s, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, rowid") {
		fmt.Fprintf(&out, "%s;\n", statement)
	}
	for _, table := range rows(t, s, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid") {
		columns := strings.Join(rows(t, s, fmt.Sprintf("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('%s')", table)), " || ', ' || ")
		for _, values := range rows(t, s, fmt.Sprintf("SELECT %s FROM \"%s\"", columns, table)) {
			fmt.Fprintf(&out, "INSERT INTO \"%s\" VALUES (%s);\n", table, values)
		}
	}
	fmt.Fprintf(&out, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", applicationID, version)
	return out.String()
}

func load(t *testing.T, path, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("every version must be on record; `go test -run TestPastVersions -update` records the current one: %v", err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
}

func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	first := []string{"CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT; INSERT INTO a VALUES (1), (2);"}
	if err := migrate(t.Context(), path, first); err != nil {
		t.Fatal(err)
	}
	version := func() int {
		t.Helper()
		v, err := identify(t.Context(), path, reading)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, step := range map[string]string{
		"a step that fails half way":          "CREATE TABLE b (x) STRICT; INSERT INTO a VALUES (1);",
		"a step that leaves a dangling row":   "CREATE TABLE b (a_id INTEGER REFERENCES a) STRICT; INSERT INTO b VALUES (3);",
		"a step with a statement that is not": "CREATE TABLE b (x TEXT) STRICT; SELEKT 1;",
	} {
		if err := migrate(t.Context(), path, append(first, step)); err == nil || !strings.Contains(err.Error(), "migrating to schema 2") {
			t.Errorf("%s: %v", name, err)
		}
		if v := version(); v != 1 {
			t.Errorf("%s: version %d, want 1", name, v)
		}
	}
	steps := append(first, "CREATE TABLE b (a_id INTEGER REFERENCES a) STRICT; INSERT INTO b VALUES (2);", "DROP TABLE b;")
	for range 2 { // the second time there is nothing to do
		if err := migrate(t.Context(), path, steps); err != nil {
			t.Fatal(err)
		}
		if v := version(); v != 3 {
			t.Errorf("version %d, want 3", v)
		}
	}
}

func TestBackUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(1, 1)
	record(t, s, p).whole(p.Cells[0], 1, 1000)
	if err := backUp(t.Context(), path, 1); err != nil { // with its log not merged
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := backUp(t.Context(), path, 1); err != nil { // beside the other
		t.Fatal(err)
	}
	for _, name := range []string{"-v1.backup", "-v1-2.backup"} {
		copied, err := OpenReadOnly(t.Context(), path+name)
		if err != nil {
			t.Fatal(err)
		}
		wantRows(t, copied, "SELECT ips FROM throughput WHERE phase = 'load'", "100")
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A migration that is broken off, after its copy was made or in the middle of a
// step, is made again by the next dbmatrix. What lies on disk in the middle of it is
// copied, as a power cut would leave it.
func TestMigrationThatIsBrokenOff(t *testing.T) {
	steps, err := migrationSteps(migrations)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "results.db")
	load(t, path, versionFile(1))
	if err := backUp(t.Context(), path, 1); err != nil {
		t.Fatal(err)
	}
	db, err := connect(path, writing+"&_cache_spill=1", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	after := t.TempDir()
	stop := errors.New("power cut")
	err = transact(t.Context(), db, func(x *tx) error {
		if err := migrateStep(x, 2, steps[1]); err != nil {
			return err
		}
		for _, end := range []string{"", "-wal", "-shm", "-v1.backup"} {
			b, err := os.ReadFile(path + end)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err == nil {
				if err := os.WriteFile(filepath.Join(after, "results.db"+end), b, 0o600); err != nil {
					return err
				}
			}
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), filepath.Join(after, "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantRows(t, s, "PRAGMA integrity_check", "ok")
	wantRows(t, s, "PRAGMA user_version", fmt.Sprint(len(steps)))
	wantRows(t, s, "SELECT cell, replicate, iteration, ips FROM throughput WHERE phase = 'load' ORDER BY cell", "io=1|1|1|100")
}

func TestMigrationSteps(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("SELECT 1;")}
	if _, err := migrationSteps(fstest.MapFS{"migrations/0001.sql": file, "migrations/0003.sql": file}); err == nil {
		t.Error("a gap in the numbers gave no error")
	}
	steps, err := migrationSteps(fstest.MapFS{"migrations/0001.sql": file, "migrations/0002.sql": file})
	if err != nil || len(steps) != 2 {
		t.Errorf("%d steps, %v; want 2", len(steps), err)
	}
	if _, err := migrationSteps(fstest.MapFS{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
