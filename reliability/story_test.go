package reliability

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dbmatrix/executor/server/servertest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected output anew")

// These tests replay what happened to somebody who measured page compression by
// hand for weeks: a server hung in DROP, one died and its log said nothing, one was
// still there long after kill -9. Each is told in one paragraph, and the matrix
// goes on.

// hangingUnlink makes a server wait for good when it removes the file of a table,
// as a filesystem does that punches out millions of holes.
const hangingUnlink = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

int unlink(const char *path) {
	static int (*next)(const char *);
	const char *end = strrchr(path, '.');
	if (end && !strcmp(end, ".ibd"))
		for (;;)
			pause();
	if (!next)
		next = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
	return next(path);
}
`

// TestStoryHangInDrop replays a server that hangs when a table is dropped.
func TestStoryHangInDrop(t *testing.T) {
	h := newHost(t)
	source, library := filepath.Join(h.dir, "unlink.c"), filepath.Join(h.dir, "unlink.so")
	write(t, source, hangingUnlink)
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source, "-ldl").CombinedOutput(); err != nil {
		cannot(t, fmt.Sprintf("compiling a function that hangs: %v %s", err, out))
	}
	h.machine("", "mariadb")
	h.define(fmt.Sprintf(`
defaults {
  server = server.mariadb
  my_cnf = { innodb_log_file_size = "8M" }
}
axis "unlink" {
  level "hangs" { env = { LD_PRELOAD = %q } }
  level "works" {}
}
phase "load" {
  workload "sql" { statements = ["create database d", "create table d.t (a int)", "insert into d.t values (1)"] }
}
phase "drop" {
  timeout = "3s"
  workload "sql" { statements = ["drop table d.t"] }
}
`, library))
	code, out := h.dbmatrix("run", h.experiment)
	h.told("hang-in-drop", code, out)
	h.goesOn("unlink=works")
}

// TestStoryDeathWithoutAWord replays a server that ends without a line in its log:
// it may write no file that is longer than its limit, and the kernel ends it.
func TestStoryDeathWithoutAWord(t *testing.T) {
	h := newHost(t)
	limit, err := exec.LookPath("prlimit")
	if err != nil {
		cannot(t, err.Error())
	}
	build := servertest.Need(t, "mariadb").Server
	h.machine(fmt.Sprintf("server \"limited\" {\n  mysqld = %q\n  prefix = [%q, \"--fsize=%d\"]\n}", build.Mysqld, limit, 20<<20), "mariadb")
	h.define(`
defaults { my_cnf = { innodb_log_file_size = "8M" } }
axis "files" {
  level "limited" { server = server.limited }
  level "free" { server = server.mariadb }
}
phase "load" {
  workload "sql" {
    statements = ["create database d", "use d", "create table t (a varchar(2000))",
      "insert into t select repeat(seq, 300) from seq_1_to_20000"]
  }
}
`)
	code, out := h.dbmatrix("run", h.experiment)
	h.told("death-without-a-word", code, out)
	h.goesOn("files=free")
}

// TestStoryLateDeath replays a server that does not end when it is killed: its
// threads are held in the kernel, and let go some seconds later.
func TestStoryLateDeath(t *testing.T) {
	h := newHost(t)
	f := newFreezer(t)
	h.machine("", "mariadb")
	h.define(`
