package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"dbmatrix/matrix"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Detail is all that is recorded of one attempt beside its results.
type Detail struct {
	Facts     []Fact               // sorted by name
	Options   map[PhaseID][]Option // sorted by name; only phases that a server was started for
	Variables map[PhaseID][]Fact   // sorted by name; likewise
	Events    []Event              // oldest first
	Artifacts []Artifact           // sorted by path
}

// Detail returns all that is recorded of an attempt beside its results.
func (s *Store) Detail(ctx context.Context, id AttemptID) (*Detail, error) {
	d := &Detail{}
	err := s.query(ctx, fmt.Sprintf("attempt %d", id), func(t *tx) error {
		if err := hasAttempt(t, id); err != nil {
			return err
		}
		facts, err := attemptFacts(t, "a.id = ?", id)
		if err != nil {
			return err
		}
		d.Facts = facts[id]
		if d.Options, err = phaseOptions(t, "a.id = ?", id); err != nil {
			return err
		}
		if d.Variables, err = phaseVariables(t, "a.id = ?", id); err != nil {
			return err
		}
		if d.Events, err = eventsWhere(t, "attempt_id = ?", id); err != nil {
			return err
		}
		d.Artifacts, err = artifactsOf(t, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Facts returns the facts of all attempts of an experiment, each sorted by name.
func (s *Store) Facts(ctx context.Context, experiment string) (map[AttemptID][]Fact, error) {
	var facts map[AttemptID][]Fact
	err := s.query(ctx, "facts", func(t *tx) error {
		var err error
		facts, err = attemptFacts(t, "e.name = ?", experiment)
		return err
	})
	return facts, err
}

// Options returns the options of all attempts of an experiment: those that did
// not end as verified, or, with all, the others too. They belong to the phase
// that the server was started for.
func (s *Store) Options(ctx context.Context, experiment string, all bool) (map[PhaseID][]Option, error) {
	var options map[PhaseID][]Option
	err := s.query(ctx, "options", func(t *tx) error {
		var err error
		options, err = phaseOptions(t, "e.name = ? AND (? OR o.verdict <> 'verified')", experiment, all)
		return err
	})
	return options, err
}

// DifferingVariables returns the server variables in force that are not the same
// in all attempts of an experiment that count, by the phase that the server was
// started for. Each such phase is there, without variables where none differs.
func (s *Store) DifferingVariables(ctx context.Context, experiment string) (map[PhaseID][]Fact, error) {
	var variables map[PhaseID][]Fact
	err := s.query(ctx, "server variables", func(t *tx) error {
		var err error
		variables, err = settingsBy[PhaseID](t, `WITH started AS MATERIALIZED (
				SELECT p.id FROM run_attempt ra JOIN phase p ON p.attempt_id = ra.attempt_id
				WHERE ra.experiment = ? AND ra.counts AND EXISTS (SELECT 1 FROM variable v WHERE v.phase_id = p.id)),
			differing AS MATERIALIZED (
				SELECT v.setting_id FROM started JOIN variable v ON v.phase_id = started.id
				GROUP BY v.setting_id HAVING count(*) < (SELECT count(*) FROM started))
			SELECT id, (SELECT coalesce(group_concat(v.setting_id), '') FROM variable v
				WHERE v.phase_id = started.id AND v.setting_id IN (SELECT setting_id FROM differing))
			FROM started`, experiment)
		return err
	})
	return variables, err
}

// ofAttempt joins an attempt a to its experiment e.
const ofAttempt = " JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id JOIN experiment e ON e.id = c.experiment_id "

func attemptFacts(t *tx, where string, args ...any) (map[AttemptID][]Fact, error) {
	return settingsBy[AttemptID](t, "SELECT a.id, (SELECT group_concat(x.setting_id) FROM fact x WHERE x.attempt_id = a.id) FROM attempt a"+
		ofAttempt+"WHERE "+where, args...)
}

func phaseVariables(t *tx, where string, args ...any) (map[PhaseID][]Fact, error) {
	return settingsBy[PhaseID](t, "SELECT p.id, (SELECT group_concat(x.setting_id) FROM variable x WHERE x.phase_id = p.id) FROM attempt a"+
		ofAttempt+"JOIN phase p ON p.attempt_id = a.id WHERE "+where, args...)
}

// settingsBy returns settings, sorted by name, by the row that they belong to.
// query yields the id of each row with the ids of its settings joined by commas,
// or NULL for a row that is left out. Most rows of an experiment have the same
// settings: they share one list, and only their ids are read more than once.
func settingsBy[ID ~int64](t *tx, query string, args ...any) (map[ID][]Fact, error) {
	lists := map[ID]string{}
	distinct := words{}
	err := t.each(query, args, func(rows *sql.Rows) error {
		var owner ID
		var list sql.NullString
		err := rows.Scan(&owner, &list)
		if list.Valid {
			lists[owner] = distinct.of(list.String)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	settings, err := listedSettings(t, distinct)
	if err != nil {
		return nil, err
	}
	out := make(map[ID][]Fact, len(lists))
	for owner, list := range lists {
		out[owner] = settings[list]
	}
	return out, nil
}

// listedSettings returns the settings of each list of ids, sorted by name.
func listedSettings(t *tx, lists words) (map[string][]Fact, error) {
	wanted := map[string]bool{}
	for list := range lists {
		for id := range strings.SplitSeq(list, ",") {
			wanted[id] = true
		}
	}
	delete(wanted, "") // of a list without ids
	var sorted []Fact
	place := make(map[string]int, len(wanted)) // in sorted
	err := t.each("SELECT id, name, value FROM setting WHERE id IN (SELECT value FROM json_each(?)) ORDER BY name, value",
		[]any{"[" + strings.Join(slices.Collect(maps.Keys(wanted)), ",") + "]"}, func(rows *sql.Rows) error {
			var id string
			var f Fact
			err := rows.Scan(&id, &f.Name, &f.Value)
			place[id], sorted = len(sorted), append(sorted, f)
			return err
		})
	if err != nil {
		return nil, err
	}
	settings := make(map[string][]Fact, len(lists))
	for list := range lists {
		var places []int
		for id := range strings.SplitSeq(list, ",") {
			if at, ok := place[id]; ok {
				places = append(places, at)
			}
		}
		slices.Sort(places)
		var own []Fact
		for _, at := range places {
			own = append(own, sorted[at])
		}
		settings[list] = own
	}
	return settings, nil
}

func phaseOptions(t *tx, where string, args ...any) (map[PhaseID][]Option, error) {
	options := map[PhaseID][]Option{}
	err := t.each(`SELECT o.phase_id, o.name, o.asked, o.in_force, o.verdict, o.granule, o.varied, o.origin, o.detail
		FROM attempt a`+ofAttempt+`JOIN phase p ON p.attempt_id = a.id JOIN option o ON o.phase_id = p.id
		WHERE `+where+` ORDER BY o.phase_id, o.name`, args, func(rows *sql.Rows) error {
		var id PhaseID
		var o Option
		var inForce sql.NullString
		err := rows.Scan(&id, &o.Name, &o.Asked, &inForce, &o.Verdict, &o.Granule, &o.Varied, &o.Origin, &o.Detail)
		o.InForce, o.Unknown = inForce.String, !inForce.Valid
		options[id] = append(options[id], o)
		return err
	})
	return options, err
}

func artifactsOf(t *tx, id AttemptID) ([]Artifact, error) {
	var artifacts []Artifact
	err := t.each("SELECT coalesce(phase_id, 0), kind, path, bytes FROM artifact WHERE attempt_id = ? ORDER BY path", []any{id},
		func(rows *sql.Rows) error {
			var a Artifact
			err := rows.Scan(&a.Phase, &a.Kind, &a.Path, &a.Bytes)
			artifacts = append(artifacts, a)
			return err
		})
	return artifacts, err
}

// Series returns the recorded series of an iteration, of the named metrics or,
// with none named, of all, sorted by metric and instance.
func (s *Store) Series(ctx context.Context, id IterationID, metrics ...string) ([]matrix.Series, error) {
	var series []matrix.Series
	var wanted any
	if len(metrics) > 0 {
		list, _ := json.Marshal(metrics) // a list of strings cannot fail
		wanted = string(list)
	}
	err := s.query(ctx, "readings", func(t *tx) error {
		at := map[int64]int{} // in series, by id
		err := t.each(`SELECT s.id, n.name, n.unit, s.instance
			FROM series s JOIN metric_name n ON n.id = s.metric_name_id
			WHERE s.iteration_id = ?1 AND (?2 IS NULL OR n.name IN (SELECT value FROM json_each(?2)))
			ORDER BY n.name, s.instance, s.id`, []any{id, wanted}, func(rows *sql.Rows) error {
			var key int64
			var of matrix.Series
			err := rows.Scan(&key, &of.Metric, &of.Unit, &of.Instance)
			at[key] = len(series)
			series = append(series, of)
			return err
		})
		if err != nil {
			return err
		}
		ids, _ := json.Marshal(slices.Collect(maps.Keys(at))) // a list of numbers cannot fail
		err = t.bulk(`SELECT series_id, at_ms, value FROM reading
			WHERE series_id IN (SELECT value FROM json_each(?)) ORDER BY series_id, at_ms`, []any{string(ids)}, func(row []driver.Value) error {
			value, ok := row[2].(float64)
			if !ok {
				value = math.NaN()
			}
			now := &series[at[row[0].(int64)]]
			now.Readings = append(now.Readings, matrix.Reading{At: time.Duration(row[1].(int64)) * time.Millisecond, Value: value})
			return nil
		})
		series = slices.DeleteFunc(series, func(s matrix.Series) bool { return len(s.Readings) == 0 })
		return err
	})
	return series, err
}

// Histograms returns the response times of an iteration by operation, in
// nanoseconds.
func (s *Store) Histograms(ctx context.Context, id IterationID) (map[string]*hdrhistogram.Histogram, error) {
	histograms := map[string]*hdrhistogram.Histogram{}
	err := s.query(ctx, "response times", func(t *tx) error {
		return t.each("SELECT operation, encoded FROM histogram WHERE iteration_id = ?", []any{id}, func(rows *sql.Rows) error {
			var operation string
			var encoded []byte
			if err := rows.Scan(&operation, &encoded); err != nil {
				return err
			}
			h, err := hdrhistogram.Decode(encoded)
			if err != nil {
				return fmt.Errorf("histogram of %s: %w", operation, err)
			}
			histograms[operation] = h
			return nil
		})
	})
	return histograms, err
}

// QueryPlans returns how the server said it runs the queries of an iteration,
// sorted by query.
func (s *Store) QueryPlans(ctx context.Context, id IterationID) ([]QueryPlan, error) {
	var plans []QueryPlan
	err := s.query(ctx, "query plans", func(t *tx) error {
		return t.each("SELECT query, plan FROM query_plan WHERE iteration_id = ? ORDER BY query", []any{id}, func(rows *sql.Rows) error {
			var p QueryPlan
			err := rows.Scan(&p.Query, &p.Plan)
			plans = append(plans, p)
			return err
		})
	})
	return plans, err
}
