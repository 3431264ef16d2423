package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Remove removes the directories of a layout, and the private directory of its
// socket. It is the only function of dbmatrix that removes a tree: it refuses
// symbolic links, mount points, any directory without an owner file, and any
// that a process still uses.
func Remove(l Layout) error {
	o, err := l.Owner()
	if err != nil {
		return err
	}
	if o.Sockets != "" {
		if err := removeSockets(o.Sockets); err != nil {
			return err
		}
	}
	// That of the data goes last: while it is there, its owner file tells
	// of the others.
	places := l.Places()
	for i := len(places) - 1; i >= 0; i-- {
		if _, err := os.Lstat(places[i]); i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := removePlace(places[i]); err != nil {
			return err
		}
	}
	return nil
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
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not removed: it is a %s, not a directory", dir, kindOf(info.Mode()))
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
