package report

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dbmatrix/matrix"
)

// Columns of an imported file that are neither an axis nor a token.
const (
	importMatrix    = "matrix"
	importPhase     = "phase"
	importIteration = "iteration"
	importReplicate = "replicate"
	importStatus    = "status"
)

// maxImportErrors is after how many faults a reader of an imported file gives
// up: more would tell the same again.
const maxImportErrors = 20

// ReadImport reads numbers that were measured elsewhere: a wide CSV file with a
// header line. Axis columns come first, then phase and, where they are needed,
// matrix, iteration, replicate and status; every other column is a column token,
// case-sensitive. An empty axis does not apply to the cell, an empty value was
// not measured, an empty iteration or replicate is 1, an empty status is ok. In a
// column of numbers, any other value is a fault that does not say that there is no
// number: X, -, ?, NA, N/A, NaN, null.
//
// source becomes the Source of the attempts; file is the name in messages. An
// error joins all faults, each as "file:line:column: what".
func ReadImport(r io.Reader, source, file string, axes []string) ([]Attempt, error) {
	return ReadImportNamed(r, source, file, axes, nil)
}

// ReadImportNamed is ReadImport for a file whose columns have other names: names
// tells, for a heading of the file, the axis that it stands for, or phase,
// iteration, replicate, status or matrix. Columns with such a name may stand
// anywhere.
func ReadImportNamed(r io.Reader, source, file string, axes []string, names map[string]string) ([]Attempt, error) {
	in := &importReader{source: source, file: file, axes: axes, names: names, index: map[importKey]int{}, seen: map[string]int{}, numbers: map[string]int{}}
	if err := in.read(r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(in.words) > 0 {
		in.checkWords()
	}
	if len(in.errs) > 0 {
		return nil, errors.Join(in.errs...)
	}
	return in.attempts, nil
}

type importReader struct {
	source, file string
	axes         []string
	names        map[string]string // headings that stand for others

	csv     *csv.Reader
	header  []string
	isAxis  []bool
	named   []bool         // by names
	columns map[string]int // by reserved name

	attempts []Attempt
	index    map[importKey]int
	seen     map[string]int // the line of each cell, phase, iteration and replicate
	numbers  map[string]int // how many values of a column are numbers
	words    []importedWord
	errs     []error
}

// An importedWord is a value that is neither a number nor says that there is none.
type importedWord struct {
	token, text  string
	line, column int
}

// An importKey tells the runs of an imported file apart.
type importKey struct {
	cell      matrix.CellKey
	matrix    string
	replicate int
}

func (in *importReader) fault(field int, format string, args ...any) {
	line, column := in.csv.FieldPos(field)
	in.errs = append(in.errs, fmt.Errorf("%s:%d:%d: %s", in.file, line, column, fmt.Sprintf(format, args...)))
}

func (in *importReader) read(r io.Reader) error {
	buffered := bufio.NewReader(r)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" { // the byte order mark of spreadsheets
		if _, err := buffered.Discard(3); err != nil {
			return err
		}
	}
	in.csv = csv.NewReader(buffered)
	header, err := in.csv.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty; it needs a header line")
	}
	if err != nil {
		return err
	}
	in.header = header
	in.rename()
	in.readHeader()
	for len(in.errs) == 0 || (in.columns != nil && len(in.errs) < maxImportErrors) {
		record, err := in.csv.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		in.readRecord(record)
	}
	return nil
}

// rename gives the columns the names that their headings stand for.
func (in *importReader) rename() {
	in.named = make([]bool, len(in.header))
	for _, heading := range sortedKeys(in.names) {
		i := slices.Index(in.header, heading)
		name := in.names[heading]
		switch {
		case i < 0:
			in.fault(0, "there is no column %q, which is to be %s", heading, name)
		case !reserved(name) && !slices.Contains(in.axes, name):
			in.fault(i, "%q is to be %q, which is no axis of the experiment%s", heading, name, in.alternative(name))
		default:
			in.header[i], in.named[i] = name, true
		}
	}
}

// readHeader sorts out what each column is. Only what stands before the phase
// can be an axis, so that a token may have the name of one.
func (in *importReader) readHeader() {
	columns := map[string]int{}
	in.isAxis = make([]bool, len(in.header))
	known := map[string]bool{}
	for _, a := range in.axes {
		known[a] = true
	}
	taken := map[string]bool{}
	phase := false
	for i, name := range in.header {
		switch {
		case !utf8.ValidString(name):
			in.fault(i, "the heading is not valid UTF-8")
		case strings.TrimSpace(name) == "":
			in.fault(i, "column %d has no heading", i+1)
		case taken[name]:
			in.fault(i, "the heading %q stands twice", name)
		case known[name] && (!phase || in.named[i]):
			in.isAxis[i] = true
		case reserved(name):
			columns[name] = i
			phase = phase || name == importPhase
		case !phase && len(in.names) == 0:
			in.fault(i, "%q is no axis of the experiment%s; column tokens stand behind the column %q", name, in.alternative(name), importPhase)
		}
		taken[name] = true
	}
	if !phase {
		in.fault(0, "there is no column %q", importPhase)
	}
	if len(in.errs) == 0 {
		in.columns = columns
	}
}

