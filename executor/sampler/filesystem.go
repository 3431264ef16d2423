package sampler

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
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
	Options    string   // of the mount and of the filesystem, sorted, joined by commas
	Devices    []Device // none: it has no block device, such as tmpfs
}

// FindFilesystem returns what holds a path, which must exist.
func FindFilesystem(r Roots, path string) (Filesystem, error) {
	f, err := finder{roots: r, number: deviceNumber}.find(path, 0)
	if err != nil {
		return Filesystem{}, fmt.Errorf("finding the filesystem of %s: %w", path, err)
	}
	return f, nil
}

// A finder looks up filesystems and devices.
type finder struct {
	roots  Roots
	number func(path string) (major, minor uint32, err error) // of the device that holds a path
}

func deviceNumber(path string) (major, minor uint32, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, 0, err
	}
	return unix.Major(st.Dev), unix.Minor(st.Dev), nil
}

// maxDepth bounds how far one filesystem is looked for below another.
const maxDepth = 8

func (f finder) find(path string, depth int) (Filesystem, error) {
	if depth > maxDepth {
		return Filesystem{}, errors.New("its filesystem lies on too many others")
	}
	major, minor, err := f.number(path)
	if err != nil {
		return Filesystem{}, err
	}
	mount, err := f.mount(path, fmt.Sprintf("%d:%d", major, minor))
	if err != nil {
		return Filesystem{}, err
	}
	found := Filesystem{MountPoint: mount.MountPoint, Type: mount.FSType, Source: mount.Source, Options: mountOptions(mount)}
	switch {
	case major != 0:
		var d Device
		if d, err = f.device(major, minor); err == nil {
			found.Devices = []Device{d}
		}
	case mount.FSType == "btrfs":
		found.Devices, err = f.btrfsDevices(mount.Source)
	case mount.FSType == "overlay":
		// What is written goes to the upper directory. Inside a container
		// its path may not be visible; then the device is unknown.
		upper, ok := mount.SuperOptions["upperdir"]
		if !ok {
			break
		}
		var below Filesystem
		if below, err = f.find(upper, depth+1); err == nil {
			found.Devices = below.Devices
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the kernel does not show the device here
	}
	return found, err
}

// mount returns the mount that holds a path: of those whose mount point is the
// longest the last, which hides the others. Those of the path's own device are
// preferred, since a bind mount may hide them from the path.
func (f finder) mount(path, device string) (*procfs.MountInfo, error) {
	all, err := procfs.NewFS(f.roots.Proc)
	if err != nil {
		return nil, err
	}
	self, err := all.Self()
	if err != nil {
		return nil, err
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	var best *procfs.MountInfo
	rank := func(m *procfs.MountInfo) int {
		if m.MajorMinorVer == device {
			return 1
		}
		return 0
	}
	for _, m := range mounts {
		m.MountPoint = unescape(m.MountPoint)
		if !within(path, m.MountPoint) {
			continue
		}
		if best == nil || rank(m) > rank(best) || rank(m) == rank(best) && len(m.MountPoint) >= len(best.MountPoint) {
			best = m
		}
	}
	if best == nil {
		return nil, errors.New("no mount holds it")
	}
	return best, nil
}

// within reports whether a path is a directory or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

func mountOptions(m *procfs.MountInfo) string {
	all := maps.Clone(m.SuperOptions)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, m.Options)
	var options []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if value := all[name]; value != "" {
			name += "=" + value
		}
		options = append(options, name)
	}
	return strings.Join(options, ",")
}

// device returns a block device by its numbers.
func (f finder) device(major, minor uint32) (Device, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(f.roots.Sys, "dev/block", fmt.Sprintf("%d:%d", major, minor)))
	if err != nil {
		return Device{}, err
	}
	d := Device{Name: filepath.Base(dir), Major: major, Minor: minor}
	d.Chain, err = f.chain(dir, 0)
	return d, err
}

// chain returns the name of the device whose folder in /sys is dir, and those of
// the devices below it.
func (f finder) chain(dir string, depth int) ([]string, error) {
	names := []string{filepath.Base(dir)}
	if depth > maxDepth {
		return names, nil
	}
	var below []string
	slaves, err := os.ReadDir(filepath.Join(dir, "slaves"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, s := range slaves { // of a device mapper or a RAID
		below = append(below, filepath.Join(dir, "slaves", s.Name()))
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		below = append(below, filepath.Dir(dir))
	}
	if file := read(dir, "loop/backing_file"); file != "" {
		if major, minor, err := f.number(file); err == nil && major != 0 {
			below = append(below, filepath.Join(f.roots.Sys, "dev/block", fmt.Sprintf("%d:%d", major, minor)))
		}
	}
	for _, b := range below {
		real, err := filepath.EvalSymlinks(b)
		if err != nil {
			continue // not shown here
		}
		more, err := f.chain(real, depth+1)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// btrfsDevices returns all devices of the btrfs that has source among them.
func (f finder) btrfsDevices(source string) ([]Device, error) {
	if real, err := filepath.EvalSymlinks(source); err == nil {
		source = real
	}
	// A pattern without a syntax error cannot fail.
	lists, _ := filepath.Glob(filepath.Join(f.roots.Sys, "fs/btrfs/*/devices"))
	for _, l := range lists {
		if _, err := os.Lstat(filepath.Join(l, filepath.Base(source))); err != nil {
			continue
		}
		entries, err := os.ReadDir(l)
		if err != nil {
			return nil, err
		}
		var devices []Device
		for _, e := range entries {
			major, minor, err := parseNumbers(read(l, e.Name(), "dev"))
			if err != nil {
				return nil, err
			}
			d, err := f.device(major, minor)
			if err != nil {
				return nil, err
			}
			devices = append(devices, d)
		}
		return devices, nil
	}
	return nil, nil
}

// parseNumbers parses "254:0".
func parseNumbers(s string) (major, minor uint32, err error) {
	a, b, _ := strings.Cut(s, ":")
	ma, err := strconv.ParseUint(a, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	mi, err := strconv.ParseUint(b, 10, 32)
	return uint32(ma), uint32(mi), err
}
