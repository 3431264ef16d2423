package matrix

import (
	"path/filepath"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// A headBlock is the experiment block.
type headBlock struct {
	name, title, description, source string

	replicates  int
	order       Order
	seed        int64
	cooldown    time.Duration
	maxFailures int
}

// defaultMaxFailures is how many runs in a row may fail before a matrix stops:
// enough to survive a build that is broken, few enough that a full disk does not
// "finish" forty cells in five minutes.
const defaultMaxFailures = 3

// maxReplicates bounds replicates: no statistics asks for more, and a slip of a
// key must not fill the memory.
const maxReplicates = 100000

// defaultSeed is used where an experiment gives none. It is a constant, so that
// an experiment means the same wherever it is read, and it is recorded.
const defaultSeed = 1

func (d *decoder) decodeHead(blocks hcl.Blocks) {
	d.head = headBlock{name: filepath.Base(d.src.dir), replicates: 1, order: Interleaved, seed: defaultSeed, maxFailures: defaultMaxFailures}
	for i, b := range blocks {
		if i > 0 {
			d.faults.add(fault(b.DefRange, "Second experiment block", "The experiment block at %s already says what this experiment is. Join the two.", place(blocks[0].DefRange)))
			continue
		}
		content := d.content(b.Body, experimentSchema())
		at := content.Attributes
		h := &d.head
		h.name = read(d, at["name"], h.name, nameValue)
		h.title = read(d, at["title"], "", textValue)
		h.description = read(d, at["description"], "", textValue)
		h.source = read(d, at["source"], "", textValue)
		h.replicates = read(d, at["replicates"], h.replicates, between(1, maxReplicates))
		h.order = read(d, at["order"], h.order, oneOf(Interleaved, Grouped, Shuffled))
		h.seed = read(d, at["seed"], h.seed, wholeValue)
		h.cooldown = read(d, at["cooldown"], 0, durationValue)
		h.maxFailures = read(d, at["max_consecutive_failures"], h.maxFailures, atLeast(1))
	}
}

func (d *decoder) declareDefaults(blocks hcl.Blocks) {
	for i, b := range blocks {
		if i > 0 {
			d.defaults.open = true
			d.faults.add(fault(b.DefRange, "Second defaults block", "The defaults block at %s is the base of every cell already. Join the two.", place(blocks[0].DefRange)))
			continue
		}
		before := d.losses
		content := d.content(b.Body, overlaySchema())
		d.defaults = &overlay{kind: OverlayDefaults, name: "defaults", rng: b.DefRange}
		d.declareOverlay(d.defaults, content)
		d.defaults.open = d.losses > before
	}
}

// compileOverlays compiles all overlays but those of matrices, and checks the
// locals, now that every name is gathered.
func (d *decoder) compileOverlays() {
	d.checkLocalNames()
	for _, name := range keys(d.servers) {
		for _, o := range d.servers[name].overlays {
			d.compileOverlay(o)
		}
	}
	if d.defaults != nil {
		d.compileOverlay(d.defaults)
	}
	for _, a := range d.axes {
		if a.overlay != nil {
			d.compileOverlay(a.overlay)
		}
		for _, l := range a.levels {
			d.compileOverlay(l.overlay)
		}
	}
	for _, p := range d.phases {
		d.compileOverlay(p.overlay)
		p.overlay.phaseMask = make([]bool, len(d.phases))
		p.overlay.phaseMask[p.index] = true
	}
}

// checkReads reports params that nothing reads: a misspelt name, or an axis that
// only seems to vary something.
func (d *decoder) checkReads() {
	if d.read[ref{rootParam, ""}] {
		return
	}
	mentioned, all := map[string]bool(nil), false
	if d.faults.errors() { // something that reads them may be at fault
		mentioned, all = d.mentioned()
	}
	for _, p := range d.paramOrder {
		if !all && !d.read[ref{rootParam, p.name}] && !mentioned[p.name] {
			d.idle = true
			d.faults.add(fault(p.ranges[0], "Param that nothing reads",
				"The param %q is set here, but no expression reads param.%s, so it changes nothing. Use it, or remove it.", p.name, p.name))
		}
	}
}
