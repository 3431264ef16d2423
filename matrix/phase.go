package matrix

import (
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A Fingerprint is a hash, in hex, of everything that determines what a phase
// measures: the fingerprint of the phase before it and the evaluated inputs of
// its own. Two phases of one fingerprint measure the same thing.
type Fingerprint string

// A Phase is one step of a run, evaluated for a cell.
type Phase struct {
	// Block is the name of the phase block. Name is the name under which
	// results are kept: the same, or that of the phase it continues.
	Block string
	Name  string

	// FirstIteration is the number of the first iteration: 1, or one more
	// than the last of the phase it continues.
	FirstIteration int

	// Iterations is how often the workload is repeated. Steps is how many
	// steps of its own the workload has, which are recorded as iterations
	// too; a phase has either several iterations or several steps.
	Iterations int
	Steps      int

	Workload Workload
	Settings *Settings

	Restart     bool
	Warmup      time.Duration // before the first iteration, not measured
	Timeout     time.Duration // of one iteration; 0 is none
	Cache       Cache
	Snapshot    *SnapshotPolicy // nil: no snapshot is kept
	ReadOnly    bool
	OnInterrupt OnInterrupt
	Settle      *Settle // nil: none
	Checks      []Check
	Sample      Sample

	Range hcl.Range // of the phase block

	unsound   bool // something of it is at fault
	unsettled bool // something of its settings is

	block    int // index of the phase block
	resolved *resolvedWorkload
	dialect  *Dialect
	sources  []Source // of the commands beside the workload
	measured identity // hash of Inputs
	identity identity // the same, with the server's name in place of its build
}

// Recorded returns how many iterations of results the phase yields.
func (p *Phase) Recorded() int { return p.Iterations * p.Steps }

// LastIteration returns the number of the phase's last iteration.
func (p *Phase) LastIteration() int { return p.FirstIteration + p.Recorded() - 1 }

// An Input is one evaluated thing that determines what a phase measures, such
// as "my_cnf.innodb_flush_method" and "O_DIRECT".
type Input struct{ Name, Value string }

// A Cache says what a phase does with the page cache before its server starts.
type Cache string

// Page cache treatments.
const (
	CacheAsIs Cache = "as_is" // nothing
	CacheCold Cache = "cold"  // the data files are dropped from it, and that is checked
	CacheWarm Cache = "warm"  // the data files are read once
)

// OnInterrupt says how a phase goes on that was broken off.
type OnInterrupt string

// What is done with an interrupted phase.
const (
	Rerun    OnInterrupt = "rerun"    // from the last snapshot, else from the beginning
	Continue OnInterrupt = "continue" // at the next iteration, on the same data directory
)

// A SnapshotPolicy says that the data directory is kept after a phase, and how.
type SnapshotPolicy struct {
	ShareReplicates bool   // one snapshot serves all replicates
	Reflink         bool   // copies share blocks with the snapshot where the filesystem can
	Budget          uint64 // bytes that all snapshots of the experiment may take; 0 is no bound
}

// A Settle says what a server must have finished before a phase ends. What each
// means for an engine, the server's flavour knows. Absent criteria are nil.
type Settle struct {
	DirtyPagesPct *float64 // share of dirty pages in the cache, percent
	CheckpointAge *uint64  // bytes of redo not yet checkpointed
	PurgeHistory  *uint64  // undo log entries that wait for purge
	Compaction    bool     // no compaction is pending
	Vacuum        bool     // tables are vacuumed
	Pause         time.Duration
	MaxWait       time.Duration // for all criteria together
}

// A Check is a condition over a phase's results; where it is false the phase
// ends as invalid.
type Check struct {
	Name         string
	Condition    hcl.Expression // of the report's names
	ErrorMessage hcl.Expression
}

// A Sample says what is sampled during a phase beyond the default.
type Sample struct {
	Interval time.Duration
	Status   []string // server counters, read each interval
	Exec     []SampleCommand
	Extents  bool // count file extents at the end
}

// A SampleCommand is a program run again and again while a phase runs.
type SampleCommand struct {
	Name    string
	Command []string
	Every   time.Duration
}

// A Workload is what a phase does to the server: a type and the evaluated
// attributes of its block.
type Workload struct {
	Type    string
	Version int
	Args    Args

	// Ranges tells where each attribute was given; one that was taken from
	// an earlier phase or is a default is missing.
	Ranges map[string]hcl.Range
	Range  hcl.Range // of the workload block
}

// Args are the evaluated attributes of a workload block, defaults filled in.
// An attribute that is not set is null of its type.
type Args map[string]cty.Value
