package docs_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"dbmatrix/executor/store"
)

// shownQuery matches a call of sqlite3 that a document shows; its first group is
// the SQL.
const shownQuery = `sqlite3 -box results\.db "([^"]*)"`

// TestShownQueries prepares the queries of results.md against an empty record.
func TestShownQueries(t *testing.T) {
	text, err := os.ReadFile("results.md")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "results.db")
	s, err := store.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	queries := regexp.MustCompile(shownQuery).FindAllStringSubmatch(string(text), -1)
	for _, q := range queries {
		rows, err := db.QueryContext(ctx, q[1])
		if err != nil {
			t.Errorf("%s: %v", q[1], err)
			continue
		}
		if rows.Next() {
			t.Errorf("%s: an empty record has an answer", q[1])
		}
		if err := rows.Close(); err != nil {
			t.Errorf("%s: %v", q[1], err)
		}
	}
	if len(queries) < 3 {
		t.Errorf("%d queries were found, want at least 3", len(queries))
	}
}
