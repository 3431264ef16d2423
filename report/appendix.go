package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// An Appendix is what stands behind the numbers of a document: what the runs of
// the experiment were made with, and how they went over time.
type Appendix struct {
	Facts     []Setting    // of host, builds and definition, that all runs have in common
	Differing []Difference // facts that they do not

	Files     []OptionFile // each that some server was started with, once
	Options   []Difference // options that are not the same in all files
	Variables []Difference // in force, that are not the same in all runs

	Runs []RunOverTime

	// Held back are how many iterations the record has readings of that are
	// not among Runs.
	HeldBack int
}

// A Setting is a named text.
type Setting struct{ Name, Value string }

// A Difference is a name with each value that some runs have.
type Difference struct {
	Name   string
	Values []SharedValue
}

// A SharedValue is a value and what has it.
type SharedValue struct {
	Value string
	Of    []string
}

// An OptionFile is what a server was asked for, without the places of the run.
type OptionFile struct {
	Number int // from 1
	Lines  []OptionLine
	Of     []string // the runs, and their phases where not all began with it
}

// An OptionLine is an option as it was asked for.
type OptionLine struct {
	Name, Value string
	Origin      string // what set it
}

// An AskedOption is an option that a server was started with.
type AskedOption struct {
	Phase string // the block that it was started for
	OptionLine

	// Apart is what the server has in force where no variable tells it, such
	// as a plugin; what was asked for where nothing tells.
	Apart string
}

// ServerSettings are what the servers of an attempt were asked for and what they
// had in force.
type ServerSettings struct {
	Asked []AskedOption // in the order of the phases, then by name

	// Variables are those in force that are not the same in all attempts,
	// but for those that tell of places. Those of a server that was started
	// for a later phase are there where they differ from the first. Nil: none
	// are on record, as where the server was stopped before it told them.
	Variables map[string]string
}

// Servers reads the settings of attempts, by ID.
type Servers func(attempts []Attempt) (map[int64]ServerSettings, error)

// newAppendix returns what stands behind the numbers, with the readings of so many
// iterations at most.
func (b *builder) newAppendix(iterations int) *Appendix {
	runs := slices.DeleteFunc(slices.Clone(b.runs[Own]), func(r *run) bool { return r.attempt == nil })
	if len(runs) == 0 {
		return nil
	}
	names := b.runNames(runs)
	a := &Appendix{}
	a.Facts, a.Differing = compareSettings(runs, names, func(r *run) map[string]string { return r.attempt.Facts })
	a.Facts = slices.DeleteFunc(a.Facts, func(s Setting) bool { return secret(s.Name) })
	a.Differing = slices.DeleteFunc(a.Differing, func(d Difference) bool { return secret(d.Name) })
	a.nameFacts()
	_, a.Variables = compareSettings(runs, names, func(r *run) map[string]string { return b.servers()[r.attempt.ID].Variables })
	a.Variables = slices.DeleteFunc(a.Variables, func(d Difference) bool { return !d.valuesDiffer() })
	b.addOptionFiles(a, runs, names)
	b.addReadings(a, runs, names, iterations)
	return a
}

// runNames names runs as tables do, by the axes that vary, and by their replicate
// where there are several.
func (b *builder) runNames(runs []*run) map[*run]string {
	axes := varying(b.axes.names, runs)
	several := slices.ContainsFunc(runs, func(r *run) bool { return r.replicate > 1 })
	names := make(map[*run]string, len(runs))
	for _, r := range runs {
		name := b.axes.joined(axes, r.levels)
		if name == "" {
			name = cmp.Or(b.axes.joined(b.axes.names, r.levels), "the only cell")
		}
		if several {
			name += fmt.Sprintf(" (%d)", r.replicate)
		}
		names[r] = name
	}
	return names
}

// secret reports whether a fact tells one host from every other: a machine's id is
// not for the public, and who compares hosts has their names.
func secret(fact string) bool { return fact == "host.id" || fact == "host.boot" }

// compareSettings sorts the settings of runs into those that all have alike and
// those that differ.
func compareSettings(runs []*run, names map[*run]string, of func(*run) map[string]string) (common []Setting, differing []Difference) {
	all := map[string]bool{}
	settings := make([]map[string]string, len(runs))
	for i, r := range runs {
		settings[i] = of(r)
		for name := range settings[i] {
			all[name] = true
		}
	}
	for _, name := range sortedKeys(all) {
		value := func(i int) string {
			if value, ok := settings[i][name]; ok {
				return value
			}
			return notSet
		}
		differ := false
		for i := range runs {
			differ = differ || value(i) != value(0)
		}
		if !differ {
			common = append(common, Setting{name, value(0)})
			continue
		}
		d := Difference{Name: name}
		for i, r := range runs {
			d.add(value(i), names[r])
		}
		differing = append(differing, d)
	}
	return common, differing
}

