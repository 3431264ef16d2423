// Package docs_test runs the commands that the documentation shows and compares
// what they print with what the documentation says they print.
package docs_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/server/servertest"
)

var update = flag.Bool("update", false, "write what the commands print into the documents")

// A shown command is one that a document shows, with the lines that it shows
// below it.
type shownCommand struct {
	command     string
	first, last int // the shown output: lines[first:last]
}

// TestShownCommands runs each command that begins with "dbmatrix" in the console
// blocks of the documents. The commands of a document run one after the other in
// a directory of its own, which holds the experiments and the files that the
// document shows, on a host without a machine file.
func TestShownCommands(t *testing.T) {
	bin := build(t)
	documents, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, "../README.md", "../experiments/README.md")
	commands := 0
	for _, document := range documents {
		t.Run(filepath.Base(document), func(t *testing.T) {
			text, err := os.ReadFile(document)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			dir := workplace(t)
			writeShownFiles(t, dir, lines)
			var written []string
			next := 0
			for _, c := range shownCommands(lines) {
				commands++
				want := lines[c.first:c.last]
				got := execute(t, bin, dir, c.command)
				if diff := cmp.Diff(want, got); diff != "" && !*update {
					t.Errorf("%s:%d: $ %s (-shown +printed):\n%s", document, c.first, c.command, diff)
				}
				written = append(append(written, lines[next:c.first]...), got...)
				next = c.last
			}
			written = append(written, lines[next:]...)
			if *update {
				if err := os.WriteFile(document, []byte(strings.Join(written, "\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if commands == 0 {
		t.Error("no document shows a command")
	}
}

// writeShownFiles writes the blocks of the language hcl that begin with a comment
// of their path. They use the MariaDB that dbmatrix finds by itself.
func writeShownFiles(t *testing.T, dir string, lines []string) {
	t.Helper()
	for i, line := range lines {
		if line != "```hcl" {
			continue
		}
		path, named := strings.CutPrefix(lines[i+1], "# ")
		if !named || !strings.Contains(path, "/") || filepath.Ext(path) != ".hcl" {
			continue
		}
		servertest.Need(t, "mariadb")
		end := i + slices.Index(lines[i:], "```")
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o777); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(lines[i+1:end], "\n") + "\n"
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// shownCommands finds the commands in fenced blocks of the language console.
func shownCommands(lines []string) []shownCommand {
	var found []shownCommand
	inside, open := false, false
	for i, line := range lines {
		switch {
		case !inside:
			inside = line == "```console"
			continue
		case line == "```":
			inside = false
		case !strings.HasPrefix(line, "$ "):
			continue
		}
		if open {
			found[len(found)-1].last = i
		}
		command, isCommand := strings.CutPrefix(line, "$ ")
		open = isCommand && strings.HasPrefix(command, "dbmatrix ")
		if open {
			found = append(found, shownCommand{command: command, first: i + 1})
		}
	}
	return found
}

// TestShownCommandsAreFound checks what the test above goes by.
func TestShownCommandsAreFound(t *testing.T) {
	lines := strings.Split("$ dbmatrix outside\n```console\n$ dbmatrix a\none\ntwo\n$ make demo\nthree\n$ dbmatrix b | head\n```\n$ dbmatrix after", "\n")
	want := []shownCommand{{"dbmatrix a", 3, 5}, {"dbmatrix b | head", 8, 8}}
	if diff := cmp.Diff(want, shownCommands(lines), cmp.AllowUnexported(shownCommand{})); diff != "" {
		t.Errorf("shown commands (-want +got):\n%s", diff)
	}
}

// build compiles dbmatrix and returns the folder that it lies in.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "dbmatrix"), "../cmd/dbmatrix").CombinedOutput()
	if err != nil {
		t.Fatalf("building dbmatrix: %v\n%s", err, out)
	}
	return dir
}

// workplace makes a directory with a copy of the definitions under experiments/
// and an empty machine file, which keeps the machine files of this host away.
func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "machine.hcl"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	definitions := os.DirFS("../experiments")
	err := fs.WalkDir(definitions, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); d.IsDir() || ext != ".hcl" && ext != ".csv" {
			return nil
		}
		content, err := fs.ReadFile(definitions, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, "experiments", path)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o666)
	})
	if err != nil {
		t.Fatalf("copying the experiments: %v", err)
	}
	return dir
}

// execute runs a shown command and returns the lines that it prints. How it ends
// is not checked: documents show refusals too.
func execute(t *testing.T, bin, dir, command string) []string {
	t.Helper()
	shell := exec.Command("sh", "-c", command)
	shell.Dir = dir
	shell.Env = append(os.Environ(),
		"PATH="+bin+":"+os.Getenv("PATH"),
		"DBMATRIX_MACHINE=", // the one in dir is the nearest
		"NO_COLOR=1",
	)
	out, err := shell.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatalf("running %s: %v", command, err)
	}
	text := strings.TrimRight(string(out), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
