package server

import "errors"

// A Lock is held by one process of this host at a time.
type Lock struct{}

// Close gives the lock up.
func (l *Lock) Close() error { return errors.New("not built yet") }

// LockedError says that another process holds a lock.
type LockedError struct {
	Path   string
	Holder string // such as "pid 4711, since 2026-05-01 12:00:00: dbmatrix run ."; "" where it did not say
}

// Error names the holder and the way out.
func (e *LockedError) Error() string { return e.Path }

// HostLockPath returns the path of the lock of this host: $DBMATRIX_HOST_LOCK,
// else /run/lock/dbmatrix.lock, else in $XDG_RUNTIME_DIR.
func HostLockPath() (string, error) { return "", errors.New("not built yet") }

// LockHost takes the lock of this host at HostLockPath. The error is a
// *LockedError where another runner holds it.
func LockHost() (*Lock, error) { return nil, errors.New("not built yet") }

// LockDir takes the lock of a data_dir, which it makes where it is not there.
func LockDir(dataDir string) (*Lock, error) { return nil, errors.New("not built yet") }
