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
	for _, args := range [][]string{
		{"mkfs.ext4", "-q", "-m", "0", image},
		{"mount", "-o", "loop", image, at},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			cannot(h.t, fmt.Sprintf("making a small filesystem: %s: %v %s", strings.Join(args, " "), err, out))
		}
	}
	h.t.Cleanup(func() { unmount(h.t, at) })
	if err := os.Chmod(at, 0o755); err != nil {
		h.t.Fatal(err)
	}
	return &disk{t: h.t, at: at, filler: filepath.Join(at, "filler")}
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
