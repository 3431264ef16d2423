package sampler

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// write makes a file with some bytes at an offset, behind a hole.
func write(t *testing.T, name string, hole int64, bytes int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, bytes), hole); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

// sizeOf adds up what stat says of files and folders.
func sizeOf(t *testing.T, names ...string) Size {
	t.Helper()
	var sum Size
	for _, n := range names {
		var st unix.Stat_t
		if err := unix.Lstat(n, &st); err != nil {
			t.Fatal(err)
		}
		s := Size{Allocated: st.Blocks * 512, Apparent: st.Size}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			s.Files = 1
		}
		sum.add(s)
	}
	return sum
}

func TestDiskUsage(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("data/t.ibd"), 10<<20, 4096) // punched
	write(t, at("data/ib_logfile0"), 0, 8192)
	write(t, at("data/binlog/b.000001"), 0, 4096)
	write(t, at("data/redo/log"), 0, 12288)
	write(t, at("elsewhere"), 0, 1<<20)
	if err := os.Link(at("data/t.ibd"), at("data/same.ibd")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("elsewhere"), at("data/symlink")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("data"), at("link")); err != nil {
		t.Fatal(err)
	}
	classify := func(rel string) string {
		if strings.HasPrefix(rel, "binlog/") {
			return "binlog"
		}
		return ""
	}
	want := Usage{
		"data":   sizeOf(t, at("data"), at("data/t.ibd"), at("data/ib_logfile0"), at("data/symlink"), at("data/binlog")),
		"binlog": sizeOf(t, at("data/binlog/b.000001")),
		"redo":   sizeOf(t, at("data/redo"), at("data/redo/log")),
	}
	// The order of roots, and a root that is a link, do not matter.
	for name, roots := range map[string][]Root{
		"outer first": {{Path: at("data"), Role: "data", Classify: classify}, {Path: at("data/redo"), Role: "redo"}},
		"inner first": {{Path: at("data/redo"), Role: "redo"}, {Path: at("link"), Role: "data", Classify: classify}},
		"twice":       {{Path: at("data"), Role: "data", Classify: classify}, {Path: at("data/redo"), Role: "redo"}, {Path: at("data"), Role: "data"}},
		"not there":   {{Path: at("data"), Role: "data", Classify: classify}, {Path: at("data/redo"), Role: "redo"}, {Path: at("gone"), Role: "redo"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := DiskUsage(t.Context(), roots...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if s := want["data"]; s.Allocated > 1<<20 || s.Apparent < 10<<20 {
		t.Errorf("the hole does not show: %+v", s)
	}
}

// TestDiskUsageWhileFilesVanish removes files while they are counted.
func TestDiskUsageWhileFilesVanish(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a", "b", "c/d", "e"} {
		write(t, filepath.Join(dir, n), 0, 4096)
	}
	removed := false
	got, err := DiskUsage(t.Context(), Root{Path: dir, Role: "data", Classify: func(string) string {
		if !removed {
			removed = true
			if err := errors.Join(os.Remove(filepath.Join(dir, "b")), os.RemoveAll(filepath.Join(dir, "c"))); err != nil {
				t.Fatal(err)
			}
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got["data"].Files != 2 {
		t.Errorf("%d files, want the two that stayed", got["data"].Files)
	}
}

func TestDiskUsageStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DiskUsage(ctx, Root{Path: t.TempDir(), Role: "data"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestUsageMetrics(t *testing.T) {
	u := Usage{"redo": {Allocated: 1, Apparent: 2}, "data": {Allocated: 10, Apparent: 20}}
	want := []matrix.Metric{
		{Name: "size_allocated", Unit: "B", Value: 11},
		{Name: "size_apparent", Unit: "B", Value: 22},
		{Name: "size_data_allocated", Unit: "B", Value: 10},
		{Name: "size_data_apparent", Unit: "B", Value: 20},
		{Name: "size_redo_allocated", Unit: "B", Value: 1},
		{Name: "size_redo_apparent", Unit: "B", Value: 2},
	}
	if diff := cmp.Diff(want, u.Metrics()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFreeSpace(t *testing.T) {
	s, err := FreeSpace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if s.Available <= 0 || s.Free < s.Available || s.Total <= s.Free {
		t.Errorf("%+v: want total above free, free at least available, available above 0", s)
	}
	if _, err := FreeSpace("/no/such/folder"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
