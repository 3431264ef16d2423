package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadRecord checks what a report says of a record that it cannot use: how it
// is with it, and the way out. There is no report of what can still be read.
func TestBadRecord(t *testing.T) {
	const definition = `experiment { name = "e" }
axis "io" { levels = ["a", "b"] }
defaults { server = server.made_up }
phase "load" {
  workload "sql" { statements = ["SELECT '${axis.io}'"] }
}
table "t" {
  phase   = "load"
  columns = ["ips"]
}
`
	execute := func(statement string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite3", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			db.SetMaxOpenConns(1)
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  string
	}{
		{"damaged", func(t *testing.T, path string) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(content); i++ {
				content[i] ^= 0x5a
			}
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
		}, "it is damaged (database disk image is malformed): keep it, and save what can be read"},
		{"cut off", func(t *testing.T, path string) {
			if err := os.Truncate(path, 20000); err != nil {
				t.Fatal(err)
			}
		}, "it is damaged (database disk image is malformed): keep it, and save what can be read"},
		{"of a newer schema", execute("PRAGMA user_version = 99"), "the results were written by a newer dbmatrix (schema 99, this one knows up to"},
		{"locked", execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"), "another program keeps it locked: let that end, or copy the file and use the copy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			machine := filepath.Join(dir, "machine.hcl")
			for path, text := range map[string]string{
				filepath.Join(dir, "experiment.hcl"): definition, machine: `server "made_up" { mysqld = "nowhere/mariadbd" }`,
			} {
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := recordMadeUp(t.Context(), dir, machine, 1, ""); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, recordName)
			tt.spoil(t, path)
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"report", dir, "--machine", machine}, strings.NewReader(""), &stdout, &stderr)
			if code != exitEnvironment || stdout.Len() > 0 || !strings.Contains(stderr.String(), path+": "+tt.want) {
				t.Errorf("exit status %d, want %d and %q; output %q, errors:\n%s", code, exitEnvironment, tt.want, &stdout, &stderr)
			}
		})
	}
}
