package store

import (
	"context"
	"database/sql"
	"time"

	"dbmatrix/matrix"
)

// A Snapshot is a kept copy of a data directory.
type Snapshot struct {
	Experiment  ExperimentID
	Fingerprint matrix.Fingerprint
	Replicate   int
	Attempt     AttemptID // that made it
	Path        string    // absolute
	Bytes       int64     // allocated
	Made        time.Time // set by the store
}

// AddSnapshot records a snapshot that is complete on disk.
func (s *Store) AddSnapshot(ctx context.Context, snapshot Snapshot) error {
	return s.record(ctx, "the snapshot "+snapshot.Path, func(t *tx) error {
		fp, err := internFingerprint(t, snapshot.Fingerprint)
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO snapshot (experiment_id, fingerprint_id, replicate, attempt_id, path, bytes, made_ns)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			snapshot.Experiment, fp, snapshot.Replicate, snapshot.Attempt, snapshot.Path, snapshot.Bytes, s.now().UnixNano())
	})
}

// RemoveSnapshot records that the snapshot at path is not there any more. Call
// it before the files are removed.
func (s *Store) RemoveSnapshot(ctx context.Context, path string) error {
	return s.record(ctx, "that the snapshot "+path+" is removed", func(t *tx) error {
		return t.change("the snapshot", "UPDATE snapshot SET removed_ns = ? WHERE path = ? AND removed_ns IS NULL", s.now().UnixNano(), path)
	})
}

// Snapshots returns the snapshots that are there, oldest first.
func (s *Store) Snapshots(ctx context.Context, experiment ExperimentID) ([]Snapshot, error) {
	var snapshots []Snapshot
	err := s.query(ctx, "snapshots", func(t *tx) error {
		return t.each(`SELECT s.experiment_id, f.hash, s.replicate, s.attempt_id, s.path, s.bytes, s.made_ns
			FROM snapshot s JOIN fingerprint f ON f.id = s.fingerprint_id
			WHERE s.experiment_id = ? AND s.removed_ns IS NULL ORDER BY s.id`, []any{experiment},
			func(rows *sql.Rows) error {
				var n Snapshot
				var made int64
				err := rows.Scan(&n.Experiment, &n.Fingerprint, &n.Replicate, &n.Attempt, &n.Path, &n.Bytes, &made)
				n.Made = fromUnix(made)
				snapshots = append(snapshots, n)
				return err
			})
	})
	return snapshots, err
}
