package matrix

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

var update = flag.Bool("update", false, "write what the tests get into the golden files")

// TestBad reads each faulty experiment under testdata/bad (a file, or a directory
// of several) and compares what the user is told with the golden file beside it.
func TestBad(t *testing.T) {
	machine, err := filepath.Abs(filepath.Join("testdata", "machine.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	goldens, err := filepath.Abs(filepath.Join("testdata", "bad"))
	if err != nil {
		t.Fatal(err)
	}
	// In a folder of its own, so that no machine file above this one is read.
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(goldens)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() && filepath.Ext(name) != ".hcl" {
			continue
		}
		kinds++
		t.Run(strings.TrimSuffix(name, ".hcl"), func(t *testing.T) {
			o := testOptions(name)
			o.Machine = machine
			got := told(t, o)
			for _, word := range []string{"strconv", "cty.", "<nil>", "%!", "In cell ."} {
				if strings.Contains(strings.ReplaceAll(got, name, ""), word) {
					t.Errorf("the user is told of %s:\n%s", word, got)
				}
			}
			golden(t, filepath.Join(goldens, strings.TrimSuffix(name, ".hcl")+".txt"), got)
		})
	}
	if kinds < 60 {
		t.Errorf("%d kinds of mistakes, want at least 60", kinds)
	}
}

// told returns all that a user is told of an experiment, as it is shown on a
// terminal of 100 columns.
func told(t *testing.T, o LoadOptions) string {
	t.Helper()
	e, files, diags := Load(context.Background(), o)
	if e != nil {
		_, more := e.Expand()
		diags = append(diags, more...)
		slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
			switch {
			case before(a.Subject, b.Subject):
				return -1
			case before(b.Subject, a.Subject):
				return 1
			}
			return 0
		})
	}
	var text bytes.Buffer
	if err := hcl.NewDiagnosticTextWriter(&text, files, 100, false).WriteDiagnostics(diags); err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(text.String(), "\n") + "\n"
}

// golden compares a text with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("what the user is told (-want +got):\n%s", diff)
	}
}
