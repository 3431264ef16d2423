package executor

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// CrashVariable names the environment variable that holds a crash point. It is
// for tests: the process kills itself there with a signal that nothing can
// catch, as a power cut or the kernel's memory killer would, so that a test can
// look at what the next start makes of what is left.
const CrashVariable = "DBMATRIX_CRASH_AT"

// A crashPoint is a place at which the process can be told to die. A number
// after a colon in the variable counts passes: "window-open:3" dies at the third.
type crashPoint string

// The crash points, in the order in which a run passes them.
const (
	crashLocked            crashPoint = "locked"             // the locks are held, nothing is on record
	crashPlanRecorded      crashPoint = "plan-recorded"      // experiment, cells and runs are in the database
	crashAttemptBegun      crashPoint = "attempt-begun"      // the attempt is on record, nothing is on disk
	crashAttemptContinued  crashPoint = "attempt-continued"  // an interrupted attempt is on record as going on
	crashTemplateMade      crashPoint = "template-made"      // the template has its name, no run has a copy
	crashDirectoryMade     crashPoint = "directory-made"     // the data directory is there, no server yet
	crashSetupRecorded     crashPoint = "setup-recorded"     // what will be set up is on record, nothing is set up
	crashSetupDone         crashPoint = "setup-done"         // setup commands have run
	crashServerStarted     crashPoint = "server-started"     // the server is about to be started
	crashServerReady       crashPoint = "server-ready"       // the server answers
	crashWindowOpen        crashPoint = "window-open"        // the workload is running
	crashWindowClosed      crashPoint = "window-closed"      // measured, not committed
	crashIterationRecorded crashPoint = "iteration-recorded" // committed
	crashSettling          crashPoint = "settling"           // the server does the work that it has put off
	crashPhaseRecorded     crashPoint = "phase-recorded"     // the phase is complete, its owner file does not know
	crashOwnerUpdated      crashPoint = "owner-updated"      // the owner file knows, the snapshot is not made
	crashStopping          crashPoint = "stopping"           // the server is about to be stopped
	crashSnapshotRenamed   crashPoint = "snapshot-renamed"   // in place, not on record
	crashSnapshotRecorded  crashPoint = "snapshot-recorded"  // on record
	crashStopped           crashPoint = "stopped"            // the server has stopped, the attempt is not finished
	crashAttemptFinished   crashPoint = "attempt-finished"   // on record as finished, its directory still there
	crashSnapshotForgotten crashPoint = "snapshot-forgotten" // off the record, its files still there
	crashCooling           crashPoint = "cooling"            // between two runs
)

// crashPoints are all of them.
var crashPoints = []crashPoint{
	crashLocked, crashPlanRecorded, crashAttemptBegun, crashAttemptContinued, crashTemplateMade, crashDirectoryMade,
	crashSetupRecorded, crashSetupDone, crashServerStarted, crashServerReady, crashWindowOpen, crashWindowClosed,
	crashIterationRecorded, crashSettling, crashPhaseRecorded, crashOwnerUpdated, crashStopping,
	crashSnapshotRenamed, crashSnapshotRecorded, crashStopped, crashAttemptFinished, crashSnapshotForgotten, crashCooling,
}

// CrashPoints returns the names of all crash points, in the order in which a
// run passes them.
func CrashPoints() []string {
	names := make([]string, len(crashPoints))
	for i, p := range crashPoints {
		names[i] = string(p)
	}
	return names
}

// crasher counts passes through the one crash point that was asked for.
type crasher struct {
	point crashPoint
	left  int
}

// newCrasher reads a crash point, "" being none.
func newCrasher(spec string) (*crasher, error) {
	if spec == "" {
		return &crasher{}, nil
	}
	name, left := spec, 1
	if i := slices.Index([]byte(spec), ':'); i >= 0 {
		name = spec[:i]
		if _, err := fmt.Sscanf(spec[i+1:], "%d", &left); err != nil || left < 1 {
			return nil, fmt.Errorf("%s=%s: what follows the colon is no number of passes", CrashVariable, spec)
		}
	}
	if !slices.Contains(CrashPoints(), name) {
		return nil, fmt.Errorf("%s=%s: no such crash point; there are %q", CrashVariable, spec, CrashPoints())
	}
	return &crasher{point: crashPoint(name), left: left}, nil
}

// at kills the process where this pass through the point is the one asked for.
func (c *crasher) at(p crashPoint) {
	if c.point != p {
		return
	}
	if c.left--; c.left > 0 {
		return
	}
	// SIGKILL cannot fail for the process itself, and nothing runs after it.
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}