// notSet stands for a setting that is not there.
const notSet = "(not set)"

// add adds the value that something has.
func (d *Difference) add(value, of string) {
	i := slices.IndexFunc(d.Values, func(v SharedValue) bool { return v.Value == value })
	if i < 0 {
		i = len(d.Values)
		d.Values = append(d.Values, SharedValue{Value: value})
	}
	d.Values[i].Of = append(d.Values[i].Of, of)
}

// valuesDiffer reports whether what has the name has several values: a variable
// that some servers do not have at all tells of the build, not of its settings.
func (d *Difference) valuesDiffer() bool {
	values := 0
	for _, v := range d.Values {
		if v.Value != notSet {
			values++
		}
	}
	return values > 1
}

// addOptionFiles gathers the option files, and the options in which they differ.
func (b *builder) addOptionFiles(a *Appendix, runs []*run, names map[*run]string) {
	byText := map[string]int{}
	for _, r := range runs {
		starts := byStart(b.servers()[r.attempt.ID].Asked)
		for _, start := range starts {
			key := fmt.Sprint(start.lines)
			n, ok := byText[key]
			if !ok {
				n = len(a.Files)
				byText[key] = n
				a.Files = append(a.Files, OptionFile{Number: n + 1, Lines: start.lines})
			}
			of := names[r]
			if len(starts) > 1 {
				of += ": " + strings.Join(start.phases, ", ")
			}
			a.Files[n].Of = append(a.Files[n].Of, of)
		}
	}
	if len(a.Files) > 1 {
		a.Options = differences(a.Files)
	}
}

// A start is what a server was started with for some phases.
type start struct {
	phases []string
	lines  []OptionLine
}

// byStart sorts the options of an attempt by the starts of its server; starts with
// equal options are one.
func byStart(asked []AskedOption) []start {
	var phases []string
	lines := map[string][]OptionLine{}
	for _, o := range asked {
		if !slices.Contains(phases, o.Phase) {
			phases = append(phases, o.Phase)
		}
		lines[o.Phase] = append(lines[o.Phase], o.OptionLine)
	}
	var starts []start
	for _, phase := range phases {
		i := slices.IndexFunc(starts, func(s start) bool { return slices.Equal(s.lines, lines[phase]) })
		if i < 0 {
			starts = append(starts, start{lines: lines[phase]})
			i = len(starts) - 1
		}
		starts[i].phases = append(starts[i].phases, phase)
	}
	return starts
}

// differences returns the options that are not the same in all files.
func differences(files []OptionFile) []Difference {
	all := map[string]bool{}
	for _, f := range files {
		for _, line := range f.Lines {
			all[line.Name] = true
		}
	}
	var out []Difference
	for _, name := range sortedKeys(all) {
		d := Difference{Name: name}
		for _, f := range files {
			value := notSet
			if i := slices.IndexFunc(f.Lines, func(l OptionLine) bool { return l.Name == name }); i >= 0 {
				value = f.Lines[i].Value
			}
			d.add(value, fmt.Sprint(f.Number))
		}
		if len(d.Values) > 1 {
			out = append(out, d)
		}
	}
	return out
}

// servers returns what the servers of attempts were asked for and have in force, by
// the ID of the attempt. It is read once, and only if something asks.
func (b *builder) servers() map[int64]ServerSettings {
	settings, err := b.settings()
	if err != nil {
		b.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Server settings not read", Detail: err.Error() + "."})
	}
	return settings
}

// shortOrigin shortens the places that set an option, one a line, each as "level
// io.dio (experiments/x/experiment.hcl:111)": a reader elsewhere has other folders.
func shortOrigin(origin string) string {
	var places []string
	for _, line := range strings.Split(origin, "\n") {
		what, place, found := strings.Cut(line, " (")
		if found {
			what += ", " + path.Base(strings.TrimSuffix(place, ")"))
		}
		places = append(places, what)
	}
	return strings.Join(places, "; ")
}

// PlaceVariable reports whether a server variable tells where a server is or when
// it began, which differs between any two.
func PlaceVariable(name, value string) bool {
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") {
		return true
	}
	return slices.Contains([]string{"server_uuid", "timestamp", "pseudo_thread_id", "hostname", "port", "report_port", "unix_socket_directories"}, name) ||
		strings.HasPrefix(name, "gtid_")
}
