package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ballastSize is what a full disk must still hold to end a run in order: the
// results of the phase under way, its events, and the growth of the log.
const ballastSize = 64 << 20

// A ballast is a file without content that keeps room beside the record. When
// the disk is full it is removed, so that what was measured can be recorded.
type ballast struct {
	path string
	size int64
}

// load makes the file where it is missing.
func (b ballast) load() error {
	f, err := os.OpenFile(b.path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if errors.Is(err, unix.ELOOP) {
		return fmt.Errorf("making the ballast file %s: a symbolic link is there: move it away", b.path)
	}
	if err != nil {
		return fmt.Errorf("making the ballast file: %w", err)
	}
	if err = b.own(f); err == nil {
		err = reserve(f, b.size)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return errors.Join(fmt.Errorf("%w: it has no room for %s (%d MiB)", ErrDiskFull, b.path, b.size>>20), os.Remove(b.path))
	}
	if err != nil {
		return fmt.Errorf("making the ballast file %s: %w", b.path, err)
	}
	return nil
}

// own fails for a file that somebody else wrote: a ballast holds zeros.
func (b ballast) own(f *os.File) error {
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.ContainsFunc(head[:n], func(r rune) bool { return r != 0 }) {
		return errors.New("a file of another origin is there: move it away")
	}
	return nil
}

// reserve gives a file blocks on disk up to a size.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	have, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for ; have < size; have += int64(len(zeros)) {
		if _, err := f.Write(zeros); err != nil {
			return err
		}
	}
	return f.Sync()
}

// drop removes the file. It reports whether there was one.
func (b ballast) drop() bool { return os.Remove(b.path) == nil }
