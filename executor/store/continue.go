package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"dbmatrix/matrix"
)

// A Broken is a phase that an attempt was interrupted in.
type Broken struct {
	Attempt AttemptID
	Number  int // of the attempt
	Epoch   EpochID
	Phase   PhaseID
	Block   string

	// Finished are its complete iterations, Status is the worst of theirs,
	// and Last is when the last one ended.
	Finished int
	Status   matrix.Status
	Last     time.Time

	Seconds float64 // from its begin until then
}

// BrokenPhase returns the phase that an attempt was interrupted in. It is
// ErrNotFound where the attempt is not interrupted, or not in a phase with a
// complete iteration.
func (s *Store) BrokenPhase(ctx context.Context, attempt AttemptID) (Broken, error) {
	b := Broken{Attempt: attempt}
	err := s.query(ctx, "the phase that was interrupted", func(t *tx) error {
		var began, last int64
		var epoch sql.NullInt64
		var missed int
		err := t.one(`SELECT a.number, a.epoch_id, p.id, p.block, p.finished, p.began_ns, max(i.ended_ns), count(*) FILTER (WHERE i.status = 'sla_missed')
			FROM attempt a JOIN phase p ON p.attempt_id = a.id JOIN iteration i ON i.phase_id = p.id
			WHERE a.id = ? AND a.status = 'interrupted' AND p.status = 'interrupted'
			  AND i.number > 0 AND i.status IN ('ok', 'sla_missed') AND i.ended_ns IS NOT NULL
			GROUP BY p.id`, []any{attempt}, &b.Number, &epoch, &b.Phase, &b.Block, &b.Finished, &began, &last, &missed)
		if err != nil {
			return orNotFound(err)
		}
		b.Epoch, b.Last, b.Status = EpochID(epoch.Int64), fromUnix(last), matrix.OK
		if missed > 0 {
			b.Status = matrix.SLAMissed
		}
		b.Seconds = max(0, b.Last.Sub(fromUnix(began)).Seconds())
		return nil
	})
	return b, err
}

// ContinueAttempt records that a runner goes on with an interrupted attempt, in the
// phase that it was interrupted in, after its last complete iteration. What was
// measured of an iteration that was cut off moves to an event, since the iteration
// is executed again under its number.
func (s *Store) ContinueAttempt(ctx context.Context, b Broken, runner RunnerID) error {
	return s.begin(ctx, "that the attempt goes on", func(t *tx) error {
		detail, err := dropCutOff(t, b.Phase)
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO event (experiment_id, attempt_id, phase_id, iteration, at_ns, kind, message, detail)
			SELECT c.experiment_id, a.id, ?, NULL, ?, 'continued', ?, ?
			FROM attempt a JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id WHERE a.id = ?`,
			b.Phase, s.now().UnixNano(), fmt.Sprintf("%s goes on after %d iterations", b.Block, b.Finished), detail, b.Attempt); err != nil {
			return err
		}
		if err := t.change("an interrupted phase", `UPDATE phase SET status = 'running', message = '', ended_ns = NULL, stage = 'starting'
			WHERE id = ? AND status = 'interrupted'`, b.Phase); err != nil {
			return err
		}
		return t.change("an interrupted attempt", `UPDATE attempt SET status = 'running', message = '', ended_ns = NULL, runner_id = ?
			WHERE id = ? AND status = 'interrupted'`, runner, b.Attempt)
	})
}

// Continued returns the attempts of an experiment that went on after an
// interruption.
func (s *Store) Continued(ctx context.Context, experiment string) (map[AttemptID]bool, error) {
	attempts := map[AttemptID]bool{}
	err := s.query(ctx, "attempts that went on", func(t *tx) error {
		return t.each(`SELECT DISTINCT v.attempt_id FROM event v JOIN experiment e ON e.id = v.experiment_id
			WHERE v.kind = 'continued' AND e.name = ?`, []any{experiment}, func(rows *sql.Rows) error {
			var id AttemptID
			err := rows.Scan(&id)
			attempts[id] = true
			return err
		})
	})
	return attempts, err
}

// cutOff are the iterations of a phase that did not complete, and the record of
// the phase as a whole, which will be another.
const cutOff = "SELECT id FROM iteration WHERE phase_id = ? AND (number = 0 OR status NOT IN ('ok', 'sla_missed'))"

// dropCutOff removes the iterations that were cut off and returns what was measured
// of them, a line each.
func dropCutOff(t *tx, phase PhaseID) (string, error) {
	var lines []string
	err := t.each(`SELECT i.number, i.status, coalesce(n.name, ''), coalesce(n.unit, ''), coalesce(m.value, 0)
		FROM iteration i LEFT JOIN metric m ON m.iteration_id = i.id LEFT JOIN metric_name n ON n.id = m.metric_name_id
		WHERE i.id IN (`+cutOff+`) AND i.number > 0 ORDER BY i.number, n.name`, []any{phase}, func(rows *sql.Rows) error {
		var number int
		var status, name, unit string
		var value float64
		err := rows.Scan(&number, &status, &name, &unit, &value)
		line := fmt.Sprintf("iteration %d was %s", number, status)
		if name != "" {
			line += fmt.Sprintf(": %s = %g %s", name, value, unit)
		}
		lines = append(lines, line)
		return err
	})
	errs := []error{err}
	for _, statement := range []string{
		"DELETE FROM reading WHERE series_id IN (SELECT id FROM series WHERE iteration_id IN (" + cutOff + "))",
		"DELETE FROM series WHERE iteration_id IN (" + cutOff + ")",
		"DELETE FROM metric WHERE iteration_id IN (" + cutOff + ")",
		"DELETE FROM flag WHERE iteration_id IN (" + cutOff + ")",
		"DELETE FROM histogram WHERE iteration_id IN (" + cutOff + ")",
		"DELETE FROM query_plan WHERE iteration_id IN (" + cutOff + ")",
		"DELETE FROM iteration WHERE id IN (" + cutOff + ")",
	} {
		errs = append(errs, t.exec(statement, phase))
	}
	return strings.Join(lines, "\n"), errors.Join(errs...)
}
