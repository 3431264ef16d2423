package reliability

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// leastFaults is how many rows the fault table has at least.
const leastFaults = 40

// TestFaultTable checks that each row of docs/reliability.md names a test, and
// that each test it names is there: a function, and after a slash a case of it, by
// the name that it has in a file of Go or of a script.
func TestFaultTable(t *testing.T) {
	tree := readTree(t)
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)(?:/([^`]+))?`")
	faults := 0
	for number, line := range strings.Split(read(t, "../docs/reliability.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| fault") {
			continue
		}
		faults++
		tests := named.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || len(tests) == 0 {
			t.Errorf("line %d names no test: %s", number+1, line)
		}
		for _, test := range tests {
			if !tree.has(test[1], test[2]) {
				t.Errorf("line %d names %s, which is nowhere", number+1, strings.Trim(test[0], "`"))
			}
		}
	}
	if faults < leastFaults {
		t.Errorf("the table has %d faults, want %d at least", faults, leastFaults)
	}
}

// A sourceTree is what is searched for tests.
type sourceTree struct {
	tests   strings.Builder // all test files
	sources strings.Builder // all files of Go
	scripts map[string]bool
}

// has reports whether there is a test and, where one is named, a case of it.
func (s *sourceTree) has(test, part string) bool {
	if !strings.Contains(s.tests.String(), "\nfunc "+test+"(t *testing.T)") {
		return false
	}
	return part == "" || s.scripts[part] || strings.Contains(s.sources.String(), `"`+part+`"`)
}

// readTree reads the files of the module.
func readTree(t *testing.T) *sourceTree {
	t.Helper()
	s := &sourceTree{scripts: map[string]bool{}}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && strings.HasPrefix(name, ".") && name != "..":
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".txt":
			return nil
		case filepath.Ext(name) == ".txt":
			s.scripts[strings.TrimSuffix(name, ".txt")] = true
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.sources.Write(b)
		if strings.HasSuffix(name, "_test.go") {
			s.tests.Write(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
