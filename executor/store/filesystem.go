package store

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// refuseNetwork returns an error where the filesystem of dir is one on which
// several hosts write. The write-ahead log of SQLite needs memory that all its
// users share, which no such filesystem offers.
func refuseNetwork(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("looking at the filesystem of %s: %w", dir, err)
	}
	if name := networkFilesystem(uint32(st.Type)); name != "" {
		return fmt.Errorf("%s is on %s, where a database may lose what was written: put the experiment on a local filesystem", dir, name)
	}
	return nil
}

// networkFilesystem returns the name of a network filesystem by its magic number
// (statfs(2)), or "".
func networkFilesystem(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.CIFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	}
	return ""
}

// writable returns an error where this process may not write a file, which need
// not be there, or make others beside it. SQLite's own words for that leave the
// place open.
func writable(path string) error {
	for _, p := range []string{filepath.Dir(path), path} {
		err := unix.Access(p, unix.W_OK)
		if err != nil && (p != path || err != unix.ENOENT) {
			return &fs.PathError{Op: "writing to", Path: p, Err: err}
		}
	}
	return nil
}

// absolute returns the path that SQLite opens: with no symbolic link in its
// folder, so that the files beside the database lie beside it.
func absolute(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}
