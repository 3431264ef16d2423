package matrix

import (
	"strings"

	"github.com/agext/levenshtein"
)

// farthest is the distance at which a name is no longer taken for a slip of
// another. It is the one that HCL uses for its own suggestions, so that all
// messages are of one mind.
const farthest = 3

// nearest returns the one of the known names that a writer of name most likely
// meant, or "" where none is near. Of several equally near it takes the first.
//
// The distance counts inserted, removed and replaced characters; letters that
// differ only in case count nothing. A name that shares no character with name
// is never near, however short both are.
func nearest(name string, known []string) string {
	best, found := farthest, ""
	for _, k := range known {
		if k == name {
			continue
		}
		a, b := strings.ToLower(name), strings.ToLower(k)
		d := levenshtein.Distance(a, b, nil)
		if d < best && d < max(len([]rune(a)), len([]rune(b))) {
			best, found = d, k
		}
	}
	return found
}
