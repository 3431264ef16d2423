package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
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

// Results returns the selected attempts of an experiment with all their metrics,
// in the order of the plan recorded last (cells that are not in it come last),
// then by replicate and number. It takes a fixed number of queries.
func (s *Store) Results(ctx context.Context, experiment string, sel Selection) ([]Attempt, error) {
	var l loader
	err := s.query(ctx, "the results of "+experiment, func(t *tx) error {
		l = loader{tx: t}
		if err := l.loadAttempts(experiment, sel); err != nil {
			return err
		}
		for _, load := range []func() error{
			l.loadLevels, l.loadAcceptances, l.loadPhases, l.loadIterations, l.loadMetrics, l.loadFlags,
		} {
			if err := load(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.assemble()
	return l.attempts, nil
}

// A loader gathers the results of attempts, table by table. Each query is given
// the ids that the one before found, as a JSON list.
type loader struct {
	tx       *tx
	attempts []Attempt
	cells    []int64 // of each of attempts
	ids      index   // of attempts

	sources    [][]int64 // the phases that measured them
	iterations map[int64][]IterationResult
	byID       index // of iterations, in metrics and flags
	metrics    []Metrics
	flags      [][]matrix.Flag
}

// An index numbers ids in the order in which they were added.
type index struct {
	at   map[int64]int
	list []int64
}

// add adds an id unless it is there.
func (x *index) add(id int64) {
	if x.at == nil {
		x.at = map[int64]int{}
	}
	if _, ok := x.at[id]; !ok {
		x.at[id] = len(x.list)
		x.list = append(x.list, id)
	}
}

// json returns the ids as a list for json_each.
func (x *index) json() []any {
	list, _ := json.Marshal(x.list) // a list of numbers cannot fail
	return []any{string(list)}
}

func (l *loader) loadAttempts(experiment string, sel Selection) error {
	var cells any
	if sel.Cells != nil {
		list, _ := json.Marshal(sel.Cells) // a list of strings cannot fail
		cells = string(list)
	}
	return l.tx.each(`WITH candidate AS (
			SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY counts DESC, attempt DESC) AS rank FROM run_attempt
			WHERE experiment = ?1 AND (?2 = '' OR host = ?2)
			  AND (?3 IS NULL OR cell IN (SELECT value FROM json_each(?3)))
			  AND (NOT ?5 OR status = 'running'))
		SELECT a.id, ca.host, c.id, c.key, c.matrix, r.replicate, a.number, f.hash, a.status, a.message,
			a.began_ns, a.ended_ns, a.epoch_id, r.position IS NOT NULL, ca.counts, ca.withdrawn
		FROM candidate ca
		JOIN attempt a ON a.id = ca.attempt_id
		JOIN run r ON r.id = ca.run_id
		JOIN cell c ON c.id = ca.cell_id
		LEFT JOIN fingerprint f ON f.id = a.fingerprint_id
		WHERE ?4 OR ?5 OR ca.rank = 1
		ORDER BY c.position IS NULL, c.position, c.id, r.replicate, a.number`,
		[]any{experiment, sel.Host, cells, sel.All, sel.Running}, func(rows *sql.Rows) error {
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
			l.attempts, l.cells = append(l.attempts, a), append(l.cells, cell)
			l.ids.add(int64(a.ID))
			return nil
		})
}

func (l *loader) loadLevels() error {
	levels := map[int64][]matrix.CellLevel{}
	var cells index
	for _, id := range l.cells {
		cells.add(id)
	}
	err := l.tx.each(`SELECT v.cell_id, v.axis, v.level, v.label, v.position
		FROM json_each(?) j JOIN cell_level v ON v.cell_id = j.value ORDER BY v.cell_id, v.ordinal`, cells.json(),
		func(rows *sql.Rows) error {
			var cell int64
			var v matrix.CellLevel
			err := rows.Scan(&cell, &v.Axis, &v.Name, &v.Text, &v.Pos)
			levels[cell] = append(levels[cell], v)
			return err
		})
	for i, cell := range l.cells {
		l.attempts[i].Levels = levels[cell]
	}
	return err
}

func (l *loader) loadAcceptances() error {
	return l.tx.each(`SELECT ac.attempt_id, f.hash
		FROM json_each(?) j JOIN acceptance ac ON ac.attempt_id = j.value JOIN fingerprint f ON f.id = ac.fingerprint_id
		ORDER BY ac.at_ns`, l.ids.json(), func(rows *sql.Rows) error {
		var id int64
		var fp matrix.Fingerprint
		err := rows.Scan(&id, &fp)
		a := &l.attempts[l.ids.at[id]]
		a.Accepted = append(a.Accepted, fp)
		return err
	})
}

func (l *loader) loadPhases() error {
	l.sources = make([][]int64, len(l.attempts))
	return l.tx.each(`SELECT p.attempt_id, p.id, p.block, p.name, p.workload, f.hash, p.status, p.message, p.stage,
			p.planned, p.finished, p.began_ns, p.ended_ns, p.seconds, p.settle_seconds, p.bytes,
			coalesce(p.taken_from, p.id), s.attempt_id, w.reason
		FROM json_each(?) j
		JOIN phase p ON p.attempt_id = j.value
		LEFT JOIN fingerprint f ON f.id = p.fingerprint_id
		LEFT JOIN phase s ON s.id = p.taken_from
		LEFT JOIN withdrawal w ON w.attempt_id = s.attempt_id
		ORDER BY p.attempt_id, p.ordinal`, l.ids.json(), func(rows *sql.Rows) error {
		var attempt, began, source int64
		var p Phase
		var fp, withdrawn sql.NullString
		var ended, bytes, from sql.NullInt64
		var seconds, settle sql.NullFloat64
		if err := rows.Scan(&attempt, &p.ID, &p.Block, &p.Name, &p.Workload, &fp, &p.Status, &p.Message, &p.Stage,
			&p.Planned, &p.Finished, &began, &ended, &seconds, &settle, &bytes, &source, &from, &withdrawn); err != nil {
			return err
		}
		p.Fingerprint, p.FromWithdrawn = matrix.Fingerprint(fp.String), withdrawn.String
		p.Began, p.Ended = fromUnix(began), fromUnix(ended.Int64)
		p.Seconds, p.SettleSeconds, p.Bytes = seconds.Float64, settle.Float64, bytes.Int64
		p.From = AttemptID(from.Int64)
		i := l.ids.at[attempt]
		l.attempts[i].Phases = append(l.attempts[i].Phases, p)
		l.sources[i] = append(l.sources[i], source)
		return nil
	})
}

func (l *loader) loadIterations() error {
	l.iterations = map[int64][]IterationResult{}
	var sources index
	for _, list := range l.sources {
		for _, id := range list {
			sources.add(id)
		}
	}
	return l.tx.each(`SELECT i.phase_id, i.id, i.number, i.status, i.message, i.began_ns, i.ended_ns
		FROM json_each(?) j JOIN iteration i ON i.phase_id = j.value
		ORDER BY i.phase_id, i.number`, sources.json(), func(rows *sql.Rows) error {
		var phase int64
		var it IterationResult
		var began, ended sql.NullInt64
		err := rows.Scan(&phase, &it.ID, &it.Number, &it.Status, &it.Message, &began, &ended)
		it.Began, it.Ended = fromUnix(began.Int64), fromUnix(ended.Int64)
		l.iterations[phase] = append(l.iterations[phase], it)
		l.byID.add(int64(it.ID))
		return err
	})
}

func (l *loader) loadMetrics() error {
	l.metrics = make([]Metrics, len(l.byID.list))
	names, err := metricNames(l.tx)
	if err != nil {
		return err
	}
	var last int64 // the rows of an iteration come together
	var current *Metrics
	err = l.tx.bulk(`SELECT m.iteration_id, m.metric_name_id, m.value
		FROM json_each(?) j JOIN metric m ON m.iteration_id = j.value`, l.byID.json(), func(row []driver.Value) error {
		if id := row[0].(int64); id != last {
			size := 0
			if current != nil {
				size = len(*current) // as many as the one before, probably
			}
			current, last = &l.metrics[l.byID.at[id]], id
			*current = make(Metrics, 0, size)
		}
		n := &names[row[1].(int64)]
		*current = append(*current, matrix.Metric{Name: n.name, Unit: n.unit, Value: row[2].(float64)})
		return nil
	})
	for _, m := range l.metrics {
		m.sort()
	}
	return err
}

// A metricName is a row of the table of that name.
type metricName struct{ name, unit string }

// metricNames returns the names and units of metrics, each at its id.
func metricNames(t *tx) ([]metricName, error) {
	names := make([]metricName, 1)
	err := t.each("SELECT id, name, unit FROM metric_name ORDER BY id", nil, func(rows *sql.Rows) error {
		var id int
		var n metricName
		err := rows.Scan(&id, &n.name, &n.unit)
		for len(names) < id {
			names = append(names, metricName{})
		}
		names = append(names, n)
		return err
	})
	return names, err
}

func (l *loader) loadFlags() error {
	l.flags = make([][]matrix.Flag, len(l.byID.list))
	return l.tx.each(`SELECT f.iteration_id, f.name, f.detail
		FROM json_each(?) j JOIN flag f ON f.iteration_id = j.value
		ORDER BY f.iteration_id, f.name, f.detail`, l.byID.json(), func(rows *sql.Rows) error {
		var id int64
		var f matrix.Flag
		err := rows.Scan(&id, &f.Name, &f.Detail)
		i := l.byID.at[id]
		l.flags[i] = append(l.flags[i], f)
		return err
	})
}

// assemble puts metrics and flags into iterations, and these into phases.
func (l *loader) assemble() {
	for _, its := range l.iterations {
		for i := range its {
			k := l.byID.at[int64(its[i].ID)]
			its[i].Metrics, its[i].Flags = l.metrics[k], l.flags[k]
		}
	}
	for i := range l.attempts {
		for k := range l.attempts[i].Phases {
			l.attempts[i].Phases[k].Iterations = l.iterations[l.sources[i][k]]
		}
	}
}
