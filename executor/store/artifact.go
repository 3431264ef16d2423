package store

import "context"

// An Artifact is a file that belongs to an attempt, such as an option file.
type Artifact struct {
	Phase PhaseID // 0: of the attempt; set by the store where it comes with a phase or iteration
	Kind  string  // such as "option file", "error log"
	Path  string  // relative to the folder of the record, with slashes
	Bytes int64
}

// AddArtifacts records files of an attempt. A path that is there already gets the
// new kind and size.
func (s *Store) AddArtifacts(ctx context.Context, attempt AttemptID, artifacts []Artifact) error {
	return errNotBuilt
}
