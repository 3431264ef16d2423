package server

import (
	"strings"
	"unicode"
)

// Clean makes a text of several lines fit for a terminal, a record and a table, as
// clean does with each of its lines.
func Clean(text string) string {
	if !strings.Contains(text, "\n") {
		return clean(text)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}

// clean makes one line of what a program printed fit for a terminal, a record and
// a table: whatever is no text, such as escape sequences and bytes that are no
// UTF-8, becomes a question mark. Tabs stay.
func clean(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(line, "?"))
}
