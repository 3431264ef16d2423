package store

import (
	"context"
	"database/sql"
)

// An ExperimentOnHost names the results that one host has of an experiment.
type ExperimentOnHost struct {
	Name string
	Host string // machine id
}

// Experiments returns what the record has results of, by name and host.
func (s *Store) Experiments(ctx context.Context) ([]ExperimentOnHost, error) {
	var list []ExperimentOnHost
	err := s.query(ctx, "the experiments", func(t *tx) error {
		return t.each(`SELECT name, host FROM experiment e
			WHERE EXISTS (SELECT 1 FROM attempt a JOIN run r ON r.id = a.run_id JOIN cell c ON c.id = r.cell_id WHERE c.experiment_id = e.id)
			ORDER BY name, host`, nil, func(rows *sql.Rows) error {
			var e ExperimentOnHost
			err := rows.Scan(&e.Name, &e.Host)
			list = append(list, e)
			return err
		})
	})
	return list, err
}
