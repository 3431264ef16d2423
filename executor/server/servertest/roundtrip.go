package servertest

import (
	"fmt"
	"math/rand/v2"
	osexec "os/exec"
	"strings"
	"testing"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// Values that the round trip is made with: enough to meet each pair of the
// characters that mean something to the servers' readers, few enough that the
// server starts with all of them.
const (
	roundTripValues   = 300
	roundTripLength   = 12
	roundTripAlphabet = "ab0 #;:,.\"'`\\=[]!{}()$%&*?<>|~^-_/@+üß数\t\n\r"
)

// trickyValues are values that one reader or other is known to change.
var trickyValues = []string{
	"", " ", " leading", "trailing ", "#", "a#b", `a\nb`, `\`, `\\`, `a\`, `"`, `'`, `"a"`, `'a'`, `it's`, "''", `\'`, `\s\t\b\101`,
	"a\tb", "a\nb", "a\rb", "!include /x", "[mysqld]", "include 'x'", "on", "0x10", "1e6", "%d%s", "${HOME}", "--x=y",
}

// testRoundTrip starts a server with an option file full of values that are hard
// to write, and compares what was asked with the server's own reading of the file.
func (s *suite) testRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(4, uint64(len(s.name))))
	alphabet := []rune(roundTripAlphabet)
	values := append([]string{}, trickyValues...)
	for len(values) < roundTripValues {
		text := make([]rune, random.IntN(roundTripLength+1))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
		}
		values = append(values, string(text))
	}
	var options []matrix.Option
	for n, v := range values {
		o := Text(fmt.Sprintf("%s%03d", s.profile.anyName, n), v)
		o.Loose = s.profile.loose.Loose
		options = append(options, o)
	}
	set := s.settings(options...)
	i := s.start(t, s.shared(t), set)
	read := s.printedDefaults
	if s.build.Server.Build.Flavour == "postgres" {
		read = s.currentSettings
	}
	for n, got := range read(t, i, options) {
		if got != values[n] {
			t.Errorf("%q was written, and the server reads %q", values[n], got)
		}
	}
	s.stop(t, i)
}

// printedDefaults returns the values of options as a server of the MySQL family
// reads them from its file: it prints all of the file as arguments.
func (s *suite) printedDefaults(t *testing.T, i *server.Instance, options []matrix.Option) []string {
	t.Helper()
	out, err := osexec.Command(s.build.Server.Mysqld, "--defaults-file="+i.OptionFile(), "--print-defaults").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), "--loose_"+options[0].Name+"=")
	var values []string
	for _, next := range options[1:] {
		value, after, ok := strings.Cut(rest, " --loose_"+next.Name+"=")
		if !ok {
			t.Fatalf("the server does not print %s", next.Name)
		}
		values, rest = append(values, value), after
	}
	return append(values, strings.TrimSuffix(rest, " \n"))
}

// currentSettings returns the values of options as PostgreSQL has them.
func (s *suite) currentSettings(t *testing.T, i *server.Instance, options []matrix.Option) []string {
	t.Helper()
	var values []string
	for _, o := range options {
		values = append(values, query(t, i, "SELECT current_setting('"+o.Name+"')"))
	}
	return values
}
