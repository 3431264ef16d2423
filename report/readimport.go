package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
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
	importMessage   = "message"
	importDoubtful  = "doubtful"
	importOrigin    = "origin"

	importFact = "fact." // what the columns of facts begin with
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
// number: X, -, ?, NA, N/A, null.
//
// What makes numbers doubtful may stand beside them, as exports write it: message
// says why a phase did not end well, doubtful holds the doubts as formatDoubts
// writes them, rows of one phase, iteration and origin (a number from 1) are one
// measurement that cells share, and fact.NAME is a fact of the run. A row without a
// phase, and with a status, says how a run ended that broke off outside its phases.
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
	in := &importReader{
		source: source, file: file, axes: axes, names: names, index: map[importKey]int{}, seen: map[string]int{}, numbers: map[string]int{},
		foreign: regexp.MustCompile(foreignNumber), infinite: regexp.MustCompile(infiniteNumber),
	}
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

	foreign, infinite *regexp.Regexp
}

// An importedWord is a value that is neither a number nor says that there is none.
type importedWord struct {
	token, text  string
	what         string // what a number is wrong with, "" where it is a word
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
		case invisible(name) != "":
			in.fault(i, "the heading %q holds %s, which no table can show; take it out", name, invisible(name))
		case strings.TrimSpace(name) != name:
			in.fault(i, "the heading %q has blanks around it; take them out", name)
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
	case importMatrix, importPhase, importIteration, importReplicate, importStatus, importMessage, importDoubtful, importOrigin:
		return true
	}
	return strings.HasPrefix(name, importFact)
}

func (in *importReader) alternative(name string) string {
	names := append([]string{importMatrix, importPhase, importIteration, importReplicate, importStatus}, in.axes...)
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf(" (is %q meant?)", near)
	}
	return ""
}

func (in *importReader) readRecord(record []string) {
	row := importedRow{key: importKey{replicate: 1}, levels: map[string]string{}}
	row.result = PhaseResult{Status: matrix.OK, Iteration: 1, Printed: map[string]Value{}}
	for i, text := range record {
		if !utf8.ValidString(text) {
			in.fault(i, "the value is not valid UTF-8")
			return
		}
		if what := invisible(text); what != "" {
			in.fault(i, "the value %q holds %s, which no table can show; take it out", text, what)
			return
		}
		if text == "" {
			continue
		}
		switch name := in.header[i]; {
		case in.isAxis[i]:
			row.levels[name] = text
		case in.columns[name] == i && reserved(name):
			in.readReserved(i, name, text, &row)
		default:
			row.result.Printed[name] = in.value(i, name, text)
		}
	}
	if row.result.Phase == "" && (row.result.Status.Complete() || len(row.result.Printed) > 0) {
		in.fault(in.columns[importPhase], "the row has no phase")
		return
	}
	row.key.cell = cellKey(in.axes, row.levels)
	line, _ := in.csv.FieldPos(0)
	same := fmt.Sprintf("%q %q %d %q %d", row.key.cell, row.key.matrix, row.key.replicate, row.result.Phase, row.result.Iteration)
	if first, ok := in.seen[same]; ok {
		in.fault(0, "line %d has the same cell, phase, iteration and replicate", first)
		return
	}
	in.seen[same] = line
	in.add(row)
}

// value reads what stands in a column of the file. Blanks around a number are none
// of it.
func (in *importReader) value(field int, token, text string) Value {
	v := ParseValue(text)
	if trimmed := ParseValue(strings.TrimSpace(text)); trimmed.Known && !v.Known {
		v = trimmed
	}
	what := in.notNumber(strings.TrimSpace(text), v)
	switch {
	case what == "" && v.Known:
		in.numbers[token]++
	case what != "" || !saysMissing(text):
		line, column := in.csv.FieldPos(field)
		in.words = append(in.words, importedWord{token, text, what, line, column})
	}
	return v
}

// notNumber says what is wrong with a text that means a number and is not read as
// that one; "" is nothing. Text that means none has nothing wrong with it.
func (in *importReader) notNumber(text string, v Value) string {
	if v.Known {
		if v.Number == 0 && strings.ContainsAny(mantissa(text), "123456789") {
			return "which is nearer to 0 than a number here can be (5e-324)"
		}
		return ""
	}
	_, err := strconv.ParseFloat(text, 64)
	versionOrDate := strings.Count(text, ".") > 1 && strings.Trim(text, "0123456789.") == ""
	switch {
	case in.infinite.MatchString(text):
		return "which is no number"
	case plainDecimal(text) && errors.Is(err, strconv.ErrRange):
		return "which is beyond the largest number (1.8e308)"
	case !versionOrDate && in.foreign.MatchString(text):
		return "which is a number in another notation: write it in decimal digits with a point and nothing between thousands, as 1234.5"
	}
	return ""
}

