package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/server/servertest"
)

// disturbedExperiment has cells that one after the other is disturbed.
const disturbedExperiment = `
experiment { replicates = REPLICATES }
defaults { server = server.mariadb }
axis "n" { levels = [1, 2] }
phase "load" {
  timeout = "2m"
  workload "sql" { statements = ["select sleep(1) + ${axis.n}"] }
}
`

// exitCodeOf returns the exit code of a command that has ended.
func exitCodeOf(t *testing.T, err error) int {
	t.Helper()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	if exited == nil {
		return 0
	}
	return exited.ExitCode()
}

// childOf returns the process that is a child of another and has a word among its
// arguments.
func childOf(t *testing.T, parent int, word string) int {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			b, err := os.ReadFile(path)
			if err != nil {
				continue // it has ended
			}
			fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && bytes.Contains(args, []byte(word)) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				return pid
			}
		}
	}
	t.Fatalf("process %d has no child with %q", parent, word)
	return 0
}

// newDisturbed returns a victim on a server, with one replicate.
func newDisturbed(t *testing.T, text string) *victim {
	t.Helper()
	v := newVictim(t, victimHost(t), "disturbed")
	v.text, v.n = text, 0
	v.grow()
	return v
}

// A guardian that is killed takes its server with it; the next run has another.
func TestGuardianIsKilled(t *testing.T) {
	v := newDisturbed(t, disturbedExperiment)
	cmd, out := v.command(nil, "run", v.dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guardian := childOf(t, cmd.Process.Pid, server.GuardianCommand)
	childOf(t, guardian, "mariadbd")
	if err := syscall.Kill(guardian, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, cmd.Wait()); code != exitFailedRuns {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, want := range []string{"the guardian process, which is the parent", "there is a new one", "1 done, 1 failed, 0 left"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q\n%s", want, out)
		}
	}
	v.nothingSurvives()
	if left, _ := filepath.Glob(v.data + "/runs/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if out, err := runVictim(v, "run", "--status", "failed", v.dir); err != nil {
		t.Errorf("taking up what failed: %v\n%s", err, out)
	}
}

// runVictim runs a command to its end.
func runVictim(v *victim, args ...string) (string, error) {
	cmd, out := v.command(nil, args...)
	err := cmd.Run()
	return out.String(), err
}

// What a command before the server does holds for the server: it is pinned, and
// its memory is limited. One that the kernel kills for lack of memory is told of
// as such, though its own log has no word of it.
func TestServerPrefix(t *testing.T) {
	group := memoryGroup(t, 160<<20)
	v := newDisturbed(t, `
experiment { replicates = REPLICATES }
server "limited" {
  flavour = "mariadb"
}
defaults {
  server = server.limited
  my_cnf = { innodb_buffer_pool_size = "600M", innodb_log_file_size = "64M" }
}
phase "load" {
  timeout = "5m"
  workload "exec" {
    command = ["sh", "-c", "p=$(cat $${DBMATRIX_SOCKET%/*}/pid); sed -n 's/^Cpus_allowed_list:\\t/cpus=/p' /proc/$p/status"]
    metric "cpus_allowed" { regex = "cpus=([0-9]+)\n" }
  }
}
phase "fill" {
  timeout = "5m"
  workload "sql" {
    statements = [
      "create database d",
      "create table d.t (a int primary key, b varchar(4000))",
      "insert into d.t select seq, repeat('x', 4000) from d.seq_1_to_120000",
    ]
  }
}
`)
	build := servertest.Need(t, "mariadb")
	machine := fmt.Sprintf(`
data_dir = %q
server "limited" {
  mysqld = %q
  prefix = ["sh", "-c", "echo $$ > %s/cgroup.procs && exec \"$0\" \"$@\"", "taskset", "-c", "1"]
}
`, v.data, build.Server.Mysqld, group)
	if err := os.WriteFile(filepath.Join(filepath.Dir(v.dir), "machine.hcl"), []byte(machine), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := runVictim(v, "run", "-v", v.dir)
	if code := exitCodeOf(t, err); code != exitFailedRuns {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if !strings.Contains(out, "crashed: the kernel killed the server for lack of memory: ") && !strings.Contains(out, "processes of this host for lack of memory") {
		t.Errorf("it does not tell of the lack of memory\n%s", out)
	}
	if n := v.quick("SELECT value FROM metric m JOIN metric_name n ON n.id = m.metric_name_id WHERE n.name = 'cpus_allowed'"); n != 1 {
		t.Errorf("the server may use CPU %d\n%s", n, out)
	}
	v.nothingSurvives()
}

// memoryGroup makes a cgroup with a limit of memory that servers' users may enter.
func memoryGroup(t *testing.T, limit int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes cgroups")
	}
	root, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes" // version 1
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		root, file = "/sys/fs/cgroup", "memory.max"
	}
	group, err := os.MkdirTemp(root, "dbmatrix-test-")
	if err != nil {
		t.Skipf("no memory cgroup can be made here: %v", err)
	}
	if err := os.Chmod(group, 0o755); err != nil { // servers do not run as root
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(group) })
	if err := os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(limit)), 0o644); err != nil {
		t.Skipf("no limit of memory can be set here: %v", err)
	}
	if err := os.Chmod(filepath.Join(group, "cgroup.procs"), 0o666); err != nil {
		t.Fatal(err)
	}
	return group
}

// What root measured for somebody is theirs.
func TestResultsOfSudoAreGivenBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	v := newLight(t)
	v.env = append(v.env, "SUDO_UID="+nobody.Uid, "SUDO_GID="+nobody.Gid)
	v.mustRun()
	uid, _ := strconv.Atoi(nobody.Uid)
	seen := 0
	err = filepath.WalkDir(v.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		ours := path == v.dir || path == filepath.Join(v.dir, "experiment.hcl") // they were there
		if got := int(info.Sys().(*syscall.Stat_t).Uid); ours != (got != uid) {
			t.Errorf("%s is user %d's", path, got)
		}
		if !ours {
			seen++
		}
		return nil
	})
	if err != nil || seen < 5 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// PostgreSQL's settle waits for its vacuum, of all databases, and its checkpoint.
func TestSettleOfPostgres(t *testing.T) {
	servertest.Need(t, "postgres")
	v := newDisturbed(t, `
experiment { replicates = REPLICATES }
defaults { server = server.postgres }
phase "load" {
  workload "sql" {
    statements = [
      "create table t as select generate_series(1, 100000) as a",
      "delete from t where a % 2 = 0",
    ]
  }
  settle {
    vacuum         = true
    checkpoint_age = "1M"
    max_wait       = "2m"
  }
}
phase "count" {
  workload "sql" { statements = ["select n_dead_tup from pg_stat_user_tables where relname = 't'"] }
}
`)
	out, err := runVictim(v, "run", "-v", v.dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, metric := range []string{"settle_vacuum", "settle_checkpoint_age"} {
		if n := v.quick("SELECT count(*) FROM metric m JOIN metric_name n ON n.id = m.metric_name_id WHERE n.name = '" + metric + "'"); n != 1 {
			t.Errorf("%d times %s", n, metric)
		}
	}
	if n := v.quick("SELECT count(*) FROM phase WHERE settle_seconds > 0"); n != 1 {
		t.Errorf("%d phases settled", n)
	}
}
