package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Remove removes the directories of a layout, and the private directory of its
// socket. It is the only function of dbmatrix that removes a tree: it refuses
// symbolic links, mount points, any directory without an owner file of its own,
// and any that a process still uses. It touches nothing before it has looked at
// all of them.
func Remove(l Layout) error {
	if err := isDirectory(l.Dir); err != nil {
		return err
	}
	o, err := l.Owner()
	if err != nil {
		return err
	}
	places, err := removablePlaces(l, o)
	if err != nil {
		return err
	}
	if err := o.removeSockets(); err != nil {
		return err
	}
	// That of the data goes last: while it is there, its owner file tells
	// of the others.
	for _, dir := range slices.Backward(places) {
		if err := removePlace(dir); err != nil {
			return err
		}
	}
	return nil
}

// removablePlaces returns those places of a layout that are there. The error says
// why one must not be removed.
func removablePlaces(l Layout, o Owner) ([]string, error) {
	var there []string
	for i, dir := range l.Places() {
		if _, err := os.Lstat(dir); i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := removable(dir); err != nil {
			return nil, err
		}
		// A role's directory is named by an owner file, which may have been
		// edited: it must have the same place on its storage, and say itself
		// that it belongs here.
		of, err := ReadOwner(dir)
		if err != nil {
			return nil, err
		}
		if of.Token != o.Token || placeName(dir) != placeName(l.Dir) {
			return nil, fmt.Errorf("%s is not removed: it is no part of %s, whose %s names it", dir, l.Dir, OwnerFile)
		}
		there = append(there, dir)
	}
	return there, nil
}

// placeName returns what the places of a layout have in common: the last two
// parts of their paths.
func placeName(dir string) string {
	return filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
}

// removePlace removes one directory with an owner file. It is renamed first, so
// that no half-removed directory is ever taken for a whole one, and the owner
// file goes last, so that a removal that was cut short can be taken up again.
func removePlace(dir string) error {
	if err := removable(dir); err != nil {
		return err
	}
	trash := dir
	if !strings.Contains(filepath.Base(dir), trashMark) {
		trash = dir + trashMark + randomHex(4)
		if err := os.Rename(dir, trash); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(trash)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == OwnerFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(trash, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(trash, OwnerFile)); err != nil {
		return err
	}
	if err := os.Remove(trash); err != nil {
		return err
	}
	return syncDir(filepath.Dir(trash))
}

// removable says why a directory must not be removed.
func removable(dir string) error {
	if err := isDirectory(dir); err != nil {
		return err
	}
	if _, err := ReadOwner(dir); err != nil {
		return err
	}
	mounts, err := procfs.GetMounts()
	if err != nil {
		return err
	}
	for _, m := range mounts {
		if at := mountEscapes.Replace(m.MountPoint); at == dir || strings.HasPrefix(at, dir+"/") {
			return fmt.Errorf("%s is not removed: a filesystem is mounted at %s", dir, at)
		}
	}
	if err := unused(dir); err != nil {
		return fmt.Errorf("%s is not removed: %w", dir, err)
	}
	return nil
}

// isDirectory says why a path must not be removed: it is none of a directory.
func isDirectory(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not removed: it is a %s, not a directory", dir, kindOf(info.Mode()))
	}
	return err
}

// mountEscapes are the characters that /proc/self/mountinfo writes as octal.
var mountEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// kindOf names the type of a file.
func kindOf(m fs.FileMode) string {
	if m&fs.ModeSymlink != 0 {
		return "symbolic link"
	}
	return "file"
}

// unused says which process has a file below a directory open or works in it.
// Processes of other users are not seen unless dbmatrix runs as root.
func unused(dir string) error {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		if path := usedBy(pid, dir+"/"); path != "" {
			return fmt.Errorf("process %d still uses %s", pid, path)
		}
	}
	return nil
}

// usedBy returns a path with the prefix that a process uses, or "".
func usedBy(pid int, prefix string) string {
	root := "/proc/" + strconv.Itoa(pid)
	links := []string{root + "/cwd"}
	fds, _ := os.ReadDir(root + "/fd") // a process may end meanwhile
	for _, fd := range fds {
		links = append(links, root+"/fd/"+fd.Name())
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to+"/", prefix) {
			return to
		}
	}
	return ""
}
