package server

import (
	"context"
	"errors"

	"dbmatrix/matrix"
)

// A Prober asks server programs what they are. It remembers the answers in a
// file, keyed by path, size, modification time and inode of the program, so
// that a plan costs no process for a build it has seen before.
type Prober struct {
	Cache string // path of the file; "" remembers nothing
}

// Probe returns what the program of a server says of itself, and the hash of
// what it is made of. It returns no error: where there is no such build, the
// result's Absent says why.
func (p *Prober) Probe(ctx context.Context, s matrix.Server) matrix.Build {
	return matrix.Build{Absent: "not built yet"}
}

// Plugins returns a hash of the plugin files that the options load, and "" where
// they load none: a plugin is as much part of what is measured as the program.
func (p *Prober) Plugins(s matrix.Server, options []matrix.Option) (string, error) {
	return "", errors.New("not built yet")
}

// Find returns the servers of this host that no machine file names: those on
// PATH, in /usr/sbin and in /usr/lib/postgresql/*/bin. They are called mariadb,
// mysql and postgres by what the builds say of themselves, and their Build is
// filled in.
func (p *Prober) Find(ctx context.Context) []*matrix.Server {
	return nil
}
