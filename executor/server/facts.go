package server

import (
	"context"
	"errors"
)

// Facts are what a running server says of itself.
type Facts struct {
	Version   string
	Comment   string
	Variables []Variable // all of them, sorted by name
	Plugins   []Plugin   // active ones, sorted by name
}

// A Variable is one server variable in force.
type Variable struct{ Name, Value string }

// A Plugin is one loaded plugin or extension.
type Plugin struct{ Name, Version, Library string }

// Facts asks the server for its version, variables and plugins.
func (i *Instance) Facts(ctx context.Context) (Facts, error) {
	return Facts{}, errors.New("not built yet")
}

// Debt is work that a server has put off; what it does not know of is nil.
type Debt struct {
	DirtyPagesPct     *float64 // of the buffer pool, percent
	CheckpointAge     *uint64  // bytes of redo
	PurgeHistory      *uint64  // undo log entries
	PendingCompaction *uint64  // bytes, and memtables to be flushed
}

// Debt asks the server for the work it has put off, for a phase's settle block.
func (i *Instance) Debt(ctx context.Context) (Debt, error) {
	return Debt{}, errors.New("not built yet")
}
