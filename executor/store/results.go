package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"dbmatrix/matrix"
)

// A Selection says which attempts of an experiment are asked for. The zero value
// asks for those of all hosts that count, or, where none of a run counts, for its
// newest.
type Selection struct {
	Host    string           // machine id; "" is all
	Cells   []matrix.CellKey // nil is all
	All     bool             // superseded, failed and withdrawn attempts too
	Running bool             // only attempts that are under way
}

// An Attempt is one recorded pass through a run with its results.
type Attempt struct {
	ID          AttemptID
	Host        string
	Cell        matrix.CellKey // as it was called then
	Levels      []matrix.CellLevel
	Matrix      string
	Replicate   int
	Number      int
	Fingerprint matrix.Fingerprint // of its last phase
	Status      matrix.Status      // Running while it is under way
	Message     string
	Began       time.Time
	Ended       time.Time // zero while it is under way
	Epoch       EpochID   // 0: none

	// Planned says that the plan recorded last has the run.
	Planned bool

	Counts    bool                 // its results stand: the newest complete one that was not withdrawn
	Withdrawn string               // the reason, else ""
	Accepted  []matrix.Fingerprint // that somebody lets it stand for, newest last

	Phases []Phase // in the order they ran
}

// A Phase is a recorded phase. One that was taken over with a snapshot has the
// iterations of where it was measured.
type Phase struct {
	ID            PhaseID
	Block         string // the phase block that ran
	Name          string // under which results are kept
	Workload      string
	Fingerprint   matrix.Fingerprint
	Status        matrix.Status
	Message       string
	Stage         string // what a running phase is at
	Planned       int    // iterations that it is to have
	Finished      int    // those of them that are complete
	Began         time.Time
	Ended         time.Time
	Seconds       float64
	SettleSeconds float64
	Bytes         int64

	// From is the attempt that measured the phase, 0 where this one did.
	// FromWithdrawn is the reason where that one was withdrawn.
	From          AttemptID
	FromWithdrawn string

	Iterations []IterationResult // finished ones, by number; 0 is the phase as a whole
}

// Iteration returns the iteration of that number, or nil.
func (p *Phase) Iteration(number int) *IterationResult {
	for i := range p.Iterations {
		if p.Iterations[i].Number == number {
			return &p.Iterations[i]
		}
	}
	return nil
}

// An IterationResult is a recorded iteration.
type IterationResult struct {
	ID      IterationID
	Number  int
	Status  matrix.Status
	Message string
	Began   time.Time // zero where there was no window
	Ended   time.Time
	Flags   []matrix.Flag
	Metrics Metrics
}

// Metrics are recorded numbers by name.
type Metrics map[string]Value

// A Value is a number and its unit.
type Value struct {
	Number float64
	Unit   string
}

// Results returns the selected attempts of an experiment with all their metrics,
// in the order of the plan recorded last (cells that are not in it come last),
// then by replicate and number. It takes a fixed number of queries.
func (s *Store) Results(ctx context.Context, experiment string, sel Selection) ([]Attempt, error) {
	l := loader{iterations: map[int64][]IterationResult{}}
	err := s.query(ctx, "the results of "+experiment, func(t *tx) error {
		l.tx, l.args = t, sel.args(experiment)
		for _, load := range []func() error{
			l.loadAttempts, l.loadLevels, l.loadAcceptances,
			l.loadMetrics, l.loadFlags, l.loadIterations, l.loadPhases,
		} {
			if err := load(); err != nil {
				return err
			}
		}
		return nil
	})
	return l.attempts, err
}

// chosen is the beginning of every query of Results: the attempts selected by
// the arguments ?1 experiment, ?2 host, ?3 cells as JSON or NULL, ?4 all,
// ?5 running. Of a run whose attempts none counts the newest is chosen.
const chosen = `WITH chosen AS MATERIALIZED (
	SELECT attempt_id, run_id, cell_id, counts, withdrawn FROM (
		SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY counts DESC, attempt DESC) AS rank FROM run_attempt
		WHERE experiment = ?1 AND (?2 = '' OR host = ?2)
		  AND (?3 IS NULL OR cell IN (SELECT value FROM json_each(?3)))
		  AND (NOT ?5 OR status = 'running'))
	WHERE ?4 OR ?5 OR rank = 1
), source AS MATERIALIZED (
	SELECT DISTINCT coalesce(p.taken_from, p.id) AS phase_id
	FROM chosen JOIN phase p ON p.attempt_id = chosen.attempt_id
) `

