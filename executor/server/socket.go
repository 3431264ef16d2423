package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// socketLimit is the longest path of a unix socket: sun_path of sockaddr_un has
// 108 bytes, one of which ends it; MySQL's own lock file adds five (".lock").
const socketLimit = 107 - 5

// Names of the files in the private directory of a socket.
const (
	socketName = "s"
	pidName    = "pid"
)

// socketRoot returns the directory in which private directories for sockets are
// made: short, and not one that is swept of old files.
func socketRoot() string {
	if os.Geteuid() == 0 {
		return "/run/dbmatrix"
	}
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		return filepath.Join(d, "dbmatrix")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("dbmatrix-%d", os.Getuid()))
}

// CheckSockets makes the directory that sockets lie in, or says why this user has no
// place for them.
func CheckSockets() error { return makeSocketRoot(socketRoot()) }

// makeSocketRoot makes the directory of all private directories for sockets.
func makeSocketRoot(root string) error {
	if err := makeDirs(root); err != nil {
		return fmt.Errorf("making a directory for sockets: %w; set XDG_RUNTIME_DIR to a directory of this user's", err)
	}
	info, err := os.Lstat(root)
	if err != nil {
		return err
	}
	if st := info.Sys().(*syscall.Stat_t); !info.IsDir() || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user; no sockets are made there; set XDG_RUNTIME_DIR to a directory of this user's", root)
	}
	return nil
}

// makeSockets makes the private directory for a socket of the account, named for
// a token.
func makeSockets(root, token string, a *account) (string, error) {
	dir := socketDir(root, token)
	if n := len(filepath.Join(dir, ".s.PGSQL.65535")); n > socketLimit {
		return "", fmt.Errorf("sockets in %s would have a path of %d bytes, and the kernel takes %d; set XDG_RUNTIME_DIR to a shorter path", dir, n, socketLimit)
	}
	if err := makeSocketRoot(root); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, a.own(dir)
}

// socketDir returns where the private directory of a token is.
func socketDir(root, token string) string {
	return filepath.Join(root, token[:min(len(token), 12)])
}

// removeSockets removes the private directory of the owner's socket. One that is
// not where this user's sockets are is left alone: the owner file was edited, or
// written by another user.
func (o Owner) removeSockets() error {
	if o.Sockets == "" || o.Sockets != socketDir(socketRoot(), o.Token) {
		return nil
	}
	return removeSockets(o.Sockets)
}

// removeSockets removes the private directory of a socket with the files that a
// server leaves in it.
func removeSockets(dir string) error {
	if info, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is no directory for sockets", dir))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !socketFile(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// socketFile reports whether a name is that of a file which servers make in the
// private directory of their socket.
func socketFile(name string) bool {
	return name == socketName || name == socketName+".lock" || name == pidName || strings.HasPrefix(name, ".s.PGSQL.")
}
