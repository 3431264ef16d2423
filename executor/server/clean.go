package server

import (
	"strings"
	"unicode"
)

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
