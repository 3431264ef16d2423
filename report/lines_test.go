package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"dbmatrix/matrix"
)

// TestMultiLineReason shows a failure whose message has several lines, which must
// break neither a table nor its footnotes in any format.
func TestMultiLineReason(t *testing.T) {
	doc := buildModel(t, func(cells []*matrix.Cell) []Attempt {
		attempts := madeUp(cells)
		for i := range attempts {
			for j := range attempts[i].Phases {
				if p := &attempts[i].Phases[j]; p.Status == matrix.Crashed {
					p.Message = "signal 9\n\n | the last lines:\r\n\tInnoDB: Assertion `ok` failed <b>\n"
				}
			}
		}
		return attempts
	})
	text := rendered(t, doc, "text")
	if !strings.Contains(text, "query crashed: signal 9 | the last lines: InnoDB: Assertion `ok` failed <b>\n") {
		t.Errorf("the reason is not one line of\n%s", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > TextWidth && !strings.Contains(line, "  ") {
			t.Errorf("a line of %d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	checkMarkdown(t, doc)
	if page := rendered(t, doc, "html"); strings.Contains(page, "failed <b>") {
		t.Error("the page takes a part of the reason for its own code")
	}
}

// TestWrapped checks where texts are broken.
func TestWrapped(t *testing.T) {
	long := strings.Repeat("x", 120)
	for _, tt := range []struct{ before, text, want string }{
		{"* ", "short", "* short"},
		{"[1] ", strings.Repeat("word ", 20), "[1] " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n    word"},
		{"* ", "a " + long + " b", "* a\n  " + long + "\n  b"},
		{"ips  ", "", "ips  "},
	} {
		if got := wrapped(tt.before, tt.text); got != tt.want {
			t.Errorf("wrapped(%q, %q) = %q, want %q", tt.before, tt.text, got, tt.want)
		}
	}
}

// TestWidth compares the width of each table of the model with that of its text.
func TestWidth(t *testing.T) {
	doc := buildModel(t, madeUp)
	for _, name := range doc.Tables() {
		only, err := doc.Only(name)
		if err != nil {
			t.Fatal(err)
		}
		l := layOut(only.Blocks[0].Table)
		grid := newTextGrid(l, false)
		widest := 0
		for i, line := range strings.Split(rendered(t, only, "text"), "\n") {
			if i > 2 && i < 4+len(l.over)+len(l.heads)+len(l.lines) {
				widest = max(widest, utf8.RuneCountInString(line))
			}
		}
		if got := only.Blocks[0].Table.Width(); widest > got || widest < got-grid.marks[l.label]-8 {
			t.Errorf("table %s is %d columns wide, its widest line %d", name, got, widest)
		}
	}
}
