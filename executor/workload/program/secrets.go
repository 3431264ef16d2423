package program

import (
	"strings"

	"dbmatrix/matrix"
)

// secret reports whether a variable's value is not to be written down.
func secret(name, value string) bool { return matrix.Masked(name, value) != value }

const (
	// hidden stands in what is kept for the value of a secret.
	hidden = "(secret)"

	// shortestSecret is the shortest value that is hidden wherever it is found:
	// shorter ones are in every output by chance.
	shortestSecret = 4
)

// A hider puts hidden in the place of the values of secrets.
type hider struct{ *strings.Replacer }

// newHider returns a hider of those variables, "NAME=value", that are secrets by
// their names.
func newHider(env []string) hider {
	var pairs []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if secret(name, value) && len(value) >= shortestSecret {
			pairs = append(pairs, value, hidden)
		}
	}
	return hider{strings.NewReplacer(pairs...)}
}
