package server

import (
	"strconv"
	"strings"
)

// A feature is something that servers of some versions can do.
type feature string

// A capability says since which version of a flavour a feature is there, and
// until which: the first version that has it no more. Empty is always, or never
// ended. Source is where that is said.
type capability struct {
	feature      feature
	since, until string
	source       string
}

// A capabilityTable holds what differs between versions of one flavour.
type capabilityTable []capability

// has reports whether a version has a feature.
func (t capabilityTable) has(f feature, version string) bool {
	v := parseVersion(version)
	for _, c := range t {
		if c.feature == f && !v.before(parseVersion(c.since)) && (c.until == "" || v.before(parseVersion(c.until))) {
			return true
		}
	}
	return false
}

// A version is a version number, part by part.
type version [3]int

// parseVersion reads numbers separated by points. A part that is missing is 0.
func parseVersion(text string) version {
	var v version
	for i, part := range strings.SplitN(text, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	return v
}

// before reports whether v is the older version.
func (v version) before(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}
