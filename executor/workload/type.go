package workload

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"dbmatrix/matrix"
)

// A Type is a kind of workload: what the language must know of it, and how to
// make one.
type Type struct {
	matrix.WorkloadType

	// New makes a workload of evaluated arguments that Check found no
	// fault in. It is nil where Built is false.
	New func(matrix.Args) (Workload, error)

	// Needs says which program that the workload runs is not on this host,
	// and how it is had; source is the experiment's directory. It is nil
	// where none is needed, or where only the server tells which.
	Needs func(args matrix.Args, source string) error
}

// A Workload is what one phase of one run does. The same value runs all
// iterations, or all steps, of its phase, one after the other.
type Workload interface {
	// Run does one iteration or step. It calls Begin and End of the
	// recorder exactly once, around what is measured: tables are made,
	// clients connected and warmed up before, results verified after.
	//
	// When it returns, nothing that it started still runs, on the client
	// or in the server, also where ctx was cancelled. An *SLAError means
	// that the work was done and measured, but slower than asked.
	Run(ctx context.Context, t Target, r *Recorder) error
}

// A Target is what a workload runs against.
type Target struct {
	Flavour string // mysql, mariadb or postgres; "" without a server
	Version string // three numbers, such as 10.11.19
	Socket  string // path of the server's unix socket
	User    string // that may do anything there, without a password
	Port    int    // 0 unless the server listens on loopback

	// Programs is the folder of the programs that belong to the server's
	// build; "" without a server.
	Programs string

	// Dir is the run's scratch directory, on its storage. Programs run in
	// it. It is kept from phase to phase of a run.
	Dir string

	// Source is the experiment's directory, which files named by
	// attributes are relative to.
	Source string

	Env    []string // "NAME=value", added to that of programs
	Prefix []string // put before the commands of programs

	Iteration int // from 1: which repetition of the phase this is
	Step      int // from 1: which of the workload's own steps

	// Seed is used where the workload's block gives none.
	Seed int64

	// Warmup is how long to run unmeasured before Begin; 0 is not at all.
	Warmup time.Duration

	// Guard runs a program to its end, under the guardian, so that it does
	// not outlive this process. Like cmd.Run it returns an *exec.ExitError
	// where the program failed; when ctx ends it ends the program.
	Guard func(ctx context.Context, cmd *exec.Cmd) error
}

// An SLAError says that a rate-limited phase did not keep its rate. The phase's
// results stand, with the status sla_missed.
type SLAError struct {
	Target, Achieved float64 // per second, all clients together
	What             string  // of what, such as inserts
}

// Error tells both rates.
func (e *SLAError) Error() string {
	return fmt.Sprintf("achieved %.1f %s/s of %.1f asked for (%.1f %%, at least %.0f %% are required)",
		e.Achieved, e.What, e.Target, 100*e.Achieved/e.Target, 100*SLAShare)
}

// SLAShare is the share of its target rate that a phase must achieve. The
// insert benchmark's own reports draw the line there.
const SLAShare = 0.95
