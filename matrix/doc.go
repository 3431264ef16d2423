// Package matrix is the language of dbmatrix and the words that all its other
// packages speak. It is pure: it starts no process, reads no clock and opens no
// connection; the version query of a server build comes in as a function.
//
//	*.hcl ── Load ──► Experiment ── Expand ──► []*Cell ── MakePlan ──► *Plan
//	                     ▲                                    ▲
//	     machine.hcl, variables, builds            History (what was measured)
//
// Load decodes the blocks and reports every fault of every file at once. Expand
// lays the levels of each axis over each other, cell by cell, and evaluates what
// each phase of each cell runs with; it computes the fingerprints, which say
// what a phase measures. MakePlan compares the fingerprints with what was
// recorded before and says, for each run, what is left to do and why.
package matrix
