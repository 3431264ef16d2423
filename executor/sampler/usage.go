package sampler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dbmatrix/matrix"

	"golang.org/x/sys/unix"
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

// A Size is how much disk files and their directories take, counted as du(1)
// does.
type Size struct {
	Allocated int64 // bytes of blocks; holes take none
	Apparent  int64 // bytes that reading them yields
	Files     int64 // directories not counted
}

func (s *Size) add(x Size) {
	s.Allocated += x.Allocated
	s.Apparent += x.Apparent
	s.Files += x.Files
}

// A Usage is disk usage by role.
type Usage map[string]Size

// Total returns the sizes of all roles together.
func (u Usage) Total() Size {
	var sum Size
	for _, s := range u {
		sum.add(s)
	}
	return sum
}

// Metrics returns size_allocated, size_apparent and the same by role, sorted by
// name.
func (u Usage) Metrics() []matrix.Metric {
	var metrics []matrix.Metric
	add := func(prefix string, s Size) {
		metrics = append(metrics,
			matrix.Metric{Name: prefix + "_allocated", Unit: "B", Value: float64(s.Allocated)},
			matrix.Metric{Name: prefix + "_apparent", Unit: "B", Value: float64(s.Apparent)})
	}
	add("size", u.Total())
	for role, s := range u {
		add("size_"+role, s)
	}
	slices.SortFunc(metrics, func(a, b matrix.Metric) int { return cmp.Compare(a.Name, b.Name) })
	return metrics
}

// DiskUsage walks the roots, which may lie within each other, and counts every
// file once, however many names it has. Files that vanish meanwhile are not
// counted; symbolic links are not followed and other filesystems mounted below a
// root are not entered. A root that is not there counts nothing.
func DiskUsage(ctx context.Context, roots ...Root) (Usage, error) {
	c := counter{usage: Usage{}, seen: map[inode]bool{}, roots: map[inode]bool{}}
	for _, r := range roots {
		st, err := statRoot(r.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("counting the disk usage of %s: %w", r.Path, err)
		}
		c.roots[inodeOf(st)] = true
	}
	for _, r := range roots {
		if _, there := c.usage[r.Role]; !there {
			c.usage[r.Role] = Size{}
		}
		if err := c.walk(ctx, r); err != nil {
			return nil, fmt.Errorf("counting the disk usage of %s: %w", r.Path, err)
		}
	}
	return c.usage, nil
}

// An inode is one file, whatever its names.
type inode struct{ device, number uint64 }

func inodeOf(st *unix.Stat_t) inode { return inode{uint64(st.Dev), st.Ino} }

// statRoot is of the directory that a root's path leads to: the root itself may be
// a symbolic link.
func statRoot(root string) (*unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Stat(root, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: root, Err: err}
	}
	return &st, nil
}

// A counter counts disk usage.
type counter struct {
	usage Usage
	seen  map[inode]bool // files with several names, and directories
	roots map[inode]bool
}

func (c *counter) walk(ctx context.Context, r Root) error {
	path, err := filepath.EvalSymlinks(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	top, err := statRoot(path)
	if err != nil {
		return err
	}
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // vanished
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			if errors.Is(err, unix.ENOENT) {
				return nil
			}
			return &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
		if d.IsDir() && c.skip(&st, top, name == path) {
			return fs.SkipDir
		}
		c.count(r, path, name, &st, d.IsDir())
		return nil
	})
}

// skip reports whether a directory is not counted here: it is another root, it
// was counted before, or another filesystem is mounted on it.
func (c *counter) skip(st, top *unix.Stat_t, isTop bool) bool {
	id := inodeOf(st)
	if !isTop && c.roots[id] || c.seen[id] || st.Dev != top.Dev {
		return true
	}
	c.seen[id] = true
	return false
}

func (c *counter) count(r Root, root, name string, st *unix.Stat_t, dir bool) {
	if !dir && st.Nlink > 1 {
		if c.seen[inodeOf(st)] {
			return
		}
		c.seen[inodeOf(st)] = true
	}
	role := r.Role
	if r.Classify != nil && !dir {
		if rel, err := filepath.Rel(root, name); err == nil {
			role = cmp.Or(r.Classify(filepath.ToSlash(rel)), role)
		}
	}
	// st_blocks counts 512 bytes, whatever the block size (stat(2)).
	s := Size{Allocated: st.Blocks * 512, Apparent: st.Size}
	if !dir {
		s.Files = 1
	}
	sum := c.usage[role]
	sum.add(s)
	c.usage[role] = sum
}

// A Space is the room on a filesystem, in bytes.
type Space struct {
	Total     int64
	Free      int64 // for root
	Available int64 // for everybody else
}

// FreeSpace returns the room on the filesystem that holds a path.
func FreeSpace(path string) (Space, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	size := int64(st.Frsize)
	return Space{Total: int64(st.Blocks) * size, Free: int64(st.Bfree) * size, Available: int64(st.Bavail) * size}, nil
}
