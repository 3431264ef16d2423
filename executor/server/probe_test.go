package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// fakeServer writes a script that answers --version, and counts how often.
func fakeServer(t *testing.T, dir, words string) (program, counter string) {
	t.Helper()
	program, counter = filepath.Join(dir, "mysqld"), filepath.Join(dir, "asked")
	text := fmt.Sprintf("#!/bin/sh\necho x >>%s\n%s\n", counter, words)
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, counter
}

// mysqlWordsOf is a script's answer of a version.
func mysqlWordsOf(version string) string {
	return fmt.Sprintf("echo 'mysqld  Ver %s for Linux on x86_64 (MySQL Community Server - GPL)'", version)
}

func TestProbeRemembers(t *testing.T) {
	dir := t.TempDir()
	program, counter := fakeServer(t, dir, mysqlWordsOf("8.0.36"))
	cache := filepath.Join(dir, "cache", "builds.json")
	s := matrix.Server{Name: "s", Mysqld: program}
	var first matrix.Build
	for n := range 3 {
		p := &Prober{Cache: cache} // each a program of its own
		b := p.Probe(context.Background(), s)
		if b.Absent != "" || b.Flavour != "mysql" || b.Version != "8.0.36" || b.Content == "" {
			t.Fatalf("got %+v", b)
		}
		if n > 0 && b != first {
			t.Errorf("got %+v, then %+v", first, b)
		}
		first = b
	}
	if asked, _ := os.ReadFile(counter); string(asked) != "x\n" {
		t.Errorf("the program was asked %d times", strings.Count(string(asked), "x"))
	}
	fakeServer(t, dir, mysqlWordsOf("8.0.37"))
	p := &Prober{Cache: cache}
	if b := p.Probe(context.Background(), s); b.Version != "8.0.37" || b.Content == first.Content {
		t.Errorf("after the program changed: got %+v", b)
	}
}

// A wrapper script stays the same when the program changes that it names.
func TestProbeWrapper(t *testing.T) {
	dir := t.TempDir()
	inner, _ := fakeServer(t, dir, mysqlWordsOf("8.0.36"))
	wrapper := filepath.Join(t.TempDir(), filepath.Base(inner))
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec "+inner+` "$@"`), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &Prober{}
	s := matrix.Server{Name: "s", Mysqld: wrapper}
	before := p.Probe(context.Background(), s)
	fakeServer(t, dir, mysqlWordsOf("8.0.37"))
	after := p.Probe(context.Background(), s)
	if before.Version != "8.0.36" || after.Version != "8.0.37" || before.Content == after.Content {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if dir, err := filepath.EvalSymlinks(dir); err != nil || after.Dir != dir {
		t.Errorf("its program lies in %s, want %s (%v)", after.Dir, dir, err)
	}
}

// A build keeps its content when its folder is moved.
func TestContentWithoutPath(t *testing.T) {
	var contents []string
	for range 2 {
		root := t.TempDir()
		base := filepath.Join(root, "usr")
		if err := os.MkdirAll(filepath.Join(base, "lib"), 0o755); err != nil {
			t.Fatal(err)
		}
		real, err := os.ReadFile("/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, "lib", "program"), real, 0o755); err != nil {
			t.Fatal(err)
		}
		wrapper := filepath.Join(root, "mysqld")
		if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec "+base+"/lib/program\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		c, err := (&Prober{known: map[string]cached{}}).content(matrix.Server{Basedir: base}, wrapper)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, c)
	}
	if contents[0] != contents[1] {
		t.Error("the content of a build depends on its path")
	}
}

func TestProbeAbsent(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name   string
		server matrix.Server
		want   string
	}{
		{"nothing named", matrix.Server{}, "names neither mysqld, bindir nor basedir"},
		{"no file", matrix.Server{Mysqld: dir + "/none"}, "there is no server program at " + dir + "/none"},
		{"a directory", matrix.Server{Mysqld: dir}, "there is no server program"},
		{"another program", matrix.Server{Mysqld: write("other", "#!/bin/sh\necho sysbench 1.0.20\n", 0o755)}, `calls itself "sysbench 1.0.20"`},
		{"missing library", matrix.Server{Mysqld: write("lib", "#!/bin/sh\necho 'mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file' >&2; exit 127\n", 0o755)}, "library libaio.so.1 is not on this host"},
		{"not executable", matrix.Server{Mysqld: write("plain", "text", 0o644)}, "no execute permission"},
		{"another machine's", matrix.Server{Mysqld: write("arch", "\x7fELF\x02\x01\x01\x00\x00", 0o755)}, "built for another machine"},
		{"a debug build", matrix.Server{Mysqld: write("debug", "#!/bin/sh\n"+mysqlWordsOf("8.0.36-debug")+"\n", 0o755)}, "debug build"},
		{"another flavour", matrix.Server{Flavour: "mariadb", Mysqld: write("mysql", "#!/bin/sh\n"+mysqlWordsOf("8.0.36")+"\n", 0o755)}, `the server block says flavour "mariadb"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := (&Prober{}).Probe(context.Background(), tt.server)
			if !strings.Contains(b.Absent, tt.want) {
				t.Errorf("got %q, want %q", b.Absent, tt.want)
			}
		})
	}
}

func TestPlugins(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ha_x.so")
	if err := os.WriteFile(path, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &Prober{}
	options := []matrix.Option{textOption("plugin_dir", dir), textOption("plugin_load_add", "x=ha_x.so")}
	hash := func(o []matrix.Option) string {
		t.Helper()
		h, err := p.Plugins(matrix.Server{}, o)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if none := hash(options[:1]); none != "" {
		t.Errorf("no plugin has the hash %q", none)
	}
	one := hash(options)
	if err := os.WriteFile(path, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if two := hash(options); one == "" || one == two {
		t.Errorf("the plugin changed, its hash is %q and %q", one, two)
	}
}

func TestLibraries(t *testing.T) {
	files, err := libraries("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range files {
		found = found || strings.HasPrefix(filepath.Base(f), "libc")
	}
	if !found {
		t.Errorf("/bin/sh is linked with %v, without a C library", files)
	}
}
