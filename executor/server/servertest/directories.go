package servertest

import (
	"context"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func (s *suite) testInUse(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	i := s.start(t, l, set)
	if err := s.refused(t, l, set); !strings.Contains(err.Error(), fmt.Sprint(i.PID())) {
		t.Errorf("the error does not name the process: %v", err)
	}
	if err := server.Remove(l); err == nil || !strings.Contains(err.Error(), "still uses") {
		t.Errorf("removing it: got %v", err)
	}
	if got := query(t, i, "SELECT 1"); got != "1" {
		t.Error("the server that ran was disturbed")
	}
	s.stop(t, i)
}

func (s *suite) testForeign(t *testing.T) {
	set := s.settings()
	l, err := server.NewLayout(s.dir, server.KindRun, "foreign", set)
	if err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(l.Data(), "precious")
	if err := os.MkdirAll(l.Data(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.refused(t, l, set); !errors.Is(err, server.ErrForeign) {
		t.Errorf("starting in it: got %v", err)
	}
	if err := server.Remove(l); !errors.Is(err, server.ErrForeign) {
		t.Errorf("removing it: got %v", err)
	}
	if _, err := server.Copy(context.Background(), s.template, l, server.Owner{Kind: server.KindRun}, server.CopyBytes); !errors.Is(err, server.ErrForeign) {
		t.Errorf("copying to it: got %v", err)
	}
	if err := l.Create(server.Owner{Kind: server.KindRun}); !errors.Is(err, server.ErrForeign) {
		t.Errorf("creating it: got %v", err)
	}
	if b, err := os.ReadFile(precious); err != nil || string(b) != "mine" {
		t.Errorf("its file is %q, %v", b, err)
	}
}

func (s *suite) testReadOnly(t *testing.T) {
	set := s.settings()
	l := s.run(t, set)
	if err := syscall.Mount(l.Dir, l.Dir, "", syscall.MS_BIND, ""); err != nil {
		s.record.without(s.name, "read-only directory", "only root can mount: "+err.Error())
		return
	}
	defer syscall.Unmount(l.Dir, 0)
	if err := syscall.Mount("", l.Dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.refused(t, l, set); !errors.Is(err, syscall.EROFS) {
		t.Errorf("starting in it: got %v, want %v", err, syscall.EROFS)
	}
	if err := server.Remove(l); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("removing a mount point: got %v", err)
	}
}

// testStorage has the redo log and temporary files on a storage of their own, also
// in a copy.
func (s *suite) testStorage(t *testing.T) {
	fast := Dir(t)
	set := s.settings()
	set.Storage = map[string]matrix.Storage{"redo": {Name: "fast", Dir: fast}, "tmp": {Name: "fast", Dir: fast}}
	l := s.run(t, set)
	i := s.start(t, l, set)
	s.schema(t, i)
	exec(t, i, fmt.Sprintf(s.profile.write, 1))
	s.temporary(t, i)
	s.stop(t, i)
	if found, err := os.ReadDir(l.Role("redo")); err != nil || len(found) == 0 {
		t.Errorf("there is no redo log in %s: %v", l.Role("redo"), err)
	}
	at, err := server.LayoutAt(l.Dir)
	if err != nil || at.Role("redo") != l.Role("redo") {
		t.Errorf("the owner file says that the redo log is in %s (%v)", at.Role("redo"), err)
	}
	to, err := server.NewLayout(s.dir, server.KindSnapshot, "with-redo", set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Copy(context.Background(), l, to, server.Owner{Kind: server.KindSnapshot}, server.CopyBytes); err != nil {
		t.Fatal(err)
	}
	i = s.start(t, to, set)
	if got := query(t, i, s.profile.read); got != "1" {
		t.Errorf("the copy has %s rows, want 1", got)
	}
	s.temporary(t, i)
	s.stop(t, i)
	if err := server.Remove(to); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(fast, "snapshots")); err != nil || len(left) > 0 {
		t.Errorf("after the removal %s has %v, %v", fast, left, err)
	}
}

// temporary checks that the server puts its temporary files where role tmp has
// them.
func (s *suite) temporary(t *testing.T, i *server.Instance) {
	t.Helper()
	tmp := i.Layout().Role("tmp")
	if s.build.Server.Build.Flavour != "postgres" {
		if got := query(t, i, "SELECT @@tmpdir"); strings.TrimSuffix(got, "/") != tmp {
			t.Errorf("@@tmpdir is %s, want %s", got, tmp)
		}
		return
	}
	// A cursor keeps its sort, and with it the file, until it is closed.
	ctx := context.Background()
	conn, err := i.DB().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range []string{
		"SET work_mem = '64kB'", "BEGIN",
		"DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 100000) g ORDER BY -g", "FETCH 1 FROM c",
	} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	if found, err := os.ReadDir(tmp); err != nil || len(found) == 0 {
		t.Errorf("%s holds %v, %v while a sort is on disk", tmp, found, err)
	}
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

// testSnapshot keeps a copy of a data directory, loses the original and goes on
// from the copy, twice.
func (s *suite) testSnapshot(t *testing.T) {
	ctx := context.Background()
	set := s.settings()
	l := s.run(t, set)
	i := s.start(t, l, set)
	s.schema(t, i)
	for n := range 10 {
		exec(t, i, fmt.Sprintf(s.profile.write, n))
	}
	s.stop(t, i)
	snapshot, err := server.NewLayout(s.dir, server.KindSnapshot, "kept", set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Copy(ctx, l, snapshot, server.Owner{Kind: server.KindSnapshot}, server.CopyBytes); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Remove(snapshot); err != nil {
			t.Error(err)
		}
	})
	for n := range 2 {
		if err := server.Remove(l); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Copy(ctx, snapshot, l, server.Owner{Kind: server.KindRun}, server.CopyBytes); err != nil {
			t.Fatal(err)
		}
		i := s.start(t, l, set)
		if got := query(t, i, s.profile.read); got != "10" {
			t.Errorf("restored for the %d. time it has %s rows, want 10", n+1, got)
		}
		exec(t, i, fmt.Sprintf(s.profile.write, 10+n))
		s.stop(t, i)
	}
}

// strangeName holds all that a name of a directory may hold and programs stumble
// over.
const strangeName = "a b  ünïcödé 数 #;,'`\"\\$HOME%s=[x]{y}(z)!&|<>*?~"

// testStrangePath has data_dir, and with it all paths of the option file, under a
// name of such characters.
func (s *suite) testStrangePath(t *testing.T) { s.lives(t, filepath.Join(Dir(t), strangeName)) }

// testLongPath has the data directory as long as the server takes it.
func (s *suite) testLongPath(t *testing.T) { s.lives(t, s.longDir(t, s.profile.pathLimit)) }

// testTooLongPath has it longer than that by a byte.
func (s *suite) testTooLongPath(t *testing.T) {
	set := s.settings()
	dir := s.longDir(t, s.profile.pathLimit+1)
	_, err := (&server.Templates{DataDir: dir, Guardian: s.guardian}).Make(context.Background(), set)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has %d bytes", s.profile.pathLimit+1)) {
		t.Errorf("got %v", err)
	}
}

// longDir returns a data_dir in which the data directory of the template has a
// path of n bytes.
func (s *suite) longDir(t *testing.T, n int) string {
	t.Helper()
	key, err := server.InitKey(s.settings())
	if err != nil {
		t.Fatal(err)
	}
	dir := Dir(t)
	for {
		l := server.Layout{Dir: filepath.Join(dir, server.KindTemplate+"s", key+".tmp-12345678")} // while it is being made
		switch left := n - len(l.Data()); {
		case left == 0:
			return dir
		case left > 202:
			dir += "/" + strings.Repeat("x", 200)
		case left > 100:
			dir += "/" + strings.Repeat("x", left/2)
		case left > 1:
			dir += "/" + strings.Repeat("x", left-1)
		default:
			t.Fatalf("no path of %d bytes can be made of %s", n, dir)
		}
	}
}

// lives goes through a server's life with everything below a data_dir.
func (s *suite) lives(t *testing.T, dir string) {
	t.Helper()
	ctx := context.Background()
	set := s.settings()
	template, err := (&server.Templates{DataDir: dir, Guardian: s.guardian}).Make(ctx, set)
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.NewLayout(dir, server.KindRun, "r", set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Copy(ctx, template, l, server.Owner{Kind: server.KindRun}, server.CopyBytes); err != nil {
		t.Fatal(err)
	}
	i := s.start(t, l, set)
	s.schema(t, i)
	exec(t, i, fmt.Sprintf(s.profile.write, 1))
	if got := query(t, i, s.profile.read); got != "1" {
		t.Errorf("it has %s rows, want 1", got)
	}
	s.stop(t, i)
	for _, l := range []server.Layout{l, template} {
		if err := server.Remove(l); err != nil {
			t.Error(err)
		}
	}
}
