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
	"strings"

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

	cells  *cellIndex
	places map[*matrix.Cell]int // in the plan
}

// NewExport gathers an export of an experiment's attempts. cells are those of its
// plan: they give the order, and tell which attempts are stale.
func NewExport(experiment *matrix.Experiment, cells []*matrix.Cell, host string, attempts []Attempt) *Export {
	e := &Export{Experiment: experiment.Name, Host: host, Attempts: slices.Clone(attempts), places: map[*matrix.Cell]int{}}
	for _, a := range experiment.Axes {
		e.Axes = append(e.Axes, a.Name)
	}
	e.cells = newCellIndex(e.Axes, cells)
	for i, c := range cells {
		e.places[c] = i
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

// cell returns the cell of the plan that an attempt belongs to, or nil.
func (e *Export) cell(a *Attempt) *matrix.Cell {
	if e.cells == nil {
		return nil
	}
	return e.cells.find(a)
}

// stale reports whether an attempt was made with other inputs than the definition
// has now.
func (e *Export) stale(a *Attempt) bool {
	c := e.cell(a)
	return c != nil && stale(a, c)
}

// place returns where the cell of an attempt is in the plan; what is not in it
// comes last.
func (e *Export) place(a *Attempt) int {
	if place, ok := e.places[e.cell(a)]; ok {
		return place
	}
	return len(e.places)
}

// Standing returns, for each cell and replicate, the attempt that counts or, where
// none was ever complete, the newest that ended, which says how. A run whose
// result was withdrawn has none. They are in the order of the plan.
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
	slices.SortStableFunc(standing, func(a, b *Attempt) int {
		if d := e.place(a) - e.place(b); d != 0 || a.Cell != b.Cell {
			return d
		}
		return a.Replicate - b.Replicate
	})
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
// itself, as iteration 1, so that its failure is not lost; where the run broke off
// outside its phases, a result without a phase says how.
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
	if !a.Status.Complete() && !slices.ContainsFunc(results, func(p PhaseResult) bool { return !p.Status.Complete() }) {
		results = append(results, PhaseResult{Iteration: 1, Status: a.Status, Message: a.Message})
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
	for _, metric := range m {
		if spec := latencyColumnOf(metric.Name); spec != nil {
			all[spec.Token] = spec.Value(m, 0).Number
		}
	}
	return all
}

// An exportLine is a row of the CSV.
type exportLine struct {
	attempt *Attempt
	result  PhaseResult
	values  map[string]float64
}

// lines returns the results of attempts with all that is known of them, and the
// names of it.
func exportLines(attempts []*Attempt) (lines []exportLine, tokens []string) {
	library := Columns()
	known := map[string]bool{}
	for _, a := range attempts {
		for _, p := range a.results() {
			l := exportLine{a, p, values(library, p.Metrics)}
			for token := range l.values {
				known[token] = true
			}
			lines = append(lines, l)
		}
	}
	return lines, sortedKeys(known)
}

// CSV writes the attempts that stand for their runs as ReadImport reads them: a
// row for each iteration, with the levels of its cell, why it failed and what makes
// it doubtful, the facts that are not the same in all attempts, and a column for
// each metric and each column of the library that some iteration has a value of.
// Numbers are written in full.
func (e *Export) CSV(w io.Writer) error {
	standing := e.Standing()
	lines, tokens := exportLines(standing)
	facts := differingFacts(attemptsOf(standing))
	shared := sharedOrigins(lines)
	out := csv.NewWriter(w)
	head := append(slices.Clone(e.Axes), importMatrix, importPhase, importIteration, importReplicate, importStatus, importMessage, importDoubtful)
	if len(shared) > 0 {
		head = append(head, importOrigin)
	}
	for _, name := range facts {
		head = append(head, importFact+name)
	}
	if err := writeVisible(out, append(head, tokens...)); err != nil {
		return err
	}
	for _, l := range lines {
		record := append(e.levels(l.attempt), l.attempt.Matrix, l.result.Phase, strconv.Itoa(l.result.Iteration), strconv.Itoa(l.attempt.Replicate))
		record = append(record, e.said(l.attempt, &l.result)...)
		if len(shared) > 0 {
			record = append(record, shared[originOf(&l.result)])
		}
		for _, name := range facts {
			record = append(record, l.attempt.Facts[name])
		}
		for _, token := range tokens {
			text := ""
			if v, ok := l.values[token]; ok {
				text = shortest(v)
			}
			record = append(record, text)
		}
		if err := writeVisible(out, record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeVisible writes a line of which nothing acts on what shows it.
func writeVisible(out *csv.Writer, record []string) error {
	visibleAll(record)
	return out.Write(record)
}

// said returns what is to be said of a result: its status, the message, the doubts.
func (e *Export) said(a *Attempt, p *PhaseResult) []string {
	return []string{string(p.Status), oneLine(p.Message), formatDoubts(p.doubtful(e.stale(a)))}
}

func attemptsOf(pointers []*Attempt) []Attempt {
	attempts := make([]Attempt, 0, len(pointers))
	for _, a := range pointers {
		attempts = append(attempts, *a)
	}
	return attempts
}

// originOf identifies the measurement of a result, for those that cells share.
func originOf(p *PhaseResult) sharedResult { return sharedResult{p.Origin, p.Phase, p.Iteration} }

// sharedOrigins numbers the measurements that stand in several lines, from 1.
func sharedOrigins(lines []exportLine) map[sharedResult]string {
	count := map[sharedResult]int{}
	numbers := map[int64]string{}
	shared := map[sharedResult]string{}
	for i := range lines {
		of := originOf(&lines[i].result)
		if count[of]++; of.origin == 0 || count[of] != 2 {
			continue
		}
		if numbers[of.origin] == "" {
			numbers[of.origin] = strconv.Itoa(len(numbers) + 1)
		}
		shared[of] = numbers[of.origin]
	}
	return shared
}

// levels returns the level of an attempt on each axis, "" where it has none.
func (e *Export) levels(a *Attempt) []string {
	levels := make([]string, len(e.Axes))
	for i, axis := range e.Axes {
		levels[i] = a.Levels[axis]
	}
	return levels
}

// LongCSV writes every attempt, a row for each recorded number, with its status,
// message and doubts. Iteration 0 is a phase as a whole. What has no number, because
// it failed, has one row without a metric.
func (e *Export) LongCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append([]string{"experiment", "host"}, e.Axes...)
	head = append(head, importMatrix, importReplicate, "attempt", "withdrawn", importPhase, importIteration, importStatus, importMessage, importDoubtful, "metric", "unit", "value")
	if err := writeVisible(out, head); err != nil {
		return err
	}
	for i := range e.Attempts {
		if err := e.longRows(out, &e.Attempts[i]); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// longRows writes the rows of one attempt.
func (e *Export) longRows(out *csv.Writer, a *Attempt) error {
	head := append([]string{e.Experiment, e.Host}, e.levels(a)...)
	head = append(head, a.Matrix, strconv.Itoa(a.Replicate), strconv.Itoa(a.Number), oneLine(a.Withdrawn))
	phases := a.Phases
	if len(phases) == 0 {
		phases = []PhaseResult{{Status: a.Status, Message: a.Message}}
	}
	for i := range phases {
		p := &phases[i]
		row := append(slices.Clone(head), p.Phase, strconv.Itoa(p.Iteration))
		row = append(row, e.said(a, p)...)
		if len(p.Metrics) == 0 && !p.Status.Complete() {
			if err := writeVisible(out, append(row, "", "", "")); err != nil {
				return err
			}
		}
		for _, m := range p.Metrics {
			if err := writeVisible(out, append(slices.Clone(row), m.Name, m.Unit, shortest(m.Value))); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportSchema numbers the form of the JSON export.
const exportSchema = 2

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
	Stale     bool              `json:"stale,omitempty"` // made with other inputs than the definition has now
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
	Doubtful    []exportDoubt      `json:"doubtful,omitempty"` // what makes the numbers doubtful
	Metrics     []exportMetric     `json:"metrics"`
}

type exportDoubt struct {
	Name   string `json:"name"`
	Detail string `json:"detail"`
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
		doc.Attempts = append(doc.Attempts, e.newExportAttempt(&e.Attempts[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func (e *Export) newExportAttempt(a *Attempt) exportAttempt {
	out := exportAttempt{
		Cell: matrix.CellKey(visible(string(a.Cell))), Levels: visibleMap(a.Levels), Matrix: visible(a.Matrix), Replicate: a.Replicate, Attempt: a.Number, Status: a.Status,
		Message: visible(a.Message), Withdrawn: visible(a.Withdrawn), Stale: e.stale(a), Facts: visibleMap(a.Facts), Phases: []exportPhase{},
	}
	for i := range a.Phases {
		p := &a.Phases[i]
		phase := exportPhase{
			Phase: visible(p.Phase), Iteration: p.Iteration, Block: visible(p.Block), Fingerprint: p.Fingerprint, Status: p.Status, Message: visible(p.Message),
			Metrics: []exportMetric{},
		}
		for _, f := range p.doubtful(out.Stale) {
			phase.Doubtful = append(phase.Doubtful, exportDoubt{f.Name, visible(oneLine(f.Detail))})
		}
		for _, m := range p.Metrics {
			phase.Metrics = append(phase.Metrics, exportMetric{visible(m.Name), visible(m.Unit), m.Value})
		}
		out.Phases = append(out.Phases, phase)
	}
	return out
}

// Benchfmt writes the attempts that stand for their runs in the Go benchmark
// format, which benchstat reads: a result for each complete iteration, named for
// its phase, with the axes as configuration keys. Units are the columns of the
// library and the recorded metrics. What is to be said of a result, and what has
// none, stands in lines that begin with #, which readers of the format pass over: as
// configuration keys they would sort repetitions of one cell into several tables.
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
			what := fmt.Sprintf("%s, replicate %d", strings.Join(strings.Fields(visible(string(a.Cell))), " "), a.Replicate)
			if !p.Status.Complete() {
				benchNote(&b, what+", has no result: "+withMessage(strings.TrimSpace(p.Phase+" "+string(p.Status)), p.Message))
				continue
			}
			if p.Status == matrix.SLAMissed {
				benchNote(&b, what+", "+withMessage(p.Phase+" "+string(p.Status), p.Message))
			}
			for _, f := range p.doubtful(e.stale(a)) {
				benchNote(&b, what+", doubtful: "+withMessage(f.Name, f.Detail))
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
