package workload

import "strings"

// Join is errors.Join with all errors in one line: a report prints what a phase
// failed with in the cell of a table, or in a footnote.
func Join(errs ...error) error {
	var all joined
	for _, err := range errs {
		if err != nil {
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

type joined []error

// Error tells all errors, with semicolons between them.
func (j joined) Error() string {
	texts := make([]string, len(j))
	for i, err := range j {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns all errors.
func (j joined) Unwrap() []error { return j }

// longestLine is how much of a statement a message shows, in characters.
const longestLine = 200

// Line gives a statement, or its beginning, in one line of a message.
func Line(statement string) string {
	line := strings.Join(strings.Fields(statement), " ")
	if runes := []rune(line); len(runes) > longestLine {
		return string(runes[:longestLine]) + " ..."
	}
	return line
}
