package sqlscript

import (
	"fmt"
	"strings"
)

// spaces are what SQL takes for space.
const spaces = " \t\r\n\v\f"

// postgres is the flavour whose texts are split by its own rules.
const postgres = "postgres"

// newSplitter returns a splitter of a text in the flavour's language.
func newSplitter(text, flavour string) *splitter {
	s := &splitter{text: text}
	s.token = s.mysqlToken
	if flavour == postgres {
		s.token = s.postgresToken
	}
	return s
}

// split returns the statements of a text in which semicolons end them, by the
// rules of a server's flavour. Semicolons in quotes and comments do not; comments
// stay where they stand within a statement, since some are hints.
func split(text, flavour string) ([]string, error) {
	var statements []string
	s := newSplitter(text, flavour)
	for start := 0; ; {
		end, err := s.next()
		if err != nil {
			return nil, err
		}
		if statement := strings.Trim(text[start:end], spaces); s.words {
			if first, _, _ := strings.Cut(statement, " "); strings.EqualFold(first, "delimiter") {
				return nil, fmt.Errorf("line %d: DELIMITER is a command of the client program, not SQL: give each statement by itself in the attribute statements",
					s.line(start))
			}
			statements = append(statements, statement)
		}
		if end == len(text) {
			return statements, nil
		}
		start = end + 1
	}
}

// firstWord returns the first word of a statement, or its parenthesis, whatever
// comments stand before it.
func firstWord(statement, flavour string) string {
	s := newSplitter(statement, flavour)
	start := 0
	for !s.words && s.at < len(statement) {
		start = s.at
		if err := s.token(statement[start:]); err != nil {
			return ""
		}
	}
	rest := statement[start:]
	if strings.HasPrefix(rest, "(") {
		return "("
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	if end < 0 {
		return rest
	}
	return rest[:end]
}

// A splitter walks through a text from statement to statement.
type splitter struct {
	text   string
	at     int
	words  bool // the statement has more than spaces and comments
	inside nesting

	// token walks over what comes next, which rest begins with. It is not the
	// end of a statement.
	token func(rest string) error
}

// next returns where the statement ends: at a semicolon, or at the text's end.
func (s *splitter) next() (int, error) {
	s.words, s.inside = false, nesting{}
	for s.at < len(s.text) {
		if s.text[s.at] == ';' && s.inside.none() {
			s.at++
			return s.at - 1, nil
		}
		if err := s.token(s.text[s.at:]); err != nil {
			return 0, err
		}
	}
	if !s.inside.none() {
		return 0, fmt.Errorf("line %d: %s has no end", s.line(s.inside.since), s.inside.what())
	}
	return len(s.text), nil
}

// mysqlToken is the token of MySQL and MariaDB.
func (s *splitter) mysqlToken(rest string) error {
	switch c := rest[0]; {
	case c == '\'' || c == '"' || c == '`':
		return s.quoted(c, c != '`')
	case c == '#' || dashComment(rest):
		s.lineComment(rest)
	case strings.HasPrefix(rest, "/*"):
		// Version comments are statements: the server reads them.
		s.words = s.words || strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return fmt.Errorf("line %d: the comment has no end", s.line(s.at))
		}
		s.at += 2 + end + 2
	default:
		s.character(c)
	}
	return nil
}

// dashComment reports whether a comment of two dashes begins: a space must
// follow, else they are two minus signs.
func dashComment(rest string) bool {
	return strings.HasPrefix(rest, "--") && len(rest) > 2 && strings.ContainsRune(spaces, rune(rest[2]))
}

// character walks over one of no meaning here.
func (s *splitter) character(c byte) {
	s.words = s.words || !strings.ContainsRune(spaces, rune(c))
	s.at++
}

func (s *splitter) lineComment(rest string) {
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	s.at += end
}

// quoted walks over a quoted text. With escapes a backslash takes the next
// character with it; a doubled quote is the end of one text and the start of the
// next.
func (s *splitter) quoted(quote byte, escapes bool) error {
	s.words = true
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			if escapes {
				s.at++
			}
		case quote:
			s.at++
			return nil
		}
	}
	return fmt.Errorf("line %d: the quote %c has no end", s.line(start), quote)
}

// line returns the number of the line at an offset, spaces behind it skipped.
func (s *splitter) line(at int) int {
	for at < len(s.text) && strings.ContainsRune(spaces, rune(s.text[at])) {
		at++
	}
	return 1 + strings.Count(s.text[:at], "\n")
}
