package store

import (
	"errors"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"
)

func TestRecordThatCannotBeWritten(t *testing.T) {
	s := newStore(t)
	for _, c := range []struct {
		err  error
		want error
	}{
		{sqlite3.Error{Code: sqlite3.ErrReadonly}, ErrUnwritable},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EIO}, ErrUnwritable},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.ENOSPC}, ErrDiskFull},
		{sqlite3.Error{Code: sqlite3.ErrFull}, ErrDiskFull},
	} {
		if err := s.record(t.Context(), "a test", func(*tx) error { return c.err }); !errors.Is(err, c.want) {
			t.Errorf("%v: got %v, want %v", c.err, err, c.want)
		}
	}
	if err := s.record(t.Context(), "a test", func(*tx) error { return sqlite3.Error{Code: sqlite3.ErrConstraint} }); errors.Is(err, ErrUnwritable) {
		t.Errorf("a fault of ours: %v", err)
	}
}
