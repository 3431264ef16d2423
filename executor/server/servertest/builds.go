package servertest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/user"
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

// prober is shared, since hashing a build takes a second.
var prober server.Prober

// probed remembers the builds that were probed in this test program.
var probed sync.Map

// Need returns the build of a name: mariadb or postgres (of this host), or one
// that "make servers" brings: myrocks1011, mariadb118, myrocks118, mysql97. Where
// it is missing the test is skipped, or fails where DBMATRIX_REQUIRE_SERVERS is 1.
func Need(t testing.TB, name string) Build {
	t.Helper()
	b := known(servers(t))[name]
	if b.Server.Name == "" {
		t.Fatalf("no test knows a build called %q", name)
	}
	if v, ok := probed.Load(name); ok {
		b.Server.Build = v.(matrix.Build)
	} else {
		b.Server.Build = prober.Probe(context.Background(), b.Server)
		probed.Store(name, b.Server.Build)
	}
	if why := b.Server.Build.Absent; why != "" {
		missing(t, "no server "+name+": "+why)
	}
	for _, o := range b.Options {
		if o.Name != "plugin_dir" {
			continue
		}
		if _, err := os.Stat(filepath.Join(o.Value.Text, "ha_rocksdb.so")); err != nil {
			missing(t, "no MyRocks for "+name+": "+err.Error())
		}
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

// known returns the builds that tests know.
func known(dir string) map[string]Build {
	unpacked := func(name, folder, program string) matrix.Server {
		root := filepath.Join(dir, folder)
		return matrix.Server{Name: name, Mysqld: filepath.Join(root, program), Basedir: filepath.Join(root, "usr")}
	}
	rocks := Text("plugin_load_add", "ha_rocksdb")
	return map[string]Build{
		"mariadb": {Server: matrix.Server{Name: "mariadb", Mysqld: "/usr/sbin/mariadbd"}},
		"myrocks1011": {
			Server:  matrix.Server{Name: "myrocks1011", Mysqld: "/usr/sbin/mariadbd"},
			Options: []matrix.Option{Text("plugin_dir", filepath.Join(dir, "mariadb-10.11/usr/lib/mysql/plugin")), rocks},
		},
		"mariadb118": {Server: unpacked("mariadb118", "mariadb-11.8", "mariadbd")},
		"myrocks118": {Server: unpacked("myrocks118", "mariadb-11.8", "mariadbd"), Options: []matrix.Option{rocks}},
		"mysql97":    {Server: unpacked("mysql97", "mysql-9.7", "mysqld")},
		"postgres":   {Server: matrix.Server{Name: "postgres", Bindir: newestPostgres(dir), User: postgresUser()}},
	}
}

// postgresUser names the user that PostgreSQL runs as where none is called
// postgres: an unpacked server brings no user.
func postgresUser() string {
	if _, err := user.Lookup("postgres"); err != nil {
		return "mysql"
	}
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
