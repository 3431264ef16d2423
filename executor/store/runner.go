package store

import (
	"context"
	"database/sql"
	"time"

	"dbmatrix/matrix"
)

// A Runner is a process that executes a plan.
type Runner struct {
	ID         RunnerID // set by the store
	Experiment ExperimentID
	Version    string // of dbmatrix
	Command    string // its command line
	PID        int
	StartTicks uint64 // field 22 of /proc/PID/stat, which tells it from a later process of that pid
	BootID     string
	Began      time.Time // set by the store
}

// An Interruption is an attempt that an earlier runner left unfinished.
type Interruption struct {
	Attempt   AttemptID
	Cell      matrix.CellKey
	Replicate int
	Number    int
	Phase     string        // that was under way; "" where none was
	Status    matrix.Status // that it has now
}

// BeginRunner records that a process begins to execute a plan, and ends what
// earlier runners of the experiment left: each attempt and phase still running
// whose runner is not alive becomes interrupted, except that an attempt whose
// phases had all ended gets the worst of their statuses. It returns those
// attempts. alive is asked about each earlier runner that did not end.
func (s *Store) BeginRunner(ctx context.Context, r Runner, alive func(Runner) bool) (RunnerID, []Interruption, error) {
	var id RunnerID
	var left []Interruption
	err := s.begin(ctx, "the start of the runner", func(t *tx) error {
		left = nil
		earlier, err := openRunners(t, r.Experiment)
		if err != nil {
			return err
		}
		for _, e := range earlier {
			if alive(e) {
				continue
			}
			broken, err := endRunner(t, e.ID, s.now())
			if err != nil {
				return err
			}
			left = append(left, broken...)
		}
		n, err := t.insert(`INSERT INTO runner (experiment_id, version, command, pid, start_ticks, boot_id, began_ns)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			r.Experiment, r.Version, r.Command, r.PID, int64(r.StartTicks), r.BootID, s.now().UnixNano())
		id = RunnerID(n)
		return err
	})
	return id, left, err
}

// EndRunner records that a runner is done. What it left unfinished is
// interrupted.
func (s *Store) EndRunner(ctx context.Context, id RunnerID) error {
	return s.record(ctx, "the end of the runner", func(t *tx) error {
		_, err := endRunner(t, id, s.now())
		return err
	})
}

// OpenRunners returns the runners of an experiment that did not end, oldest
// first. Those that were killed are among them until the next one begins.
func (s *Store) OpenRunners(ctx context.Context, experiment ExperimentID) ([]Runner, error) {
	var runners []Runner
	err := s.query(ctx, "runners", func(t *tx) error {
		var err error
		runners, err = openRunners(t, experiment)
		return err
	})
	return runners, err
}

// CommandOf returns the command line of the runner that made an attempt or went on
// with it last, or ErrNotFound.
func (s *Store) CommandOf(ctx context.Context, attempt AttemptID) (string, error) {
	var command string
	err := s.query(ctx, "the command of an attempt", func(t *tx) error {
		return orNotFound(t.one("SELECT r.command FROM attempt a JOIN runner r ON r.id = a.runner_id WHERE a.id = ?", []any{attempt}, &command))
	})
	return command, err
}

func openRunners(t *tx, experiment ExperimentID) ([]Runner, error) {
	var runners []Runner
	err := t.each(`SELECT id, experiment_id, version, command, pid, start_ticks, boot_id, began_ns
		FROM runner WHERE experiment_id = ? AND ended_ns IS NULL ORDER BY id`, []any{experiment},
		func(rows *sql.Rows) error {
			var r Runner
			var began, ticks int64
			err := rows.Scan(&r.ID, &r.Experiment, &r.Version, &r.Command, &r.PID, &ticks, &r.BootID, &began)
			r.StartTicks, r.Began = uint64(ticks), fromUnix(began)
			runners = append(runners, r)
			return err
		})
	return runners, err
}

// endRunner ends a runner and all attempts of it that are still running.
func endRunner(t *tx, id RunnerID, now time.Time) ([]Interruption, error) {
	if err := t.exec("UPDATE runner SET ended_ns = ? WHERE id = ? AND ended_ns IS NULL", now.UnixNano(), id); err != nil {
		return nil, err
	}
	var left []Interruption
	if err := t.each(`SELECT a.id, c.key, r.replicate, a.number,
			coalesce((SELECT name FROM phase WHERE attempt_id = a.id AND status = 'running' LIMIT 1), '')
		FROM attempt a JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id
		WHERE a.status = 'running' AND a.runner_id = ? ORDER BY a.id`, []any{id},
		func(rows *sql.Rows) error {
			var b Interruption
			err := rows.Scan(&b.Attempt, &b.Cell, &b.Replicate, &b.Number, &b.Phase)
			left = append(left, b)
			return err
		}); err != nil {
		return nil, err
	}
	for i := range left {
		var err error
		if left[i].Status, err = endAttempt(t, left[i].Attempt, now); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// endAttempt ends an attempt that nobody works on any more.
func endAttempt(t *tx, id AttemptID, now time.Time) (matrix.Status, error) {
	var planned, complete, failed int
	if err := t.one(`SELECT a.phases, count(p.id) FILTER (WHERE p.status IN ('ok', 'sla_missed')),
			count(p.id) FILTER (WHERE p.status NOT IN ('ok', 'sla_missed', 'running', 'interrupted'))
		FROM attempt a LEFT JOIN phase p ON p.attempt_id = a.id WHERE a.id = ?`, []any{id},
		&planned, &complete, &failed); err != nil {
		return "", err
	}
	status, message := matrix.Interrupted, "the runner was gone"
	if failed > 0 || planned > 0 && complete == planned {
		var err error
		if status, message, err = worstPhase(t, id); err != nil {
			return "", err
		}
	}
	if err := t.exec(`UPDATE phase SET status = 'interrupted', message = 'the runner was gone', stage = '', ended_ns = ?
		WHERE attempt_id = ? AND status = 'running'`, now.UnixNano(), id); err != nil {
		return "", err
	}
	return status, t.exec("UPDATE attempt SET status = ?, message = ?, ended_ns = ? WHERE id = ?",
		status, message, now.UnixNano(), id)
}

// worstPhase returns the status that an attempt has through its phases: that of
// the first that failed, else sla_missed where one missed it.
func worstPhase(t *tx, id AttemptID) (status matrix.Status, message string, err error) {
	err = t.one(`SELECT status, message FROM phase WHERE attempt_id = ? AND status <> 'running'
		ORDER BY CASE status WHEN 'ok' THEN 2 WHEN 'sla_missed' THEN 1 ELSE 0 END, ordinal LIMIT 1`,
		[]any{id}, &status, &message)
	return status, message, err
}

// fromUnix returns the time of nanoseconds since 1970; 0 is the zero time.
func fromUnix(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// toUnix is the other way round; the zero time is NULL.
func toUnix(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixNano(), Valid: !t.IsZero()}
}
