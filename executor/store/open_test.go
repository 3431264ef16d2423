package store

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbmatrix/matrix"

	"golang.org/x/sys/unix"
)

// childVariable makes the test program itself a child: its value says which.
const childVariable = "DBMATRIX_TEST_STORE_CHILD"

func TestMain(m *testing.M) {
	children := map[string]func(path string) error{"write": writeForever, "open": openOnce, "read": readOnce, "fill": fillDisk}
	child, ok := children[os.Getenv(childVariable)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := child(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child returns a command that runs this program as a child.
func child(kind, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), childVariable+"="+kind)
	return cmd
}

// A failer stands for the testing.T that a child does not have.
type failer struct{ testing.TB }

func (failer) Helper()           {}
func (failer) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// writeForever records attempts until it is killed, and says so after each.
func writeForever(path string) error {
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	p := plan(1, 1)
	r := record(failer{}, s, p)
	for {
		fmt.Println(r.whole(p.Cells[0], 1, 1000))
	}
}

// TestKilledWriter kills a writer at random moments. What it had said was recorded
// is there, and nothing by halves.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	last := 0
	for round := range 3 {
		cmd := child("write", path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 10 * (round + 1) {
			if !lines.Scan() {
				t.Fatal("the writer ended")
			}
			if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(round) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it was killed
	}

	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := plan(1, 1)
	exp, err := s.RecordPlan(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.BeginRunner(t.Context(), Runner{Experiment: exp}, dead); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, "PRAGMA integrity_check", "ok")
	wantRows(t, s, "PRAGMA foreign_key_check")
	wantRows(t, s, fmt.Sprintf("SELECT count(*) FROM attempt WHERE id <= %d AND status NOT IN ('ok', 'interrupted')", last), "0")
	// An iteration has both of its metrics, an attempt that is ok all of its phases.
	wantRows(t, s, "SELECT iteration_id FROM metric GROUP BY 1 HAVING count(*) <> 2")
	wantRows(t, s, "SELECT i.id FROM iteration i WHERE NOT EXISTS (SELECT 1 FROM metric m WHERE m.iteration_id = i.id)")
	wantRows(t, s, "SELECT a.id FROM attempt a JOIN phase p ON p.attempt_id = a.id WHERE a.status = 'ok' GROUP BY 1 HAVING count(*) <> 2")
}

// fillDisk works on a filesystem of its own that holds little more than the
// ballast.
func fillDisk(path string) error {
	dir := filepath.Dir(path)
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", ballastSize+(2<<20))); err != nil {
		return err
	}
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	p := plan(1, 2)
	r := record(failer{}, s, p)
	a := r.attempt(p.Cells[0], 1)
	phase := r.begin(a, p.Cells[0], 0)
	if err := fillRest(filepath.Join(dir, "filler")); err != nil {
		return err
	}

	series := matrix.Series{Metric: "ips", Unit: "1/s"}
	for i := range 200_000 {
		series.Readings = append(series.Readings, matrix.Reading{At: time.Duration(i) * time.Second, Value: float64(i) + 0.5})
	}
	if _, err := s.FinishIteration(r.ctx, phase, Iteration{Number: 1, Status: matrix.OK, Series: []matrix.Series{series}}); err != nil {
		return fmt.Errorf("what was measured was not recorded: %w", err)
	}
	if _, err := os.Stat(path + "-ballast"); !errors.Is(err, fs.ErrNotExist) || !s.DiskFull() {
		return fmt.Errorf("the ballast is there still (%v), or the store does not know that the disk is full", err)
	}
	if _, err := s.BeginPhase(r.ctx, PhaseStart{Attempt: a, Ordinal: 2, Phase: p.Cells[0].Phases[1], Fingerprint: "f", Inputs: inputs(p.Cells[0], 1)}); !errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("a phase began on a full disk: %w", err)
	}
	r.finish(phase, matrix.OK, "")
	r.end(a, matrix.Interrupted, "disk full")
	if err := s.Close(); err != nil {
		return err
	}
	if err := fillRest(filepath.Join(dir, "filler2")); err != nil {
		return err
	}
	if _, err := Open(context.Background(), path); !errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("the results were opened on a full disk: %w", err)
	}
	ro, err := OpenReadOnly(context.Background(), path)
	if err != nil {
		return fmt.Errorf("the results cannot be read on a full disk: %w", err)
	}
	defer ro.Close()
	h, err := ro.History(context.Background(), "dio", "host-a")
	if err != nil || len(h.Attempts) != 1 || h.Attempts[0].Phases[0].Iterations != 1 {
		return fmt.Errorf("the history is %+v (%w)", h, err)
	}
	return nil
}

