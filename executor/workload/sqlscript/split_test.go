package sqlscript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		flavour, text string
		want          []string
	}{
		{"mariadb", "", nil},
		{"mariadb", " ;\n; -- nothing\n", nil},
		{"mariadb", "SELECT 1", []string{"SELECT 1"}},
		{"mariadb", "SELECT 1; SELECT 2;\n", []string{"SELECT 1", "SELECT 2"}},
		{"mariadb", "SELECT ';', \";\", `;`; x", []string{"SELECT ';', \";\", `;`", "x"}},
		{"mariadb", `SELECT 'it''s', 'a\';b', "c"";d"; x`, []string{`SELECT 'it''s', 'a\';b', "c"";d"`, "x"}},
		{"mariadb", "SELECT `a\\`; x", []string{"SELECT `a\\`", "x"}},
		{"mariadb", "a -- b;\nc; d # e;\nf", []string{"a -- b;\nc", "d # e;\nf"}},
		{"mariadb", "a --b; c--", []string{"a --b", "c--"}}, // no comments: minus minus
		{"mariadb", "a /* ; */ b; /* only this */; /*! SET x = 1 */; /*M! y */", []string{"a /* ; */ b", "/*! SET x = 1 */", "/*M! y */"}},
		{"mariadb", "-- first\nSELECT 1", []string{"-- first\nSELECT 1"}},
		{postgres, "SELECT 'a\\'; x", []string{"SELECT 'a\\'", "x"}}, // the backslash is a character
		{postgres, `SELECT E'a\';b', e'c''; d', U&"e;f"; x`, []string{`SELECT E'a\';b', e'c''; d', U&"e;f"`, "x"}},
		{postgres, "SELECT $$a;b$$, $t$ c; $$ ; $t$, $1; x", []string{"SELECT $$a;b$$, $t$ c; $$ ; $t$, $1", "x"}},
		{postgres, "SELECT a$b$ FROM t; x$b$", []string{"SELECT a$b$ FROM t", "x$b$"}}, // names
		{postgres, "a --b;\nc; /* ; /* ; */ ; */; d # e; f", []string{"a --b;\nc", "d # e", "f"}},
		{postgres, "SELECT `; x", []string{"SELECT `", "x"}}, // an operator
		{postgres, "/*! SET x = 1 */; -- only\n", nil},
		{postgres, "CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM u; DELETE FROM v); x", []string{"CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM u; DELETE FROM v)", "x"}},
		{postgres, "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END; begin; end; x",
			[]string{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END", "begin", "end", "x"}},
	} {
		got, err := split(test.text, test.flavour)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
	for _, test := range []struct{ flavour, text, want string }{
		{"mysql", "a;\nSELECT 'b;\nc", "line 2: the quote ' has no end"},
		{"mysql", "a /* b;", "line 1: the comment has no end"},
		{"mysql", "\n\ndelimiter //\nx //", "line 3: DELIMITER is a command of the client program"},
		{"mysql", "SELECT 'a\\", "line 1: the quote ' has no end"},
		{postgres, "a;\nSELECT $a$ $b$", "line 2: the quote $a$ has no end"},
		{postgres, "/* /* */", "line 1: the comment has no end"},
		{postgres, "a;\nf((1);\nb", "line 2: the parenthesis has no end"},
		{postgres, "a;\n\n x begin\natomic b;", "line 4: BEGIN ATOMIC has no end"},
		{postgres, "a;\n\\d t", "line 2: a backslash begins a command of psql"},
		{postgres, "E'\\'", "line 1: the quote ' has no end"},
	} {
		if _, err := split(test.text, test.flavour); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: the error is %v, want %s", test.text, err, test.want)
		}
	}
}

func TestFirstWord(t *testing.T) {
	for statement, want := range map[string]string{
		"": "", "SELECT 1": "SELECT", "-- a\n /* b */ with x": "with", "/*! SET x */": "", "(SELECT 1)": "(", "VALUES(1)": "VALUES", "'x": "",
	} {
		for _, flavour := range []string{"mariadb", postgres} {
			if flavour == postgres && strings.HasPrefix(statement, "/*!") {
				continue // a comment like others
			}
			if got := firstWord(statement, flavour); got != want {
				t.Errorf("%q in %s begins with %q, want %q", statement, flavour, got, want)
			}
		}
	}
}

// FuzzSplit checks that no text is lost, and that a statement alone is itself.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "SELECT ';'; x", "a -- b;\nc", "/* ; */ a; `b`", `'\`, "--", "#", "$a$;$a$; $1", "e'\\';'", "(;)", "begin atomic; end;", "/* /* */ */"} {
		f.Add(text, "mariadb")
		f.Add(text, postgres)
	}
	f.Fuzz(func(t *testing.T, text, flavour string) {
		statements, err := split(text, flavour)
		if err != nil {
			return
		}
		for _, s := range statements {
			if !strings.Contains(text, s) {
				t.Errorf("%q is not in the text", s)
			}
			again, err := split(s, flavour)
			if err != nil || len(again) != 1 || again[0] != s {
				t.Errorf("the statement %q is split to %q, %v", s, again, err)
			}
		}
	})
}
