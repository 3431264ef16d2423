package matrix

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// fault makes an error diagnostic about the given place.
func fault(rng hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf(format, args...),
		Subject:  rng.Ptr(),
	}
}

// warning makes a warning diagnostic about the given place.
func warning(rng hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	d := fault(rng, summary, format, args...)
	d.Severity = hcl.DiagWarning
	return d
}

// place prints a range as file:line, the form in which origins are shown.
func place(r hcl.Range) string {
	if r.Filename == "" {
		return "dbmatrix"
	}
	return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
}

// faults collects diagnostics, in which a fault of one place that shows in many
// cells appears once.
type faults struct {
	order []faultKey
	added int
	found map[faultKey]*foldedFault
}

type faultKey struct {
	summary, detail string
	subject         hcl.Range
}

type foldedFault struct {
	diag  *hcl.Diagnostic
	cells int
	first CellKey
	last  CellKey
}

// add records diagnostics that are about no cell in particular.
func (f *faults) add(diags ...*hcl.Diagnostic) {
	for _, d := range diags {
		f.fold(d)
	}
}

// addIn records diagnostics that appeared while a cell was evaluated.
func (f *faults) addIn(cell CellKey, diags ...*hcl.Diagnostic) {
	for _, d := range diags {
		folded := f.fold(d)
		if folded.cells > 0 && folded.last == cell {
			continue
		}
		if folded.cells == 0 {
			folded.first = cell
		}
		folded.cells++
		folded.last = cell
	}
}

func (f *faults) fold(d *hcl.Diagnostic) *foldedFault {
	d = reworded(d)
	if d.Severity == hcl.DiagError {
		f.added++
	}
	key := faultKey{summary: d.Summary, detail: d.Detail}
	if d.Subject != nil {
		key.subject = *d.Subject
	}
	if folded, ok := f.found[key]; ok {
		return folded
	}
	if f.found == nil {
		f.found = map[faultKey]*foldedFault{}
	}
	folded := &foldedFault{diag: d}
	f.found[key] = folded
	f.order = append(f.order, key)
	return folded
}

// typeNames lists the types that a variable can have.
const typeNames = "string, number, bool, any, list(...), set(...), map(...), object({...}) and tuple([...])"

// wayOut holds what is added to details of HCL's own.
var wayOut = []struct{ summary, detail, add string }{
	{"Invalid type specification", "", " The types are " + typeNames + "."},
	{"Invalid multi-line string", "", " Where the text was meant to end on its line, the closing quote is missing."},
	{"Operation failed", "null", nullHint},
	{"Invalid operand", "null", nullHint},
	{"Inconsistent conditional result types", "object", " Write the condition at each key instead, as in { name = CONDITION ? 1 : null }; null leaves the key out."},
}

// nullHint says why a name is null where a value was expected.
const nullHint = " An axis or param that a cell does not set is null there; test for it first, as in pos.x == null ? 0 : pos.x."

// reworded returns a diagnostic of HCL's own in the words of this language,
// where HCL's do not tell what to do.
func reworded(d *hcl.Diagnostic) *hcl.Diagnostic {
	changed := *d
	if kind, ok := strings.CutPrefix(d.Summary, "Missing name for "); ok {
		changed.Detail = fmt.Sprintf("This block needs a name in quotes before its brace: %s \"NAME\" {", kind)
		return &changed
	}
	if kind, ok := strings.CutPrefix(d.Summary, "Extraneous label for "); ok {
		changed.Detail = fmt.Sprintf("There is one name too many in the header of this %s block.", kind)
		return &changed
	}
	for _, w := range wayOut {
		if d.Summary == w.summary && strings.Contains(d.Detail, w.detail) && !strings.HasSuffix(d.Detail, w.add) {
			changed.Detail += w.add
			return &changed
		}
	}
	return d
}

// count returns how many times an error was added.
func (f *faults) count() int { return f.added }

// errors reports whether one of the diagnostics is an error.
func (f *faults) errors() bool {
	for _, folded := range f.found {
		if folded.diag.Severity == hcl.DiagError {
			return true
		}
	}
	return false
}

// diagnostics returns all that was collected, in the order of the source.
func (f *faults) diagnostics() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, key := range f.order {
		folded := f.found[key]
		d := *folded.diag
		switch {
		case folded.first == "": // of the one cell of an experiment without axes
		case folded.cells == 1:
			d.Detail += fmt.Sprintf(" (In cell %s.)", folded.first)
		case folded.cells > 1:
			d.Detail += fmt.Sprintf(" (In %d cells, first %s.)", folded.cells, folded.first)
		}
		d.Detail = strings.TrimSpace(d.Detail)
		diags = append(diags, &d)
	}
	sort.SliceStable(diags, func(i, j int) bool { return before(diags[i].Subject, diags[j].Subject) })
	return diags
}

func before(a, b *hcl.Range) bool {
	switch {
	case a == nil || b == nil:
		return a != nil && b == nil
	case a.Filename != b.Filename:
		return a.Filename < b.Filename
	default:
		return a.Start.Byte < b.Start.Byte
	}
}
