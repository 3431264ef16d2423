package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"dbmatrix/matrix"
)

// Running is the status of attempts and phases that are under way.
const Running matrix.Status = "running"

// An AttemptStart is what is known when an attempt begins.
type AttemptStart struct {
	Experiment  ExperimentID
	Runner      RunnerID
	Epoch       EpochID // 0: none
	Cell        matrix.CellKey
	Replicate   int
	Fingerprint matrix.Fingerprint // of the last phase that it is to execute
	Phases      int                // how many it is to execute or take over
}

// BeginAttempt records that a pass through a run begins, and returns its id and
// its number among the attempts of that run, from 1.
func (s *Store) BeginAttempt(ctx context.Context, a AttemptStart) (AttemptID, int, error) {
	var id AttemptID
	var number int
	err := s.begin(ctx, fmt.Sprintf("the start of %s, replicate %d", a.Cell, a.Replicate), func(t *tx) error {
		var err error
		id, number, err = s.addAttempt(t, a, Running, "")
		return err
	})
	return id, number, err
}

// SkipRun records an attempt that was not made, with the reason.
func (s *Store) SkipRun(ctx context.Context, a AttemptStart, reason string) (AttemptID, error) {
	var id AttemptID
	err := s.begin(ctx, fmt.Sprintf("that %s, replicate %d, is skipped", a.Cell, a.Replicate), func(t *tx) error {
		var err error
		if id, _, err = s.addAttempt(t, a, matrix.Skipped, reason); err != nil {
			return err
		}
		return t.exec("UPDATE attempt SET ended_ns = began_ns WHERE id = ?", id)
	})
	return id, err
}

func (s *Store) addAttempt(t *tx, a AttemptStart, status matrix.Status, message string) (AttemptID, int, error) {
	var run int64
	err := t.one(`SELECT r.id FROM run r JOIN cell c ON c.id = r.cell_id
		WHERE c.experiment_id = ? AND c.key = ? AND r.replicate = ?`, []any{a.Experiment, a.Cell, a.Replicate}, &run)
	if err != nil {
		return 0, 0, orNotFound(err)
	}
	fp, err := internMaybe(t, a.Fingerprint)
	if err != nil {
		return 0, 0, err
	}
	var id AttemptID
	var number int
	err = t.one(`INSERT INTO attempt (run_id, number, runner_id, epoch_id, fingerprint_id, phases, status, message, began_ns)
		VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM attempt WHERE run_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)
		RETURNING id, number`,
		[]any{run, a.Runner, sql.NullInt64{Int64: int64(a.Epoch), Valid: a.Epoch != 0}, fp, a.Phases, status, message, s.now().UnixNano()},
		&id, &number)
	return id, number, err
}

// FinishAttempt records how an attempt ended: with a final status, and a message
// where it is not ok.
func (s *Store) FinishAttempt(ctx context.Context, id AttemptID, status matrix.Status, message string) error {
	if !finished(status) && status != matrix.Skipped {
		return fmt.Errorf("recording the end of attempt %d: %q is no status that it can end with", id, status)
	}
	err := s.record(ctx, "the end of the attempt", func(t *tx) error {
		return t.change("a running attempt", "UPDATE attempt SET status = ?, message = ?, ended_ns = ? WHERE id = ? AND status = 'running'",
			status, message, s.now().UnixNano(), id)
	})
	if err == nil {
		s.checkpoint()
	}
	return err
}

// AddFacts records facts of an attempt. A name may have several values.
func (s *Store) AddFacts(ctx context.Context, id AttemptID, facts []Fact) error {
	return s.record(ctx, "facts", func(t *tx) error {
		for _, f := range facts {
			setting, err := internSetting(t, f.Name, f.Value)
			if err != nil {
				return err
			}
			if err := t.exec("INSERT INTO fact (attempt_id, setting_id) VALUES (?, ?) ON CONFLICT DO NOTHING", id, setting); err != nil {
				return err
			}
		}
		return nil
	})
}

// Withdraw takes an attempt's results back, for a reason. They stay on record.
func (s *Store) Withdraw(ctx context.Context, id AttemptID, reason, by string) error {
	if strings.TrimSpace(reason) == "" {
		return errors.New("withdrawing a result: a reason must be given")
	}
	return s.record(ctx, "the withdrawal", func(t *tx) error {
		if err := hasAttempt(t, id); err != nil {
			return err
		}
		return t.exec(`INSERT INTO withdrawal (attempt_id, reason, by, at_ns) VALUES (?, ?, ?, ?)
			ON CONFLICT (attempt_id) DO NOTHING`, id, reason, by, s.now().UnixNano())
	})
}

// Accept records that somebody lets an attempt stand for the fingerprint of the
// last phase that its run has now.
func (s *Store) Accept(ctx context.Context, id AttemptID, fp matrix.Fingerprint, reason, by string) error {
	if strings.TrimSpace(reason) == "" {
		return errors.New("accepting a stale result: a reason must be given")
	}
	return s.record(ctx, "the acceptance", func(t *tx) error {
		if err := hasAttempt(t, id); err != nil {
			return err
		}
		fingerprint, err := internFingerprint(t, fp)
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO acceptance (attempt_id, fingerprint_id, reason, by, at_ns) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET reason = excluded.reason, by = excluded.by, at_ns = excluded.at_ns`,
			id, fingerprint, reason, by, s.now().UnixNano())
	})
}

func hasAttempt(t *tx, id AttemptID) error {
	var number int
	if err := t.one("SELECT number FROM attempt WHERE id = ?", []any{id}, &number); err != nil {
		return fmt.Errorf("attempt %d: %w", id, orNotFound(err))
	}
	return nil
}
