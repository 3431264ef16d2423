package server

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// printDefaults returns what the servers' own reader makes of lines in the group
// mysqld: a "--name=value" for each.
func printDefaults(t testing.TB, lines []string) string {
	t.Helper()
	program, err := exec.LookPath("my_print_defaults")
	if err != nil {
		if os.Getenv("DBMATRIX_REQUIRE_SERVERS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "my.cnf")
	if err := os.WriteFile(path, []byte("[mysqld]\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "--defaults-file="+path, "mysqld").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// trickyValues are values that a bare line of an option file would change.
var trickyValues = []string{
	"", "1", "128M", "a b", " leading", "trailing ", "#", "a#b", `a\b`, `a\nb`, `\`, `\\`, `a\`, `"`, `'`, `"a"`, `'a'`, `it's`, `a"b`,
	`a'#"`, "a\tb", "a\nb", "a\rb", "=", "a=b;c={d=e}", "; semicolon", "!include /x", "[mysqld]", "ünïcödé", `\s`, "compression=kZSTD;x={y=1}",
}

func TestQuoteTable(t *testing.T) {
	var lines []string
	var want strings.Builder
	for _, v := range trickyValues {
		line, err := cnfLine("name", v)
		if err != nil {
			t.Fatalf("%q: %v", v, err)
		}
		lines = append(lines, line)
		want.WriteString("--name=" + v + "\n")
	}
	if diff := cmp.Diff(want.String(), printDefaults(t, lines)); diff != "" {
		t.Errorf("the server reads other values (-written +read):\n%s", diff)
	}
}

// TestQuoteRandom lets the servers' reader read many values at once, made of the
// characters that mean something to it.
func TestQuoteRandom(t *testing.T) {
	const alphabet = `ab #;"'\=[]!{}` + "\t\n\r"
	random := rand.New(rand.NewPCG(1, 2))
	var lines []string
	var want strings.Builder
	for range 3000 {
		b := make([]byte, random.IntN(12))
		for i := range b {
			b[i] = alphabet[random.IntN(len(alphabet))]
		}
		line, err := cnfLine("name", string(b))
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		lines = append(lines, line)
		want.WriteString("--name=" + string(b) + "\n")
	}
	if diff := cmp.Diff(want.String(), printDefaults(t, lines)); diff != "" {
		t.Errorf("the server reads other values (-written +read):\n%s", diff)
	}
}

func FuzzQuote(f *testing.F) {
	for _, v := range trickyValues {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		line, err := cnfLine("name", value)
		if err != nil {
			return // it cannot be written, and is not
		}
		if got, want := printDefaults(t, []string{line}), "--name="+value+"\n"; got != want {
			t.Errorf("wrote %q, the server reads %q, want %q", line, got, want)
		}
	})
}
