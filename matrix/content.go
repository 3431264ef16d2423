package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"slices"
)

// A Source is a file or a program that a phase names, and whose content is one of
// its inputs. It may change between the plan and the phase.
type Source struct {
	Input // such as "file.load.sql", and the content when the plan was made

	path    string
	program string // not "": what to look for on PATH, where nothing is at path
}

// notOnHost is the content of a program that is not installed.
const notOnHost = "not on this host"

// Path returns where the source lies now, and "" for a program that is not on
// this host.
func (s Source) Path() string {
	if s.program == "" || s.path != "" && isFile(s.path) {
		return s.path
	}
	found, err := exec.LookPath(s.program)
	if err != nil {
		return ""
	}
	return found
}

// Absent reports whether the source is a program that was not on this host when
// the plan was made.
func (s Source) Absent() bool { return s.Value == notOnHost }

// ContentOf returns the content of the file at a path as an input has it: a hash.
// The path "" stands for a program that is not installed.
func ContentOf(path string) string {
	if path == "" {
		return notOnHost
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// Sources returns the files and programs whose contents are inputs of the phase:
// those of its workload, then those of the commands beside it. One may be listed
// twice.
func (p *Phase) Sources() []Source { return slices.Concat(p.resolved.sources, p.sources) }

// inputsOf returns the inputs that sources are.
func inputsOf(sources []Source) []Input {
	inputs := make([]Input, len(sources))
	for i, s := range sources {
		inputs[i] = s.Input
	}
	return inputs
}

// Implicit returns what the server runs with beside the settings, as
// LoadOptions.Implicit told it when the plan was made.
func (s *Settings) Implicit() []Input { return s.implicit }
