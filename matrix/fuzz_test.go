package matrix

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// hugeExponent matches numbers that take long to be written out, whatever is
// done with them: 1e1000000000 has as many digits.
var hugeExponent = regexp.MustCompile(`[0-9.][eE]\+?[0-9]{3}|[0-9.][eE]-[0-9]{3}`)

// hugeRange matches calls whose results are large by design.
var hugeRange = regexp.MustCompile(`range|setproduct|format|pow|repeat|cidr|for`)

// FuzzLoad tests that no definition makes the language panic, and that every
// fault has a place.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.hcl", "testdata/bad/*/*.hcl", "testdata/good/*.hcl"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	for _, src := range []string{identityExperiment, planExperiment, explainExperiment, scopeExperiment, axesABC + loadPhase} {
		f.Add([]byte(src))
	}
	for _, src := range faultyExperiments {
		f.Add([]byte(faultMark.ReplaceAllString(src, "$1")))
	}
	dir := f.TempDir()
	name := filepath.Join(dir, "experiment.hcl")
	machine, err := filepath.Abs(filepath.Join("testdata", "machine.hcl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 || hugeExponent.Match(src) || hugeRange.Match(src) {
			return
		}
		if err := os.WriteFile(name, src, 0o644); err != nil {
			t.Fatal(err)
		}
		o := testOptions(name)
		o.Machine = machine
		e, _, diags := Load(context.Background(), o)
		checkPlaces(t, diags)
		if e == nil {
			return
		}
		sound := !diags.HasErrors()
		if n, diags := e.Count(); diags.HasErrors() || n > 200 {
			checkPlaces(t, diags)
			return
		}
		cells, diags := e.Expand()
		checkPlaces(t, diags)
		if diags.HasErrors() || !sound {
			return
		}
		if e.Replicates > 3 {
			return
		}
		p, err := e.MakePlan(cells, History{}, PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) > 0 {
			e.Explain(cells[0])
		}
		if len(p.Runs) != len(cells)*e.Replicates {
			t.Errorf("%d runs of %d cells", len(p.Runs), len(cells))
		}
	})
}

// checkPlaces reports faults without a place in a file.
func checkPlaces(t *testing.T, diags hcl.Diagnostics) {
	t.Helper()
	for _, d := range diags {
		if d.Subject == nil || d.Subject.Filename == "" || d.Subject.Start.Line < 1 {
			t.Errorf("no place: %s; %s", d.Summary, d.Detail)
		}
	}
}
