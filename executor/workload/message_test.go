package workload

import (
	"errors"
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	for _, test := range []struct {
		errs []error
		want string
	}{
		{nil, "<nil>"},
		{[]error{nil, nil}, "<nil>"},
		{[]error{nil, one}, "one"},
		{[]error{one, nil, two}, "one; two"},
	} {
		err := Join(test.errs...)
		got := "<nil>"
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%v joined are %q, want %q", test.errs, got, test.want)
		}
		for _, part := range test.errs {
			if part != nil && !errors.Is(err, part) {
				t.Errorf("%v is not among %v", part, err)
			}
		}
	}
}

func TestLine(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT 1":                  "SELECT 1",
		" CREATE\n  TABLE\tt ( )\n": "CREATE TABLE t ( )",
		strings.Repeat("ä", 201):    strings.Repeat("ä", 200) + " ...",
	} {
		if got := Line(statement); got != want {
			t.Errorf("%q is shown as %q, want %q", statement, got, want)
		}
	}
}
