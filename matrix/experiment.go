package matrix

import (
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// An Experiment is one directory of HCL files, decoded: what varies and what is
// done to each combination.
type Experiment struct {
	Name        string // the directory's base name, or what the experiment block says
	Dir         string // absolute; results lie beside the definition
	Title       string
	Description string
	Source      string // where the experiment was published first

	Replicates             int
	Order                  Order
	Seed                   int64 // of the shuffled order; recorded
	Cooldown               time.Duration
	MaxConsecutiveFailures int

	Axes     []*Axis
	Matrices []string // names, in source order
	Phases   []*PhaseBlock
	Servers  []*Server // that the definition may name, with what this host knows of them
	Storages []Storage

	// Report holds the table, chart, text and import blocks in source order.
	Report []ReportBlock

	// DataDir is where data directories and snapshots lie; Notify is a
	// command for failure, stall and finish. Both come from the machine file.
	DataDir string
	Notify  []string

	Host  Host
	Files map[string]*hcl.File // by name, for diagnostics that show source

	decoder *decoder // what is needed to evaluate expressions
}

// DataDirs returns the directories in which data of the experiment may lie: its
// data directory, and those of storages that have a place on this host.
func (e *Experiment) DataDirs() []string {
	dirs := []string{e.DataDir}
	for _, s := range e.Storages {
		if s.Dir != "" && !slices.Contains(dirs, s.Dir) {
			dirs = append(dirs, s.Dir)
		}
	}
	return dirs
}

// An Order says in which order runs are executed.
type Order string

// Orders of runs.
const (
	Interleaved Order = "interleaved" // replicate 1 of every cell, then 2, ...
	Grouped     Order = "grouped"     // all replicates of a cell, then the next cell
	Shuffled    Order = "shuffled"    // by a recorded seed, within each replicate
)

// An Axis is something that is varied. (Other word: factor.)
type Axis struct {
	Name   string
	Label  string // how tables call it; "" is the name
	Levels []*Level
	Range  hcl.Range
}

// Level returns the named level, or nil.
func (a *Axis) Level(name string) *Level {
	for _, l := range a.Levels {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// A Level is one named point on an axis; it may bundle several settings.
type Level struct {
	Name        string
	Label       string // how tables show it; the name unless given
	Description string
	Pos         int
	Range       hcl.Range
}

// A PhaseBlock is a phase as the definition has it, before any cell.
type PhaseBlock struct {
	Name         string
	WorkloadType string
	Continues    string // the phase whose iterations it goes on from, or ""
	Range        hcl.Range
}
