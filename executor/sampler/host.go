package sampler

import (
	"context"

	"dbmatrix/matrix"
)

// Roots are where the kernel shows its files.
type Roots struct {
	Proc string // "/proc"
	Sys  string // "/sys"
}

// System returns the roots of the running kernel.
func System() Roots { return Roots{Proc: "/proc", Sys: "/sys"} }

// A Host samples CPU time, context switches and swapping of the whole host.
type Host struct{}

// NewHost returns the sampler of a host.
func NewHost(r Roots) (*Host, error) { return nil, errNotBuilt }

// Name returns "host".
func (h *Host) Name() string { return "host" }

// Begin does nothing.
func (h *Host) Begin(context.Context) ([]matrix.Flag, error) { return nil, nil }

// Read returns the host's counters.
func (h *Host) Read(ctx context.Context, atEnd bool) ([]Sample, error) { return nil, errNotBuilt }
