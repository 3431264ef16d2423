package executor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/store"
)

// An environment is what of the host can change a number without any change to
// the experiment: kernel, memory, processor settings, mount options.
type environment struct {
	boot  string // a reboot alone is no change, but numbers from before and after it are told apart
	facts []store.Fact
}

// identities are facts that say which host and boot it is, not how it is set.
var identities = []string{"host.id", "host.name", "host.boot"}

// placeFacts are the facts of a filesystem that can change numbers.
var placeFacts = []string{".filesystem", ".mount_options", ".scheduler"}

// readEnvironment reads the host's properties, and those of the filesystems that
// hold dirs, which need not be there yet.
func readEnvironment(r sampler.Roots, dirs []string) (environment, error) {
	paths := map[string]string{}
	for _, dir := range dirs {
		paths[dir] = ancestor(dir)
	}
	facts, err := sampler.Facts(r, paths)
	if err != nil {
		return environment{}, err
	}
	var env environment
	for _, f := range facts {
		if f.Name == "host.boot" {
			env.boot = f.Value
		}
		ofHost := strings.HasPrefix(f.Name, "host.") && !slices.Contains(identities, f.Name)
		if ofHost || ofPlace(f.Name) {
			env.facts = append(env.facts, store.Fact(f))
		}
	}
	return env, nil
}

// ofPlace reports whether a fact is one of a filesystem that can change numbers.
func ofPlace(name string) bool {
	return slices.ContainsFunc(placeFacts, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// ancestor returns a path, or the nearest directory above it that is there.
func ancestor(path string) string {
	for path != "/" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
		path = filepath.Dir(path)
	}
	return path
}

// changes returns a sentence for each fact that differs from an earlier
// environment. That another filesystem came into use is no change of either.
func (e environment) changes(earlier []store.Fact) []string {
	now, before := compared(e.facts), compared(earlier)
	names := slices.Sorted(maps.Keys(now))
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, both := now[name]; !both {
			names = append(names, name)
		}
	}
	var changes []string
	for _, name := range names {
		value, isKnown := now[name]
		was, wasKnown := before[name]
		switch {
		case value == was || isKnown != wasKnown && ofPlace(name):
		case !wasKnown:
			changes = append(changes, fmt.Sprintf("%s is %s, was not known", name, value))
		case !isKnown:
			changes = append(changes, fmt.Sprintf("%s was %s, is not known", name, was))
		default:
			changes = append(changes, fmt.Sprintf("%s %s → %s", name, was, value))
		}
	}
	return changes
}

// compared returns facts by name, without what a filesystem in memory may hold:
// it is a limit that someone set or that follows from the memory, and changes no
// number until it is reached.
func compared(facts []store.Fact) map[string]string {
	m := byName(facts)
	for name, options := range m {
		if dir, ok := strings.CutSuffix(name, ".mount_options"); ok && m[dir+".filesystem"] == "tmpfs" {
			m[name] = strings.Join(slices.DeleteFunc(strings.Split(options, ","), isLimit), ",")
		}
	}
	return m
}

// isLimit reports whether a mount option of tmpfs(5) is one of its limits.
func isLimit(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return name == "size" || name == "nr_blocks" || name == "nr_inodes"
}

// byName returns facts as a map.
func byName(facts []store.Fact) map[string]string {
	m := make(map[string]string, len(facts))
	for _, f := range facts {
		m[f.Name] = f.Value
	}
	return m
}
