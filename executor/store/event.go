package store

import (
	"context"
	"database/sql"
	"time"
)

// An Event is something that happened, with its time.
type Event struct {
	Experiment ExperimentID
	Attempt    AttemptID // 0: about the experiment as a whole
	Phase      PhaseID   // 0: outside phases
	Iteration  int       // 0: outside iterations
	At         time.Time // zero: now
	Kind       string
	Message    string
	Detail     string // evidence, such as log lines
}

// AddEvents records events at once, in one transaction.
func (s *Store) AddEvents(ctx context.Context, events ...Event) error {
	return s.record(ctx, "events", func(t *tx) error {
		for _, e := range events {
			if e.At.IsZero() {
				e.At = s.now()
			}
			if err := t.exec(`INSERT INTO event (experiment_id, attempt_id, phase_id, iteration, at_ns, kind, message, detail)
				VALUES (?, nullif(?, 0), nullif(?, 0), nullif(?, 0), ?, ?, ?, ?)`,
				e.Experiment, e.Attempt, e.Phase, e.Iteration, e.At.UnixNano(), e.Kind, e.Message, e.Detail); err != nil {
				return err
			}
		}
		return nil
	})
}

// Events returns the events of an attempt, oldest first; of attempt 0 those of
// the experiment as a whole.
func (s *Store) Events(ctx context.Context, experiment ExperimentID, attempt AttemptID) ([]Event, error) {
	var events []Event
	err := s.query(ctx, "events", func(t *tx) error {
		var err error
		events, err = eventsWhere(t, "experiment_id = ?1 AND attempt_id IS nullif(?2, 0)", experiment, attempt)
		return err
	})
	return events, err
}

func eventsWhere(t *tx, where string, args ...any) ([]Event, error) {
	var events []Event
	err := t.each(`SELECT experiment_id, coalesce(attempt_id, 0), coalesce(phase_id, 0), coalesce(iteration, 0), at_ns, kind, message, detail
		FROM event WHERE `+where+` ORDER BY at_ns, id`, args, func(rows *sql.Rows) error {
		var e Event
		var at int64
		err := rows.Scan(&e.Experiment, &e.Attempt, &e.Phase, &e.Iteration, &at, &e.Kind, &e.Message, &e.Detail)
		e.At = fromUnix(at)
		events = append(events, e)
		return err
	})
	return events, err
}
