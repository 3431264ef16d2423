//go:build cgo

package store

import (
	"errors"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// isFull reports whether SQLite ran out of disk space. For the shared memory of
// the log it says so in other words.
func isFull(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrFull || e.Code == sqlite3.ErrIoErr && e.SystemErrno == syscall.ENOSPC)
}

// isNotDatabase reports whether a file is something else than a database.
func isNotDatabase(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrNotADB
}

// isCorrupt reports whether a database is damaged.
func isCorrupt(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrCorrupt
}

// isBusy reports whether another program kept a database locked for as long as a
// connection waits.
func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

// isBroken reports whether a database that was written before can be no more, for
// another reason than a full disk.
func isBroken(err error) bool {
	var e sqlite3.Error
	if !errors.As(err, &e) || isFull(err) {
		return false
	}
	switch e.Code {
	case sqlite3.ErrReadonly, sqlite3.ErrIoErr, sqlite3.ErrCantOpen, sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return true
	}
	return false
}

// isUnwritable reports whether SQLite could not make the files that it wants
// beside a database.
func isUnwritable(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCantOpen || e.Code == sqlite3.ErrReadonly) || isFull(err)
}
