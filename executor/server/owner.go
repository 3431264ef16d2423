package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dbmatrix/matrix"
)

// OwnerFile is the name of the file that says that dbmatrix made a directory.
const OwnerFile = "dbmatrix-owner.json"

// ownerFormat is the version of the owner file's fields.
const ownerFormat = 1

// An Owner is the content of an owner file: whose the directory is, and in which
// state.
type Owner struct {
	Format     int            `json:"format"`
	Path       string         `json:"path"` // of the directory that it was written for, by its final name
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

	Sockets string            `json:"sockets,omitempty"` // private directory of the socket
	Roles   map[string]string `json:"roles,omitempty"`   // directories of roles on other storage
	Process *ProcessID        `json:"process,omitempty"` // the server, while it runs
	Created time.Time         `json:"created"`

	// Guardian is the parent of the process, while it runs, and of what
	// makes a template.
	Guardian *ProcessID `json:"guardian,omitempty"`
}

// ErrForeign says that a directory has no owner file: it is neither used nor
// removed.
var ErrForeign = errors.New("has no owner file of dbmatrix; it is neither used nor removed")

// NewToken returns a random token for an Owner.
func NewToken() string { return randomHex(16) }

// ReadOwner reads the owner file of a directory. The error is ErrForeign where
// there is none, and where it is a copy of another directory's.
func ReadOwner(dir string) (Owner, error) {
	var o Owner
	b, err := os.ReadFile(filepath.Join(dir, OwnerFile))
	if errors.Is(err, syscall.ENOTDIR) {
		return o, fmt.Errorf("%s is no directory and %w", dir, ErrForeign)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, serr := os.Lstat(dir); serr != nil {
			return o, serr
		}
		return o, fmt.Errorf("%s %w", dir, ErrForeign)
	}
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(b, &o); err != nil || o.Token == "" {
		return o, fmt.Errorf("%s %w (its %s cannot be read: %v)", dir, ErrForeign, OwnerFile, err)
	}
	if o.Format > ownerFormat {
		return o, fmt.Errorf("%s was made by a newer version of dbmatrix", dir)
	}
	if !o.names(dir) {
		return o, fmt.Errorf("%s %w (the %s in it is that of %q)", dir, ErrForeign, OwnerFile, o.Path)
	}
	return o, nil
}

// names reports whether the owner file is that of a directory, which may have its
// temporary name or be on its way out. The folder that it is in may be reached by
// another path, through a symbolic link.
func (o Owner) names(dir string) bool {
	if o.Path == "" || !samePath(filepath.Dir(o.Path), filepath.Dir(dir)) {
		return false
	}
	name, _, _ := strings.Cut(filepath.Base(dir), trashMark)
	final, _, _ := strings.Cut(name, tmpMark)
	of := filepath.Base(o.Path)
	return of == name || of == final
}

// write stores the owner file in a directory, durably.
func (o Owner) write(dir string) error {
	o.Format = ownerFormat
	if o.Path == "" {
		o.Path = dir
	}
	b, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return writeDurably(filepath.Join(dir, OwnerFile), append(b, '\n'), 0o644)
}

// Owner reads the layout's owner file.
func (l Layout) Owner() (Owner, error) { return ReadOwner(l.Dir) }

// Update changes the layout's owner file, durably.
func (l Layout) Update(change func(*Owner)) error {
	o, err := l.Owner()
	if err != nil {
		return err
	}
	change(&o)
	return o.write(l.Dir)
}
