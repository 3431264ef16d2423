// Package server is the life cycle of database servers: it makes a data
// directory, writes the server's own option file, starts the server, knows when
// it is ready and that it is the right one, checks that the options that were
// asked for are in force, watches it, and stops it.
//
//	matrix.Server ── Prober ──► matrix.Build
//	matrix.Settings ── Templates.Make ──► template ── Copy ──► Layout of a run
//	Launch{Settings, Layout} ── Start ──► *Instance ── InForce, Facts, Debt
//	                              │                        │
//	                          Guardian (parent)      Stop or Kill ──► Stopped
//
// What differs between kinds of server is in a Flavour, and what differs
// between their versions is in its table of capabilities; start, readiness,
// stop and watching are one Instance for all.
//
// Three rules hold everywhere in this package.
//
// Only what dbmatrix made is written to or removed: each directory has an owner
// file beside its data (Owner), and one function makes such directories
// (create) and one removes them (Remove).
//
// A process is signalled only if it is a child of our guardian, or carries the
// token of one of our owner files in its environment: never by name or by pid
// file.
//
// Every wait has a deadline, and every failure carries the first [ERROR] line
// and the end of the server's log.
package server
