package report

import (
	"context"
	"fmt"

	"dbmatrix/executor/store"
)

// ImportsFromStore reads what was imported for an experiment: attempts with the
// name of the import as their source.
func ImportsFromStore(ctx context.Context, s *store.Store, experiment string) ([]Attempt, error) {
	imports, err := s.Imports(ctx, experiment)
	if err != nil {
		return nil, fmt.Errorf("reading the imports of %s: %w", experiment, err)
	}
	var attempts []Attempt
	for i := range imports {
		attempts = append(attempts, importedAttempts(&imports[i])...)
	}
	return attempts, nil
}

// importedAttempts puts the rows of an import into the attempts of their runs.
func importedAttempts(in *store.Import) []Attempt {
	rows := importReader{source: in.Name, index: map[importKey]int{}}
	for _, r := range in.Rows {
		result := PhaseResult{Phase: r.Phase, Block: r.Phase, Iteration: r.Iteration, Status: r.Status, Printed: map[string]Value{}}
		for token, v := range r.Values {
			result.Printed[token] = Value{Number: v.Number, Known: v.Known, Text: v.Text}
		}
		rows.add(importKey{r.Cell, r.Matrix, r.Replicate}, r.Levels, result)
	}
	return rows.attempts
}

// ForStore makes what ReadImport returned an import that can be recorded.
func ForStore(name, file string, attempts []Attempt) store.Import {
	in := store.Import{Name: name, File: file}
	for i := range attempts {
		a := &attempts[i]
		for _, p := range a.Phases {
			r := store.ImportedRow{
				Cell: a.Cell, Levels: a.Levels, Matrix: a.Matrix, Phase: p.Phase, Iteration: p.Iteration, Replicate: a.Replicate,
				Status: p.Status, Values: map[string]store.ImportedValue{},
			}
			for token, v := range p.Printed {
				r.Values[token] = store.ImportedValue{Text: v.Text, Number: v.Number, Known: v.Known}
			}
			in.Rows = append(in.Rows, r)
		}
	}
	return in
}
