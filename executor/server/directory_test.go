package server

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

// layoutIn returns a layout in a directory of the test, with its redo log on a
// storage of its own where fast is not empty.
func layoutIn(t *testing.T, root, name, fast string) Layout {
	t.Helper()
	s := &matrix.Settings{}
	if fast != "" {
		s.Storage = map[string]matrix.Storage{"redo": {Name: "fast", Dir: fast}}
	}
	l, err := NewLayout(root, KindRun, name, s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// made creates a layout with some files in it, one of them with a hole.
func made(t *testing.T, l Layout) {
	t.Helper()
	err := create(l, Owner{Kind: KindRun, Clean: true}, func(tmp Layout) error {
		if err := makeFolders(tmp, nil); err != nil {
			return err
		}
		if err := os.Mkdir(tmp.Data()+"/mysql", 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(tmp.Data()+"/mysql/t.ibd", []byte("rows"), 0o640); err != nil {
			return err
		}
		if _, ok := tmp.Roles["redo"]; ok {
			if err := os.WriteFile(tmp.Role("redo")+"/ib_logfile0", []byte("redo"), 0o640); err != nil {
				return err
			}
		}
		return sparse(tmp.Data() + "/holes")
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sparse writes a file of 64 MiB with three blocks of data: at its beginning, in
// its middle, and a hole at its end.
func sparse(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, at := range []int64{0, 32 << 20} {
		if _, err := f.WriteAt([]byte(strings.Repeat("x", 4096)), at); err != nil {
			return err
		}
	}
	return f.Truncate(64 << 20)
}

func TestNewLayout(t *testing.T) {
	s := &matrix.Settings{Storage: map[string]matrix.Storage{
		"data": {Name: "raid", Dir: "/raid"}, "redo": {Name: "fast", Dir: "/fast"},
		"binlog": {Name: "fast", Dir: "/fast"}, "tmp": {Name: "raid", Dir: "/raid"},
	}}
	l, err := NewLayout("/data", KindSnapshot, "a", s)
	if err != nil {
		t.Fatal(err)
	}
	want := Layout{Dir: "/raid/snapshots/a", Roles: map[string]string{"redo": "/fast/snapshots/a", "binlog": "/fast/snapshots/a"}}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/raid/snapshots/a", "/fast/snapshots/a"}, l.Places()); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	roles := []string{l.Role("data"), l.Role("redo"), l.Role("binlog"), l.Role("tmp")}
	if diff := cmp.Diff([]string{"/raid/snapshots/a/data", "/fast/snapshots/a/redo", "/fast/snapshots/a/binlog", "/raid/snapshots/a/tmp"}, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	for _, name := range []string{"", "a/b", ".."} {
		if _, err := NewLayout("/data", KindRun, name, s); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	if _, err := NewLayout("/data", KindRun, "a", &matrix.Settings{Storage: map[string]matrix.Storage{"redo": {Name: "gone"}}}); err == nil || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("a storage without a place: got %v", err)
	}
}

func TestCreateFails(t *testing.T) {
	root := t.TempDir()
	l := layoutIn(t, root, "a", t.TempDir())
	boom := errors.New("boom")
	if err := create(l, Owner{Kind: KindRun}, func(Layout) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if left, err := Leftovers(root); err != nil || left != nil {
		t.Errorf("it left %v, %v", left, err)
	}
	if there, err := l.Exists(); there || err != nil {
		t.Errorf("it exists: %v, %v", there, err)
	}
	made(t, l)
	if err := l.Create(Owner{}); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("creating it twice: got %v", err)
	}
}

// A file of somebody else where a directory would be stays, and none is made.
func TestCreateWhereAFileLies(t *testing.T) {
	root := t.TempDir()
	l := layoutIn(t, root, "a", "")
	if err := os.MkdirAll(filepath.Dir(l.Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Dir, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Create(Owner{Kind: KindRun}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), l.Dir+" is no directory") {
		t.Errorf("making it: %v", err)
	}
	if err := Remove(l); err == nil {
		t.Error("it is removed")
	}
	if b, err := os.ReadFile(l.Dir); err != nil || string(b) != "theirs" {
		t.Errorf("the file is %q, %v", b, err)
	}
	if left, err := Leftovers(root); err != nil || left != nil {
		t.Errorf("it left %v, %v", left, err)
	}
}

// A power cut between the two renames of a creation leaves the place of a role
// behind; the next creation must get past it.
func TestCreateAfterPowerCut(t *testing.T) {
	root, fast := t.TempDir(), t.TempDir()
	l := layoutIn(t, root, "a", fast)
	made(t, l)
	if err := os.Rename(l.Dir, l.Dir+".tmp-0000"); err != nil {
		t.Fatal(err)
	}
	made(t, l)
	left, err := Leftovers(root)
	if err != nil || len(left) != 1 {
		t.Fatalf("leftovers are %v, %v", left, err)
	}
	if err := Remove(left[0]); err != nil {
		t.Error(err)
	}
	if there, err := l.Exists(); !there || err != nil {
		t.Errorf("what was whole is gone: %v", err)
	}
}

func TestCopy(t *testing.T) {
	root, fast := t.TempDir(), t.TempDir()
	from, to := layoutIn(t, root, "a", fast), layoutIn(t, root, "b", fast)
	made(t, from)
	if err := os.WriteFile(from.Logs()+"/error.1.log", []byte("not copied"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Copy(context.Background(), from, to, Owner{Kind: KindRun, Attempt: 2}, CopyBytes)
	if err != nil {
		t.Fatal(err)
	}
	if c.Files != 3 || c.Apparent != 64<<20+8 || c.Allocated > 1<<20 {
		t.Errorf("copied %+v, want 3 files of 64 MiB and 8 bytes, with the holes kept", c)
	}
	got, err := fileList([]string{to.Data(), to.Role("redo")})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for name, s := range got {
		sizes[name] = s.size
	}
	if diff := cmp.Diff(map[string]int64{"data/holes": 64 << 20, "data/mysql/t.ibd": 4, "redo/ib_logfile0": 4}, sizes); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"holes", "mysql/t.ibd"} {
		a, _ := os.ReadFile(from.Data() + "/" + name)
		b, _ := os.ReadFile(to.Data() + "/" + name)
		if string(a) != string(b) {
			t.Errorf("%s differs", name)
		}
	}
	info, err := os.Stat(to.Data() + "/mysql")
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the copy's mode is %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(to.Logs()); err == nil {
		t.Error("the logs were copied")
	}
	o, err := to.Owner()
	if err != nil || o.Attempt != 2 || !o.Clean || o.Token == "" {
		t.Errorf("the copy's owner is %+v, %v", o, err)
	}
	if a, _ := from.Owner(); a.Token == o.Token {
		t.Error("copy and source have one token")
	}
}

func TestCopyRefuses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, l Layout) error
		want  string
	}{
		{"not stopped cleanly", func(_ *testing.T, l Layout) error { return l.Update(func(o *Owner) { o.Clean = false }) }, "not stopped cleanly"},
		{"a link to the outside", func(_ *testing.T, l Layout) error { return os.Symlink("/etc", l.Data()+"/link") }, "symbolic link to /etc"},
		{"a socket", func(t *testing.T, l Layout) error {
			s, err := net.Listen("unix", l.Data()+"/s")
			if err == nil {
				t.Cleanup(func() { s.Close() })
			}
			return err
		}, "is a server still running"},
		{"not ours", func(_ *testing.T, l Layout) error { return os.Remove(filepath.Join(l.Dir, OwnerFile)) }, "no owner file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, err := os.MkdirTemp("", "c") // short, for the socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(root) })
			from, to := layoutIn(t, root, "a", ""), layoutIn(t, root, "b", "")
			made(t, from)
			if err := tt.spoil(t, from); err != nil {
				t.Fatal(err)
			}
			if _, err := Copy(context.Background(), from, to, Owner{Kind: KindRun}, CopyBytes); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if there, _ := to.Exists(); there {
				t.Error("there is a copy")
			}
			if left, err := Leftovers(root); err != nil || left != nil {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

// A copy with shared blocks falls back to bytes where the filesystem cannot.
func TestCopyReflink(t *testing.T) {
	root := t.TempDir()
	from, to := layoutIn(t, root, "a", ""), layoutIn(t, root, "b", "")
	made(t, from)
	c, err := Copy(context.Background(), from, to, Owner{Kind: KindRun}, CopyReflink)
	if err != nil {
		t.Fatal(err)
	}
	if c.Files != 2 || c.Reflinked != 0 && c.Reflinked != 2 {
		t.Errorf("copied %+v", c)
	}
}

func TestRemove(t *testing.T) {
	root, fast := t.TempDir(), t.TempDir()
	l := layoutIn(t, root, "a", fast)
	made(t, l)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, l.Data()+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := Remove(l); err != nil {
		t.Fatal(err)
	}
	for _, dir := range l.Places() {
		if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
			t.Errorf("%s still has %v, %v", filepath.Dir(dir), left, err)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("the file that a link leads to: %v", err)
	}
}

func TestRemoveRefuses(t *testing.T) {
	root := t.TempDir()
	l := layoutIn(t, root, "a", "")
	made(t, l)
	link := Layout{Dir: filepath.Join(root, "link")}
	if err := os.Symlink(l.Dir, link.Dir); err != nil {
		t.Fatal(err)
	}
	if err := Remove(link); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link: got %v", err)
	}
	open, err := os.Open(l.Data() + "/holes")
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(l); err == nil || !strings.Contains(err.Error(), "still uses") {
		t.Errorf("a directory in use: got %v", err)
	}
	open.Close()
	if err := os.WriteFile(filepath.Join(l.Dir, OwnerFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remove(l); !errors.Is(err, ErrForeign) {
		t.Errorf("an empty owner file: got %v", err)
	}
	if _, err := os.Stat(l.Data() + "/holes"); err != nil {
		t.Error("something was removed")
	}
}

func TestOwner(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "README")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOwner(file); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "is no directory") {
		t.Errorf("a plain file: %v", err)
	}
	if _, err := ReadOwner(dir); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), dir) {
		t.Errorf("no owner file: got %v", err)
	}
	if _, err := ReadOwner(dir + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, OwnerFile), []byte(`{"format": 99, "token": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOwner(dir); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer format: got %v", err)
	}
	want := Owner{Format: ownerFormat, Path: dir, Kind: KindRun, Cell: "a=b", Token: NewToken(), Process: &ProcessID{"boot", 1, 2}}
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadOwner(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An owner file that was copied or edited leads to nothing that dbmatrix did not
// make.
func TestRemoveForged(t *testing.T) {
	root, fast := t.TempDir(), t.TempDir()
	l, other := layoutIn(t, root, "a", fast), layoutIn(t, root, "b", fast)
	made(t, l)
	made(t, other)
	foreign := filepath.Join(root, "runs", "foreign[*]")
	own, err := os.ReadFile(filepath.Join(l.Dir, OwnerFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, OwnerFile), own, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remove(Layout{Dir: foreign}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), l.Dir) {
		t.Errorf("a copied owner file: got %v", err)
	}
	sockets := t.TempDir()
	if err := os.WriteFile(filepath.Join(sockets, pidName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{foreign, other.Dir, other.Roles["redo"]} {
		if err := l.Update(func(o *Owner) { o.Sockets, o.Roles = sockets, map[string]string{"redo": role} }); err != nil {
			t.Fatal(err)
		}
		edited, err := LayoutAt(l.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := Remove(edited); err == nil || !strings.Contains(err.Error(), role) {
			t.Errorf("the role's directory is %s: got %v", role, err)
		}
	}
	// The same directory by a link to its folder, but not its role's.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root+"/runs", link); err != nil {
		t.Fatal(err)
	}
	if err := Remove(Layout{Dir: link + "/a", Roles: map[string]string{"redo": fast + "/runs/a"}}); err == nil {
		t.Error("a directory in a folder of another name was removed with its role's")
	}
	if err := Remove(l); err != nil {
		t.Error(err)
	}
	for _, path := range []string{foreign, other.Dir, other.Roles["redo"], filepath.Join(sockets, pidName)} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}

// The socket of a directory that is in use stays.
func TestRemoveUsed(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	l := layoutIn(t, t.TempDir(), "a", "")
	made(t, l)
	o, err := l.Owner()
	if err != nil {
		t.Fatal(err)
	}
	sockets := socketDir(socketRoot(), o.Token)
	if err := os.MkdirAll(sockets, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(sockets)
	if err := l.Update(func(o *Owner) { o.Sockets = sockets }); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(l.Data())
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(l); err == nil || !strings.Contains(err.Error(), "still uses") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(sockets); err != nil {
		t.Error("its sockets were removed")
	}
	f.Close()
	if err := Remove(l); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(sockets); err == nil {
		t.Error("its sockets were left")
	}
}

func TestMakeSockets(t *testing.T) {
	token := NewToken()
	root, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	dir, err := makeSockets(root, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
	// A socket that a killed server left makes no trouble.
	if _, err := makeSockets(root, token, nil); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(dir+"/"+socketName, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeSockets(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is still there")
	}
	if _, err := makeSockets("/tmp/"+strings.Repeat("x", 80), token, nil); err == nil || !strings.Contains(err.Error(), "the kernel takes 102") {
		t.Errorf("a long path: got %v", err)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dbmatrix.lock")
	t.Setenv("DBMATRIX_HOST_LOCK", path)
	first, err := LockHost()
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := LockHost(); !errors.As(err, &locked) || !strings.Contains(locked.Error(), path) || !strings.Contains(locked.Holder, "pid ") {
		t.Errorf("the second got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := LockHost()
	if err != nil {
		t.Fatalf("after the first was given up: %v", err)
	}
	second.Close()
	dir := filepath.Join(t.TempDir(), "made", "by", "it")
	third, err := LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
	if err := os.Symlink("/etc/passwd", dir+"/x"); err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir + "/x"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link as lock: got %v", err)
	}
	t.Setenv("DBMATRIX_HOST_LOCK", dir)
	if _, err := LockHost(); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a directory as lock: got %v", err)
	}
	if err := os.Symlink("/no/such/place", dir+"/dangling"); err != nil {
		t.Fatal(err)
	}
	if _, err := LockDir(dir + "/dangling"); err == nil || !strings.Contains(err.Error(), "dangling is a symbolic link to /no/such/place, which is not there") {
		t.Errorf("a dangling link as data_dir: got %v", err)
	}
	if _, err := LockDir("/etc/passwd"); err == nil || !strings.Contains(err.Error(), "/etc/passwd is no directory") {
		t.Errorf("a file as data_dir: got %v", err)
	}
}

// A program that a holder starts must not keep the lock.
func TestLockNotInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	l, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	g := guardianFor(t)
	p, err := g.Start(context.Background(), Command{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Signal(syscall.SIGKILL, true)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lock(path)
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	again.Close()
}

// Whatever the umask is, the server's user reaches what dbmatrix makes.
func TestMakeDirsUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	root := t.TempDir()
	l := layoutIn(t, root+"/data", "a", "")
	made(t, l)
	for _, dir := range []string{root + "/data", root + "/data/runs", l.Dir, l.Logs()} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s has the mode %v, %v", dir, info.Mode(), err)
		}
	}
	if info, err := os.Stat(l.Data()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory has the mode %v, %v", info.Mode(), err)
	}
}
