package sampler

import (
	"context"

	"dbmatrix/matrix"
)

// A Tree says which processes count as one: Root and all that descend from it,
// but for the trees of Except.
type Tree struct {
	Name   string // the prefix of its metrics: server, client
	Root   int    // process id
	Except []int  // process ids
}

// Processes samples the process trees of a run and the CPU time of all others.
type Processes struct{}

// NewProcesses returns the sampler of process trees. All roots must be alive.
// other_cpu, the CPU time of all that is in none of the trees, is sampled too.
func NewProcesses(r Roots, trees ...Tree) (*Processes, error) { return nil, errNotBuilt }

// Name returns the names of the trees.
func (p *Processes) Name() string { return "" }

// Begin resets the peak of the resident sizes where that is permitted.
func (p *Processes) Begin(context.Context) ([]matrix.Flag, error) { return nil, nil }

// Read returns the counters and sizes of the trees.
func (p *Processes) Read(ctx context.Context, atEnd bool) ([]Sample, error) { return nil, errNotBuilt }
