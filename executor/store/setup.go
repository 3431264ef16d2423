package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"dbmatrix/matrix"
)

// A Setup is what setup commands are about to do, with the commands that undo it.
type Setup struct {
	ID        SetupID // set by the store
	Attempt   AttemptID
	Cell      matrix.CellKey // set by the store
	Replicate int            // set by the store
	Phase     string         // "" where it is of the run
	Dir       string         // in which the teardown runs
	Env       []string       // that it runs with, as "NAME=value"
	Teardown  [][]string     // argument lists
	Began     time.Time      // set by the store
	BootID    string         // of the runner that set it up; set by the store
}

// BeginSetup records that setup commands are about to run.
func (s *Store) BeginSetup(ctx context.Context, setup Setup) (SetupID, error) {
	env, err := json.Marshal(setup.Env)
	if err != nil {
		return 0, err
	}
	teardown, err := json.Marshal(setup.Teardown)
	if err != nil {
		return 0, err
	}
	var id int64
	err = s.begin(ctx, "the setup", func(t *tx) error {
		id, err = t.insert("INSERT INTO setup (attempt_id, phase, dir, env, teardown, began_ns) VALUES (?, ?, ?, ?, ?, ?)",
			setup.Attempt, setup.Phase, setup.Dir, string(env), string(teardown), s.now().UnixNano())
		return err
	})
	return SetupID(id), err
}

// EndSetup records that the teardown has run.
func (s *Store) EndSetup(ctx context.Context, id SetupID) error {
	return s.record(ctx, "the teardown", func(t *tx) error {
		return t.change("a setup to be undone", "UPDATE setup SET undone_ns = ? WHERE id = ? AND undone_ns IS NULL", s.now().UnixNano(), id)
	})
}

// OpenSetups returns what is still to be undone, newest first, which is the order
// to undo it in.
func (s *Store) OpenSetups(ctx context.Context, experiment ExperimentID) ([]Setup, error) {
	var setups []Setup
	err := s.query(ctx, "setups", func(t *tx) error {
		return t.each(`SELECT s.id, s.attempt_id, c.key, r.replicate, s.phase, s.dir, s.env, s.teardown, s.began_ns, u.boot_id
			FROM setup s JOIN attempt a ON a.id = s.attempt_id JOIN runner u ON u.id = a.runner_id JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id
			WHERE s.undone_ns IS NULL AND c.experiment_id = ? ORDER BY s.id DESC`, []any{experiment},
			func(rows *sql.Rows) error {
				var n Setup
				var env, teardown string
				var began int64
				if err := rows.Scan(&n.ID, &n.Attempt, &n.Cell, &n.Replicate, &n.Phase, &n.Dir, &env, &teardown, &began, &n.BootID); err != nil {
					return err
				}
				n.Began = fromUnix(began)
				setups = append(setups, n)
				last := &setups[len(setups)-1]
				return errors.Join(json.Unmarshal([]byte(env), &last.Env), json.Unmarshal([]byte(teardown), &last.Teardown))
			})
	})
	return setups, err
}
