package sampler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dbmatrix/matrix"

	"github.com/prometheus/procfs/blockdevice"
)

// sectorSize is the unit of sectors in /proc/diskstats in bytes, whatever the
// device's own block size is (Documentation/admin-guide/iostats.rst in the
// kernel's source).
const sectorSize = 512

// Devices samples the block devices of a run, all together.
type Devices struct {
	fs      blockdevice.FS
	devices []Device
	none    []string // paths that have no block device
	state   []deviceState
}

// A deviceState is what was read of a device before.
type deviceState struct {
	last  blockdevice.IOStats
	known bool
	sum   deviceSum
}

// A deviceSum is what a device did since it was first read.
type deviceSum struct {
	reads, writes, readSectors, writeSectors, busyMS uint64
}

// NewDevices returns the sampler of the devices that hold the paths, each
// counted once. With paths on a filesystem without a block device it has no disk
// metrics at all: those of the other paths would not be all.
func NewDevices(r Roots, paths ...string) (*Devices, error) {
	bfs, err := blockdevice.NewFS(r.Proc, r.Sys)
	if err != nil {
		return nil, fmt.Errorf("sampling devices: %w", err)
	}
	d := &Devices{fs: bfs}
	for _, p := range paths {
		f, err := FindFilesystem(r, p)
		if err != nil {
			return nil, err
		}
		if len(f.Devices) == 0 {
			d.none = append(d.none, fmt.Sprintf("%s (%s)", p, f.Type))
		}
		d.add(f.Devices)
	}
	return d, nil
}

func (d *Devices) add(devices []Device) {
	for _, x := range devices {
		if !slices.ContainsFunc(d.devices, func(y Device) bool { return x.Major == y.Major && x.Minor == y.Minor }) {
			d.devices = append(d.devices, x)
			d.state = append(d.state, deviceState{})
		}
	}
}

// Name returns the names of the devices.
func (d *Devices) Name() string {
	names := make([]string, len(d.devices))
	for i, x := range d.devices {
		names[i] = x.Name
	}
	if len(names) == 0 {
		return "no device"
	}
	return "device " + strings.Join(names, ", ")
}

// List returns the devices.
func (d *Devices) List() []Device { return slices.Clone(d.devices) }

// Begin does nothing.
func (d *Devices) Begin(context.Context) error { return nil }

// Read returns the devices' counters, summed.
func (d *Devices) Read(context.Context, bool) ([]Sample, error) {
	if len(d.devices) == 0 || len(d.none) > 0 {
		return nil, nil
	}
	all, err := d.fs.ProcDiskstats()
	if err != nil {
		return nil, err
	}
	var sum deviceSum
	reset := false
	for i, x := range d.devices {
		k := slices.IndexFunc(all, func(s blockdevice.Diskstats) bool { return s.MajorNumber == x.Major && s.MinorNumber == x.Minor })
		if k < 0 {
			return nil, fmt.Errorf("there is no device %d:%d (%s) in diskstats", x.Major, x.Minor, x.Name)
		}
		reset = d.state[i].add(all[k].IOStats) || reset
		sum.add(d.state[i].sum)
	}
	sample := func(name, unit string, value float64) Sample {
		return Sample{Metric: name, Unit: unit, Kind: Counter, Value: value, Reset: reset}
	}
	return []Sample{
		sample("disk_reads", "count", float64(sum.reads)),
		sample("disk_writes", "count", float64(sum.writes)),
		sample("disk_read_bytes", "B", float64(sum.readSectors*sectorSize)),
		sample("disk_write_bytes", "B", float64(sum.writeSectors*sectorSize)),
		sample("disk_busy", "s", float64(sum.busyMS)/1000),
	}, nil
}

// add adds what a device did since it was read before. It reports whether the
// counters began anew, as those of a device do that was made again.
func (s *deviceState) add(now blockdevice.IOStats) (reset bool) {
	was := s.last
	known := s.known
	s.last, s.known = now, true
	if !known {
		return false
	}
	if now.ReadIOs < was.ReadIOs || now.WriteIOs < was.WriteIOs || now.ReadSectors < was.ReadSectors || now.WriteSectors < was.WriteSectors {
		return true
	}
	busy := now.IOsTotalTicks - was.IOsTotalTicks
	if now.IOsTotalTicks < was.IOsTotalTicks {
		busy = uint64(uint32(busy)) // the kernel counts milliseconds in 32 bits
	}
	s.sum.add(deviceSum{
		reads:        now.ReadIOs - was.ReadIOs,
		writes:       now.WriteIOs - was.WriteIOs,
		readSectors:  now.ReadSectors - was.ReadSectors,
		writeSectors: now.WriteSectors - was.WriteSectors,
		busyMS:       busy,
	})
	return false
}

func (s *deviceSum) add(x deviceSum) {
	s.reads += x.reads
	s.writes += x.writes
	s.readSectors += x.readSectors
	s.writeSectors += x.writeSectors
	s.busyMS += x.busyMS
}

// End flags paths that have no block device.
func (d *Devices) End(context.Context) ([]Sample, []matrix.Flag, error) {
	if len(d.none) == 0 {
		return nil, nil, nil
	}
	return nil, []matrix.Flag{{Name: "no_device", Detail: "no block device holds " + list(slices.Clone(d.none))}}, nil
}
