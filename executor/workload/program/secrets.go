package program

import (
	"regexp"
	"strings"
)

// secretName matches names of variables whose values are not written down.
var secretName = regexp.MustCompile(`(?i)passw|secret|token|credential|api_?key|private_?key`)

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
		if secretName.MatchString(name) && len(value) >= shortestSecret {
			pairs = append(pairs, value, hidden)
		}
	}
	return hider{strings.NewReplacer(pairs...)}
}
