package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// stepAttribute is the attribute by which a workload says which of its steps a
// phase is.
const stepAttribute = "step"

// checkOrder reports phases of a cell that come before what they work on is made.
// Phases run in the order of their blocks, so a file that is read before another
// moves what it holds to the front.
func (d *decoder) checkOrder(f *frame, phases []*Phase) bool {
	good := true
	for i, p := range phases {
		if p.opaque() {
			return good // after it, anything may be there
		}
		needs := p.follows()
		if len(needs) == 0 || slices.ContainsFunc(phases[:i], p.madeBy(needs)) {
			continue
		}
		good = false
		what := fmt.Sprintf("Phase %q (%s, step %s) works on what step %s makes, and ", p.Block, p.Workload.Type, p.step(), strings.Join(needs, " or "))
		rest := phases[i+1:]
		if j := slices.IndexFunc(rest, p.madeBy(needs)); j >= 0 {
			d.faults.addIn(f.cell, fault(p.Range, "Phase before its data",
				"%sphase %q (%s), which has that step, comes after it. Phases run in the order of their blocks, and files are read in the order of their names: move the block, or rename the file.",
				what, rest[j].Block, place(rest[j].Range)))
			continue
		}
		d.faults.addIn(f.cell, fault(p.Range, "Phase without its data", "%sno phase of the cell has that step. Put one before it.", what))
	}
	return good
}

// step returns which of its workload's steps the phase is; "" where there are
// none, or where it hangs on a build that is not on this host.
func (p *Phase) step() string {
	v, has := p.Workload.Args[stepAttribute]
	if !has || v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// follows returns the steps of which one must have come before the phase.
func (p *Phase) follows() []string {
	if p.resolved.typ.Follows == nil || p.step() == "" {
		return nil
	}
	return p.resolved.typ.Follows(p.Workload.Args)
}

// madeBy returns a test of phases: whether one is of the phase's workload type
// and has one of the steps.
func (p *Phase) madeBy(steps []string) func(*Phase) bool {
	return func(other *Phase) bool {
		return other.Workload.Type == p.Workload.Type && slices.Contains(steps, other.step())
	}
}

// opaque reports whether it cannot be told what is in the server after the phase.
// Setup commands that are given the data directory may put anything there.
func (p *Phase) opaque() bool {
	if opaque := p.resolved.typ.Opaque; opaque != nil && opaque(p.Workload.Args) {
		return true
	}
	for _, command := range p.Settings.Setup {
		if slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, "{dir}") }) {
			return true
		}
	}
	return false
}