// Patterns of what means a number and is none that is read here.
const (
	// foreignNumber matches digits of other bases and scripts, and those with
	// something between them: 0x10, 1_000, 1,5, 1 000.
	foreignNumber = `^[-+\x{2212}]?(0[xXbBoO][0-9a-fA-F_.]+([pP][-+]?[0-9]+)?|\.?\p{Nd}([_,.'\x{2019}\x{a0}\x{202f} ]?\p{Nd})*\.?([eE][-+]?[0-9]+)?)$`

	// infiniteNumber matches what programs write where a division failed.
	infiniteNumber = `(?i)^[-+]?(nan|inf|infinity)$`
)

// mantissa is a written number without its exponent.
func mantissa(number string) string {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		return number[:i]
	}
	return number
}

// checkWords faults words, and numbers that cannot be read, which stand among
// numbers: in a column of the library, and in one of which most values mean
// numbers.
func (in *importReader) checkWords() {
	words := map[string]int{}
	for _, w := range in.words {
		if w.what == "" {
			words[w.token]++
		} else {
			in.numbers[w.token]++
		}
	}
	library := NewLibrary()
	for _, w := range in.words {
		if len(in.errs) >= maxImportErrors {
			return
		}
		if library.Lookup(w.token) != nil || in.numbers[w.token] > words[w.token] {
			in.errs = append(in.errs, fmt.Errorf("%s:%d:%d: %s is %q, %s; where there is none, the value is empty or X", in.file, w.line, w.column, w.token, w.text, cmp.Or(w.what, "which is no number")))
		}
	}
}

// saysMissing reports whether a value is a usual way to say that there is none.
func saysMissing(text string) bool {
	switch strings.ToLower(text) {
	case "-", "?", "na", "n/a", "null":
		return true
	}
	return strings.Trim(text, "X") == ""
}

// An importedRow is a line of an imported file.
type importedRow struct {
	key    importKey
	levels map[string]string
	result PhaseResult
	stale  bool
	facts  map[string]string
}

func (in *importReader) readReserved(field int, name, text string, row *importedRow) {
	switch name {
	case importMatrix:
		row.key.matrix = text
	case importPhase:
		row.result.Phase, row.result.Block = text, text
	case importIteration:
		row.result.Iteration = in.count(field, text)
	case importReplicate:
		row.key.replicate = in.count(field, text)
	case importStatus:
		row.result.Status = in.status(field, text)
	case importOrigin:
		in.count(field, text)
		row.read(in.source, name, text)
	default:
		row.read(in.source, name, text)
	}
}

// read takes up what a column says of the numbers beside it.
func (row *importedRow) read(source, name, text string) {
	switch name {
	case importMessage:
		row.result.Message = text
	case importDoubtful:
		for _, f := range parseDoubts(text) {
			if f.Name == staleDoubt {
				row.stale = true // tables say it of the run
			} else {
				row.result.Flags = append(row.result.Flags, f)
			}
		}
	case importOrigin:
		row.result.Origin = importedOrigin(source, text)
	default:
		if row.facts == nil {
			row.facts = map[string]string{}
		}
		row.facts[strings.TrimPrefix(name, importFact)] = text
	}
}

// importedOrigin identifies a measurement of an import that cells share, so that no
// other source has it: attempts on record count from 1.
func importedOrigin(source, number string) int64 {
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return 0
	}
	return -(int64(crc32.ChecksumIEEE([]byte(source))>>1)<<31 | int64(n))
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

// endStatuses are the statuses that a phase, or a run that broke off outside its
// phases, can end with.
func endStatuses() []matrix.Status {
	return []matrix.Status{
		matrix.OK, matrix.Failed, matrix.TimedOut, matrix.Hung, matrix.Crashed, matrix.SLAMissed, matrix.Invalid, matrix.Interrupted, matrix.Skipped,
	}
}

// add puts a result into the attempt of its run, in the order of the file.
func (in *importReader) add(row importedRow) {
	at, ok := in.index[row.key]
	if !ok {
		at = len(in.attempts)
		in.index[row.key] = at
		in.attempts = append(in.attempts, Attempt{
			Source: in.source, Cell: row.key.cell, Levels: row.levels, Matrix: row.key.matrix, Replicate: row.key.replicate, Number: 1, Status: matrix.OK,
		})
	}
	a := &in.attempts[at]
	a.Stale = a.Stale || row.stale
	if a.Facts == nil {
		a.Facts = row.facts
	}
	if row.result.Phase == "" {
		a.Message = row.result.Message
	} else {
		a.Phases = append(a.Phases, row.result)
	}
	if !row.result.Status.Complete() || a.Status == matrix.OK {
		a.Status = row.result.Status
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
