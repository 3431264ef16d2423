package store

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"dbmatrix/matrix"
)

// History returns what was measured of an experiment, for the plan: the attempts
// of all hosts that have ended, oldest first (matrix.Attempt.Host says where),
// those under way as interrupted, and the snapshots that are on this host. It
// takes a fixed number of queries. An experiment that was never recorded has an
// empty history.
func (s *Store) History(ctx context.Context, experiment, host string) (matrix.History, error) {
	h := matrix.History{
		Inputs: func(fp matrix.Fingerprint) ([]matrix.Input, error) { return s.Inputs(ctx, fp) },
	}
	err := s.query(ctx, "the history of "+experiment, func(t *tx) error {
		var err error
		if h.Attempts, err = pastAttempts(t, experiment); err != nil {
			return err
		}
		if err := addPastPhases(t, h.Attempts); err != nil {
			return err
		}
		h.Snapshots, err = pastSnapshots(t, experiment, host)
		return err
	})
	return h, err
}

func pastAttempts(t *tx, experiment string) ([]matrix.Attempt, error) {
	var n int // of all experiments: a good guess
	if err := t.one("SELECT count(*) FROM attempt", nil, &n); err != nil {
		return nil, err
	}
	attempts := make([]matrix.Attempt, 0, n)
	words := words{}
	err := t.bulk(`SELECT a.id, c.key, r.replicate, a.number, e.host, a.status, a.message, w.reason,
			(SELECT f.hash FROM acceptance ac JOIN fingerprint f ON f.id = ac.fingerprint_id
			 WHERE ac.attempt_id = a.id ORDER BY ac.at_ns DESC LIMIT 1)
		FROM attempt a
		JOIN run r ON r.id = a.run_id
		JOIN cell c ON c.id = r.cell_id
		JOIN experiment e ON e.id = c.experiment_id
		LEFT JOIN withdrawal w ON w.attempt_id = a.id
		WHERE e.name = ? ORDER BY a.id`, []any{experiment}, func(row []driver.Value) error {
		attempts = append(attempts, matrix.Attempt{
			ID:        row[0].(int64),
			Cell:      matrix.CellKey(row[1].(string)),
			Replicate: int(row[2].(int64)),
			Number:    int(row[3].(int64)),
			Host:      words.of(row[4].(string)),
			Status:    past(words.of(row[5].(string))),
			Message:   row[6].(string),
			Withdrawn: maybe[string](row[7]),
			Accepted:  matrix.Fingerprint(maybe[string](row[8])),
		})
		return nil
	})
	return attempts, err
}

// addPastPhases adds the phases of attempts. It reads the table as it lies on disk
// (the phases of an attempt were written in their order) and leaves out those of
// other experiments, of which a record has few: that is faster than joins.
func addPastPhases(t *tx, attempts []matrix.Attempt) error {
	byID := make(map[int64]int, len(attempts))
	for i := range attempts {
		byID[attempts[i].ID] = i
	}
	words := words{}
	return t.bulk(`SELECT p.attempt_id, p.block, f.hash, p.finished, p.status, p.message, p.seconds, p.bytes,
			(SELECT s.attempt_id FROM phase s WHERE s.id = p.taken_from)
		FROM phase p LEFT JOIN fingerprint f ON f.id = p.fingerprint_id ORDER BY p.id`, nil, func(row []driver.Value) error {
		i, ours := byID[row[0].(int64)]
		if !ours {
			return nil
		}
		attempts[i].Phases = append(attempts[i].Phases, matrix.PastPhase{
			Block:       words.of(row[1].(string)),
			Fingerprint: matrix.Fingerprint(maybe[string](row[2])),
			Iterations:  int(row[3].(int64)),
			Status:      past(words.of(row[4].(string))),
			Message:     row[5].(string),
			Seconds:     maybe[float64](row[6]),
			Bytes:       uint64(maybe[int64](row[7])),
			FromID:      maybe[int64](row[8]),
		})
		return nil
	})
}

// past is the status that the plan knows for one that is under way.
func past(status string) matrix.Status {
	if status == string(Running) {
		return matrix.Interrupted
	}
	return matrix.Status(status)
}

func pastSnapshots(t *tx, experiment, host string) ([]matrix.Snapshot, error) {
	var snapshots []matrix.Snapshot
	err := t.each(`SELECT f.hash, s.replicate, s.bytes, s.path, s.attempt_id
		FROM snapshot s JOIN fingerprint f ON f.id = s.fingerprint_id JOIN experiment e ON e.id = s.experiment_id
		WHERE e.name = ? AND e.host = ? AND s.removed_ns IS NULL ORDER BY s.id`, []any{experiment, host},
		func(rows *sql.Rows) error {
			var n matrix.Snapshot
			err := rows.Scan(&n.Fingerprint, &n.Replicate, &n.Bytes, &n.Path, &n.Attempt)
			snapshots = append(snapshots, n)
			return err
		})
	return snapshots, err
}

// Inputs returns the stored inputs of a fingerprint sorted by name, nil where
// there are none.
func (s *Store) Inputs(ctx context.Context, fp matrix.Fingerprint) ([]matrix.Input, error) {
	var inputs []matrix.Input
	err := s.query(ctx, "inputs", func(t *tx) error {
		return t.each(`SELECT s.name, s.value FROM fingerprint f
			JOIN input i ON i.fingerprint_id = f.id JOIN setting s ON s.id = i.setting_id
			WHERE f.hash = ? ORDER BY s.name, s.value`, []any{fp}, func(rows *sql.Rows) error {
			var in matrix.Input
			err := rows.Scan(&in.Name, &in.Value)
			inputs = append(inputs, in)
			return err
		})
	})
	return inputs, err
}

// words keeps one copy of each text, since a few recur in every row.
type words map[string]string

func (w words) of(s string) string {
	if have, ok := w[s]; ok {
		return have
	}
	w[s] = s
	return s
}
