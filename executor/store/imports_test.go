package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dbmatrix/matrix"
)

// TestImports records an import, reads it back, and replaces it.
func TestImports(t *testing.T) {
	s := newStore(t)
	first := Import{Name: "old", File: "old.csv", Rows: []ImportedRow{
		{Cell: "io=1", Levels: map[string]string{"io": "1"}, Phase: "load", Iteration: 1, Replicate: 2, Status: matrix.OK,
			Values: map[string]ImportedValue{"ips": {"11XX", 1100, true}, "size": {"NA", 0, false}}},
		{Cell: "", Levels: map[string]string{}, Matrix: "m", Phase: "scan", Iteration: 3, Replicate: 1, Status: matrix.Failed, Values: map[string]ImportedValue{}},
	}}
	second := Import{Name: "old", File: "new.csv", Rows: first.Rows[:1]}
	add := func(in Import, replace bool) error { return s.AddImport(t.Context(), "dio", in, replace) }
	check := func(want ...Import) {
		t.Helper()
		got, err := s.Imports(t.Context(), "dio")
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Import{}, "Read")); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if err := add(first, false); err != nil {
		t.Fatal(err)
	}
	check(first)
	if err := add(second, false); !errors.Is(err, ErrImported) {
		t.Errorf("a second import of one name: %v", err)
	}
	check(first)
	if err := add(second, true); err != nil {
		t.Fatal(err)
	}
	check(second)
	wantRows(t, s, "SELECT count(*) FROM import_value", "2")
	twice := Import{Name: "twice", Rows: []ImportedRow{first.Rows[0], first.Rows[0]}}
	if err := add(twice, false); err == nil {
		t.Error("two rows of one iteration were imported")
	}
	check(second)
	if other, err := s.Imports(t.Context(), "other"); err != nil || other != nil {
		t.Errorf("another experiment has %v, %v", other, err)
	}
}
