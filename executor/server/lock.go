package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// A Lock is held by one process of this host at a time. The kernel gives it up
// when the process ends, however it ends; children do not inherit it.
type Lock struct {
	file  *flock.Flock
	path  string
	noted bool // that this process holds it is written in the file
}

// Close gives the lock up. The file stays: removing it would let two processes
// lock two files of one name.
func (l *Lock) Close() error {
	if l.noted {
		os.Truncate(l.path, 0) // what it says of the holder is true no more; only advice
	}
	return l.file.Close()
}

// LockedError says that another process holds a lock.
type LockedError struct {
	Path   string
	Holder string // such as "pid 4711 since 2026-05-01 12:00:00: dbmatrix run ."; "" where it did not say
}

// Error names the holder and the way out.
func (e *LockedError) Error() string {
	who := "another process"
	if e.Holder != "" {
		who = e.Holder
	}
	return fmt.Sprintf("%s is locked by %s; wait for it to end, since two runs on one host would disturb each other", e.Path, who)
}

// HostLockPath returns the path of the lock of this host: $DBMATRIX_HOST_LOCK,
// else /run/lock/dbmatrix.lock, else in $XDG_RUNTIME_DIR.
func HostLockPath() (string, error) {
	if p := os.Getenv("DBMATRIX_HOST_LOCK"); p != "" {
		return p, nil
	}
	dirs := []string{"/run/lock"}
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		dirs = append(dirs, d)
	}
	for _, d := range dirs {
		if writable(d) {
			return filepath.Join(d, "dbmatrix.lock"), nil
		}
	}
	return "", errors.New("no place for the lock of this host: neither /run/lock nor $XDG_RUNTIME_DIR can be written; set DBMATRIX_HOST_LOCK to a path on a local filesystem")
}

// writable reports whether this process may make files in a directory.
func writable(dir string) bool {
	const writeAndSearch = 2 | 1 // W_OK and X_OK of access(2)
	return syscall.Access(dir, writeAndSearch) == nil
}

// LockHost takes the lock of this host at HostLockPath. The error is a
// *LockedError where another runner holds it.
func LockHost() (*Lock, error) {
	path, err := HostLockPath()
	if err != nil {
		return nil, err
	}
	return lock(path)
}

// LockDir takes the lock of a data_dir, which it makes where it is not there.
func LockDir(dataDir string) (*Lock, error) {
	if err := makeDirs(dataDir); err != nil {
		return nil, err
	}
	return lock(filepath.Join(dataDir, "dbmatrix.lock"))
}

// lock takes the lock at a path, and writes down who holds it.
func lock(path string) (*Lock, error) {
	// Any user of this host may have made the file, in a directory where
	// the kernel refuses O_CREATE on files of others: so the file is made
	// only where it is not there, and opened without O_CREATE.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		f.Chmod(0o666) // so that the next user can say who holds it
		f.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("taking the lock %s: %w", path, err)
	}
	if info, serr := os.Stat(path); serr == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("taking the lock %s: it is no regular file; the lock is a file of its own, such as /run/lock/dbmatrix.lock", path)
	}
	fl := flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NOFOLLOW))
	got, err := fl.TryLock()
	if err != nil {
		return nil, fmt.Errorf("taking the lock %s: %w", path, err)
	}
	if !got {
		fl.Close()
		holder, _ := os.ReadFile(path)
		if !isHolderText(holder) {
			holder = nil
		}
		return nil, &LockedError{Path: path, Holder: clean(strings.TrimSpace(string(holder)))}
	}
	return &Lock{file: fl, path: path, noted: noteHolder(path)}, nil
}

// noteHolder writes down who holds a lock, and reports whether it did: it is
// advice for the message above, and the lock holds without it. A file with
// something else in it is somebody else's, and is only locked.
func noteHolder(path string) bool {
	if b, err := os.ReadFile(path); err != nil || len(b) > 0 && !isHolderText(b) {
		return false
	}
	return os.WriteFile(path, []byte(holderText(time.Now())), 0o666) == nil
}

// holderText describes this process.
func holderText(now time.Time) string {
	return fmt.Sprintf("pid %d since %s: %s\n", os.Getpid(), now.Format(time.DateTime), strings.Join(MaskArguments(os.Args), " "))
}

// isHolderText reports whether a text is one of holderText.
func isHolderText(b []byte) bool {
	pid, rest, ok := strings.Cut(strings.TrimPrefix(string(b), "pid "), " since ")
	_, err := strconv.Atoi(pid)
	return ok && err == nil && strings.Contains(rest, ": ")
}
