package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// blameHost finds out whether a failure with the settings is the host's doing: a
// disk is full or takes no more, or the guardian was killed. A run that a disk ended is no
// failed one: it counts as interrupted, so that the next execution takes it up,
// and nothing more is started now. One that lost its guardian is a failed one,
// like one whose server was killed: the next has a new guardian.
func (e *executor) blameHost(f *failure, s *matrix.Settings) *failure {
	if f == nil || f.status.Complete() || f.host != nil {
		return f
	}
	if e.machine.lost() && !errors.Is(f.err, errGuardianKilled) {
		return f.instead(errGuardianKilled, matrix.Failed)
	}
	if errors.Is(f.err, store.ErrDiskFull) {
		return f.ofHost(e.recordFull())
	}
	if errors.Is(f.err, store.ErrMoved) || errors.Is(f.err, store.ErrLocked) {
		return f.ofHost(&EnvironmentError{f.err})
	}
	if errors.Is(f.err, store.ErrUnwritable) {
		return f.ofHost(environmentError("%s cannot be written any more; what was recorded before is safe; look at its disk and filesystem, then: dbmatrix run", e.deps.Store.Path()))
	}
	if f.status == matrix.Interrupted {
		return f
	}
	if at := e.forbidden(f.err, s); at != nil {
		return f.ofHost(environmentError("%w; make it writable for this user, then: dbmatrix run", at))
	}
	if where := e.readOnlyDisk(s); where != "" {
		f.kill = true
		return f.ofHost(environmentError("%s has become read-only, which the kernel does after an error of its disk; see dmesg, check the filesystem and mount it again, then: dbmatrix run", where))
	}
	if where := e.fullDisk(f.err, s); where != "" {
		return f.ofHost(environmentError("disk full on %s; free some space, or choose other cells with --cell, then: dbmatrix run", where))
	}
	return f
}

// recordFull says that nothing more can be recorded.
func (e *executor) recordFull() error {
	return environmentError("the disk that holds %s is full; what was measured is recorded; free some space, then: dbmatrix run", e.deps.Store.Path())
}

// ofHost makes a failure one of the host. What it showed itself as becomes a
// detail: the server's or the client's words mislead where the host is at fault.
func (f *failure) ofHost(host error) *failure {
	f.host = host
	return f.instead(host, matrix.Interrupted)
}

// instead gives a failure another cause and status.
func (f *failure) instead(cause error, status matrix.Status) *failure {
	f.details = append(strings.Split(f.Error(), "\n"), f.details...)
	f.err, f.status, f.build, f.init = cause, status, false, ""
	return f
}

// fullDisk returns which disk is full, and how much is left, where that is the
// cause of an error: servers word it in many ways. It is "" where it is not.
func (e *executor) fullDisk(cause error, s *matrix.Settings) string {
	left := func(dir string) (string, bool) {
		free, err := e.machine.free(ancestor(dir))
		return fmt.Sprintf("%s: %d MB left", dir, free/1e6), err == nil && free < spareSpace
	}
	for _, dir := range storagePlaces(e.plan.Experiment.DataDir, s) {
		if text, full := left(dir); full {
			return text
		}
	}
	if !isDiskFull(cause) {
		return ""
	}
	var at *fs.PathError
	if errors.As(cause, &at) {
		text, _ := left(filepath.Dir(at.Path))
		return text
	}
	return "the disk that was being written to"
}

// forbidden returns what of an error says that dbmatrix may not write where it keeps
// data or artifacts; it is nil where the error says nothing of that.
func (e *executor) forbidden(err error, s *matrix.Settings) *fs.PathError {
	var at *fs.PathError
	if !errors.As(err, &at) || !errors.Is(at.Err, fs.ErrPermission) {
		return nil
	}
	for _, dir := range append(storagePlaces(e.plan.Experiment.DataDir, s), e.artifactsDir()) {
		if rel, err := filepath.Rel(dir, at.Path); err == nil && filepath.IsLocal(rel) {
			return at
		}
	}
	return nil
}

// readOnlyDisk returns the directory of storage that takes no writes any more, or
// "".
func (e *executor) readOnlyDisk(s *matrix.Settings) string {
	for _, dir := range storagePlaces(e.plan.Experiment.DataDir, s) {
		if e.machine.readOnly(ancestor(dir)) {
			return dir
		}
	}
	return ""
}
