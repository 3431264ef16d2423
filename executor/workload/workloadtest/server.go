package workloadtest

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// How long a server may take to start and to stop.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 30 * time.Second
)

// Missing ends a test that needs what this host does not have: it is skipped,
// or fails where DBMATRIX_REQUIRE_SERVERS is 1.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("DBMATRIX_REQUIRE_SERVERS") == "1" {
		t.Fatalf("%s is needed and not here", what)
	}
	t.Skipf("%s is not here", what)
}

// Start starts a MariaDB server with extra options, such as
// "--innodb_buffer_pool_size=64M", and returns it as a target whose programs
// run under Guard. The server ends with the test.
func Start(t testing.TB, options ...string) workload.Target {
	t.Helper()
	program := MariaDBServer(t)
	dir := shortDir(t)
	initialise(t, dir)
	target := newTarget(t, "mariadb", version(t, program), dir)
	launch(t, program, dir, options)
	awaitReady(t, target, dir)
	return target
}

// StartListening is Start of a server that listens on a port of the loopback
// address too, of the flavour mariadb or postgres.
func StartListening(t testing.TB, flavour string) workload.Target {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	if flavour == "postgres" {
		return startPostgres(t, port, nil)
	}
	target := Start(t, "--skip-networking=0", "--bind-address=127.0.0.1", "--port="+strconv.Itoa(port))
	target.Port = port
	return target
}

// StartRocksDB is Start of a server with MyRocks. The plugin is looked for where
// DBMATRIX_ROCKSDB_PLUGIN_DIR says, beside the server, and in .servers.
func StartRocksDB(t testing.TB, options ...string) workload.Target {
	t.Helper()
	for _, dir := range PluginDirs() {
		target := Start(t, append([]string{"--plugin_dir=" + dir, "--plugin_load_add=ha_rocksdb"}, options...)...)
		conn, err := client.Open(t.Context(), target, "")
		if err != nil {
			t.Fatal(err)
		}
		n, err := conn.Int("SELECT COUNT(*) FROM information_schema.engines WHERE engine = 'ROCKSDB' AND support IN ('YES', 'DEFAULT')")
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			return target
		}
	}
	Missing(t, "the MyRocks plugin of the installed server")
	return workload.Target{}
}

// StartMySQL is Start of a MySQL server, which is looked for in .servers.
func StartMySQL(t testing.TB, options ...string) workload.Target {
	t.Helper()
	programs, _ := filepath.Glob(filepath.Join(root(), ".servers/mysql-*/mysqld"))
	if len(programs) == 0 {
		Missing(t, "a MySQL server in .servers (make servers)")
	}
	program := programs[len(programs)-1]
	usr := filepath.Join(filepath.Dir(program), "usr")
	paths := []string{
		"--basedir=" + usr, "--lc-messages-dir=" + filepath.Join(usr, "share/mysql"),
		"--character-sets-dir=" + filepath.Join(usr, "share/mysql/charsets"),
		"--plugin-dir=" + filepath.Join(usr, "lib/mysql/plugin"), "--secure-file-priv=", "--mysqlx=OFF", "--skip-log-bin",
	}
	dir := shortDir(t)
	args := append([]string{"--no-defaults", "--initialize-insecure", "--datadir=" + filepath.Join(dir, "data")}, paths...)
	if out, err := exec.CommandContext(t.Context(), program, append(args, asRoot()...)...).CombinedOutput(); err != nil {
		t.Fatalf("making a data directory: %v\n%s", err, out)
	}
	target := newTarget(t, "mysql", version(t, program), dir)
	launch(t, program, dir, append(paths, options...))
	awaitReady(t, target, dir)
	return target
}

func newTarget(t testing.TB, flavour, version, dir string) workload.Target {
	return workload.Target{
		Flavour: flavour, Version: version, Socket: filepath.Join(dir, "s"), User: "root",
		Dir: t.TempDir(), Source: t.TempDir(),
		Iteration: 1, Step: 1, Seed: 1, Guard: Guard,
	}
}

// root returns the top of the source tree.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../..")
}

// MariaDBServer returns the path of the installed server.
func MariaDBServer(t testing.TB) string {
	t.Helper()
	// Debian has it outside a normal user's PATH.
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "mariadbd")
	return ""
}