defaults {
  server = server.mariadb
  my_cnf = { innodb_log_file_size = "8M" }
}
axis "kernel" {
  levels = ["holds", "lets go"]
  params = { n = level == "holds" ? 60 : 0 }
}
phase "query" {
  timeout = "3s"
  workload "sql" { statements = ["select sleep(${param.n})"] }
}
`)
	r := h.startRunner(h.experiment)
	f.freeze(r)
	r.wait(8 * time.Second) // three of the phase's limit, then it is killed
	f.thaw()
	<-r.done
	code, _ := exitOf(r.err)
	h.told("late-death", code, read(t, r.out))
	h.goesOn("kernel=lets go")
}

// A freezer is a group of processes that the kernel holds: not even SIGKILL ends
// them.
type freezer struct {
	t   *testing.T
	dir string
}

// newFreezer makes the group. The test is skipped where the kernel does not
// permit it.
func newFreezer(t *testing.T) *freezer {
	t.Helper()
	f := &freezer{t, filepath.Join("/sys/fs/cgroup/freezer", fmt.Sprintf("dbmatrix-test-%d", os.Getpid()))}
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		t.Skipf("no process can be frozen here: %v", err)
	}
	t.Cleanup(func() {
		f.thaw()
		for deadline := time.Now().Add(orphanBound); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if os.Remove(f.dir) == nil {
				return
			}
		}
		t.Errorf("%s is still there", f.dir)
	})
	return f
}

func (f *freezer) set(name, value string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(value), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// freeze freezes the server of a runner once its first phase works.
func (f *freezer) freeze(r *runner) {
	f.t.Helper()
	for !strings.Contains(read(f.t, r.out), "is ready") {
		if r.wait(20 * time.Millisecond) {
			f.t.Fatalf("the runner has ended:\n%s", read(f.t, r.out))
		}
	}
	time.Sleep(time.Second)
	server := familyOf(f.t, r.cmd.Process.Pid).server
	if server == nil {
		f.t.Fatalf("there is no server:\n%s", read(f.t, r.out))
	}
	f.set("cgroup.procs", itoa(server.pid))
	f.set("freezer.state", "FROZEN")
}

// thaw lets all go.
func (f *freezer) thaw() { f.set("freezer.state", "THAWED") }

// told compares what a run printed at its end with what is expected of it, apart
// from what differs each time.
func (h *host) told(name string, code int, out string) {
	h.t.Helper()
	_, end, _ := strings.Cut(h.alike(out), "\n\n")
	got := fmt.Sprintf("%s\nexit code %d\n", strings.TrimSpace(end), code)
	path := filepath.Join("testdata", "story", name+".txt")
	if *update {
		write(h.t, path, got)
		return
	}
	if diff := cmp.Diff(strings.Split(read(h.t, path), "\n"), strings.Split(got, "\n")); diff != "" {
		h.t.Errorf("what was told (-want +got):\n%s\n\nof\n%s", diff, out)
	}
}

// differs is what differs each time in what a run prints, and what stands for it
// in what is expected.
var differs = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `), "TIME "},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d +\d+:\d\d:\d\d( \d+)?`), "TIME"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ms|s)\b`), "TOOK"},
	{regexp.MustCompile(`\bpid \d+`), "pid PID"},
	{regexp.MustCompile(`\d+ threads, \d+ of them in state D( in .*)?`), "N threads, N of them in state D"},
	{regexp.MustCompile(`(?m)^(TIME \[|Version: ).*\n`), ""}, // lines of the server's log
	{regexp.MustCompile(`works for \d+ s`), "works for N s"},
	{regexp.MustCompile(`-[0-9a-f]{8}\b`), "-HASH"},
	{regexp.MustCompile(`\d+ MB\b`), "SIZE"},
}

// alike returns what a run printed with what differs each time taken out.
func (h *host) alike(out string) string {
	out = strings.ReplaceAll(out, h.dir, "DIR")
	for _, d := range differs {
		out = d.pattern.ReplaceAllString(out, d.as)
	}
	return out
}

// goesOn checks that the other cell is done, that nothing runs any more, and that
// the failed one is left to be asked for.
func (h *host) goesOn(cell string) {
	h.t.Helper()
	for _, r := range h.plan().Runs {
		if (r.Status == "done") != (r.Cell == cell) {
			h.t.Errorf("%s is %s: %s", r.Cell, r.Status, r.Reason)
		}
	}
	h.nothingSurvives()
	h.nothingLeft()
	h.intact()
}