func reserved(name string) bool {
	switch name {
	case importMatrix, importPhase, importIteration, importReplicate, importStatus:
		return true
	}
	return false
}

func (in *importReader) alternative(name string) string {
	names := append([]string{importMatrix, importPhase, importIteration, importReplicate, importStatus}, in.axes...)
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf(" (is %q meant?)", near)
	}
	return ""
}

func (in *importReader) readRecord(record []string) {
	result := PhaseResult{Status: matrix.OK, Iteration: 1, Printed: map[string]Value{}}
	levels := map[string]string{}
	key := importKey{replicate: 1}
	for i, text := range record {
		if !utf8.ValidString(text) {
			in.fault(i, "the value is not valid UTF-8")
			return
		}
		if text == "" {
			continue
		}
		switch name := in.header[i]; {
		case in.isAxis[i]:
			levels[name] = text
		case in.columns[name] == i && reserved(name):
			in.readReserved(i, name, text, &key, &result)
		default:
			v := ParseValue(text)
			result.Printed[name] = v
			if v.Known {
				in.numbers[name]++
			} else if !saysMissing(text) {
				line, column := in.csv.FieldPos(i)
				in.words = append(in.words, importedWord{name, text, line, column})
			}
		}
	}
	if result.Phase == "" {
		in.fault(in.columns[importPhase], "the row has no phase")
		return
	}
	key.cell = cellKey(in.axes, levels)
	line, _ := in.csv.FieldPos(0)
	row := fmt.Sprintf("%q %q %d %q %d", key.cell, key.matrix, key.replicate, result.Phase, result.Iteration)
	if first, ok := in.seen[row]; ok {
		in.fault(0, "line %d has the same cell, phase, iteration and replicate", first)
		return
	}
	in.seen[row] = line
	in.add(key, levels, result)
}

// checkWords faults words that stand among numbers: in a column of the library,
// and in one of which most values are numbers.
func (in *importReader) checkWords() {
	words := map[string]int{}
	for _, w := range in.words {
		words[w.token]++
	}
	library := NewLibrary()
	for _, w := range in.words {
		if len(in.errs) >= maxImportErrors {
			return
		}
		if library.Lookup(w.token) != nil || in.numbers[w.token] > words[w.token] {
			in.errs = append(in.errs, fmt.Errorf("%s:%d:%d: %s is %q, which is no number; where there is none, the value is empty or X", in.file, w.line, w.column, w.token, w.text))
		}
	}
}

// saysMissing reports whether a value is a usual way to say that there is none.
func saysMissing(text string) bool {
	switch strings.ToLower(text) {
	case "-", "?", "na", "n/a", "nan", "null":
		return true
	}
	return strings.Trim(text, "X") == ""
}

func (in *importReader) readReserved(field int, name, text string, key *importKey, result *PhaseResult) {
	switch name {
	case importMatrix:
		key.matrix = text
	case importPhase:
		result.Phase, result.Block = text, text
	case importIteration:
		result.Iteration = in.count(field, text)
	case importReplicate:
		key.replicate = in.count(field, text)
	case importStatus:
		result.Status = in.status(field, text)
	}
}

func (in *importReader) count(field int, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		in.fault(field, "%s is a whole number from 1, not %q", in.header[field], text)
		return 1
	}
	return n
}

func (in *importReader) status(field int, text string) matrix.Status {
	names := make([]string, 0, 8)
	for _, s := range endStatuses() {
		if text == string(s) {
			return s
		}
		names = append(names, string(s))
	}
	in.fault(field, "%q is no status; they are %s", text, strings.Join(names, ", "))
	return matrix.OK
}

// endStatuses are the statuses that a phase can end with.
func endStatuses() []matrix.Status {
	return []matrix.Status{matrix.OK, matrix.Failed, matrix.TimedOut, matrix.Hung, matrix.Crashed, matrix.SLAMissed, matrix.Invalid, matrix.Interrupted}
}

// add puts a result into the attempt of its run, in the order of the file.
func (in *importReader) add(key importKey, levels map[string]string, result PhaseResult) {
	at, ok := in.index[key]
	if !ok {
		at = len(in.attempts)
		in.index[key] = at
		in.attempts = append(in.attempts, Attempt{
			Source: in.source, Cell: key.cell, Levels: levels, Matrix: key.matrix, Replicate: key.replicate, Number: 1, Status: matrix.OK,
		})
	}
	a := &in.attempts[at]
	a.Phases = append(a.Phases, result)
	if !result.Status.Complete() || a.Status == matrix.OK {
		a.Status = result.Status
	}
}

// cellKey names a cell by its levels, in the order of the axes.
func cellKey(axes []string, levels map[string]string) matrix.CellKey {
	var parts []string
	for _, a := range axes {
		if level, ok := levels[a]; ok {
			parts = append(parts, a+"="+level)
		}
	}
	return matrix.CellKey(strings.Join(parts, ","))
}
