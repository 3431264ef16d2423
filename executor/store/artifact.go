package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
)

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
	return s.record(ctx, "artifacts", func(t *tx) error {
		for _, a := range artifacts {
			if err := addArtifact(t, attempt, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func addArtifact(t *tx, attempt AttemptID, a Artifact) error {
	if !filepath.IsLocal(filepath.FromSlash(a.Path)) {
		return fmt.Errorf("artifact %q: its path must lead from the folder of the results downwards", a.Path)
	}
	if err := t.exec(`INSERT INTO artifact (attempt_id, phase_id, kind, path, bytes) VALUES (?, nullif(?, 0), ?, ?, ?)
		ON CONFLICT (attempt_id, path) DO UPDATE SET phase_id = excluded.phase_id, kind = excluded.kind, bytes = excluded.bytes`,
		attempt, a.Phase, a.Kind, a.Path, a.Bytes); err != nil {
		return fmt.Errorf("artifact %s: %w", a.Path, err)
	}
	return nil
}

// ArtifactPaths returns the paths of all artifacts on record, of all experiments,
// relative to the folder of the record.
func (s *Store) ArtifactPaths(ctx context.Context) ([]string, error) {
	var paths []string
	err := s.query(ctx, "the artifacts", func(t *tx) error {
		return t.each("SELECT DISTINCT path FROM artifact ORDER BY path", nil, func(rows *sql.Rows) error {
			var path string
			err := rows.Scan(&path)
			paths = append(paths, path)
			return err
		})
	})
	return paths, err
}
