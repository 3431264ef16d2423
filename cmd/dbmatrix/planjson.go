package main

import (
	"dbmatrix/matrix"
)

// schemaVersion is raised whenever a JSON document changes in a way that a
// reader of the old one would notice.
const schemaVersion = 1

// A planJSON is the plan as a document: a contract with the programs that read it.
type planJSON struct {
	Schema     int         `json:"schema"`
	Experiment string      `json:"experiment"`
	Host       string      `json:"host"`
	Cells      []cellJSON  `json:"cells"`
	Runs       []runJSON   `json:"runs"`
	Summary    summaryJSON `json:"summary"`
}

// A cellJSON is one cell. An axis that its matrix leaves out is null.
type cellJSON struct {
	Key    matrix.CellKey     `json:"key"`
	Axes   map[string]*string `json:"axes"`
	Matrix string             `json:"matrix"`
}

// A runJSON is one run at its position.
type runJSON struct {
	Position  int            `json:"position"`
	Cell      matrix.CellKey `json:"cell"`
	Replicate int            `json:"replicate"`
	Status    matrix.Status  `json:"status"`
	Reason    string         `json:"reason"`
	Phases    []phaseJSON    `json:"phases"`
}

// A phaseJSON is one phase of a run. Its fingerprint is null where the build is
// not on this host.
type phaseJSON struct {
	Name        string              `json:"name"`
	Iterations  int                 `json:"iterations"`
	Fingerprint *matrix.Fingerprint `json:"fingerprint"`
	Status      matrix.Status       `json:"status"`
	Reason      string              `json:"reason"`
	SharedWith  []matrix.CellKey    `json:"shared_with"`
}

// A summaryJSON counts the plan. Seconds and bytes are 0 where they are unknown.
type summaryJSON struct {
	Cells                int                   `json:"cells"`
	Runs                 int                   `json:"runs"`
	ByStatus             map[matrix.Status]int `json:"by_status"`
	PhasesToRun          int                   `json:"phases_to_run"`
	PhasesWithoutSharing int                   `json:"phases_without_sharing"`
	Seconds              float64               `json:"seconds"`
	PeakBytes            uint64                `json:"peak_bytes"`
}

// planDocument makes the document of a plan.
func planDocument(p *matrix.Plan) planJSON {
	doc := planJSON{
		Schema: schemaVersion, Experiment: p.Experiment.Name, Host: p.Host.ID,
		Cells: []cellJSON{}, Runs: []runJSON{},
		Summary: summaryJSON{
			Cells: p.Summary.Cells, Runs: p.Summary.Runs, ByStatus: p.Summary.ByStatus,
			PhasesToRun: p.Summary.PhasesToRun, PhasesWithoutSharing: p.Summary.PhasesWithoutSharing,
			Seconds: p.Summary.Duration.Seconds(), PeakBytes: p.Summary.PeakBytes,
		},
	}
	for _, c := range p.Cells {
		doc.Cells = append(doc.Cells, cellDocument(p.Experiment, c))
	}
	for _, r := range p.Runs {
		doc.Runs = append(doc.Runs, runDocument(r))
	}
	return doc
}

// move counts a run under another status than the plan's.
func (s *summaryJSON) move(from, to matrix.Status) {
	if s.ByStatus[from]--; s.ByStatus[from] == 0 {
		delete(s.ByStatus, from)
	}
	s.ByStatus[to]++
}

// cellDocument makes the document of a cell.
func cellDocument(exp *matrix.Experiment, c *matrix.Cell) cellJSON {
	doc := cellJSON{Key: c.Key, Matrix: c.Matrix, Axes: map[string]*string{}}
	for _, a := range exp.Axes {
		doc.Axes[a.Name] = nil
		if l, ok := c.Level(a.Name); ok {
			doc.Axes[a.Name] = &l.Name
		}
	}
	return doc
}

// runDocument makes the document of a run.
func runDocument(r *matrix.Run) runJSON {
	doc := runJSON{Position: r.Position, Cell: r.Cell.Key, Replicate: r.Replicate, Status: r.Status, Reason: r.Reason, Phases: []phaseJSON{}}
	for _, p := range r.Phases {
		ph := phaseJSON{Name: p.Phase.Block, Iterations: p.Phase.Recorded(), Status: p.Status, Reason: p.Reason, SharedWith: []matrix.CellKey{}}
		if p.Fingerprint != "" {
			ph.Fingerprint = &p.Fingerprint
		}
		for _, key := range p.SharedWith {
			if key != r.Cell.Key {
				ph.SharedWith = append(ph.SharedWith, key)
			}
		}
		doc.Phases = append(doc.Phases, ph)
	}
	return doc
}
