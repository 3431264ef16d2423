package sampler

import (
	"context"

	"dbmatrix/matrix"
)

// A Device is a block device below a filesystem.
type Device struct {
	Name         string // as the kernel calls it, such as vda1 or dm-0
	Major, Minor uint32

	// Chain is what the device is made of, from itself downwards, such as
	// "loop0", "vda1", "vda". Its own counters are the ones that are read;
	// those of the others count the same requests again.
	Chain []string
}

// A Filesystem is what holds a path.
type Filesystem struct {
	MountPoint string
	Type       string // ext4, xfs, btrfs ...
	Source     string
	Options    string   // of the mount and of the filesystem, joined by commas
	Devices    []Device // none: it has no block device, such as tmpfs
}

// FindFilesystem returns what holds a path, which must exist.
func FindFilesystem(r Roots, path string) (Filesystem, error) { return Filesystem{}, errNotBuilt }

// Devices samples the block devices of a run, all together.
type Devices struct{}

// NewDevices returns the sampler of the devices that hold the paths, each
// counted once. Paths without a block device have no disk metrics.
func NewDevices(r Roots, paths ...string) (*Devices, error) { return nil, errNotBuilt }

// Name returns the names of the devices.
func (d *Devices) Name() string { return "" }

// List returns the devices.
func (d *Devices) List() []Device { return nil }

// Begin flags paths that have no block device.
func (d *Devices) Begin(context.Context) ([]matrix.Flag, error) { return nil, nil }

// Read returns the devices' counters, summed.
func (d *Devices) Read(ctx context.Context, atEnd bool) ([]Sample, error) { return nil, errNotBuilt }
