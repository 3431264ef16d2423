package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"dbmatrix/matrix"
)

// Benchfmt writes the tables of a document in the Go benchmark format
// (https://golang.org/design/14313-benchmark-format), which benchstat reads: a
// line for each run of each row, with the columns as units and the axes as
// configuration keys. Columns are computed for each run; medians and intervals are
// left to the reader, and so are cells of text. Names are folded as the format
// wants them: keys begin with a small letter, and nothing holds a space. What is
// to be said of a row stands before it in lines that begin with #, which readers of
// the format pass over.
func Benchfmt(w io.Writer, d *Document, _ Options) error {
	var b bytes.Buffer
	out := benchfmt.NewWriter(&b)
	library := NewLibrary()
	said := map[string]bool{}
	for _, t := range d.tables() {
		for _, c := range t.Columns {
			unit := c.benchUnit()
			spec := library.Lookup(c.Token)
			if said[unit] || spec == nil || spec.Direction == Neither {
				continue
			}
			said[unit] = true
			if err := out.Write(betterUnit(unit, spec.Direction)); err != nil {
				return fmt.Errorf("unit %s: %w", unit, err)
			}
		}
		if err := writeBenchfmt(&b, out, t); err != nil {
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// betterUnit tells benchstat which way a unit is better.
func betterUnit(unit string, d Direction) *benchfmt.UnitMetadata {
	value := "higher"
	if d == Lower {
		value = "lower"
	}
	return &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: value}
}

// benchNote writes a line that readers of the format pass over.
func benchNote(b *bytes.Buffer, text string) {
	fmt.Fprintf(b, "# %s\n", visible(oneLine(text)))
}

func writeBenchfmt(b *bytes.Buffer, out *benchfmt.Writer, t *Table) error {
	for _, text := range t.Remarks {
		benchNote(b, text)
	}
	for i := range t.Rows {
		for _, text := range t.Rows[i].Remarks {
			benchNote(b, t.Rows[i].Label+": "+text)
		}
		for _, point := range t.pointsAcross() {
			for _, result := range t.benchResults(&t.Rows[i], point) {
				if err := out.Write(result); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pointsAcross returns the columns of each point of the axes laid across.
func (t *Table) pointsAcross() [][]int {
	var points [][]int
	for i := range t.Columns {
		k := slices.IndexFunc(points, func(p []int) bool { return sameLevels(t.Columns[p[0]].Levels, t.Columns[i].Levels) })
		if k < 0 {
			points = append(points, nil)
			k = len(points) - 1
		}
		points[k] = append(points[k], i)
	}
	return points
}

func sameLevels(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for axis, level := range a {
		if other, ok := b[axis]; !ok || other != level {
			return false
		}
	}
	return true
}

// benchResults returns a result for each run that some column of a row has a value
// of.
func (t *Table) benchResults(r *Row, columns []int) []*benchfmt.Result {
	type run struct {
		cell      matrix.CellKey
		replicate int
	}
	values := map[run][]benchfmt.Value{}
	var runs []run
	for _, i := range columns {
		for _, v := range r.Cells[i].Sample {
			if math.IsInf(v.Number, 0) || math.IsNaN(v.Number) {
				continue
			}
			of := run{v.Cell, v.Replicate}
			if values[of] == nil {
				runs = append(runs, of)
			}
			values[of] = append(values[of], benchfmt.Value{Value: v.Number, Unit: t.Columns[i].benchUnit()})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.replicate, b.replicate)) })
	var results []*benchfmt.Result
	for _, of := range runs {
		results = append(results, &benchfmt.Result{
			Config: t.benchConfig(r, t.Columns[columns[0]].Levels), Name: benchfmt.Name(benchName(t.Name)), Iters: 1, Values: values[of],
		})
	}
	return results
}

// benchConfig returns the levels of a row and of a point across, by axis. An axis
// that the row does not have is no key.
func (t *Table) benchConfig(r *Row, across map[string]string) []benchfmt.Config {
	var config []benchfmt.Config
	for _, levels := range []map[string]string{r.Levels, across} {
		for _, axis := range sortedKeys(levels) {
			config = append(config, benchfmt.Config{Key: benchKey(axis), Value: []byte(strings.Join(strings.Fields(levels[axis]), "_")), File: true})
		}
	}
	if r.Source != Own {
		config = append(config, benchfmt.Config{Key: "source", Value: []byte(benchWord(r.Source)), File: true})
	}
	return config
}

// benchUnit names a column as a unit.
func (c *Column) benchUnit() string { return benchWord(c.Label) }

// benchWord writes text without spaces.
func benchWord(text string) string {
	word := strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return '_'
		}
		return c
	}, visible(text))
	return cmp.Or(word, "_")
}

// benchName makes the name of a benchmark: its first letter must not be small.
func benchName(table string) string {
	name := []rune(benchWord(table))
	name[0] = unicode.ToUpper(name[0])
	if unicode.IsLower(name[0]) {
		return "_" + string(name)
	}
	return string(name)
}

// benchKey makes the name of an axis a configuration key: it begins with a small
// letter and holds neither a space, a capital nor a colon.
func benchKey(axis string) string {
	key := strings.Map(func(c rune) rune {
		if c == ':' || unicode.IsSpace(c) {
			return '-'
		}
		return unicode.ToLower(c)
	}, axis)
	if first := []rune(key + "x")[0]; !unicode.IsLower(first) {
		return "axis-" + key
	}
	return key
}
