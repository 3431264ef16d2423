package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dbmatrix/matrix"
)

// RecordPlan records a plan's experiment, cells, levels and runs, all or none.
// Cells and runs of earlier plans that are not in this one stay on record,
// without a position. Attempts that the plan found under another name of a cell
// belong to the run of its name from now on. It must come before the first BeginAttempt of a run.
func (s *Store) RecordPlan(ctx context.Context, plan *matrix.Plan) (ExperimentID, error) {
	var id ExperimentID
	err := s.begin(ctx, "the plan", func(t *tx) error {
		var err error
		if id, err = s.recordExperiment(t, plan); err != nil {
			return err
		}
		if err := forgetPositions(t, id); err != nil {
			return err
		}
		cells := make(map[matrix.CellKey]int64, len(plan.Cells))
		for i, c := range plan.Cells {
			if cells[c.Key], err = recordCell(t, id, i+1, c); err != nil {
				return fmt.Errorf("cell %q: %w", c.Key, err)
			}
		}
		for _, r := range plan.Runs {
			if err := recordRun(t, cells, r); err != nil {
				return fmt.Errorf("replicate %d of cell %q: %w", r.Replicate, r.Cell.Key, err)
			}
		}
		return s.recordRenames(t, id, plan)
	})
	return id, err
}

func (s *Store) recordExperiment(t *tx, plan *matrix.Plan) (ExperimentID, error) {
	e := plan.Experiment
	var id ExperimentID
	err := t.one(`INSERT INTO experiment (name, host, title, description, source, seed, planned_ns)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name, host) DO UPDATE SET title = excluded.title, description = excluded.description,
			source = excluded.source, seed = excluded.seed, planned_ns = excluded.planned_ns
		RETURNING id`,
		[]any{e.Name, plan.Host.ID, e.Title, e.Description, e.Source, e.Seed, s.now().UnixNano()}, &id)
	return id, err
}

// forgetPositions takes the order of the plan recorded last from cells and runs.
func forgetPositions(t *tx, id ExperimentID) error {
	if err := t.exec(`UPDATE run SET position = NULL
		WHERE position IS NOT NULL AND cell_id IN (SELECT id FROM cell WHERE experiment_id = ?)`, id); err != nil {
		return err
	}
	return t.exec("UPDATE cell SET position = NULL WHERE position IS NOT NULL AND experiment_id = ?", id)
}

func recordCell(t *tx, experiment ExperimentID, position int, c *matrix.Cell) (int64, error) {
	var last sql.NullInt64
	if n := len(c.Fingerprints); n > 0 && c.Fingerprints[n-1] != "" {
		id, err := internFingerprint(t, c.Fingerprints[n-1])
		if err != nil {
			return 0, err
		}
		last = sql.NullInt64{Int64: id, Valid: true}
	}
	var id int64
	err := t.one(`INSERT INTO cell (experiment_id, key, matrix, position, fingerprint_id) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (experiment_id, key) DO UPDATE SET matrix = excluded.matrix,
			position = excluded.position, fingerprint_id = excluded.fingerprint_id
		RETURNING id`, []any{experiment, c.Key, c.Matrix, position, last}, &id)
	if err != nil {
		return 0, err
	}
	for i, l := range c.Levels {
		if err := t.exec(`INSERT INTO cell_level (cell_id, axis, level, label, ordinal, position) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (cell_id, axis) DO UPDATE SET label = excluded.label, ordinal = excluded.ordinal, position = excluded.position
			WHERE label <> excluded.label OR ordinal <> excluded.ordinal OR position <> excluded.position`,
			id, l.Axis, l.Name, l.Text, i, l.Pos); err != nil {
			return 0, err
		}
	}
	return id, nil
}

func recordRun(t *tx, cells map[matrix.CellKey]int64, r *matrix.Run) error {
	cell, ok := cells[r.Cell.Key]
	if !ok {
		return errors.New("the plan has runs of a cell that it does not have")
	}
	return t.exec(`INSERT INTO run (cell_id, replicate, position) VALUES (?, ?, ?)
		ON CONFLICT (cell_id, replicate) DO UPDATE SET position = excluded.position`,
		cell, r.Replicate, r.Position)
}

// Experiment returns the id of an experiment on a host, or ErrNotFound.
func (s *Store) Experiment(ctx context.Context, name, host string) (ExperimentID, error) {
	var id ExperimentID
	err := s.query(ctx, "experiment "+name, func(t *tx) error {
		err := t.one("SELECT id FROM experiment WHERE name = ? AND host = ?", []any{name, host}, &id)
		return orNotFound(err)
	})
	return id, err
}

// orNotFound turns the driver's word for "no row" into ours.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