func (sel Selection) args(experiment string) []any {
	var cells any
	if sel.Cells != nil {
		list, _ := json.Marshal(sel.Cells) // a list of strings cannot fail
		cells = string(list)
	}
	return []any{experiment, sel.Host, cells, sel.All, sel.Running}
}

// A loader gathers the results of the chosen attempts, table by table.
type loader struct {
	tx         *tx
	args       []any
	attempts   []Attempt
	cells      []int64                 // of each of attempts
	byID       map[AttemptID]int       // in attempts
	metrics    map[IterationID]Metrics //
	flags      map[IterationID][]matrix.Flag
	iterations map[int64][]IterationResult // by the phase that measured them
}

func (l *loader) loadAttempts() error {
	l.byID = map[AttemptID]int{}
	return l.tx.each(chosen+`SELECT a.id, e.host, c.id, c.key, c.matrix, r.replicate, a.number, f.hash, a.status, a.message,
			a.began_ns, a.ended_ns, a.epoch_id, r.position IS NOT NULL, chosen.counts, chosen.withdrawn
		FROM chosen
		JOIN attempt a ON a.id = chosen.attempt_id
		JOIN run r ON r.id = chosen.run_id
		JOIN cell c ON c.id = chosen.cell_id
		JOIN experiment e ON e.id = c.experiment_id
		LEFT JOIN fingerprint f ON f.id = a.fingerprint_id
		ORDER BY c.position IS NULL, c.position, c.id, r.replicate, a.number`, l.args, func(rows *sql.Rows) error {
		var a Attempt
		var cell, began int64
		var fp, withdrawn sql.NullString
		var ended, epoch sql.NullInt64
		if err := rows.Scan(&a.ID, &a.Host, &cell, &a.Cell, &a.Matrix, &a.Replicate, &a.Number, &fp, &a.Status, &a.Message,
			&began, &ended, &epoch, &a.Planned, &a.Counts, &withdrawn); err != nil {
			return err
		}
		a.Fingerprint, a.Withdrawn = matrix.Fingerprint(fp.String), withdrawn.String
		a.Began, a.Ended, a.Epoch = fromUnix(began), fromUnix(ended.Int64), EpochID(epoch.Int64)
		l.byID[a.ID] = len(l.attempts)
		l.attempts, l.cells = append(l.attempts, a), append(l.cells, cell)
		return nil
	})
}

func (l *loader) loadLevels() error {
	levels := map[int64][]matrix.CellLevel{}
	if err := l.tx.each(chosen+`SELECT v.cell_id, v.axis, v.level, v.label, v.position
		FROM (SELECT DISTINCT cell_id FROM chosen) c JOIN cell_level v ON v.cell_id = c.cell_id
		ORDER BY v.cell_id, v.ordinal`, l.args, func(rows *sql.Rows) error {
		var cell int64
		var v matrix.CellLevel
		err := rows.Scan(&cell, &v.Axis, &v.Name, &v.Text, &v.Pos)
		levels[cell] = append(levels[cell], v)
		return err
	}); err != nil {
		return err
	}
	for i, cell := range l.cells {
		l.attempts[i].Levels = levels[cell]
	}
	return nil
}

func (l *loader) loadAcceptances() error {
	return l.tx.each(chosen+`SELECT ac.attempt_id, f.hash
		FROM chosen JOIN acceptance ac ON ac.attempt_id = chosen.attempt_id JOIN fingerprint f ON f.id = ac.fingerprint_id
		ORDER BY ac.at_ns`, l.args, func(rows *sql.Rows) error {
		var id AttemptID
		var fp matrix.Fingerprint
		err := rows.Scan(&id, &fp)
		a := &l.attempts[l.byID[id]]
		a.Accepted = append(a.Accepted, fp)
		return err
	})
}

