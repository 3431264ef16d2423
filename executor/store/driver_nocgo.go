//go:build !cgo

package store

// Without cgo the SQLite driver compiles to a stub that fails at the first
// query, hours into an experiment. The next line does not compile, on purpose:
// build with CGO_ENABLED=1 and a C compiler.
var _ = build_dbmatrix_with_CGO_ENABLED_1_and_a_C_compiler

func isFull(error) bool        { return false }
func isNotDatabase(error) bool { return false }
func isCorrupt(error) bool     { return false }
func isBusy(error) bool        { return false }
func isBroken(error) bool      { return false }
func isUnwritable(error) bool  { return false }
