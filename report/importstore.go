package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"

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
		row := importedRow{key: importKey{r.Cell, r.Matrix, r.Replicate}, levels: r.Levels}
		row.result = PhaseResult{Phase: r.Phase, Block: r.Phase, Iteration: r.Iteration, Status: r.Status, Printed: map[string]Value{}}
		for token, v := range r.Values {
			if reserved(token) {
				row.read(in.Name, token, v.Text)
			} else {
				row.result.Printed[token] = Value{Number: v.Number, Known: v.Known, Text: v.Text}
			}
		}
		rows.add(row)
	}
	return rows.attempts
}

// ForStore makes what ReadImport returned an import that can be recorded. What the
// file says of its numbers is recorded as values without a number, by the names of
// the columns that it stood in: no token has one of them.
func ForStore(name, file string, attempts []Attempt) store.Import {
	in := store.Import{Name: name, File: file}
	for i := range attempts {
		for _, p := range attempts[i].importedPhases() {
			in.Rows = append(in.Rows, importRow(&attempts[i], &p))
		}
	}
	return in
}

// importedPhases returns the rows that an attempt was read from: its phases, and
// what broke off outside them as a phase without a name.
func (a *Attempt) importedPhases() []PhaseResult {
	broken := slices.ContainsFunc(a.Phases, func(p PhaseResult) bool { return !p.Status.Complete() })
	if a.Status.Complete() || broken {
		return a.Phases
	}
	return append(slices.Clone(a.Phases), PhaseResult{Iteration: 1, Status: a.Status, Message: a.Message})
}

func importRow(a *Attempt, p *PhaseResult) store.ImportedRow {
	r := store.ImportedRow{
		Cell: a.Cell, Levels: a.Levels, Matrix: a.Matrix, Phase: p.Phase, Iteration: p.Iteration, Replicate: a.Replicate,
		Status: p.Status, Values: map[string]store.ImportedValue{},
	}
	for token, v := range p.Printed {
		r.Values[token] = store.ImportedValue{Text: v.Text, Number: v.Number, Known: v.Known}
	}
	say := func(name, text string) {
		if text != "" {
			r.Values[name] = store.ImportedValue{Text: text}
		}
	}
	say(importMessage, p.Message)
	say(importDoubtful, formatDoubts(p.doubtful(a.Stale)))
	if p.Origin != 0 {
		say(importOrigin, strconv.FormatInt(-p.Origin&(1<<31-1), 10))
	}
	for _, name := range sortedKeys(a.Facts) {
		say(importFact+name, a.Facts[name])
	}
	return r
}