func (l *loader) loadMetrics() error {
	l.metrics = map[IterationID]Metrics{}
	names, units, err := metricNames(l.tx)
	if err != nil {
		return err
	}
	size := 0 // of the iteration before, as a guess for the next
	var last IterationID
	var current Metrics
	return l.tx.each(chosen+`SELECT m.iteration_id, m.metric_name_id, m.value
		FROM source JOIN iteration i ON i.phase_id = source.phase_id JOIN metric m ON m.iteration_id = i.id`, l.args,
		func(rows *sql.Rows) error {
			var id IterationID
			var name int64
			var value float64
			if err := rows.Scan(&id, &name, &value); err != nil {
				return err
			}
			if id != last || current == nil {
				size = max(size, len(current))
				current, last = make(Metrics, size), id
				l.metrics[id] = current
			}
			current[names[name]] = Value{Number: value, Unit: units[name]}
			return nil
		})
}

// metricNames returns the names and units of metrics by their id.
func metricNames(t *tx) (names, units map[int64]string, err error) {
	names, units = map[int64]string{}, map[int64]string{}
	err = t.each("SELECT id, name, unit FROM metric_name", nil, func(rows *sql.Rows) error {
		var id int64
		var name, unit string
		err := rows.Scan(&id, &name, &unit)
		names[id], units[id] = name, unit
		return err
	})
	return names, units, err
}

func (l *loader) loadFlags() error {
	l.flags = map[IterationID][]matrix.Flag{}
	return l.tx.each(chosen+`SELECT f.iteration_id, f.name, f.detail
		FROM source JOIN iteration i ON i.phase_id = source.phase_id JOIN flag f ON f.iteration_id = i.id
		ORDER BY f.iteration_id, f.name, f.detail`, l.args, func(rows *sql.Rows) error {
		var id IterationID
		var f matrix.Flag
		err := rows.Scan(&id, &f.Name, &f.Detail)
		l.flags[id] = append(l.flags[id], f)
		return err
	})
}

func (l *loader) loadIterations() error {
	return l.tx.each(chosen+`SELECT i.phase_id, i.id, i.number, i.status, i.message, i.began_ns, i.ended_ns
		FROM source JOIN iteration i ON i.phase_id = source.phase_id
		ORDER BY i.phase_id, i.number`, l.args, func(rows *sql.Rows) error {
		var phase int64
		var it IterationResult
		var began, ended sql.NullInt64
		err := rows.Scan(&phase, &it.ID, &it.Number, &it.Status, &it.Message, &began, &ended)
		it.Began, it.Ended = fromUnix(began.Int64), fromUnix(ended.Int64)
		it.Flags, it.Metrics = l.flags[it.ID], l.metrics[it.ID]
		l.iterations[phase] = append(l.iterations[phase], it)
		return err
	})
}

func (l *loader) loadPhases() error {
	return l.tx.each(chosen+`SELECT p.attempt_id, p.id, p.block, p.name, p.workload, f.hash, p.status, p.message, p.stage,
			p.planned, p.finished, p.began_ns, p.ended_ns, p.seconds, p.settle_seconds, p.bytes,
			coalesce(p.taken_from, p.id), s.attempt_id, w.reason
		FROM chosen
		JOIN phase p ON p.attempt_id = chosen.attempt_id
		LEFT JOIN fingerprint f ON f.id = p.fingerprint_id
		LEFT JOIN phase s ON s.id = p.taken_from
		LEFT JOIN withdrawal w ON w.attempt_id = s.attempt_id
		ORDER BY p.attempt_id, p.ordinal`, l.args, func(rows *sql.Rows) error {
		var attempt AttemptID
		var p Phase
		var fp, withdrawn sql.NullString
		var began, source int64
		var ended, bytes, from sql.NullInt64
		var seconds, settle sql.NullFloat64
		if err := rows.Scan(&attempt, &p.ID, &p.Block, &p.Name, &p.Workload, &fp, &p.Status, &p.Message, &p.Stage,
			&p.Planned, &p.Finished, &began, &ended, &seconds, &settle, &bytes, &source, &from, &withdrawn); err != nil {
			return err
		}
		p.Fingerprint, p.FromWithdrawn = matrix.Fingerprint(fp.String), withdrawn.String
		p.Began, p.Ended = fromUnix(began), fromUnix(ended.Int64)
		p.Seconds, p.SettleSeconds, p.Bytes = seconds.Float64, settle.Float64, bytes.Int64
		p.From, p.Iterations = AttemptID(from.Int64), l.iterations[source]
		a := &l.attempts[l.byID[attempt]]
		a.Phases = append(a.Phases, p)
		return nil
	})
}
