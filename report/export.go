package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"

	"dbmatrix/matrix"
)

// An Export is what was recorded of one experiment on one host, for other
// programs.
type Export struct {
	Experiment string
	Host       string
	Axes       []string // in their order; axes that only the attempts have follow

	// Attempts are all those on record. CSV and Benchfmt write those that
	// stand for their runs, JSON and LongCSV write every one.
	Attempts []Attempt
}

// NewExport gathers an export of an experiment's attempts.
func NewExport(experiment *matrix.Experiment, host string, attempts []Attempt) *Export {
	e := &Export{Experiment: experiment.Name, Host: host, Attempts: slices.Clone(attempts)}
	for _, a := range experiment.Axes {
		e.Axes = append(e.Axes, a.Name)
	}
	for i := range attempts {
		for _, axis := range sortedKeys(attempts[i].Levels) {
			if !slices.Contains(e.Axes, axis) {
				e.Axes = append(e.Axes, axis)
			}
		}
	}
	return e
}

// Standing returns, for each cell and replicate, the attempt that counts or, where
// none was ever complete, the newest that ended, which says how. A run whose
// result was withdrawn has none.
func (e *Export) Standing() []*Attempt {
	type run struct {
		cell      matrix.CellKey
		replicate int
	}
	best := map[run]*Attempt{}
	var order []run
	for i := range e.Attempts {
		a := &e.Attempts[i]
		if !ended(a.Status) {
			continue
		}
		of := run{a.Cell, a.Replicate}
		old := best[of]
		if old == nil {
			order = append(order, of)
		}
		if old == nil || a.standsBefore(old) {
			best[of] = a
		}
	}
	var standing []*Attempt
	for _, of := range order {
		if a := best[of]; a.Counts || !a.Status.Complete() {
			standing = append(standing, a)
		}
	}
	return standing
}

// standsBefore reports whether an attempt says more of its run than another one.
func (a *Attempt) standsBefore(old *Attempt) bool {
	rank := func(a *Attempt) int {
		switch {
		case a.Counts:
			return 2
		case a.Status.Complete():
			return 1
		}
		return 0
	}
	return cmp.Or(rank(a)-rank(old), a.Number-old.Number) > 0
}

// ended reports whether an attempt has a status that an imported file may have.
func ended(status matrix.Status) bool { return slices.Contains(endStatuses(), status) }

// results returns the iterations of an attempt. A phase that has none stands for
// itself, as iteration 1, so that its failure is not lost.
func (a *Attempt) results() []PhaseResult {
	var results []PhaseResult
	for i := range a.Phases {
		p := a.Phases[i]
		if p.Iteration == 0 {
			again := slices.ContainsFunc(a.Phases, func(q PhaseResult) bool { return q.Block == p.Block && q.Iteration > 0 })
			if again || !ended(p.Status) {
				continue
			}
			p.Iteration = 1
		}
		results = append(results, p)
	}
	return results
}

// values returns all that is known of a result by column: the library's columns
// and the recorded metrics, of which a column hides the one of its name.
func values(library []*Spec, m Metrics) map[string]float64 {
	all := map[string]float64{}
	for _, metric := range m {
		all[metric.Name] = metric.Value
	}
	for _, spec := range library {
		if v := spec.Value(m, 0); v.Known {
			all[spec.Token] = v.Number
		}
	}
	return all
}

