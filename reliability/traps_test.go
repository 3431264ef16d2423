package reliability

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/server/servertest"
)

// plainExperiment needs no server.
const plainExperiment = `
phase "p" {
  workload "exec" {
    command = ["echo", "x 1"]
    server  = false
    metric "x" { regex = "^x ([0-9])" }
  }
}
table "p" {
  phase   = "p"
  columns = ["secs"]
}
`

// serverExperiment does next to nothing with a server.
const serverExperiment = `
defaults {
  server = server.mariadb
  my_cnf = { innodb_log_file_size = "8M" }
}
phase "p" {
  workload "sql" { statements = ["select 1"] }
}
table "p" {
  phase   = "p"
  columns = ["secs"]
}
`

// newPlain returns a host with the experiment that needs no server.
func newPlain(t *testing.T) *host {
	t.Helper()
	h := newHost(t)
	h.machine("")
	h.define(plainExperiment)
	return h
}

// newServed returns a host with the experiment that needs a server.
func newServed(t *testing.T) *host {
	t.Helper()
	h := newHost(t)
	h.machine("", "mariadb")
	h.define(serverExperiment)
	return h
}

// at returns a path beside the definition.
func (h *host) at(name string) string { return filepath.Join(h.experiment, name) }

// refuses runs a command that must end with a code other than 0, and say why.
func (h *host) refuses(why string, args ...string) {
	h.t.Helper()
	code, out := h.dbmatrix(args...)
	if code == 0 || code == 4 || !strings.Contains(out, why) {
		h.t.Errorf("dbmatrix %s: exit code %d, and it should be refused with %q\n%s", strings.Join(args, " "), code, why, out)
	}
}

// recordCommands are the commands that open the record, with what else they need.
func (h *host) recordCommands() [][]string {
	rows := filepath.Join(h.dir, "rows.csv")
	write(h.t, rows, "phase,secs\np,1\n")
	return [][]string{
		{"run", h.experiment}, {"plan", h.experiment}, {"status", h.experiment}, {"show", h.experiment, ""},
		{"report", h.experiment}, {"table", h.experiment, "--phase", "p", "--columns", "secs"},
		{"export", h.experiment}, {"import", h.experiment, rows, "--name", "theirs"}, {"merge", h.experiment, h.at("results.db")},
		{"accept", h.experiment, "", "--reason", "r"}, {"invalidate", h.experiment, "", "--reason", "r"},
		{"clean", h.experiment, "--results", "--yes"},
	}
}

// TestTrapRecord puts files of others where the record would be: a text, and a
// database of another program. No command writes to them or removes them.
func TestTrapRecord(t *testing.T) {
	for _, kind := range []string{"text", "database", "link to a database"} {
		t.Run(kind, func(t *testing.T) {
			h, f := newPlain(t), newForeign(t)
			path := h.at("results.db")
			switch kind {
			case "text":
				f.file(path)
			case "database":
				foreignDatabase(t, path)
				f.watch(path)
			default:
				target := filepath.Join(h.dir, "theirs", "app.db")
				foreignDatabase(t, target)
				if err := os.Symlink(target, path); err != nil {
					t.Fatal(err)
				}
				f.watch(path)
				f.watch(filepath.Dir(target))
			}
			for _, args := range h.recordCommands() {
				h.refuses("results.db", args...)
				f.intact()
			}
		})
	}
}

// foreignDatabase makes a database as another program would.
func foreignDatabase(t *testing.T, path string) {
	t.Helper()
	write(t, path, "")
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE customer (name TEXT); INSERT INTO customer VALUES ('somebody')"); err != nil {
		t.Fatal(err)
	}
}

// TestTrapBesideRecord puts files of others beside the record, under names that
// begin as its own do, and in the folder of artifacts. A run and a clean of the
// results leave them, also where root gives results back to the user of sudo.
func TestTrapBesideRecord(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	for _, name := range []string{"results.db.old", "results.db-notes.txt", "results.dbx", "artifacts/mine.txt", "artifacts/p/1/1/mine.txt"} {
		f.file(h.at(name))
	}
	elsewhere := filepath.Join(h.dir, "elsewhere")
	f.file(filepath.Join(elsewhere, "mine.txt"))
	if err := os.Symlink(elsewhere, h.at("artifacts/link")); err != nil {
		t.Fatal(err)
	}
	f.watch(h.at("artifacts/link"))
	h.env = append(h.env, "SUDO_UID=65534", "SUDO_GID=65534")
	h.must("run", h.experiment)
	f.intact()
	h.must("clean", h.experiment, "--results", "--yes")
	f.intact()
	if _, err := os.Stat(h.at("results.db")); err == nil {
		t.Error("the results are still there")
	}
}