// fillRest writes a file until the disk is full.
func fillRest(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, size := range []int{1 << 16, 1 << 12} {
		for b := make([]byte, size); err == nil; {
			_, err = f.Write(b)
		}
		if !errors.Is(err, unix.ENOSPC) {
			return err
		}
		err = nil
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	cmd := child("fill", filepath.Join(t.TempDir(), "results.db"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || strings.Contains(string(out), "operation not permitted") {
		t.Skip("this host does not let a test mount a filesystem of its own")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFullDatabase has no ballast that could help.
func TestFullDatabase(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[0], 1)
	if _, err := s.writer.Exec("PRAGMA max_page_count = 1"); err != nil { // as few as there are
		t.Fatal(err)
	}
	var facts []Fact
	for i := range 10_000 {
		facts = append(facts, Fact{"a fact of some length", fmt.Sprint(i)})
	}
	if err := s.AddFacts(r.ctx, a, facts); !errors.Is(err, ErrDiskFull) || !s.DiskFull() {
		t.Errorf("got %v, want %v", err, ErrDiskFull)
	}
	wantRows(t, s, "SELECT count(*) FROM fact", "0")
}

func TestPathsOfAllKinds(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain.db", "with blank.db", "what?.db", "100%.db", "a#b.db", "käse.db", "%41.db", "a&b=c.db"} {
		path := filepath.Join(dir, name)
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s is not there: %v", name, err)
		}
	}
}

func TestSettings(t *testing.T) {
	s := newStore(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000", "application_id": "1684172152", "user_version": "3",
	} {
		var got string
		if err := s.writer.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
		}
	}
	info, err := os.Stat(s.path + "-ballast")
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); info.Size() != ballastSize || st.Blocks*512 < ballastSize {
		t.Errorf("the ballast has %d bytes, %d of them on disk; want %d", info.Size(), st.Blocks*512, ballastSize)
	}
}

