package server

import (
	"errors"
	"time"

	"dbmatrix/matrix"
)

// OwnerFile is the name of the file that says that dbmatrix made a directory.
const OwnerFile = "dbmatrix-owner.json"

// An Owner is the content of an owner file: whose the directory is, and in which
// state.
type Owner struct {
	Format     int            `json:"format"`
	Kind       string         `json:"kind"`
	Experiment string         `json:"experiment,omitempty"` // absolute path of its directory
	Cell       matrix.CellKey `json:"cell,omitempty"`
	Replicate  int            `json:"replicate,omitempty"`
	Attempt    int            `json:"attempt,omitempty"`

	// Token is a random text that every process of this directory carries
	// in its environment, as DBMATRIX_TOKEN.
	Token string `json:"token"`

	InitKey string `json:"init_key,omitempty"` // of the template it was made from
	Build   string `json:"build,omitempty"`    // content of the build that wrote it last

	// Phase and Fingerprint are those of the last completed phase.
	Phase       string             `json:"phase,omitempty"`
	Fingerprint matrix.Fingerprint `json:"fingerprint,omitempty"`

	// Clean says that the server was stopped cleanly, or never ran. It is
	// false from just before a start until after a clean stop.
	Clean bool `json:"clean"`

	// Starts counts the starts of a server; the logs are numbered by it.
	Starts int `json:"starts"`

	Sockets string     `json:"sockets,omitempty"` // private directory of the socket
	Process *ProcessID `json:"process,omitempty"` // the server, while it runs
	Created time.Time  `json:"created"`
}

// A ProcessID names a process for good: pids come again, a pid with its start
// time in one boot does not.
type ProcessID struct {
	Boot  string `json:"boot"` // kernel's boot id
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, field 22 of /proc/PID/stat
}

// ErrForeign says that a directory has no owner file: it is neither used nor
// removed.
var ErrForeign = errors.New("has no owner file of dbmatrix; it is neither used nor removed")

// NewToken returns a random token for an Owner.
func NewToken() string { return "" }

// ReadOwner reads the owner file of a directory. The error is ErrForeign where
// there is none.
func ReadOwner(dir string) (Owner, error) { return Owner{}, errors.New("not built yet") }

// Owner reads the layout's owner file.
func (l Layout) Owner() (Owner, error) { return ReadOwner(l.Dir) }

// Update changes the layout's owner file, durably.
func (l Layout) Update(change func(*Owner)) error { return errors.New("not built yet") }
