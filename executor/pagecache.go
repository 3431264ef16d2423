package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dbmatrix/executor/server"

	"golang.org/x/sys/unix"
)

// evictLayout drops the files of a layout from the page cache and returns how
// many bytes of them are still resident. The server must not run. Only pages on
// disk can be dropped, so every file is synced first.
func evictLayout(l server.Layout) (int64, error) {
	var left int64
	err := eachFile(l, func(f *os.File, size int64) error {
		if err := f.Sync(); err != nil {
			return err
		}
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return err
		}
		n, err := residentBytes(f, size)
		left += n
		return err
	})
	if err != nil {
		return left, fmt.Errorf("dropping the data from the page cache: %w", err)
	}
	return left, nil
}

// warmLayout reads the files of a layout once, so that as much of them as fits is
// in the page cache. It returns how many bytes are not in it after that: those that
// were read first make way for the last where the memory is too small.
func warmLayout(ctx context.Context, l server.Layout) (int64, error) {
	err := eachFile(l, func(f *os.File, _ int64) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		_, err := io.Copy(io.Discard, f)
		return err
	})
	var missing int64
	if err == nil {
		err = eachFile(l, func(f *os.File, size int64) error {
			resident, err := residentBytes(f, size)
			missing += max(0, size-resident)
			return err
		})
	}
	if err != nil {
		return missing, fmt.Errorf("reading the data into the page cache: %w", err)
	}
	return missing, nil
}

// eachFile calls do for every regular file of a layout.
func eachFile(l server.Layout, do func(f *os.File, size int64) error) error {
	for _, place := range l.Places() {
		err := filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			info, err := f.Stat()
			if err == nil && info.Size() > 0 {
				err = do(f, info.Size())
			}
			return errors.Join(err, f.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// residentWindow is how much of a file is mapped at a time to ask for its
// residency: mincore needs a byte for each page.
const residentWindow = 1 << 30

// residentBytes returns how much of a file is in the page cache (mincore(2)).
func residentBytes(f *os.File, size int64) (int64, error) {
	page := int64(os.Getpagesize())
	var resident int64
	for at := int64(0); at < size; at += residentWindow {
		n := min(size-at, residentWindow)
		b, err := unix.Mmap(int(f.Fd()), at, int(n), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return resident, err
		}
		vec := make([]byte, (n+page-1)/page)
		err = mincore(b, vec)
		if uerr := unix.Munmap(b); err == nil {
			err = uerr
		}
		if err != nil {
			return resident, err
		}
		for _, v := range vec {
			if v&1 != 0 {
				resident += page
			}
		}
	}
	return resident, nil
}
