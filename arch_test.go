// Package dbmatrix_test holds the rules that span the packages of dbmatrix.
package dbmatrix_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "dbmatrix"

// A rule says which packages of ours the packages of a room may import, and why
// none other. Names are relative to the module; a name ending in "/..." stands
// for a package and all below it.
type rule struct {
	room   string
	may    []string
	reason string
}

var rules = []rule{
	{
		room:   "matrix/...",
		may:    []string{"matrix/..."},
		reason: "the language is pure, and all others speak its words",
	},
	{
		room:   "executor/server/...",
		may:    []string{"matrix/...", "executor/server/..."},
		reason: "a server's life must not depend on what is done to it",
	},
	{
		room:   "executor/workload/...",
		may:    []string{"matrix/...", "executor/workload/..."},
		reason: "a workload is given a target; it neither starts servers nor stores results",
	},
	{
		room:   "executor/sampler/...",
		may:    []string{"matrix/...", "executor/sampler/..."},
		reason: "a sampler emits readings and knows neither the server package nor the store",
	},
	{
		room:   "executor/store/...",
		may:    []string{"matrix/...", "executor/store/..."},
		reason: "reports read the store, and must not pull server code in with it",
	},
	{
		room:   "executor",
		may:    []string{"matrix/...", "executor/server/...", "executor/workload/...", "executor/sampler/...", "executor/store/..."},
		reason: "the executor joins these packages; what is shown is not its business",
	},
	{
		room:   "report/...",
		may:    []string{"matrix/...", "executor/store/...", "report/..."},
		reason: "a report shows what was recorded, on any host, with no server near",
	},
	{
		room:   "experiments",
		reason: "definitions are data; only their tests are Go",
	},
	{
		room:   "docs",
		reason: "documents are text; only their tests are Go",
	},
	{
		room:   "reliability",
		reason: "faults are done to the program as a whole; only tests are Go",
	},
	{
		room:   "cmd/...",
		may:    []string{"..."},
		reason: "the front door wires all rooms",
	},
}

// A ban keeps a package of others out of all rooms but those named.
type ban struct {
	path   string
	only   []string
	reason string
}

var bans = []ban{
	{
		path:   "github.com/mattn/go-sqlite3",
		only:   []string{"executor/store/..."},
		reason: "the record has one place that reads and writes it",
	},
	{
		path:   "github.com/spf13/cobra",
		only:   []string{"cmd/..."},
		reason: "the packages can be used without a command line",
	},
	{
		path:   "os/exec",
		only:   []string{"cmd/...", "executor", "executor/server/...", "executor/workload/...", "executor/sampler/...", "matrix"},
		reason: "the store and reports start no process; matrix neither, but it looks programs up",
	},
	{
		path:   "net",
		only:   []string{"cmd/...", "executor", "executor/server/...", "executor/workload/...", "executor/sampler/..."},
		reason: "matrix, the store and reports open no connection",
	},
}

// TestImports checks every package of the module against the rules and bans.
// Only imports of its own are checked: what those import has rules of its own.
func TestImports(t *testing.T) {
	packages := listPackages(t)
	for _, p := range packages {
		r := ruleFor(p.room)
		if r == nil {
			t.Errorf("package %s is in no room: give it a rule in arch_test.go", p.room)
			continue
		}
		for _, path := range p.imports {
			if imported, ours := strings.CutPrefix(path, module+"/"); ours && !within(imported, r.may) {
				t.Errorf("%s imports %s: %s", p.room, imported, r.reason)
			}
			for _, b := range bans {
				if path == b.path && !within(p.room, b.only) {
					t.Errorf("%s imports %s: %s", p.room, path, b.reason)
				}
			}
		}
	}
	for _, r := range rules {
		if !slices.ContainsFunc(packages, func(p goPackage) bool { return within(p.room, []string{r.room}) }) {
			t.Errorf("no package is in the room %s: remove its rule from arch_test.go", r.room)
		}
	}
}

// TestMatrixStartsNothing checks that the language only looks programs up.
func TestMatrixStartsNothing(t *testing.T) {
	files, err := filepath.Glob("matrix/*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, isSelector := n.(*ast.SelectorExpr)
			if !isSelector {
				return true
			}
			if x, isIdent := s.X.(*ast.Ident); !isIdent || x.Name != "exec" {
				return true
			}
			used++
			if s.Sel.Name != "LookPath" {
				t.Errorf("%s uses exec.%s: matrix starts no process", file, s.Sel.Name)
			}
			return true
		})
	}
	if used == 0 {
		t.Error("matrix does not use os/exec any more: take it out of the ban's exceptions, and this test away")
	}
}

// TestWithin checks how rules name packages.
func TestWithin(t *testing.T) {
	tests := []struct {
		room, pattern string
		want          bool
	}{
		{"executor", "executor", true},
		{"executor/server", "executor", false},
		{"executor/server", "executor/server/...", true},
		{"executor/server/servertest", "executor/server/...", true},
		{"executor/serverless", "executor/server/...", false},
		{"cmd/dbmatrix", "...", true},
	}
	for _, tt := range tests {
		if got := within(tt.room, []string{tt.pattern}); got != tt.want {
			t.Errorf("within(%q, %q) = %v, want %v", tt.room, tt.pattern, got, tt.want)
		}
	}
}

// A goPackage is a package of the module, by its name relative to it, and what
// its files import, tests aside.
type goPackage struct {
	room    string
	imports []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	var stderr strings.Builder
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the packages of the module: %v\n%s", err, &stderr)
	}
	var packages []goPackage
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		room, ours := strings.CutPrefix(fields[0], module+"/")
		if ours {
			packages = append(packages, goPackage{room, fields[1:]})
		}
	}
	return packages
}

func ruleFor(room string) *rule {
	for i := range rules {
		if within(room, []string{rules[i].room}) {
			return &rules[i]
		}
	}
	return nil
}

// within reports whether a package is one that the patterns name.
func within(room string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		below, tree := strings.CutSuffix(pattern, "...")
		if !tree {
			return room == pattern
		}
		return room+"/" == below || strings.HasPrefix(room, below)
	})
}
