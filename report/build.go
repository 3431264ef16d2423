package report

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// An Eval evaluates an expression of the definition for one row. extra are the
// names that a report adds (col, base), funcs its functions (at, base_at, fact,
// ratio). The Eval method of matrix.Experiment is one. Like Readings and Servers it
// is called from several goroutines at once.
type Eval func(expr hcl.Expression, scope *matrix.Scope, extra map[string]cty.Value, funcs map[string]function.Function) (cty.Value, hcl.Diagnostics)

// Readings reads the recorded series of an iteration, by the Record of its
// PhaseResult: of the named metrics or, with none named, of all.
type Readings func(record int64, metrics ...string) ([]matrix.Series, error)

// An Input is all that a report is made from.
type Input struct {
	Experiment *matrix.Experiment
	Cells      []*matrix.Cell // of the plan, in its order
	Attempts   []Attempt      // what was measured, in any order, and imports that are on record

	Eval Eval

	// Readings reads what was recorded over time, for charts; nil: nothing
	// was.
	Readings Readings

	// Servers reads what servers were asked for and had in force; nil:
	// nothing is known of that.
	Servers Servers

	// Appendix asks for the appendix of the document, with the readings of
	// so many iterations at most; with 0 there is none.
	Appendix int

	// TablesOnly leaves out all but tables.
	TablesOnly bool

	// Partial leaves blocks out that have faults, or charts that have
	// nothing to draw yet: their faults are warnings then.
	Partial bool

	// Show is the source whose rows are shown (Own, the name of an import
	// block, or All) in place of what the tables say; "" leaves it to them.
	Show string
}

// All is the source that stands for every one of them.
const All = "all"

// Build makes the report of an experiment: every table, chart and text block of its
// definition, in source order. Faults of the definition and of imported files
// are diagnostics with their place; blocks they spoil are missing from the
// document. What is doubtful about the numbers is no diagnostic: it stands under
// the tables.
func Build(in Input) (*Document, hcl.Diagnostics) {
	b := newBuilder(in)
	if !b.isSource(in.Show) {
		return b.doc, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unknown source",
			Detail: fmt.Sprintf("There is no source %q; the sources are %s.", in.Show, strings.Join(append(b.sources, All), ", "))}}
	}
	b.makeBlocks(in.blocks())
	b.checkImports(func(check *matrix.ImportCheck, m Misfit) {
		b.warn(check.Range, "Imported value that does not fit", "%s.", m)
	})
	if in.Appendix > 0 {
		b.doc.Appendix = b.newAppendix(in.Appendix)
	}
	b.doc.visible()
	return b.doc, b.diags
}

// blocks returns the blocks of the definition that are wanted.
func (in *Input) blocks() []matrix.ReportBlock {
	return slices.DeleteFunc(slices.Clone(in.Experiment.Report), func(def matrix.ReportBlock) bool {
		_, isTable := def.(*matrix.Table)
		return in.TablesOnly && !isTable
	})
}

// makeBlocks makes blocks of the report, several at a time, and adds them to the
// document in their order, with what was found on the way.
func (b *builder) makeBlocks(defs []matrix.ReportBlock) {
	type result struct {
		block *Block
		findings
	}
	results := inParallel(len(defs), func(i int) result {
		own := b.apart()
		return result{own.block(defs[i]), own.findings}
	})
	for i, made := range results {
		before := len(b.diags)
		b.add(made.diags...)
		switch table, isTable := defs[i].(*matrix.Table); {
		case made.block == nil && isTable:
			b.doc.leftOut = append(b.doc.leftOut, table.Name)
		case made.block == nil:
		case b.in.Partial && made.faults > 0:
			b.doc.leftOut = append(b.doc.leftOut, made.block.name())
		default:
			if c := made.block.Chart; c != nil {
				c.File = b.fileOf(c.Name)
			}
			b.doc.Blocks = append(b.doc.Blocks, *made.block)
		}
		if b.in.Partial {
			b.forgive(before)
		}
	}
}

// isSource reports whether a name is that of a source, or leaves it open.
func (b *builder) isSource(name string) bool {
	return name == "" || name == All || slices.Contains(b.sources, name)
}

// block makes one block of the report; nil where the definition's block shows
// nothing, or cannot.
func (b *builder) block(def matrix.ReportBlock) *Block {
	switch def := def.(type) {
	case *matrix.Table:
		if t := b.table(def); t != nil {
			return &Block{Table: t}
		}
	case *matrix.Text:
		return &Block{Text: b.text(def)}
	case *matrix.Chart:
		c, why := b.chart(def)
		switch {
		case c != nil:
			return &Block{Chart: c}
		case why != "":
			return &Block{Text: &Text{Name: def.Name, Markdown: fmt.Sprintf("(The chart %q is left out: %s.)", def.Name, why)}}
		}
	}
	return nil
}

// forgive makes warnings of the faults from the given one on: what they spoil is
// left out, and the rest is shown.
func (b *builder) forgive(from int) {
	for i, d := range b.diags[from:] {
		if d.Severity == hcl.DiagError {
			w := *d
			w.Severity = hcl.DiagWarning
			w.Detail += " What needs it is left out."
			b.diags[from+i] = &w
		}
	}
}

// BuildTable makes one table that need not be in the definition.
func BuildTable(in Input, t *matrix.Table) (*Table, hcl.Diagnostics) {
	b := newBuilder(in)
	out := b.table(t)
	if out != nil {
		out.visible()
	}
	return out, b.diags
}