// PluginDirs returns the folders that hold a MyRocks plugin: which of them is that
// of the installed server, only loading it tells.
func PluginDirs() []string {
	candidates := []string{os.Getenv("DBMATRIX_ROCKSDB_PLUGIN_DIR"), "/usr/lib/mysql/plugin"}
	unpacked, _ := filepath.Glob(filepath.Join(root(), ".servers/*/usr/lib/mysql/plugin"))
	candidates = append(candidates, unpacked...)
	var dirs []string
	for _, dir := range candidates {
		if _, err := os.Stat(filepath.Join(dir, "ha_rocksdb.so")); dir != "" && err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// shortDir makes a folder whose path leaves room for a socket's name, which
// t.TempDir does not always.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dbmw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func initialise(t testing.TB, dir string) {
	t.Helper()
	args := []string{
		"--no-defaults", "--datadir=" + filepath.Join(dir, "data"),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--innodb_flush_method=nosync", "--tmpdir=" + tempDir(t, dir),
	}
	out, err := exec.CommandContext(t.Context(), "mariadb-install-db", append(args, asRoot()...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("making a data directory: %v\n%s", err, out)
	}
}

// tempDir returns the server's own folder for temporary tables: servers of one
// process id, in several containers, would take each other's in a shared one.
func tempDir(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// asRoot returns the option without which a server refuses to run as root.
func asRoot() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

func version(t testing.TB, program string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "--no-defaults", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), "Ver ")
	return strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == ' ' })[0]
}

// launch starts the server and sees to it that it ends with the test, or with
// the test's process.
func launch(t testing.TB, program, dir string, options []string) {
	t.Helper()
	args := append([]string{
		"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--socket=" + filepath.Join(dir, "s"),
		"--pid-file=" + filepath.Join(dir, "pid"), "--log-error=" + filepath.Join(dir, "error.log"),
		"--skip-networking", "--innodb_flush_method=nosync", "--tmpdir=" + tempDir(t, dir), "--innodb_flush_log_at_trx_commit=2", "--innodb_buffer_pool_size=256M",
	}, asRoot()...)
	cmd := exec.Command(program, append(args, options...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	run(t, cmd, syscall.SIGTERM)
}

// run starts a server, and sees to it that it gets the signal to stop when the
// test ends.
func run(t testing.TB, cmd *exec.Cmd, ending syscall.Signal) {
	t.Helper()
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The death signal comes when the thread that started the server
		// ends: this one stays for as long as the server does.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cmd.Process, ending, ended) })
}

func stop(t testing.TB, p *os.Process, ending syscall.Signal, ended <-chan error) {
	if err := p.Signal(ending); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(stopTimeout):
		t.Errorf("the server did not stop within %s", stopTimeout)
		_ = p.Kill()
		<-ended
	}
}

func awaitReady(t testing.TB, target workload.Target, dir string) {
	t.Helper()
	deadline := time.Now().Add(startTimeout)
	for {
		conn, err := client.Open(t.Context(), target, "")
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("the server did not start: %v\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Guard runs a program to its end, or until ctx ends, with all that it started.
func Guard(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })()
	if err := cmd.Wait(); err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return nil
}

// PID returns the process id of a server.
func PID(t testing.TB, target workload.Target) int {
	t.Helper()
	conn, err := client.Open(t.Context(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	question := "SELECT @@pid_file"
	if conn.Postgres() {
		question = "SELECT setting || '/postmaster.pid' FROM pg_settings WHERE name = 'data_directory'"
	}
	path, err := conn.Text(question)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// PostgreSQL's file goes on behind the first line.
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// CPU returns the CPU time that a server has used so far: its process, and those
// of its connections where it has one for each.
func CPU(t testing.TB, pid int) time.Duration {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var total time.Duration
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// After the name in parentheses, the parent is field 2, and user and
		// system time are 12 and 13, in hundredths of a second on all Linux
		// systems.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if own := strconv.Itoa(pid); fields[1] != own && filepath.Base(filepath.Dir(path)) != own {
			continue
		}
		for _, field := range fields[11:13] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			total += time.Duration(n) * time.Second / 100
		}
	}
	return total
}

// Processes returns the connections that a server still has beside its own and
// the one that asks. A connection that was just closed is given a second.
func Processes(t testing.TB, target workload.Target) []string {
	t.Helper()
	conn, err := client.Open(context.Background(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	question := "SELECT id, command, info FROM information_schema.processlist" +
		" WHERE id <> CONNECTION_ID() AND command <> 'Daemon' AND user <> 'system user'"
	if conn.Postgres() {
		question = "SELECT pid, state, query FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
	}
	for end := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, rows, err := conn.Rows(question)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 && time.Now().Before(end) {
			continue
		}
		var left []string
		for _, row := range rows {
			left = append(left, strings.Join(row, " "))
		}
		return left
	}
}
