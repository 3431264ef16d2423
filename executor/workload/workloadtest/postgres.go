package workloadtest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"dbmatrix/executor/workload"
)

// postgresPlaces are where a PostgreSQL server is looked for: where Debian
// installs it, and where make servers unpacks it.
func postgresPlaces() []string {
	const program = "usr/lib/postgresql/*/bin/postgres"
	return []string{"/" + program, filepath.Join(root(), ".servers/postgresql-*", program)}
}

// PostgresPrograms returns the folder of the newest PostgreSQL server's programs.
func PostgresPrograms(t testing.TB) string {
	t.Helper()
	for _, place := range postgresPlaces() {
		// The pattern is well formed.
		if found, _ := filepath.Glob(place); len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	Missing(t, "PostgreSQL")
	return ""
}

// StartPostgres is Start of a PostgreSQL server, with options such as
// "shared_buffers=64MB". It never runs as root: PostgreSQL refuses that.
func StartPostgres(t testing.TB, options ...string) workload.Target {
	t.Helper()
	return startPostgres(t, 0, options)
}

// startPostgres starts a server that listens on the port of the loopback address
// too, unless it is 0.
func startPostgres(t testing.TB, port int, options []string) workload.Target {
	t.Helper()
	bin := PostgresPrograms(t)
	dir := shortDir(t)
	who := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: otherUser(t, dir)}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(t.Context(), filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = who, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("making a data directory: %v\n%s", err, out)
	}
	args := []string{"-D", data, "-k", dir}
	settings := []string{
		"listen_addresses=", "fsync=off", "shared_buffers=64MB", "logging_collector=on", "log_directory=" + dir, "log_filename=error.log",
	}
	name := 5432 // of the socket
	if port != 0 {
		name = port
		settings = append(settings, "listen_addresses=127.0.0.1", "port="+strconv.Itoa(port))
	}
	for _, setting := range append(settings, options...) {
		args = append(args, "-c", setting)
	}
	server := exec.Command(filepath.Join(bin, "postgres"), args...)
	server.SysProcAttr, server.Dir = who, dir
	run(t, server, syscall.SIGINT)
	target := newTarget(t, "postgres", postgresVersion(t, bin), dir)
	target.Socket, target.User = filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(name)), "postgres"
	target.Port, target.Programs = port, bin
	awaitReady(t, target, dir)
	return target
}

// otherUser returns who runs a server that refuses to run as root, and gives that
// user the directory. Nil is the user of the test.
func otherUser(t testing.TB, dir string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil { // an unpacked server brings no user; any that is not root will do
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		Missing(t, "the user postgres or nobody")
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// postgresVersion returns the version in three numbers: postgres (PostgreSQL)
// 15.18 has two.
func postgresVersion(t testing.TB, bin string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))[2] + ".0"
}
