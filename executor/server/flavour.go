package server

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"syscall"

	"dbmatrix/matrix"
)

// A Flavour is a kind of server: what its options are called, how an empty data
// directory is made, how it is asked, and which signal stops it. Its methods
// answer from data; the life of a process is an Instance's.
type Flavour interface {
	// Dialect tells the language how the flavour names and writes options.
	Dialect() matrix.Dialect

	// Identify reads what a server program printed for --version. It
	// reports false where the words are those of another flavour.
	Identify(words string) (matrix.Build, bool)

	// pathLimit is the longest path of a data directory, in bytes, that leaves
	// room for those of the files in it.
	pathLimit() int

	// accounts are the operating system users that the server runs as when
	// dbmatrix runs as root and the server block names none: the first that
	// there is.
	accounts() []string

	// programs are the paths at which the server program of a server block
	// may lie, the most likely one first.
	programs(s matrix.Server) []string

	// optionFile is the base name of the option file.
	optionFile() string

	// own returns the options that dbmatrix sets: those that place the
	// server's files, which nothing may change, and defaults, which an
	// option of the same name replaces.
	own(p placement) (fixed, defaults []matrix.Option)

	// fileOptions are options whose values name files or folders that the
	// server writes: they must lie in the directory of the run.
	fileOptions() map[string]bool

	// spell returns the lines of the option file that set an option.
	spell(p placement, o matrix.Option) ([]string, error)

	// header returns the lines that come before all options.
	header() []string

	// arguments returns the server's arguments.
	arguments(l Layout) []string

	// initialise makes a data directory out of nothing.
	initialise(ctx context.Context, n newData) error

	// furnish finishes a new data directory whose server runs: the superuser
	// may come by the loopback address too, and from nowhere else.
	furnish(ctx context.Context, db *sql.DB, b matrix.Build) error

	// stale are the base names of files that a killed server leaves in its
	// data directory, and that keep the next one from starting once another
	// process has the process id that they hold.
	stale() []string

	// place moves files of roles that have a storage of their own there, in
	// a data directory that was made without it. It does nothing the second
	// time.
	place(l Layout) error

	// socket is the name of the socket in its private directory, of a
	// server that listens on a port or, with 0, on none. superuser is the
	// database account that dbmatrix asks by.
	socket(port int) string
	superuser() string

	// stopSignal asks a server that is ready to stop cleanly.
	stopSignal() syscall.Signal

	// open returns connections to a server by its private socket. It does
	// not connect yet.
	open(a Address) (*sql.DB, error)

	// identity asks a server who it is.
	identity(ctx context.Context, db *sql.DB) (identity, error)

	// inForce fills in, for each of the options asked for, what the server
	// has in force.
	inForce(ctx context.Context, db *sql.DB, b matrix.Build, asked []*InForce) error

	// facts asks for all variables and plugins.
	facts(ctx context.Context, db *sql.DB) (Facts, error)

	// debt asks for work that the server has put off.
	debt(ctx context.Context, db *sql.DB) (Debt, error)

	// drain makes the server at an address, to which db is connected, do the
	// work that it has put off, as far as s waits for it; restore undoes what
	// was changed for that.
	drain(ctx context.Context, db *sql.DB, at Address, s *matrix.Settle) (restore func(context.Context) error, err error)

	// checkCommand is the program and its arguments that judge an option
	// file without starting.
	checkCommand(b matrix.Build, program, file string) []string

	// complaints reads what that command printed.
	complaints(o checkOutput) []Complaint
}

// Flavours returns the flavours that dbmatrix knows, in the order in which they
// are asked to identify a build.
func Flavours() []Flavour {
	return []Flavour{mariadb(), mysql(), postgres()}
}

// FlavourOf returns the named flavour.
func FlavourOf(name string) (Flavour, error) {
	var known []string
	for _, f := range Flavours() {
		if f.Dialect().Flavour == name {
			return f, nil
		}
		known = append(known, f.Dialect().Flavour)
	}
	return nil, fmt.Errorf("no flavour of server is called %q; there are %s", name, strings.Join(known, ", "))
}

// Dialects returns the dialect of each flavour by its name.
func Dialects() map[string]matrix.Dialect {
	ds := map[string]matrix.Dialect{}
	for _, f := range Flavours() {
		d := f.Dialect()
		ds[d.Flavour] = d
	}
	return ds
}
