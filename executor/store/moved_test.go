package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A record that is moved away while it is written says so at the next commit, and
// what it holds is not lost.
func TestRecordThatIsMovedAway(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		says  string
		there string // where all that was recorded is found
	}{
		"removed": {os.Remove, "was removed", "results.db-rescued"},
		"renamed": {func(path string) error { return os.Rename(path, filepath.Join(filepath.Dir(path), "old.db")) }, "was renamed", "old.db"},
		"replaced": {func(path string) error {
			other := path + ".other"
			return errors.Join(os.WriteFile(other, nil, 0o600), os.Rename(other, path))
		}, "was replaced", "results.db-rescued"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "results.db")
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.RecordPlan(t.Context(), plan(1, 1)); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			_, err = s.RecordPlan(t.Context(), plan(2, 1))
			if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.there) {
				t.Errorf("the next commit: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			found, err := OpenReadOnly(t.Context(), filepath.Join(filepath.Dir(path), c.there))
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			var cells int
			if err := found.reader.QueryRow("SELECT count(*) FROM cell").Scan(&cells); err != nil || cells != 2 {
				t.Errorf("found %d cells, want 2: %v", cells, err)
			}
		})
	}
}
