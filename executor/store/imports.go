package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dbmatrix/matrix"
)

// ErrImported says that an import of that name is on record.
var ErrImported = errors.New("an import of that name is on record")

// An Import is numbers that were measured elsewhere.
type Import struct {
	Name string // the source that tables show
	File string // that it was read from
	Read time.Time
	Rows []ImportedRow // in the order of the file
}

// An ImportedRow is one line of an imported file: an iteration of a phase.
type ImportedRow struct {
	Cell      matrix.CellKey
	Levels    map[string]string // by axis
	Matrix    string
	Phase     string
	Iteration int // from 1
	Replicate int // from 1
	Status    matrix.Status
	Values    map[string]ImportedValue // by column token
}

// An ImportedValue is a number as it was written.
type ImportedValue struct {
	Text   string
	Number float64 // valid where Known
	Known  bool
}

// AddImport records numbers that were measured elsewhere, all or none. Where an
// import of that name is on record it takes its place if replace is set, else the
// error wraps ErrImported. Read is set by the store.
func (s *Store) AddImport(ctx context.Context, experiment string, in Import, replace bool) error {
	return s.begin(ctx, "the import "+in.Name, func(t *tx) error {
		var old int64
		err := t.one("SELECT id FROM import WHERE experiment = ? AND name = ?", []any{experiment, in.Name}, &old)
		switch {
		case err == nil && !replace:
			return ErrImported
		case err == nil:
			err = dropImport(t, old)
		case errors.Is(err, sql.ErrNoRows):
			err = nil
		}
		if err != nil {
			return err
		}
		id, err := t.insert("INSERT INTO import (experiment, name, file, at_ns) VALUES (?, ?, ?, ?)", experiment, in.Name, in.File, s.now().UnixNano())
		if err != nil {
			return err
		}
		for i := range in.Rows {
			if err := addImportedRow(t, id, &in.Rows[i]); err != nil {
				return fmt.Errorf("row %d: %w", i+1, err)
			}
		}
		return nil
	})
}

func dropImport(t *tx, id int64) error {
	for _, query := range []string{
		"DELETE FROM import_value WHERE row_id IN (SELECT id FROM import_row WHERE import_id = ?)",
		"DELETE FROM import_level WHERE row_id IN (SELECT id FROM import_row WHERE import_id = ?)",
		"DELETE FROM import_row WHERE import_id = ?",
		"DELETE FROM import WHERE id = ?",
	} {
		if err := t.exec(query, id); err != nil {
			return err
		}
	}
	return nil
}

func addImportedRow(t *tx, id int64, r *ImportedRow) error {
	row, err := t.insert(`INSERT INTO import_row (import_id, cell, matrix, phase, iteration, replicate, status) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		id, r.Cell, r.Matrix, r.Phase, r.Iteration, r.Replicate, r.Status)
	if err != nil {
		return err
	}
	for _, axis := range slices.Sorted(maps.Keys(r.Levels)) {
		if err := t.exec("INSERT INTO import_level (row_id, axis, level) VALUES (?, ?, ?)", row, axis, r.Levels[axis]); err != nil {
			return err
		}
	}
	for _, token := range slices.Sorted(maps.Keys(r.Values)) {
		v := r.Values[token]
		number := sql.NullFloat64{Float64: v.Number, Valid: v.Known}
		if err := t.exec("INSERT INTO import_value (row_id, token, text, number) VALUES (?, ?, ?, ?)", row, token, v.Text, number); err != nil {
			return err
		}
	}
	return nil
}

// Imports returns what was imported for an experiment, by name.
func (s *Store) Imports(ctx context.Context, experiment string) ([]Import, error) {
	var imports []Import
	err := s.query(ctx, "the imports of "+experiment, func(t *tx) error {
		var ids []int64
		err := t.each("SELECT id, name, file, at_ns FROM import WHERE experiment = ? ORDER BY name", []any{experiment}, func(rows *sql.Rows) error {
			var id, at int64
			var in Import
			err := rows.Scan(&id, &in.Name, &in.File, &at)
			in.Read = fromUnix(at)
			ids, imports = append(ids, id), append(imports, in)
			return err
		})
		for i, id := range ids {
			if err == nil {
				imports[i].Rows, err = importedRows(t, id)
			}
		}
		return err
	})
	return imports, err
}

func importedRows(t *tx, id int64) ([]ImportedRow, error) {
	var list []ImportedRow
	at := map[int64]int{}
	err := t.each(`SELECT id, cell, matrix, phase, iteration, replicate, status FROM import_row WHERE import_id = ? ORDER BY id`, []any{id},
		func(rows *sql.Rows) error {
			r := ImportedRow{Levels: map[string]string{}, Values: map[string]ImportedValue{}}
			var row int64
			err := rows.Scan(&row, &r.Cell, &r.Matrix, &r.Phase, &r.Iteration, &r.Replicate, &r.Status)
			at[row] = len(list)
			list = append(list, r)
			return err
		})
	if err != nil {
		return nil, err
	}
	err = t.each(`SELECT l.row_id, l.axis, l.level FROM import_row r JOIN import_level l ON l.row_id = r.id WHERE r.import_id = ?`, []any{id},
		func(rows *sql.Rows) error {
			var row int64
			var axis, level string
			err := rows.Scan(&row, &axis, &level)
			list[at[row]].Levels[axis] = level
			return err
		})
	if err != nil {
		return nil, err
	}
	return list, t.each(`SELECT v.row_id, v.token, v.text, v.number FROM import_row r JOIN import_value v ON v.row_id = r.id WHERE r.import_id = ?`, []any{id},
		func(rows *sql.Rows) error {
			var row int64
			var token string
			var v ImportedValue
			var number sql.NullFloat64
			err := rows.Scan(&row, &token, &v.Text, &number)
			v.Number, v.Known = number.Float64, number.Valid
			list[at[row]].Values[token] = v
			return err
		})
}

// ImportNames returns the names of what was imported for any experiment.
func (s *Store) ImportNames(ctx context.Context) ([]string, error) {
	var names []string
	err := s.query(ctx, "the imports", func(t *tx) error {
		return t.each("SELECT DISTINCT name FROM import ORDER BY name", nil, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			names = append(names, name)
			return err
		})
	})
	return names, err
}