// TestTrapArtifact puts a file of somebody else where an artifact would be, as a
// record that was removed by hand leaves one.
func TestTrapArtifact(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	h.must("run", h.experiment)
	for _, end := range []string{"", "-wal", "-shm", "-ballast"} {
		if err := os.Remove(h.at("results.db" + end)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	var files []string
	err := filepath.WalkDir(h.at("artifacts"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
			f.watch(path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("artifacts of the first run: %v, %v", files, err)
	}
	h.must("run", h.experiment)
	f.intact()
	h.must("clean", h.experiment, "--results", "--yes")
	f.intact()
}

// TestTrapBallast puts a file of somebody else, and a link to one, where the
// ballast file would be.
func TestTrapBallast(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		h, f := newPlain(t), newForeign(t)
		f.file(h.at("results.db-ballast"))
		h.refuses("results.db-ballast", "run", h.experiment)
		f.intact()
	})
	t.Run("link", func(t *testing.T) {
		h, f := newPlain(t), newForeign(t)
		target := filepath.Join(h.dir, "theirs", "empty")
		write(t, target, "")
		f.watch(target)
		if err := os.Symlink(target, h.at("results.db-ballast")); err != nil {
			t.Fatal(err)
		}
		f.watch(h.at("results.db-ballast"))
		h.refuses("results.db-ballast", "run", h.experiment)
		f.intact()
	})
}

// TestTrapLock puts files of somebody else where locks would be, and lets
// somebody else hold the lock.
func TestTrapLock(t *testing.T) {
	commands := func(h *host) [][]string { return [][]string{{"run", h.experiment}, {"clean", h.experiment}} }
	t.Run("file with something in it", func(t *testing.T) {
		h, f := newPlain(t), newForeign(t)
		h.must("run", h.experiment) // so that clean has something to lock
		for _, path := range []string{filepath.Join(h.dir, "lock"), filepath.Join(h.data, "dbmatrix.lock")} {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			f.file(path)
		}
		h.must("run", "--fresh", h.experiment)
		f.intact()
		h.must("clean", h.experiment)
		f.intact()
	})
	t.Run("link", func(t *testing.T) {
		h, f := newPlain(t), newForeign(t)
		target := filepath.Join(h.dir, "theirs", "notes.txt")
		f.file(target)
		if err := os.Symlink(target, filepath.Join(h.dir, "lock")); err != nil {
			t.Fatal(err)
		}
		f.watch(filepath.Join(h.dir, "lock"))
		for _, args := range commands(h) {
			h.refuses("lock", args...)
			f.intact()
		}
	})
	t.Run("held by another program", func(t *testing.T) {
		h, f := newPlain(t), newForeign(t)
		path := filepath.Join(h.dir, "lock")
		f.file(path)
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		for _, args := range commands(h) {
			h.refuses("is locked by", args...)
			f.intact()
		}
	})
}

// TestTrapOutput names files that a report or an export must not be written over:
// the record, what belongs to it, and definitions.
func TestTrapOutput(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	h.must("run", h.experiment)
	write(t, h.at("machine.hcl"), "")
	for _, name := range []string{"results.db", "results.db-ballast", "experiment.hcl", "machine.hcl"} {
		f.watch(h.at(name))
	}
	if err := os.Symlink(h.at("results.db"), h.at("link")); err != nil {
		t.Fatal(err)
	}
	f.watch(h.at("link"))
	for _, name := range []string{"results.db", "results.db-ballast", "experiment.hcl", "machine.hcl", "link"} {
		h.refuses(name, "report", h.experiment, "-o", h.at(name))
		h.refuses(name, "export", h.experiment, "-o", h.at(name))
		f.intact()
	}
}

// TestTrapInit puts something where init would write.
func TestTrapInit(t *testing.T) {
	h, f := newHost(t), newForeign(t)
	f.file(filepath.Join(h.dir, "a", "experiment.hcl"))
	target := filepath.Join(h.dir, "theirs.hcl")
	f.file(target)
	for name, to := range map[string]string{"b": target, "c": filepath.Join(h.dir, "nothing.hcl")} {
		if err := os.Mkdir(filepath.Join(h.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(h.dir, name, "experiment.hcl")); err != nil {
			t.Fatal(err)
		}
		f.watch(filepath.Join(h.dir, name, "experiment.hcl"))
	}
	for _, name := range []string{"a", "b", "c"} {
		h.refuses("is there already", "init", filepath.Join(h.dir, name))
	}
	f.intact()
	if _, err := os.Lstat(filepath.Join(h.dir, "nothing.hcl")); err == nil {
		t.Error("init wrote through a link")
	}
}

// TestTrapFmt gives fmt files that it must leave alone, and a link, which stays
// one.
func TestTrapFmt(t *testing.T) {
	h, f := newHost(t), newForeign(t)
	dir := filepath.Join(h.dir, "d")
	f.file(filepath.Join(dir, "notes.txt"))
	f.file(filepath.Join(dir, "sub", "other.hcl"))
	write(t, filepath.Join(dir, "a.hcl"), "experiment {\ntitle=\"t\"\n}\n")
	linked := filepath.Join(h.dir, "shared.hcl")
	write(t, linked, "axis \"a\" {\nlevels=[1]\n}\n")
	if err := os.Symlink(linked, filepath.Join(dir, "b.hcl")); err != nil {
		t.Fatal(err)
	}
	h.must("fmt", dir)
	f.intact()
	if to, err := os.Readlink(filepath.Join(dir, "b.hcl")); err != nil || to != linked {
		t.Errorf("the link leads to %q now (%v)", to, err)
	}
	if got := read(t, linked); !strings.Contains(got, "levels = [1]") {
		t.Errorf("the linked file was not formatted: %q", got)
	}
	f.file(filepath.Join(dir, "broken.hcl"))
	h.refuses("broken.hcl", "fmt", dir)
	f.intact()
}

// TestTrapMerge checks that merging leaves the other record as it is, with all
// that lies beside it, and refuses what is no record.
func TestTrapMerge(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	h.must("run", h.experiment)
	theirs := filepath.Join(h.dir, "theirs")
	if err := os.MkdirAll(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.at("results.db"), filepath.Join(theirs, "results.db")); err != nil {
		t.Fatal(err)
	}
	f.watch(theirs)
	h.must("merge", h.experiment, theirs)
	f.intact()
	other := filepath.Join(h.dir, "app.db")
	foreignDatabase(t, other)
	f.watch(other)
	h.refuses("app.db", "merge", h.experiment, other)
	f.intact()
}

// TestTrapImport checks that importing only reads.
func TestTrapImport(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	file := filepath.Join(h.dir, "theirs", "rows.csv")
	write(t, file, "phase,secs\np,1\n")
	f.watch(filepath.Dir(file))
	h.must("import", h.experiment, file, "--name", "theirs")
	f.intact()
}

// TestTrapReaders checks that commands that only look change nothing, not even
// beside the definition.
func TestTrapReaders(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	h.must("run", h.experiment)
	f.watch(h.experiment)
	f.watch(h.data)
	for _, args := range [][]string{
		{"validate", h.experiment}, {"plan", h.experiment}, {"status", h.experiment}, {"show", h.experiment, ""},
		{"report", h.experiment}, {"export", h.experiment}, {"table", h.experiment, "--phase", "p", "--columns", "secs"},
		{"columns"}, {"workloads"}, {"functions"}, {"version"}, {"fmt", "--check", h.experiment},
	} {
		h.must(args...)
		f.intact()
	}
	h.dbmatrix("doctor", h.experiment) // 3 where it finds something
	f.intact()
}

// TestTrapDirectory puts directories of others where a run, a template and a
// snapshot would be.
func TestTrapDirectory(t *testing.T) {
	h, f := newServed(t), newForeign(t)
	h.must("run", "--keep", h.experiment)
	kept := h.only("runs/*")
	template := h.only("templates/*")
	h.must("clean", h.experiment)

	second := strings.TrimSuffix(kept, "-a1") + "-a2"
	f.file(filepath.Join(second, "data", "ibdata1"))
	h.refuses("has no owner file", "run", "--fresh", h.experiment)
	f.intact()

	h.must("clean", h.experiment)
	f.file(filepath.Join(template, "data", "ibdata1"))
	h.refuses("has no owner file", "run", "--fresh", h.experiment)
	f.intact()
	h.must("clean", h.experiment)
	f.intact()
}

// only returns the one path that matches a pattern below the data directory.
func (h *host) only(pattern string) string {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(h.data, pattern))
	if err != nil || len(found) != 1 {
		h.t.Fatalf("%s: %v, %v; want one", pattern, found, err)
	}
	return found[0]
}

// TestTrapOwnerFile gives directories of others a copy of an owner file, one that
// is broken and one of a newer version, and puts links to such directories where
// ours would be.
func TestTrapOwnerFile(t *testing.T) {
	h, f := newServed(t), newForeign(t)
	h.must("run", "--keep", h.experiment)
	kept := h.only("runs/*")
	owner := read(t, filepath.Join(kept, "dbmatrix-owner.json"))
	for path, text := range map[string]string{
		filepath.Join(h.data, "runs", "copied"):                           owner,
		filepath.Join(h.data, "snapshots", filepath.Base(kept)):           owner,
		filepath.Join(h.data, "runs", "copied.tmp-0a1b2c3d"):              owner,
		filepath.Join(h.data, "runs", "broken.trash-0a1b2c3d"):            "{",
		filepath.Join(h.data, "templates", "empty"):                       "",
		filepath.Join(h.dir, "elsewhere", "runs", filepath.Base(kept)):    owner,
		filepath.Join(h.data, "runs", filepath.Base(kept)+"-of-somebody"): owner,
	} {
		write(t, filepath.Join(path, "dbmatrix-owner.json"), text)
		write(t, filepath.Join(path, "data", "ibdata1"), "theirs")
		f.watch(path)
	}
	link := filepath.Join(h.data, "snapshots", "link")
	if err := os.Symlink(filepath.Join(h.dir, "elsewhere", "runs", filepath.Base(kept)), link); err != nil {
		t.Fatal(err)
	}
	f.watch(link)
	h.must("run", "--fresh", h.experiment)
	f.intact()
	h.must("clean", h.experiment)
	f.intact()
	if _, err := os.Lstat(kept); err == nil {
		t.Error("clean left the run that was kept")
	}
}

// TestTrapLinkInData puts a link that leads out of the data directory into a run
// that was kept: the link goes with the run, and nothing else.
func TestTrapLinkInData(t *testing.T) {
	h, f := newServed(t), newForeign(t)
	h.must("run", "--keep", h.experiment)
	theirs := filepath.Join(h.dir, "theirs")
	f.file(filepath.Join(theirs, "precious"))
	f.watch(theirs)
	for name, to := range map[string]string{"data/link": theirs, "data/file": filepath.Join(theirs, "precious"), "logs/link": theirs} {
		if err := os.Symlink(to, filepath.Join(h.only("runs/*"), name)); err != nil {
			t.Fatal(err)
		}
	}
	h.must("clean", h.experiment)
	f.intact()
	if left, _ := filepath.Glob(filepath.Join(h.data, "runs/*")); len(left) > 0 {
		t.Errorf("clean left %v", left)
	}
}

// TestTrapMount mounts a filesystem of somebody else inside a run that was kept.
func TestTrapMount(t *testing.T) {
	h, f := newServed(t), newForeign(t)
	h.must("run", "--keep", h.experiment)
	theirs, at := filepath.Join(h.dir, "theirs"), filepath.Join(h.only("runs/*"), "data", "mount")
	f.file(filepath.Join(theirs, "precious"))
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(theirs, at, "", syscall.MS_BIND, ""); err != nil {
		cannot(t, "mounting: "+err.Error())
	}
	t.Cleanup(func() { unmount(t, at) })
	h.refuses("mounted", "clean", h.experiment)
	f.intact()
}

// TestTrapServer starts a server by hand in a run that was kept, another one in a
// directory of its own, and a process that only looks like one. While they run,
// dbmatrix runs, cleans and looks for what earlier runners left.
func TestTrapServer(t *testing.T) {
	h, f := newServed(t), newForeign(t)
	h.must("run", "--keep", h.experiment)
	kept := h.only("runs/*")
	own := filepath.Join(h.dir, "own")
	if out, err := exec.Command("cp", "-a", filepath.Join(kept, "data"), own).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, data := range map[string]string{"in-kept": filepath.Join(kept, "data"), "in-own": own} {
		f.mariadbd(h.dir, name, data)
	}
	f.decoy(filepath.Join(h.dir, "decoy"), "mariadbd", "--defaults-file="+kept+"/my.cnf")

	h.refuses("still uses", "clean", h.experiment)
	for _, p := range f.processes {
		if !p.runs() {
			t.Fatalf("%s was ended", p.name)
		}
	}
	if _, err := os.Stat(filepath.Join(kept, "data", "ibdata1")); err != nil {
		t.Errorf("clean took files away: %v", err)
	}
	h.must("run", "--fresh", h.experiment)
	f.intact()
}

// mariadbd starts a MariaDB that is not dbmatrix's on a data directory, and waits
// until it listens.
func (f *foreign) mariadbd(dir, name, data string) {
	f.t.Helper()
	build := servertest.Need(f.t, "mariadb").Server
	socket := filepath.Join(dir, name+".sock")
	cmd := exec.Command(build.Mysqld, "--no-defaults", "--datadir="+data, "--socket="+socket, "--pid-file="+socket+".pid",
		"--skip-networking", "--user=mysql", "--innodb-log-file-size=8M", "--log-error="+socket+".log", "--skip-grant-tables", "--skip-log-bin")
	if os.Geteuid() == 0 {
		if err := os.Chmod(dir, 0o777); err != nil { // its user makes the socket
			f.t.Fatal(err)
		}
	}
	f.start(cmd)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return
		}
	}
	log, _ := os.ReadFile(socket + ".log")
	f.t.Fatalf("the server of somebody else does not listen: %s", log)
}

