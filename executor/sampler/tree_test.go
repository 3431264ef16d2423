package sampler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// tree unpacks a recorded host and returns its roots.
func tree(t testing.TB, archive string) Roots {
	t.Helper()
	dir := t.TempDir()
	unpack(t, dir, archive)
	return Roots{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys"), Etc: filepath.Join(dir, "etc")}
}

// unpack lays the files of an archive over a folder. A file named links holds
// symbolic links, one a line: name, blank, target.
func unpack(t testing.TB, dir, archive string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == "links" {
			for line := range strings.Lines(string(f.Data)) {
				name, target, _ := strings.Cut(strings.TrimSpace(line), " ")
				link(t, filepath.Join(dir, name), target)
			}
			continue
		}
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t testing.TB, name, target string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
