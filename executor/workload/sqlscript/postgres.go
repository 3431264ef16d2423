package sqlscript

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// word is a name or a keyword, which may hold dollar signs.
	word = regexp.MustCompile(`^[A-Za-z_\x80-\x{10FFFF}][A-Za-z0-9_$\x80-\x{10FFFF}]*`)

	// dollarQuote begins a text that the same tag ends. A parameter such as $1
	// is none.
	dollarQuote = regexp.MustCompile(`^\$([A-Za-z_\x80-\x{10FFFF}][A-Za-z0-9_\x80-\x{10FFFF}]*)?\$`)
)

// postgresToken is the token of PostgreSQL: comments nest and need no space, a
// backslash is one of a text's characters unless the text begins with E, and the
// body of a function may stand between dollar quotes or after BEGIN ATOMIC.
func (s *splitter) postgresToken(rest string) error {
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		return s.quoted(c, false)
	case c == '$' && dollarQuote.MatchString(rest):
		return s.dollarQuoted(rest, dollarQuote.FindString(rest))
	case word.MatchString(rest):
		return s.word(word.FindString(rest))
	case strings.HasPrefix(rest, "--"):
		s.lineComment(rest)
	case strings.HasPrefix(rest, "/*"):
		return s.nestedComment(rest)
	case c == '\\' && !s.words:
		return fmt.Errorf("line %d: a backslash begins a command of psql, which is not SQL: leave it out", s.line(s.at))
	case c == '(' || c == ')':
		s.inside.parenthesis(c, s.at)
		s.character(c)
	default:
		s.character(c)
	}
	return nil
}

// word walks over a word, and the text behind it where the word is an E.
func (s *splitter) word(w string) error {
	s.words = true
	s.inside.word(strings.ToLower(w), s.at)
	s.at += len(w)
	if strings.EqualFold(w, "e") && strings.HasPrefix(s.text[s.at:], "'") {
		return s.quoted('\'', true)
	}
	return nil
}

// dollarQuoted walks over a text between two tags.
func (s *splitter) dollarQuoted(rest, tag string) error {
	s.words = true
	end := strings.Index(rest[len(tag):], tag)
	if end < 0 {
		return fmt.Errorf("line %d: the quote %s has no end", s.line(s.at), tag)
	}
	s.at += len(tag) + end + len(tag)
	return nil
}

// nestedComment walks over a comment, which may hold others.
func (s *splitter) nestedComment(rest string) error {
	depth := 0
	for i := 0; i+1 < len(rest); i++ {
		switch rest[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			s.at += i + 1
			return nil
		}
	}
	return fmt.Errorf("line %d: the comment has no end", s.line(s.at))
}

// nesting is what the place in a statement is inside of, where a semicolon does
// not end it: parentheses, as of CREATE RULE, and the body of CREATE FUNCTION ...
// BEGIN ATOMIC ... END.
type nesting struct {
	parentheses int
	bodies      int // CASE and END count too, within one
	before      string
	since       int // where the outermost of them began
}

func (n *nesting) none() bool { return n.parentheses == 0 && n.bodies == 0 }

// what names the outermost in a message.
func (n *nesting) what() string {
	if n.bodies > 0 {
		return "BEGIN ATOMIC"
	}
	return "the parenthesis"
}

func (n *nesting) parenthesis(c byte, at int) {
	switch {
	case c == ')':
		n.parentheses = max(0, n.parentheses-1)
		return
	case n.none():
		n.since = at
	}
	n.parentheses++
}

// word takes a word in lower case.
func (n *nesting) word(w string, at int) {
	switch {
	case w == "atomic" && n.before == "begin":
		if n.none() {
			n.since = at
		}
		n.bodies++
	case w == "case" && n.bodies > 0:
		n.bodies++
	case w == "end" && n.bodies > 0:
		n.bodies--
	}
	n.before = w
}
