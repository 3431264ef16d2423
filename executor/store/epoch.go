package store

import (
	"context"
	"database/sql"
	"time"
)

// A Fact is a named text, such as "kernel" and "6.1.0-25-amd64".
type Fact struct{ Name, Value string }

// An Epoch is a stretch of time in which the host did not change.
type Epoch struct {
	ID     EpochID // set by the store
	BootID string
	Reason string    // why it began, such as "first", "reboot", "accepted"
	Began  time.Time // set by the store
	Facts  []Fact    // in the order they were recorded
}

// BeginEpoch records that a new epoch begins.
func (s *Store) BeginEpoch(ctx context.Context, experiment ExperimentID, e Epoch) (EpochID, error) {
	var id int64
	err := s.begin(ctx, "the environment", func(t *tx) error {
		var err error
		id, err = t.insert("INSERT INTO epoch (experiment_id, boot_id, reason, began_ns) VALUES (?, ?, ?, ?)",
			experiment, e.BootID, e.Reason, s.now().UnixNano())
		if err != nil {
			return err
		}
		for i, f := range e.Facts {
			setting, err := internSetting(t, f.Name, f.Value)
			if err != nil {
				return err
			}
			if err := t.exec("INSERT INTO epoch_fact (epoch_id, ordinal, setting_id) VALUES (?, ?, ?)", id, i, setting); err != nil {
				return err
			}
		}
		return nil
	})
	return EpochID(id), err
}

// LastEpoch returns the newest epoch of an experiment, or ErrNotFound.
func (s *Store) LastEpoch(ctx context.Context, experiment ExperimentID) (Epoch, error) {
	epochs, err := s.Epochs(ctx, experiment)
	if err != nil {
		return Epoch{}, err
	}
	if len(epochs) == 0 {
		return Epoch{}, ErrNotFound
	}
	return epochs[len(epochs)-1], nil
}

// Epochs returns all epochs of an experiment, oldest first.
func (s *Store) Epochs(ctx context.Context, experiment ExperimentID) ([]Epoch, error) {
	var epochs []Epoch
	err := s.query(ctx, "the environment", func(t *tx) error {
		if err := t.each("SELECT id, boot_id, reason, began_ns FROM epoch WHERE experiment_id = ? ORDER BY id", []any{experiment},
			func(rows *sql.Rows) error {
				var e Epoch
				var began int64
				err := rows.Scan(&e.ID, &e.BootID, &e.Reason, &began)
				e.Began = fromUnix(began)
				epochs = append(epochs, e)
				return err
			}); err != nil {
			return err
		}
		for i := range epochs {
			var err error
			epochs[i].Facts, err = settings(t, `SELECT s.name, s.value FROM epoch_fact f JOIN setting s ON s.id = f.setting_id
				WHERE f.epoch_id = ? ORDER BY f.ordinal`, epochs[i].ID)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return epochs, err
}

// settings returns the names and values that a query yields.
func settings(t *tx, query string, args ...any) ([]Fact, error) {
	var facts []Fact
	err := t.each(query, args, func(rows *sql.Rows) error {
		var f Fact
		err := rows.Scan(&f.Name, &f.Value)
		facts = append(facts, f)
		return err
	})
	return facts, err
}
