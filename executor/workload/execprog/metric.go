package execprog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/executor/workload/program"
)

const (
	// mostPrinted bounds what is searched for metrics, and so held in memory.
	mostPrinted = 64 << 20

	// shownWidth is how much of a line a message shows.
	shownWidth = 200
)

// printed is what a program has printed.
type printed struct {
	keep     bool // else nothing is searched for
	all, out strings.Builder
	more     bool // than can be kept
}

func (p *printed) line(s program.Stream, line string) {
	if !p.keep || p.more {
		return
	}
	if p.more = p.all.Len()+len(line) > mostPrinted; p.more {
		return
	}
	p.all.WriteString(line + "\n")
	if s == program.Stdout {
		p.out.WriteString(line + "\n")
	}
}

// find returns the values of the metrics. The error tells of all that are not
// found.
func (p *printed) find(metrics []metric) ([]float64, error) {
	if p.more {
		return nil, fmt.Errorf("it prints more than the %d MiB that are searched for metrics", mostPrinted>>20)
	}
	values := make([]float64, len(metrics))
	var faults []error
	var document any
	var broken error
	if slices.ContainsFunc(metrics, func(m metric) bool { return m.path != "" }) {
		document, broken = readJSON(p.out.String())
	}
	for i, m := range metrics {
		var err error
		switch {
		case m.pattern != nil:
			values[i], err = match(m.pattern, p.all.String())
		case broken != nil:
			err = broken
		default:
			values[i], err = follow(document, m.path)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("metric %s: %w", m.name, err))
		}
	}
	return values, errors.Join(faults...)
}

// match returns the number that the first group of a pattern matches.
func match(pattern *regexp.Regexp, text string) (float64, error) {
	matches := pattern.FindAllStringSubmatchIndex(text, 2)
	switch {
	case len(matches) == 0:
		return 0, errors.New("nothing that it printed matches the regular expression")
	case len(matches) > 1:
		return 0, fmt.Errorf("the regular expression matches more than once, first %q and then %q: make it match one place, for example by ^ and $",
			around(text, matches[0]), around(text, matches[1]))
	case matches[0][2] < 0:
		return 0, fmt.Errorf("the group of the regular expression is not in what it matches, %q", around(text, matches[0]))
	}
	value, err := number(text[matches[0][2]:matches[0][3]])
	if err != nil {
		return 0, fmt.Errorf("%w, in the line %q", err, around(text, matches[0]))
	}
	return value, nil
}

// around returns the line in which a match begins.
func around(text string, match []int) string {
	start := strings.LastIndexByte(text[:match[0]], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return program.Shorten(line, shownWidth)
}

// decimal is what a number looks like: no thousands separators, nothing else.
var decimal = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

func number(text string) (float64, error) {
	trimmed := strings.TrimSpace(text)
	if !decimal.MatchString(trimmed) {
		return 0, fmt.Errorf("%q is no decimal number", program.Shorten(text, shownWidth))
	}
	value, err := strconv.ParseFloat(trimmed, 64)
	if err != nil || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%q is beyond the range of numbers", program.Shorten(text, shownWidth))
	}
	return value, nil
}

// readJSON reads a document. Its numbers stay as they are written.
func readJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var document any
	if err := d.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it printed no JSON to its standard output")
		}
		return nil, fmt.Errorf("what it printed to its standard output is not JSON: %w", err)
	}
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" {
		line, _, _ := strings.Cut(rest, "\n")
		return nil, fmt.Errorf("its standard output goes on after the JSON, with %q", program.Shorten(line, shownWidth))
	}
	return document, nil
}

// follow returns the number at a path such as jobs.0.read.iops: keys of objects
// and positions in lists, from 0. A key may hold dots itself.
func follow(document any, path string) (float64, error) {
	switch value := step(document, strings.Split(path, ".")).(type) {
	case json.Number:
		return number(value.String())
	case string: // some programs write numbers as text
		return number(value)
	case nil:
		return 0, fmt.Errorf("there is no %s in the JSON that it printed, or it is null", path)
	default:
		return 0, fmt.Errorf("%s is no number in the JSON that it printed", path)
	}
}

// step goes down a path; nil is a path that leads nowhere.
func step(value any, parts []string) any {
	if len(parts) == 0 {
		return value
	}
	switch value := value.(type) {
	case []any:
		if i, err := strconv.Atoi(parts[0]); err == nil && i >= 0 && i < len(value) {
			return step(value[i], parts[1:])
		}
	case map[string]any:
		for n := 1; n <= len(parts); n++ {
			inside, ok := value[strings.Join(parts[:n], ".")]
			if !ok {
				continue
			}
			if found := step(inside, parts[n:]); found != nil {
				return found
			}
		}
	}
	return nil
}
