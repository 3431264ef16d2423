package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// sudoUser returns the user who called sudo; false where this is not root by sudo.
func sudoUser() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	uid, uerr := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, gerr := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, uerr == nil && gerr == nil
}

// chownTree changes the owner of a file or tree, which need not be there. Links
// are changed themselves, not followed.
func chownTree(root string, uid, gid int) error {
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
