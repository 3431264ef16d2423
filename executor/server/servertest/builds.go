package servertest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// Main runs the tests of a package that starts servers. The same program plays
// the guardian, and a runner that a test kills.
func Main(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case server.GuardianCommand:
			os.Exit(server.GuardianMain(context.Background(), os.Stderr))
		case runnerCommand:
			os.Exit(playRunner(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// A Build is a server that tests know by name.
type Build struct {
	Server  matrix.Server
	Options []matrix.Option // that it needs, such as the place of its plugins
}

// String returns such as "mariadb 10.5.23 (MariaDB Debian 11), MyRocks".
func (b Build) String() string {
	of := b.Server.Build
	return fmt.Sprintf("%s %s (%s), %s", of.Flavour, of.Version, of.Comment, b.Engine())
}

// Engine returns the storage engine that tests of the build use.
func (b Build) Engine() string {
	switch {
	case b.Server.Build.Flavour == "postgres":
		return "heap"
	case len(b.Options) > 0:
		return "MyRocks"
	}
	return "InnoDB"
}

// Brought are the names of all servers that "make servers" brings, as its machine
// file declares them.
func Brought() []string {
	return []string{
		"mariadb105", "mariadb1011", "mariadb118", "myrocks105", "myrocks1011", "myrocks118",
		"mysql97", "pg15", "pg17",
	}
}

// prober is shared, since hashing a build takes a second.
var prober server.Prober

// found remembers the builds that were looked for in this test program.
var found sync.Map

// Need returns the build of a name: mariadb or postgres (of this host), or one
// that "make servers" brings. Where it is missing the test is skipped, or fails
// where DBMATRIX_REQUIRE_SERVERS is 1.
func Need(t testing.TB, name string) Build {
	t.Helper()
	var b Build
	if v, ok := found.Load(name); ok {
		b = v.(Build)
	} else {
		b = find(t, name)
		found.Store(name, b)
	}
	if why := b.Server.Build.Absent; why != "" {
		missing(t, "no server "+name+": "+why)
	}
	return b
}

// missing skips a test for want of a server, or fails it.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("DBMATRIX_REQUIRE_SERVERS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// find looks for a build. One that is not there says so itself.
func find(t testing.TB, name string) Build {
	t.Helper()
	s := matrix.Server{Name: name}
	switch name {
	case "mariadb":
		s.Mysqld = "/usr/sbin/mariadbd"
	case "postgres":
		s.Bindir = newestPostgres(servers(t))
	default:
		return declared(t, name)
	}
	s.Build = prober.Probe(context.Background(), s)
	return Build{Server: s}
}

// declared returns a build as the machine file of "make servers" declares it, by
// way of an experiment that names it.
func declared(t testing.TB, name string) Build {
	t.Helper()
	absent := func(why string) Build {
		return Build{Server: matrix.Server{Name: name, Build: matrix.Build{Absent: why + " (make servers)"}}}
	}
	file := filepath.Join(servers(t), "machine.hcl")
	if _, err := os.Stat(file); err != nil {
		return absent(err.Error())
	}
	path := filepath.Join(t.TempDir(), "experiment.hcl")
	text := fmt.Sprintf("defaults { server = server[%q] }\nphase \"p\" {\n  workload \"none\" {}\n}\n", name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o := matrix.LoadOptions{
		Path: path, Machine: file, Workloads: []matrix.WorkloadType{{Name: "none", Version: 1, Built: true}},
		Probe: func(ctx context.Context, s *matrix.Server) matrix.Build { return prober.Probe(ctx, *s) },
	}
	for _, d := range server.Dialects() {
		o.Dialects = append(o.Dialects, d)
	}
	e, _, faults := matrix.Load(context.Background(), o)
	if faults.HasErrors() {
		return absent(faults.Error())
	}
	cells, faults := e.Expand()
	if faults.HasErrors() || len(cells) != 1 {
		t.Fatalf("%s: %d cells, %v", file, len(cells), faults)
	}
	set := cells[0].Phases[0].Settings
	return Build{Server: *set.Server, Options: set.Options}
}

// servers returns the folder into which "make servers" unpacks builds.
func servers(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".servers")
		}
	}
	t.Fatal("the test does not run in the module's tree")
	return ""
}

// newestPostgres returns the folder of this host's PostgreSQL, else of one that
// is unpacked in dir, else "".
func newestPostgres(dir string) string {
	for _, place := range []string{"/", filepath.Join(dir, "postgresql-*")} {
		found, _ := filepath.Glob(filepath.Join(place, "usr/lib/postgresql/*/bin/postgres")) // the pattern is well formed
		if len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	return ""
}

// Dir returns a directory for a test that the servers' user reaches, as the
// directories of testing do not. It is removed after the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dbmatrix-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// option returns an option that a level sets.
func option(name string, v matrix.OptionValue, shown string) matrix.Option {
	return matrix.Option{Name: name, Value: v, Origins: []matrix.Origin{{Kind: matrix.OverlayLevel, Name: "level test.it", Value: shown}}}
}

// Text returns an option with a text or number, as a level sets it.
func Text(name, value string) matrix.Option {
	return option(name, matrix.OptionValue{Kind: matrix.OptionText, Text: value}, value)
}

// Switch returns a boolean option, as a level sets it.
func Switch(name string, on bool) matrix.Option {
	return option(name, matrix.OptionValue{Kind: matrix.OptionBool, Bool: on}, "")
}

// Parts returns a composite option of keys and values in turn, as a level sets
// it.
func Parts(name string, keysAndValues ...string) matrix.Option {
	v := matrix.OptionValue{Kind: matrix.OptionComposite}
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		v.Parts = append(v.Parts, matrix.OptionPart{Key: keysAndValues[i], Value: keysAndValues[i+1]})
	}
	return option(name, v, "")
}

// openTCP returns connections to a server of the MySQL family by the loopback
// address.
func openTCP(t testing.TB, port int) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?timeout=10s", port))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Open returns connections to a server of the MySQL family, apart from those of
// its instance.
func Open(t testing.TB, a server.Address) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", a.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	return db
}