// CSV writes the attempts that stand for their runs as ReadImport reads them: a
// row for each iteration, with the levels of its cell, and a column for each
// metric and each column of the library that some iteration has a value of. Numbers
// are written in full.
func (e *Export) CSV(w io.Writer) error {
	library := Columns()
	type line struct {
		attempt *Attempt
		result  PhaseResult
		values  map[string]float64
	}
	var lines []line
	known := map[string]bool{}
	for _, a := range e.Standing() {
		for _, p := range a.results() {
			l := line{a, p, values(library, p.Metrics)}
			for token := range l.values {
				known[token] = true
			}
			lines = append(lines, l)
		}
	}
	tokens := sortedKeys(known)
	out := csv.NewWriter(w)
	head := append(slices.Clone(e.Axes), importMatrix, importPhase, importIteration, importReplicate, importStatus)
	if err := out.Write(append(head, tokens...)); err != nil {
		return err
	}
	for _, l := range lines {
		record := append(e.levels(l.attempt), l.attempt.Matrix, l.result.Phase, strconv.Itoa(l.result.Iteration),
			strconv.Itoa(l.attempt.Replicate), string(l.result.Status))
		for _, token := range tokens {
			text := ""
			if v, ok := l.values[token]; ok {
				text = shortest(v)
			}
			record = append(record, text)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// levels returns the level of an attempt on each axis, "" where it has none.
func (e *Export) levels(a *Attempt) []string {
	levels := make([]string, len(e.Axes))
	for i, axis := range e.Axes {
		levels[i] = a.Levels[axis]
	}
	return levels
}

// LongCSV writes every attempt, a row for each recorded number. Iteration 0 is a
// phase as a whole.
func (e *Export) LongCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append([]string{"experiment", "host"}, e.Axes...)
	if err := out.Write(append(head, importMatrix, importReplicate, "attempt", "withdrawn", importPhase, importIteration, importStatus, "metric", "unit", "value")); err != nil {
		return err
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		head := append([]string{e.Experiment, e.Host}, e.levels(a)...)
		head = append(head, a.Matrix, strconv.Itoa(a.Replicate), strconv.Itoa(a.Number), a.Withdrawn)
		for _, p := range a.Phases {
			for _, m := range p.Metrics {
				record := append(slices.Clone(head), p.Phase, strconv.Itoa(p.Iteration), string(p.Status), m.Name, m.Unit, shortest(m.Value))
				if err := out.Write(record); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// exportSchema numbers the form of the JSON export.
const exportSchema = 1

type exportDocument struct {
	Schema     int             `json:"schema"`
	Experiment string          `json:"experiment"`
	Host       string          `json:"host"`
	Axes       []string        `json:"axes"`
	Attempts   []exportAttempt `json:"attempts"`
}

type exportAttempt struct {
	Cell      matrix.CellKey    `json:"cell"`
	Levels    map[string]string `json:"levels"`
	Matrix    string            `json:"matrix"`
	Replicate int               `json:"replicate"`
	Attempt   int               `json:"attempt"`
	Status    matrix.Status     `json:"status"`
	Message   string            `json:"message,omitempty"`
	Withdrawn string            `json:"withdrawn,omitempty"`
	Facts     map[string]string `json:"facts"`
	Phases    []exportPhase     `json:"phases"`
}

type exportPhase struct {
	Phase       string             `json:"phase"`
	Iteration   int                `json:"iteration"` // 0: the phase as a whole
	Block       string             `json:"block"`
	Fingerprint matrix.Fingerprint `json:"fingerprint,omitempty"`
	Status      matrix.Status      `json:"status"`
	Message     string             `json:"message,omitempty"`
	Doubtful    map[string]string  `json:"doubtful,omitempty"` // details of flags by name
	Metrics     []exportMetric     `json:"metrics"`
}

type exportMetric struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

// JSON writes every attempt with its facts, phases and metrics.
func (e *Export) JSON(w io.Writer) error {
	doc := exportDocument{Schema: exportSchema, Experiment: e.Experiment, Host: e.Host, Axes: append([]string{}, e.Axes...), Attempts: []exportAttempt{}}
	for i := range e.Attempts {
		doc.Attempts = append(doc.Attempts, newExportAttempt(&e.Attempts[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func newExportAttempt(a *Attempt) exportAttempt {
	out := exportAttempt{
		Cell: a.Cell, Levels: a.Levels, Matrix: a.Matrix, Replicate: a.Replicate, Attempt: a.Number, Status: a.Status,
		Message: a.Message, Withdrawn: a.Withdrawn, Facts: a.Facts, Phases: []exportPhase{},
	}
	for _, p := range a.Phases {
		phase := exportPhase{
			Phase: p.Phase, Iteration: p.Iteration, Block: p.Block, Fingerprint: p.Fingerprint, Status: p.Status, Message: p.Message,
			Metrics: []exportMetric{},
		}
		for _, f := range p.Flags {
			if phase.Doubtful == nil {
				phase.Doubtful = map[string]string{}
			}
			phase.Doubtful[f.Name] = f.Detail
		}
		for _, m := range p.Metrics {
			phase.Metrics = append(phase.Metrics, exportMetric{m.Name, m.Unit, m.Value})
		}
		out.Phases = append(out.Phases, phase)
	}
	return out
}

// Benchfmt writes the attempts that stand for their runs in the Go benchmark
// format, which benchstat reads: a result for each complete iteration, named for
// its phase, with the axes as configuration keys. Units are the columns of the
// library and the recorded metrics.
func (e *Export) Benchfmt(w io.Writer) error {
	var b bytes.Buffer
	out := benchfmt.NewWriter(&b)
	library := Columns()
	for _, spec := range library {
		if spec.Direction != Neither {
			if err := out.Write(betterUnit(benchWord(spec.Token), spec.Direction)); err != nil {
				return fmt.Errorf("unit %s: %w", spec.Token, err)
			}
		}
	}
	for _, a := range e.Standing() {
		for _, p := range a.results() {
			if !p.Status.Complete() {
				continue
			}
			if err := out.Write(e.benchResult(a, &p, library)); err != nil {
				return fmt.Errorf("%s, replicate %d: %w", a.Cell, a.Replicate, err)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// benchResult returns one iteration as a result. Go's benchmarks name parameters as
// "/name=value".
func (e *Export) benchResult(a *Attempt, p *PhaseResult, library []*Spec) *benchfmt.Result {
	name := fmt.Sprintf("%s/iteration=%d", benchName(p.Phase), p.Iteration)
	r := &benchfmt.Result{Name: benchfmt.Name(name), Iters: 1}
	for _, axis := range e.Axes {
		if level, ok := a.Levels[axis]; ok {
			r.Config = append(r.Config, benchfmt.Config{Key: benchKey(axis), Value: []byte(benchWord(level)), File: true})
		}
	}
	all := values(library, p.Metrics)
	for _, token := range sortedKeys(all) {
		if !math.IsInf(all[token], 0) && !math.IsNaN(all[token]) {
			r.Values = append(r.Values, benchfmt.Value{Value: all[token], Unit: benchWord(token)})
		}
	}
	slices.SortStableFunc(r.Values, func(a, b benchfmt.Value) int { return cmp.Compare(a.Unit, b.Unit) })
	return r
}
