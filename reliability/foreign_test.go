package reliability

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A foreign is what is not dbmatrix's: files and processes that must be, after
// all, exactly as they were.
type foreign struct {
	t         *testing.T
	roots     []string
	before    map[string]string
	processes []process
}

// newForeign returns a guard of nothing.
func newForeign(t *testing.T) *foreign { return &foreign{t: t, before: map[string]string{}} }

// file writes a file that is not ours.
func (f *foreign) file(path string) {
	f.t.Helper()
	write(f.t, path, "not made by dbmatrix: "+filepath.Base(path)+"\n")
	f.watch(path)
}

// watch remembers how a file, a link, or a tree is now.
func (f *foreign) watch(root string) {
	f.t.Helper()
	f.roots = append(f.roots, root)
	for path, state := range states(f.t, root) {
		f.before[path] = state
	}
}

// states tells all that a change would show in: type and mode, owner, content,
// time of the last change, inode.
func states(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		content := ""
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(b))
		case info.Mode()&fs.ModeSymlink != 0:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		found[path] = fmt.Sprintf("%s %d:%d inode %d, content %q", info.Mode(), st.Uid, st.Gid, st.Ino, content)
		if !d.IsDir() { // reading a database makes and removes files beside it
			found[path] += ", changed " + info.ModTime().String()
		}
		return nil
	})
	if err != nil {
		t.Errorf("looking at what is not ours: %v", err)
	}
	return found
}

// decoy starts a process that looks like a server of a directory, and is none of
// ours: a copy of sleep under a server's name, with its arguments.
func (f *foreign) decoy(dir, name string, args ...string) {
	f.t.Helper()
	path := filepath.Join(dir, name)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		f.t.Fatal(err)
	}
	write(f.t, path, read(f.t, sleep))
	if err := os.Chmod(path, 0o755); err != nil {
		f.t.Fatal(err)
	}
	// sleep refuses arguments that are no number, so they are part of its
	// name.
	f.start(&exec.Cmd{Path: path, Args: []string{strings.Join(append([]string{name}, args...), " "), "3600"}, Dir: dir})
}

// start starts a process that must outlive all that dbmatrix does.
func (f *foreign) start(cmd *exec.Cmd) {
	f.t.Helper()
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test failed
		_ = cmd.Wait()
	})
	for _, p := range processes(f.t) {
		if p.pid == cmd.Process.Pid {
			f.processes = append(f.processes, p)
			return
		}
	}
	f.t.Fatalf("%s has ended", cmd.Path)
}

// pids returns the ids of the processes.
func (f *foreign) pids() []int {
	var pids []int
	for _, p := range f.processes {
		pids = append(pids, p.pid)
	}
	return pids
}

// intact checks that all is as it was.
func (f *foreign) intact() {
	f.t.Helper()
	now := map[string]string{}
	for _, root := range f.roots {
		for path, state := range states(f.t, root) {
			now[path] = state
		}
	}
	if diff := cmp.Diff(f.before, now); diff != "" {
		f.t.Errorf("what is not dbmatrix's was touched (-before +now):\n%s", diff)
	}
	for _, p := range f.processes {
		if !p.runs() {
			f.t.Errorf("process %d (%s), which is not dbmatrix's, has ended", p.pid, p.name)
		}
	}
}
