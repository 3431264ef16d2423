// Package executor runs a plan: it drives each pending run from an empty disk to
// recorded numbers, and leaves the host as it found it, whatever happens.
//
//	Plan ── Run ──► locks ─► recovery ─► environment ─► for each pending run:
//
//	  space ─► data directory ─► option file ─► start ─► ready ─► identity
//	        (template, snapshot)                                     │
//	                                                     options in force
//	                                                                 ▼
//	  for each phase:  cache ─► warm-up ─► [ window: workload, samplers ]... ─► settle
//	                                  one transaction each │        ─► checks ─► snapshot
//	                                                       ▼
//	                               stop ─► sizes, artifacts ─► remove the directory
//
// Three things hold at every point of it. What was measured is committed in one
// transaction with the status that says it is complete, so that a reader never
// sees half a phase. What is on disk carries its owner file before anything else
// is in it, so that the next start can tell what is ours. And a server is the
// child of a guardian, which ends it when this process is gone.
//
// A failing run does not stop the plan: its status and message are recorded, its
// server is stopped, and the next run begins. What stops the plan is an interrupt,
// too many failures in a row, a full disk, results that cannot be written, or a
// device whose processes cannot be killed any more. A guardian that is killed fails
// its run; the next has another.
//
// An interrupted run begins again, from its last snapshot if there is one, in a new
// attempt. A phase that says on_interrupt = "continue" goes on instead, in the same
// attempt and the data directory that it left (continue.go). The places at which a
// test can kill the process are in crash.go.
package executor
