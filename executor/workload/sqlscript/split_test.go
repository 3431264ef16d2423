package sqlscript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" ;\n; -- nothing\n", nil},
		{"SELECT 1", []string{"SELECT 1"}},
		{"SELECT 1; SELECT 2;\n", []string{"SELECT 1", "SELECT 2"}},
		{"SELECT ';', \";\", `;`; x", []string{"SELECT ';', \";\", `;`", "x"}},
		{`SELECT 'it''s', 'a\';b', "c"";d"; x`, []string{`SELECT 'it''s', 'a\';b', "c"";d"`, "x"}},
		{"SELECT `a\\`; x", []string{"SELECT `a\\`", "x"}},
		{"a -- b;\nc; d # e;\nf", []string{"a -- b;\nc", "d # e;\nf"}},
		{"a --b; c--", []string{"a --b", "c--"}}, // no comments: minus minus
		{"a /* ; */ b; /* only this */; /*! SET x = 1 */; /*M! y */", []string{"a /* ; */ b", "/*! SET x = 1 */", "/*M! y */"}},
		{"-- first\nSELECT 1", []string{"-- first\nSELECT 1"}},
	} {
		got, err := split(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
	for text, want := range map[string]string{
		"a;\nSELECT 'b;\nc":      "line 2: the quote ' has no end",
		"a /* b;":                "line 1: the comment has no end",
		"\n\ndelimiter //\nx //": "line 3: DELIMITER is a command of the client program",
		"SELECT 'a\\":            "line 1: the quote ' has no end",
	} {
		if _, err := split(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %s", text, err, want)
		}
	}
}

// FuzzSplit checks that no text is lost, and that a statement alone is itself.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "SELECT ';'; x", "a -- b;\nc", "/* ; */ a; `b`", `'\`, "--", "#"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		statements, err := split(text)
		if err != nil {
			return
		}
		for _, s := range statements {
			if !strings.Contains(text, s) {
				t.Errorf("%q is not in the text", s)
			}
			again, err := split(s)
			if err != nil || len(again) != 1 || again[0] != s {
				t.Errorf("the statement %q is split to %q, %v", s, again, err)
			}
		}
	})
}
