package servertest_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbmatrix/executor/server"
	"dbmatrix/executor/server/servertest"
	"dbmatrix/matrix"
)

// BenchmarkAround measures what a cell costs beside its phases: a data directory
// from the template, start, ready and clean stop. It is compared with the
// server's own start and stop and a bare copy of the same tree, in turn, so that
// both see the same machine; ratio is ours to theirs.
func BenchmarkAround(b *testing.B) {
	for _, name := range []string{"mariadb", "myrocks1011", "mysql97"} {
		b.Run(name, func(b *testing.B) { benchmarkAround(b, servertest.Need(b, name)) })
	}
}

func benchmarkAround(b *testing.B, build servertest.Build) {
	ctx := context.Background()
	g, err := server.StartGuardian(ctx, "")
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	dir := servertest.Dir(b)
	set := &matrix.Settings{Server: &build.Server, Options: build.Options}
	templates := server.Templates{DataDir: dir, Guardian: g}
	template, err := templates.Make(ctx, set)
	if err != nil {
		b.Fatal(err)
	}
	layout, err := server.NewLayout(dir, server.KindRun, "a", set)
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := server.Copy(ctx, template, layout, server.Owner{Kind: server.KindRun}, server.CopyBytes); err != nil {
			b.Fatal(err)
		}
		i, err := server.Start(ctx, server.Launch{Guardian: g, Settings: set, Layout: layout})
		if err != nil {
			b.Fatal(err)
		}
		if s, err := i.Stop(ctx); err != nil || !s.Clean {
			b.Fatalf("%+v, %v", s, err)
		}
		ours += time.Since(begin)

		begin = time.Now()
		bareCopy(b, template.Data(), filepath.Join(dir, "bare"))
		copied := time.Since(begin)
		theirs += copied + bareStart(b, build.Server.Mysqld, i)
		if err := os.RemoveAll(filepath.Join(dir, "bare")); err != nil {
			b.Fatal(err)
		}
		if err := server.Remove(layout); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(b.N)
	b.ReportMetric(ours.Seconds()/n, "ours-s/op")
	b.ReportMetric(theirs.Seconds()/n, "theirs-s/op")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

// bareCopy copies a tree: each file is read, written, synced and dropped from
// the page cache.
func bareCopy(b *testing.B, from, to string) {
	b.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.Mkdir(target, 0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := os.Create(target)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.Write(content); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// bareStart starts the server of an instance that has stopped once more, by
// itself, with the same option file; it waits until the server answers, stops it
// and returns how long that took.
func bareStart(b *testing.B, program string, i *server.Instance) time.Duration {
	b.Helper()
	evict(b, i.Layout().Data())
	begin := time.Now()
	cmd := exec.Command(program, "--defaults-file="+i.OptionFile())
	if owner, err := os.Stat(i.Layout().Data()); err == nil && os.Geteuid() == 0 {
		st := owner.Sys().(*syscall.Stat_t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: st.Uid, Gid: st.Gid}}
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	db := servertest.Open(b, i.Address())
	for db.Ping() != nil {
		if time.Since(begin) > time.Minute {
			cmd.Process.Kill()
			b.Fatal("the server does not answer")
		}
		time.Sleep(5 * time.Millisecond)
	}
	db.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// evict drops the files of a data directory from the page cache, as they were
// before the start that this one is compared with.
func evict(b *testing.B, dir string) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
	if err != nil {
		b.Fatal(err)
	}
}