// A builder holds what all blocks of a report are made from, and what was found on
// the way. Once it is made, only its findings change.
type builder struct {
	in      Input
	doc     *Document
	library *Library
	axes    *axisOrder
	runs    map[string][]*run // by source
	sources []string          // in the order in which rows of them are shown

	// recorded are the metrics and imported columns that some run has.
	recorded map[string]bool

	// differing are the facts that not all attempts have alike, sorted.
	differing []string

	numbers *regexp.Regexp // noteNumbers

	settings func() (map[int64]ServerSettings, error) // what in.Servers read, once

	// checking is set while a definition is judged without results.
	checking bool
	unsound  map[matrix.CellKey]bool // cells that are at fault, while checking
	lacking  bool                    // columns may be recorded of which recorded does not know

	findings
}

// findings are what is wrong with a definition, or to be said of it.
type findings struct {
	diags  hcl.Diagnostics
	faults int             // how many errors were met, also those said before
	said   map[string]bool // what diags already holds
}

// apart returns a builder that shares all but what it finds, to make a block while
// others are made.
func (b *builder) apart() *builder {
	own := *b
	own.findings = findings{said: map[string]bool{}}
	return &own
}

func newBuilder(in Input) *builder {
	exp := in.Experiment
	b := &builder{
		in: in, library: NewLibrary(), axes: newAxisOrder(exp, in.Cells),
		doc:  &Document{Title: exp.Title, Description: exp.Description, Source: exp.Source},
		runs: map[string][]*run{}, recorded: map[string]bool{}, findings: findings{said: map[string]bool{}}, sources: []string{Own},
		numbers: regexp.MustCompile(noteNumbers),
		settings: sync.OnceValues(func() (map[int64]ServerSettings, error) {
			if in.Servers == nil {
				return nil, nil
			}
			return in.Servers(in.Attempts)
		}),
	}
	cells := newCellIndex(b.axes.names, in.Cells)
	b.runs[Own] = ownRuns(in.Cells, cells, in.Attempts, exp.Replicates)
	b.note(in.Attempts)
	measured := [][]Attempt{in.Attempts}
	for _, block := range exp.Report {
		imp, ok := block.(*matrix.Import)
		if !ok {
			continue
		}
		var attempts []Attempt
		if imp.Faulty || !exp.CellsKnown() {
			b.lacking = true
		} else {
			attempts = b.readImport(imp)
		}
		measured = append(measured, attempts)
		b.sources = append(b.sources, imp.Name)
		b.runs[imp.Name] = importedRuns(cells, attempts)
		b.note(attempts)
	}
	for _, attempts := range bySource(in.Attempts) {
		name := attempts[0].Source
		b.sources = append(b.sources, name)
		b.runs[name] = importedRuns(cells, attempts)
	}
	for _, runs := range b.runs {
		for _, r := range runs {
			r.findDoubts()
		}
	}
	b.differing = differingFacts(measured...)
	return b
}

// differingFacts returns the facts that attempts do not have alike: of those alone
// a table may have something to say.
func differingFacts(lists ...[]Attempt) []string {
	first, differ := map[string]string{}, map[string]bool{}
	for _, attempts := range lists {
		for i := range attempts {
			for name, value := range attempts[i].Facts {
				if old, ok := first[name]; !ok {
					first[name] = value
				} else if old != value {
					differ[name] = true
				}
			}
		}
	}
	return sortedKeys(differ)
}

// bySource returns the attempts of each source but Own, those of one name
// together. An import block of that name is a fault of the caller.
func bySource(attempts []Attempt) [][]Attempt {
	var lists [][]Attempt
	at := map[string]int{}
	for _, a := range attempts {
		if a.Source == Own {
			continue
		}
		i, ok := at[a.Source]
		if !ok {
			i = len(lists)
			at[a.Source], lists = i, append(lists, nil)
		}
		lists[i] = append(lists[i], a)
	}
	return lists
}

// note remembers the names of what was recorded, and levels that the definition
// does not have.
func (b *builder) note(attempts []Attempt) {
	for i := range attempts {
		a := &attempts[i]
		if a.Source != Own {
			for _, axis := range b.axes.names {
				if level, ok := a.Levels[axis]; ok {
					b.axes.add(axisLevel{axis, level})
				}
			}
		}
		for j := range a.Phases {
			for _, m := range a.Phases[j].Metrics {
				b.recorded[m.Name] = true
			}
			for token := range a.Phases[j].Printed {
				b.recorded[token] = true
			}
		}
	}
}

func (b *builder) readImport(imp *matrix.Import) []Attempt {
	f, err := os.Open(imp.File)
	if err != nil {
		b.lacking = true
		b.fault(imp.Range, "Imported file not read", "%s", err)
		return nil
	}
	defer f.Close()
	attempts, err := ReadImport(f, imp.Name, imp.File, b.axes.names)
	if err != nil {
		b.lacking = true
		b.fault(imp.Range, "Imported file with faults", "%s", err)
		return nil
	}
	return attempts
}

// fault records an error of the definition once, however many rows show it.
func (b *builder) fault(at hcl.Range, summary, format string, args ...any) {
	b.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: at.Ptr()})
}

func (b *builder) warn(at hcl.Range, summary, format string, args ...any) {
	b.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: at.Ptr()})
}

func (b *findings) add(diags ...*hcl.Diagnostic) {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			b.faults++
		}
		key := d.Summary + "\x00" + d.Detail
		if d.Subject != nil {
			key += d.Subject.String()
		}
		if !b.said[key] {
			b.said[key] = true
			b.diags = append(b.diags, d)
		}
	}
}

// source returns whose rows a table shows.
func (b *builder) source(t *matrix.Table) string {
	switch {
	case b.in.Show != "":
		return b.in.Show
	case t.Source != "":
		return t.Source
	default:
		return Own
	}
}
