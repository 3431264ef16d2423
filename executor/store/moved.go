package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrMoved says that the file which is open is no longer the one of its path:
// somebody removed, renamed or replaced it. SQLite goes on writing to the open one,
// which nobody would find.
var ErrMoved = errors.New("somebody has moved the results away")

// A place is which file lies at a path.
type place struct{ device, inode uint64 }

// placeOf returns the place of a path, the zero value where nothing is there.
func placeOf(path string) (place, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return place{}, nil
		}
		return place{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return place{st.Dev, st.Ino}, nil
}

// deleted is what the kernel ends the name of an open file with whose own is gone.
const deleted = " (deleted)"

// name returns what the open file of a place is called now; gone says that it has
// no name any more. It is "" where this process does not have it open.
func (p place) name() (name string, gone bool) {
	const folder = "/proc/self/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", false
	}
	for _, e := range entries {
		fd := filepath.Join(folder, e.Name())
		if at, err := placeOf(fd); err != nil || at != p {
			continue
		}
		if name, err := os.Readlink(fd); err == nil {
			return strings.TrimSuffix(name, deleted), strings.HasSuffix(name, deleted)
		}
	}
	return "", false
}

// checkPlace fails with ErrMoved where the open file is not the one of the path.
func (s *Store) checkPlace() error {
	at, err := placeOf(s.abs)
	if err != nil {
		return err
	}
	if at == s.place {
		s.moved.Store(false)
		return nil
	}
	s.moved.Store(true)
	what := "removed"
	if at != (place{}) {
		what = "replaced by another file"
	}
	name, gone := s.place.name()
	if name != "" && !gone {
		return fmt.Errorf("%w: %s was renamed while it was written; what was measured is in %s: move that back", ErrMoved, s.path, name)
	}
	return fmt.Errorf("%w: %s was %s while it was written; a copy of all that was recorded is made at the end: move %s there", ErrMoved, s.path, what, s.rescue())
}

// rescue returns the path of the copy of a file that has no name any more: one that
// nothing has.
func (s *Store) rescue() string {
	path := s.path + "-rescued"
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = fmt.Sprintf("%s-rescued-%d", s.path, n)
	}
}

// save copies a record whose file has no name any more to one that has.
func (s *Store) save(ctx context.Context) error {
	if _, gone := s.place.name(); !s.moved.Load() || !gone {
		return nil
	}
	to := s.rescue()
	if _, err := s.writer.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return fmt.Errorf("copying the results, whose file was removed, to %s: %w", to, err)
	}
	return syncFile(to)
}
