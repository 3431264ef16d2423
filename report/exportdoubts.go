package report

import (
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// Doubts that the report finds itself, by the names that exports have for them.
const (
	allowedErrorsDoubt = "allowed_errors"
	staleDoubt         = "stale"
)

// doubtful returns what makes the numbers of a result doubtful: what was recorded,
// and what the report finds.
func (p *PhaseResult) doubtful(stale bool) []matrix.Flag {
	flags := p.Flags
	if text := p.allowedErrors(); text != "" {
		flags = append(slices.Clone(flags), matrix.Flag{Name: allowedErrorsDoubt, Detail: text})
	}
	if stale {
		flags = append(slices.Clone(flags), matrix.Flag{Name: staleDoubt, Detail: "measured with other inputs than the definition has now (stale)"})
	}
	return flags
}

// doubtText says a doubt as tables do. What the report finds itself says what it
// is.
func doubtText(f matrix.Flag) string {
	if f.Name == allowedErrorsDoubt || f.Name == staleDoubt {
		return f.Detail
	}
	return withMessage(strings.ReplaceAll(f.Name, "_", " "), f.Detail)
}

// doubtSeparator stands between doubts in exports. A bar in a doubt is written twice.
const doubtSeparator = " | "

// formatDoubts writes doubts on one line, as "name: detail | name: detail".
func formatDoubts(flags []matrix.Flag) string {
	texts := make([]string, 0, len(flags))
	for _, f := range flags {
		text := visible(withoutExponents(oneLine(withMessage(f.Name, f.Detail))))
		texts = append(texts, strings.ReplaceAll(text, "|", "||"))
	}
	return strings.Join(texts, doubtSeparator)
}

// parseDoubts reads what formatDoubts wrote.
func parseDoubts(text string) []matrix.Flag {
	var flags []matrix.Flag
	for _, part := range strings.Split(text, doubtSeparator) {
		part = strings.TrimSpace(strings.ReplaceAll(part, "||", "|"))
		if name, detail, _ := strings.Cut(part, ": "); name != "" {
			flags = append(flags, matrix.Flag{Name: name, Detail: detail})
		}
	}
	return flags
}
