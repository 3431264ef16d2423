package store

import (
	"fmt"

	"dbmatrix/matrix"
)

// EventRenamed is the kind of event that tells what an attempt's cell was called
// before.
const EventRenamed = "renamed"

// A runRow is a recorded run that an attempt belongs to.
type runRow struct {
	id         int64
	experiment ExperimentID
	cell       matrix.CellKey
	planned    bool // the plan being recorded has it
}

// recordRenames gives attempts that stand for a cell under another name to the
// run of the name it has now. Only while name and inputs do not change both can
// the plan know that a recorded cell is the one it has; after this it is the same
// cell, whatever changes next.
func (s *Store) recordRenames(t *tx, experiment ExperimentID, plan *matrix.Plan) error {
	named := map[int64]bool{} // attempts that a run of their own name rests on
	runs := make(map[*matrix.Run]runRow)
	for _, r := range plan.Runs {
		if r.Attempt == 0 {
			continue
		}
		was, err := runOfAttempt(t, r.Attempt)
		if err != nil {
			return fmt.Errorf("attempt %d: %w", r.Attempt, orNotFound(err))
		}
		runs[r] = was
		if was.cell == r.Cell.Key {
			named[r.Attempt] = true
		}
	}
	for _, r := range plan.Runs {
		was, ok := runs[r]
		if !ok || named[r.Attempt] || was.experiment != experiment {
			continue
		}
		named[r.Attempt] = true
		if err := s.rename(t, experiment, was, r); err != nil {
			return fmt.Errorf("cell %s, which was called %s: %w", r.Cell.Key, was.cell, err)
		}
	}
	return nil
}

func runOfAttempt(t *tx, attempt int64) (runRow, error) {
	var r runRow
	err := t.one(`SELECT r.id, c.experiment_id, c.key, r.position IS NOT NULL FROM attempt a
		JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id WHERE a.id = ?`,
		[]any{attempt}, &r.id, &r.experiment, &r.cell, &r.planned)
	return r, err
}

// rename moves the attempt that a run rests on from the run it was recorded for,
// and all others of that one where the plan no longer has it. They get the next
// numbers of the run; an event of each keeps the name.
func (s *Store) rename(t *tx, experiment ExperimentID, was runRow, r *matrix.Run) error {
	var to int64
	if err := t.one("SELECT r.id FROM run r JOIN cell c ON c.id = r.cell_id WHERE c.experiment_id = ? AND c.key = ? AND r.replicate = ?",
		[]any{experiment, r.Cell.Key, r.Replicate}, &to); err != nil {
		return err
	}
	if err := t.exec(`INSERT INTO event (experiment_id, attempt_id, at_ns, kind, message, detail)
		SELECT ?, id, ?, ?, 'was recorded as attempt ' || number || ' of ' || ?, ''
		FROM attempt WHERE run_id = ? AND (id = ? OR ?)`,
		experiment, s.now().UnixNano(), EventRenamed, was.cell, was.id, r.Attempt, !was.planned); err != nil {
		return err
	}
	return t.exec(`UPDATE attempt SET run_id = ?1, number = added.number
		FROM (SELECT a.id, row_number() OVER (ORDER BY a.number) + (SELECT coalesce(max(number), 0) FROM attempt WHERE run_id = ?1) AS number
			FROM attempt a WHERE a.run_id = ?2 AND (a.id = ?3 OR ?4)) added
		WHERE attempt.id = added.id`, to, was.id, r.Attempt, !was.planned)
}