// TestTrapReusedPID edits the owner file of a run that was left behind so that it
// names a process of somebody else as its server, by pid and start time, and makes
// that process the runner on record. The directory is removed; the process lives.
func TestTrapReusedPID(t *testing.T) {
	h, f := newServed(t), newForeign(t)
	h.define(strings.Replace(serverExperiment, `"select 1"`, `"select sleep(60)"`, 1))
	r := h.startRunner(h.experiment)
	for familyOf(t, r.cmd.Process.Pid).server == nil {
		if r.wait(20 * time.Millisecond) {
			t.Fatalf("the runner has ended: %s", read(t, r.out))
		}
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.done
	h.nothingSurvives()

	f.decoy(filepath.Join(h.dir, "decoy"), "mariadbd")
	theirs := f.processes[0]
	for _, path := range h.owners() {
		var owner map[string]any
		if err := json.Unmarshal([]byte(read(t, path)), &owner); err != nil {
			t.Fatal(err)
		}
		boot := strings.TrimSpace(read(t, "/proc/sys/kernel/random/boot_id"))
		owner["process"] = map[string]any{"boot": boot, "pid": theirs.pid, "start": theirs.start}
		b, err := json.Marshal(owner)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(b))
	}
	h.define(serverExperiment)
	h.must("run", h.experiment)
	f.intact()
	h.nothingLeft()
	h.must("clean", h.experiment)
	f.intact()
}

// owners returns the owner files of the data directory.
func (h *host) owners() []string {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(h.data, "*", "*", "dbmatrix-owner.json"))
	if err != nil || len(found) == 0 {
		h.t.Fatalf("owner files: %v, %v", found, err)
	}
	return found
}

// TestTrapNewerOwner checks that a directory of a newer dbmatrix stops clean, and
// stays.
func TestTrapNewerOwner(t *testing.T) {
	h, f := newPlain(t), newForeign(t)
	dir := filepath.Join(h.data, "runs", "newer")
	write(t, filepath.Join(dir, "dbmatrix-owner.json"), fmt.Sprintf(`{"format": 99, "path": %q, "kind": "run", "experiment": %q, "token": "00"}`, dir, h.experiment))
	f.watch(dir)
	h.refuses("newer version", "clean", h.experiment)
	f.intact()
}
