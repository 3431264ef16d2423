package sampler

import (
	"context"

	"dbmatrix/matrix"
)

// A Root is a directory whose disk usage is counted.
type Root struct {
	Path string

	// Role is what its files count as (data, redo, binlog, tmp). Classify,
	// where not nil, tells the role of single files by their path relative
	// to Path, with slashes; where it returns "" they count as Role.
	Role     string
	Classify func(rel string) string
}

// A Size is how much disk files take.
type Size struct {
	Allocated int64 // bytes of blocks; holes take none
	Apparent  int64 // bytes that reading them yields
	Files     int64
}

// A Usage is disk usage by role.
type Usage map[string]Size

// Total returns the sizes of all roles together.
func (u Usage) Total() Size { return Size{} }

// Metrics returns size_allocated, size_apparent and the same by role, sorted by
// name.
func (u Usage) Metrics() []matrix.Metric { return nil }

// DiskUsage walks the roots, which may lie within each other, and counts every
// file once. Files that vanish meanwhile are not counted; other filesystems
// mounted below a root are not entered.
func DiskUsage(ctx context.Context, roots ...Root) (Usage, error) { return nil, errNotBuilt }

// A Space is the room on a filesystem, in bytes.
type Space struct {
	Total     int64
	Free      int64 // for root
	Available int64 // for everybody else
}

// FreeSpace returns the room on the filesystem that holds a path.
func FreeSpace(path string) (Space, error) { return Space{}, errNotBuilt }
