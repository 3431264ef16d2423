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
