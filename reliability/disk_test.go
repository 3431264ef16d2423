package reliability

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A disk is a small filesystem in a file, with room for nothing but a test.
type disk struct {
	t      *testing.T
	image  string
	at     string // mount point
	filler string // the file that takes the free space away
}

// mountDisk makes an ext4 filesystem of a size in a file and mounts it. The test
// is skipped where that is not permitted, or fails where DBMATRIX_REQUIRE_SERVERS
// is 1. The filesystem is unmounted after the test, whatever became of it.
func (h *host) mountDisk(name string, size int64) *disk {
	h.t.Helper()
	image, at := filepath.Join(h.dir, name+".img"), filepath.Join(h.dir, name)
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Truncate(image, size); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		h.t.Fatal(err)
	}
	d := &disk{t: h.t, image: image, at: at, filler: filepath.Join(at, "filler")}
	if err := d.do([]string{"mkfs.ext4", "-q", "-m", "0", image}, d.mounting()); err != nil {
		cannot(h.t, err.Error())
	}
	h.t.Cleanup(func() { unmount(h.t, at) })
	if err := os.Chmod(at, 0o755); err != nil {
		h.t.Fatal(err)
	}
	return d
}

// mounting returns the command that mounts the filesystem. After an error of its
// disk the kernel lets nothing be written to it any more.
func (d *disk) mounting() []string {
	return []string{"mount", "-o", "loop,errors=remount-ro", d.image, d.at}
}

// do executes commands until one fails.
func (d *disk) do(commands ...[]string) error {
	for _, args := range commands {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// breaks makes the kernel believe that the disk has an error.
func (d *disk) breaks() {
	d.t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(d.at, &st); err != nil {
		d.t.Fatal(err)
	}
	device, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	if err != nil {
		cannot(d.t, err.Error())
	}
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(device), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("made by a test of dbmatrix"), 0o200); err != nil {
		cannot(d.t, err.Error())
	}
}

// sync writes down what was written: the definition must outlive the error.
func (d *disk) sync() {
	d.t.Helper()
	dir, err := os.Open(d.at)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		d.t.Fatal(err)
	}
}

// repairs checks the filesystem and mounts it again.
func (d *disk) repairs() {
	d.t.Helper()
	unmount(d.t, d.at)
	err := d.do([]string{"e2fsck", "-fy", d.image})
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() == 1 { // errors were corrected
		err = nil
	}
	if err := errors.Join(err, d.do(d.mounting())); err != nil {
		d.t.Fatal(err)
	}
}

// A disk that takes no writes any more, as the kernel makes one after an error, ends
// the run under way and the plan; once it is well again the run is taken up.
func TestDiskBecomesReadOnly(t *testing.T) {
	for _, broken := range []string{"data", "results"} {
		t.Run(broken, func(t *testing.T) {
			h := newHost(t)
			d := h.mountDisk("disk-"+broken, dataDisk)
			if broken == "data" {
				h.data = filepath.Join(d.at, "data")
			} else {
				h.experiment = filepath.Join(d.at, "e")
			}
			h.machine("", "mariadb")
			h.define(`
defaults {
  server = server.mariadb
  my_cnf = { innodb_log_file_size = "8M" }
}
axis "n" { levels = [1, 2] }
phase "load" {
  workload "sql" {
    statements = ["create database d", "create table d.t (a int)",
      "insert into d.t select seq from d.seq_1_to_100000", "select sleep(2) + ${axis.n}", "insert into d.t select seq from d.seq_1_to_100000"]
  }
}
`)
			d.sync()
			r := h.startRunner(h.experiment)
			h.awaitWindow(r)
			d.breaks()
			if !r.wait(2 * time.Minute) {
				t.Fatalf("the runner does not end\n%s", read(t, r.out))
			}
			code, _ := exitOf(r.err)
			out := read(t, r.out)
			if code != 3 || !strings.Contains(out, d.at) || !strings.Contains(out, "dbmatrix run") {
				t.Errorf("exit code %d\n%s", code, out)
			}
			d.repairs()
			if plain, failed := h.plan().left(); plain != 2 || failed != 0 {
				t.Errorf("a plain run would take up %d, and %d failed\n%s", plain, failed, out)
			}
			h.must("run", h.experiment)
			h.intact()
			h.nothingLeft()
		})
	}
}

// cannot skips a test for what this host does not permit, or fails it.
func cannot(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("DBMATRIX_REQUIRE_SERVERS") == "1" && os.Geteuid() == 0 {
		t.Fatal(why)
	}
	t.Skip(why)
}

// unmount unmounts a filesystem once what used it has ended.
func unmount(t *testing.T, at string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(orphanBound); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		err = unix.Unmount(at, 0)
		if err == nil || errors.Is(err, unix.EINVAL) { // not mounted any more
			return
		}
	}
	t.Errorf("unmounting %s: %v", at, err)
	if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
		t.Errorf("unmounting %s lazily: %v", at, err)
	}
}

// fill takes all but a little of the free space away.
func (d *disk) fill(leave int64) {
	d.t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(d.at, &st); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(d.filler, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	// What else is written meanwhile may have taken some of it.
	for size := int64(st.Bavail)*st.Bsize - leave; size > 0; size -= 1 << 20 {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.ENOSPC) {
			d.t.Fatalf("filling %s: %v", d.at, err)
		}
	}
}

// free gives the space back.
func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(d.filler); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
}

// awaitWindow waits until a runner is about to measure.
func (h *host) awaitWindow(r *runner) {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && !r.wait(50*time.Millisecond); {
		if strings.Contains(read(h.t, r.out), "is ready after") {
			return
		}
	}
	h.t.Fatalf("the runner measures nothing\n%s", read(h.t, r.out))
}
