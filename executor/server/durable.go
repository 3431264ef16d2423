package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing directory %s: %w", dir, err)
	}
	return nil
}

// makeDirs makes a directory and those above it that are not there, open to the
// user that servers run as whatever the umask is.
func makeDirs(path string) error {
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o755)
	}
	if info, serr := os.Stat(path); errors.Is(err, fs.ErrExist) && serr == nil && info.IsDir() {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		if err := dangling(path); err != nil {
			return err
		}
		return fmt.Errorf("%s is no directory", path)
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}

// writeDurably replaces a file so that after a power cut either its old or its
// new content is there.
func writeDurably(path string, content []byte, mode fs.FileMode) error {
	tmp := path + ".tmp-" + randomHex(4)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // after the rename there is nothing to remove
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode) // whatever the umask is
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncers is how many files are synced at a time: a filesystem with a journal
// commits many of them at once.
const syncers = 8

// syncTree makes all files and names below a directory durable, and drops the
// files from the page cache: the first server that reads them must not find them
// in memory, else one cell would run warm and the next one cold.
func syncTree(root string) error {
	var group errgroup.Group
	group.SetLimit(syncers)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.Type().IsRegular() || d.IsDir()) {
			group.Go(func() error { return syncFile(path) })
		}
		return err
	})
	return errors.Join(err, group.Wait())
}

// syncFile makes a file or directory durable and drops it from the page cache.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // advice, of no meaning for a directory
	return nil
}

// randomHex returns n random bytes as hex digits.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails, by its documentation
	return hex.EncodeToString(b)
}