func TestOpenRefuses(t *testing.T) {
	database := func(statements ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, s := range statements {
				if _, err := db.Exec(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	tests := map[string]struct {
		make func(t *testing.T, path string)
		want string
		is   error
	}{
		"a text": {
			make: func(t *testing.T, path string) {
				if err := os.WriteFile(path, []byte(strings.Repeat("no database\n", 100)), 0o644); err != nil {
					t.Fatal(err)
				}
			},
			want: "it is no database",
		},
		"another program's": {database("CREATE TABLE t (a)"), "another program", nil},
		"a newer one":       {database("CREATE TABLE t (a)", "PRAGMA application_id = 1684172152", "PRAGMA user_version = 99"), "schema 99", ErrNewer},
		"a damaged one": {
			make: func(t *testing.T, path string) {
				s, err := Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				p := plan(20, 1)
				r := record(t, s, p)
				for _, c := range p.Cells {
					r.whole(c, 1, 1)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				overwrite(t, path)
			},
			want: ".recover",
		},
		"a folder": {
			make: func(t *testing.T, path string) {
				if err := os.Mkdir(path, 0o755); err != nil {
					t.Fatal(err)
				}
			},
			want: "results.db",
		},
		"a folder that is not there": {func(t *testing.T, path string) {
			if err := os.Remove(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}, "no such file", fs.ErrNotExist},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d", "results.db")
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			test.make(t, path)
			_, err := Open(t.Context(), path)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error that has %q and the path", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			if name == "a damaged one" {
				return // what is damaged may be read in part
			}
			if _, err = OpenReadOnly(t.Context(), path); err == nil || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("for reading: %v", err)
			}
		})
	}
}

// overwrite spoils pages in the middle of a file.
func overwrite(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for page := int64(2); page < info.Size()/4096; page += 2 {
		if _, err := f.WriteAt([]byte(strings.Repeat("\xff", 512)), page*4096); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNetworkFilesystems(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x517b: "SMB", 0x01021997: "9p", 0x00c36400: "Ceph",
		0xef53: "", 0x58465342: "", 0x01021994: "", 0x9123683e: "", 0x794c7630: "", // ext4, XFS, tmpfs, btrfs, overlay
	} {
		if got := networkFilesystem(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}

func TestReadWhileWriting(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	r.whole(p.Cells[0], 1, 1000)
	ro, err := OpenReadOnly(t.Context(), s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	err = s.record(t.Context(), "a test", func(w *tx) error {
		if err := w.exec("UPDATE attempt SET message = 'half way'"); err != nil {
			return err
		}
		got, err := ro.Results(t.Context(), "dio", Selection{})
		if err != nil || len(got) != 1 || got[0].Message != "" {
			t.Errorf("while a transaction is open: %+v, %v; want what was before it", got, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ro.Withdraw(t.Context(), 1, "a reason", "me"); err == nil || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("a write to a store that is read-only: %v", err)
	}
}

// openOnce opens a record for writing.
func openOnce(path string) error {
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	return s.Close()
}

// readOnce reads a record as somebody who may not write to its folder.
func readOnce(path string) error {
	s, err := OpenReadOnly(context.Background(), path)
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := s.Results(context.Background(), "dio", Selection{})
	if err != nil {
		return err
	}
	fmt.Println("attempts:", len(got))
	return nil
}

// TestReadLeavesNothing tests that a reader leaves no files of the log behind,
// unless a writer uses them.
func TestReadLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	left := func() []string {
		t.Helper()
		files, err := filepath.Glob(path + "-[ws]*")
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if err := openOnce(path); err != nil {
		t.Fatal(err)
	}
	reader, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Results(t.Context(), "dio", Selection{}); err != nil {
		t.Fatal(err)
	}
	if len(left()) == 0 {
		t.Error("reading made no files of the log: the test tests nothing")
	}
	writer, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(1, 1)
	if _, err := writer.RecordPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if len(left()) == 0 {
		t.Error("a reader removed the log of a writer")
	}
	if _, err := writer.RecordPlan(t.Context(), p); err != nil {
		t.Errorf("the writer, after a reader ended: %v", err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if reader, err = OpenReadOnly(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if files := left(); len(files) > 0 {
		t.Errorf("reading left %v", files)
	}
}

func TestReadInFolderThatMayNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(2, 1)
	r := record(t, s, p)
	r.whole(p.Cells[0], 1, 1000)

	// Root may write everywhere: the child is somebody else.
	nobody := func(kind string) string {
		cmd := child(kind, path)
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			executable, err := os.ReadFile(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			cmd.Path = filepath.Join(dir, "store.test") // where nobody can reach it
			if err := os.WriteFile(cmd.Path, executable, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o555); err != nil {
				t.Fatal(err)
			}
		}
		out, err := cmd.CombinedOutput()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(string(out), err)
	}
	if got := nobody("read"); got != "attempts: 1\n<nil>" {
		t.Errorf("while a runner has it open: %s", got)
	}
	if got := nobody("open"); !strings.Contains(got, "writing to "+dir+": permission denied") {
		t.Errorf("opened for writing: %s", got)
	}
	r.whole(p.Cells[1], 1, 1000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := nobody("read"); got != "attempts: 2\n<nil>" {
		t.Errorf("after the runner closed it: %s", got)
	}

	// A log that was left, without its shared memory, cannot be read there,
	// and what it holds must not be left out unseen.
	if err := os.WriteFile(path+"-wal", make([]byte, 4096), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := nobody("read"); !strings.Contains(got, "copy both") {
		t.Errorf("with a log that was left: %s", got)
	}
}
