package server

import (
	"context"
	"fmt"
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
	facts, err := i.flavour.facts(ctx, i.db)
	if err != nil {
		return facts, fmt.Errorf("asking server %q for its variables: %w", i.launch.Settings.Server.Name, err)
	}
	return facts, nil
}

// Debt is work that a server has put off; what it does not know of is nil.
type Debt struct {
	DirtyPagesPct     *float64 // of the buffer pool, percent
	CheckpointAge     *uint64  // bytes of redo
	PurgeHistory      *uint64  // undo log entries
	PendingCompaction *uint64  // MyRocks: flushes and compactions that wait
	Vacuums           *uint64  // PostgreSQL: vacuums that the server runs by itself
}

// Debt asks the server for the work it has put off, for a phase's settle block.
func (i *Instance) Debt(ctx context.Context) (Debt, error) {
	d, err := i.flavour.debt(ctx, i.db)
	if err != nil {
		return d, fmt.Errorf("asking server %q for work it has put off: %w", i.launch.Settings.Server.Name, err)
	}
	return d, nil
}
