package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/server/servertest"
)

// TestGuides runs the commands of the guides, which measure for real. What they
// print differs each time, so only its shape is compared: numbers, times and what
// a busy host adds to a report do not count. -update writes the numbers of now into
// the guides, which should be those of a quiet host.
func TestGuides(t *testing.T) {
	servertest.Need(t, "mariadb")
	bin := build(t)
	guides, err := filepath.Glob("guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("%d guides (%v)", len(guides), err)
	}
	for _, guide := range guides {
		t.Run(filepath.Base(guide), func(t *testing.T) {
			text, err := os.ReadFile(guide)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			dir := servertest.Dir(t)
			t.Setenv("DBMATRIX_HOST_LOCK", filepath.Join(dir, "host.lock"))
			writeFile(t, filepath.Join(dir, "machine.hcl"), nil)
			var written []string
			next := 0
			for _, c := range shownCommands(lines) {
				// A reader has written what is shown up to here.
				writeShownFiles(t, dir, lines[next:c.first])
				writeShownScripts(t, dir, lines[next:c.first])
				got := execute(t, bin, dir, c.command)
				if diff := cmp.Diff(shapeOf(lines[c.first:c.last]), shapeOf(got)); diff != "" && !*update {
					t.Errorf("%s:%d: $ %s (-shown +printed):\n%s\nprinted:\n%s", guide, c.first, c.command, diff, strings.Join(got, "\n"))
				}
				written = append(append(written, lines[next:c.first]...), got...)
				next = c.last
			}
			if *update {
				writeFile(t, guide, append(written, lines[next:]...))
			}
		})
	}
}

// writeShownScripts writes the blocks of the language sh that have a comment of
// their path below the line that names the shell.
func writeShownScripts(t *testing.T, dir string, lines []string) {
	t.Helper()
	for i, line := range lines {
		if line != "```sh" || !strings.HasPrefix(lines[i+1], "#!") {
			continue
		}
		path, named := strings.CutPrefix(lines[i+2], "# ")
		if !named || !strings.HasSuffix(path, ".sh") {
			continue
		}
		end := i + slices.Index(lines[i:], "```")
		writeFile(t, filepath.Join(dir, path), append(lines[i+1:end:end], ""))
		if err := os.Chmod(filepath.Join(dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func writeFile(t *testing.T, path string, lines []string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// shapeOf returns the lines of an output with a 0 for each number and a T for
// each duration, without alignment, without marks and notes of what a busy host
// adds, and without the verdicts of tests.
func shapeOf(lines []string) []string {
	var shapes []string
	for _, line := range unwrapped(lines) {
		if doubt.MatchString(line) {
			continue
		}
		for _, r := range shaping {
			line = r.pattern.ReplaceAllString(line, r.with)
		}
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			shapes = append(shapes, line)
		}
	}
	return shapes
}

// unwrapped returns lines with each note of a report in one, since where it is
// broken depends on its numbers.
func unwrapped(lines []string) []string {
	var whole []string
	inNote := false
	for _, line := range lines {
		if inNote && strings.HasPrefix(line, "  ") {
			whole[len(whole)-1] += " " + strings.TrimSpace(line)
			continue
		}
		inNote = strings.HasPrefix(line, "[") || strings.HasPrefix(line, "* ")
		whole = append(whole, line)
	}
	return whole
}

// doubt matches the notes of a report on what disturbed its runs, and on what
// chance would do as well.
var doubt = regexp.MustCompile(`^(\[\d+\]|[-*]) (.*: )?(foreign cpu|slow sampler|kernel|steal|partial): |not significantly`)

var shaping = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\[\d+\]|<sup>\d+</sup>`), ""},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ms|µs|s)\b`), "T"},
	{regexp.MustCompile(`\d[\d.:,-]*`), "0"},
	{regexp.MustCompile(`(~ )?\(?p=0\)?`), "p"}, // a verdict, significant or not
	{regexp.MustCompile(` ~`), ""},
	{regexp.MustCompile(`-{2,}|={2,}`), "-"},
	{regexp.MustCompile(`[0-9.]+ [KMG]iB`), "0 B"},
	{regexp.MustCompile(`0( [kMGK]i?B)`), "0 B"},
}

// TestShapes checks what the comparison above takes for equal, and what not.
func TestShapes(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{"12:59:28 io=direct: load ok after 4.11s", "01:02:03 io=direct: load ok after 1m0.5s", true},
		{"12:59:28 io=direct: load ok after 410ms", "01:02:03 io=direct: load failed after 1s", false},
		{"  ips  io", " ips   io", true},
		{"12345  0.12[1]  direct", "    1  3  direct", true},
		{"1.02  0.94..1.01  before", "0.97 ~[2]  1..2  before", true},
		{"4+4  ~ (p=0.486)  after", "4+4  p=0.029  after", true},
		{"| 1.0 | buffered |", "| 1.0 | direct |", false},
		{"a\n* foreign cpu: processes that are not of the run took 32.8 % of the CPU time", "a", true},
		{"a\n* ips, wkb/i: foreign cpu: processes that are not of the run took 80.6 %", "a", true},
		{"a\n* ips: foreign cpu: processes that are not\n  of the run took 80.6 %\nb", "a\nb", true},
		{"* n = 4 runs; each\n  row is a run", "* n = 10 runs; each row\n  is a run", true},
		{"a\n[1] query missed its rate: achieved 178.3", "a", false},
	}
	for _, tt := range tests {
		same := cmp.Equal(shapeOf(strings.Split(tt.a, "\n")), shapeOf(strings.Split(tt.b, "\n")))
		if same != tt.same {
			t.Errorf("%q and %q: same is %t, want %t", tt.a, tt.b, same, tt.same)
		}
	}
}
