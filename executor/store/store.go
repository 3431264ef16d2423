package store

import (
	"context"
	"errors"
)

// A Store is an open record. Its methods may be called from any goroutine.
type Store struct {
	path string
}

// Errors that a caller may want to tell apart.
var (
	// ErrDiskFull says that the filesystem of the record is full. What was
	// measured before is recorded.
	ErrDiskFull = errors.New("the disk that holds the results is full")

	// ErrNewer says that a newer dbmatrix wrote the file.
	ErrNewer = errors.New("the results were written by a newer dbmatrix")

	// ErrNotFound says that the record has no such thing.
	ErrNotFound = errors.New("not in the record")
)

var errNotBuilt = errors.New("not built yet")

// Open opens the record at path for writing, creates it where it is not there
// and migrates it where it is older. It refuses a network filesystem, a file that
// is not a record of dbmatrix, a damaged one and one of a newer version.
func Open(ctx context.Context, path string) (*Store, error) { return nil, errNotBuilt }

// OpenReadOnly opens the record at path for queries alone. It works while a
// runner writes, and in a directory that may not be written. A file that is not
// there is an error that wraps fs.ErrNotExist.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) { return nil, errNotBuilt }

// Close checkpoints what was written and closes the file.
func (s *Store) Close() error { return errNotBuilt }

// Path returns the path that the store was opened with.
func (s *Store) Path() string { return s.path }

// DiskFull reports whether a write found the disk full, so that the ballast was
// given back to record what was measured. From then on BeginAttempt and
// BeginPhase return ErrDiskFull.
func (s *Store) DiskFull() bool { return false }
