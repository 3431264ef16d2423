package server

import (
	"errors"

	"dbmatrix/matrix"
)

// Kinds of directories that dbmatrix makes.
const (
	KindRun      = "run"
	KindTemplate = "template"
	KindSnapshot = "snapshot"
)

// A Layout tells where the files of one data directory lie. Everything of a
// role (redo, binlog, tmp) that has a storage of its own lies in a directory of
// the same name there, with an owner file of its own.
//
//	<storage of data>/<kind>s/<name>/dbmatrix-owner.json
//	                                 data/         the server's data directory
//	                                 my.cnf        the option file
//	                                 logs/         error.<n>.log, output.<n>.log
//	                                 tmp/ redo/ binlog/  where no other storage has them
type Layout struct {
	Dir   string            // on the storage of role data
	Roles map[string]string // role to directory, of roles on a storage of their own
}

// NewLayout returns the layout of a directory of a kind and name for settings.
// It makes nothing. Storage without a name is dataDir.
func NewLayout(dataDir, kind, name string, s *matrix.Settings) (Layout, error) {
	return Layout{}, errors.New("not built yet")
}

// Data returns the server's data directory.
func (l Layout) Data() string { return l.Dir + "/data" }

// Logs returns the directory of the server's logs.
func (l Layout) Logs() string { return l.Dir + "/logs" }

// Role returns the directory of a role: data, redo, binlog or tmp.
func (l Layout) Role(role string) string {
	return ""
}

// Places returns all directories of the layout, that of the data first.
func (l Layout) Places() []string { return nil }

// Exists reports whether the layout's directory is there and is ours. A
// directory that is there and is not ours is an error.
func (l Layout) Exists() (bool, error) { return false, errors.New("not built yet") }

// Create makes the directories of a layout, empty but for the owner file. It
// fails where one exists.
func (l Layout) Create(o Owner) error { return errors.New("not built yet") }

// Remove removes the directories of a layout. It is the only function of
// dbmatrix that removes a tree: it refuses symbolic links, mount points and any
// directory without an owner file, and any that a process still uses.
func Remove(l Layout) error { return errors.New("not built yet") }

// Leftovers returns the directories under dataDir that were made under a
// temporary name and never finished; Remove takes them.
func Leftovers(dataDir string) ([]Layout, error) { return nil, errors.New("not built yet") }
