package servertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dbmatrix/matrix"
)

// A build that lies elsewhere is named by its basedir, by its folder of programs
// or by its program alone. The trees are made of the build at hand: its programs
// are started by scripts, since it keeps its own loader and libraries, and its
// files are linked to.

// testTarballBasedir has a build as a tarball unpacks it, named by basedir.
func (s *suite) testTarballBasedir(t *testing.T) {
	s.livesFrom(t, matrix.Server{Basedir: s.tarball(t)})
}

// testTarballProgram has such a build named by what is in its folder bin.
func (s *suite) testTarballProgram(t *testing.T) {
	bin := filepath.Join(s.tarball(t), "bin")
	if s.build.Server.Build.Flavour == "postgres" {
		s.livesFrom(t, matrix.Server{Bindir: bin})
		return
	}
	s.livesFrom(t, matrix.Server{Mysqld: filepath.Join(bin, filepath.Base(s.build.Server.Mysqld))})
}

// testCompiled has a build in the directory in which it was compiled, and never
// installed.
func (s *suite) testCompiled(t *testing.T) {
	tree := Dir(t)
	share := s.share(t)
	program := filepath.Base(s.build.Server.Mysqld)
	if s.build.Server.Build.Flavour == "mysql" {
		script(t, filepath.Join(tree, "runtime_output_directory", program), s.build.Server.Mysqld)
		link(t, share, filepath.Join(tree, "share"))
		s.linkPlugins(t, filepath.Join(tree, "plugin_output_directory"))
	} else {
		script(t, filepath.Join(tree, "sql", program), s.build.Server.Mysqld)
		link(t, share, filepath.Join(tree, "sql", "share"))
		link(t, share, filepath.Join(tree, "scripts"))
	}
	s.livesFrom(t, matrix.Server{Basedir: tree})
}

// livesFrom goes through a server's life with the build as another server block
// names it.
func (s *suite) livesFrom(t *testing.T, block matrix.Server) {
	t.Helper()
	block.Name = s.name
	block.Build = prober.Probe(context.Background(), block)
	if block.Build.Absent != "" {
		t.Fatalf("%+v: %s", block, block.Build.Absent)
	}
	if got, want := block.Build.Version, s.build.Server.Build.Version; got != want {
		t.Errorf("it is of version %s, want %s", got, want)
	}
	elsewhere := *s
	elsewhere.build.Server = block
	elsewhere.lives(t, Dir(t))
}

// tarball makes the tree of a build as a tarball unpacks it.
func (s *suite) tarball(t *testing.T) string {
	t.Helper()
	tree := Dir(t)
	if bin := s.build.Server.Bindir; bin != "" {
		for _, program := range []string{"postgres", "initdb"} {
			script(t, filepath.Join(tree, "bin", program), filepath.Join(bin, program))
		}
		return tree
	}
	program := s.build.Server.Mysqld
	script(t, filepath.Join(tree, "bin", filepath.Base(program)), program)
	link(t, s.share(t), filepath.Join(tree, "share"))
	s.linkPlugins(t, filepath.Join(tree, "lib", "plugin"))
	return tree
}

// base returns the folder below which the files of the build lie.
func (s *suite) base() string {
	if s.build.Server.Basedir == "" {
		return "/usr"
	}
	return s.build.Server.Basedir
}

// share returns the folder with the messages and SQL files of the build.
func (s *suite) share(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"mariadb", "mysql"} {
		dir := filepath.Join(s.base(), "share", name)
		if exists(filepath.Join(dir, "english", "errmsg.sys")) {
			return dir
		}
	}
	t.Fatalf("%s has no messages", s.base())
	return ""
}

// linkPlugins makes a link to the folder with the plugins of the build, which
// some have not.
func (s *suite) linkPlugins(t *testing.T, path string) {
	t.Helper()
	if dir := filepath.Join(s.base(), "lib/mysql/plugin"); exists(dir) {
		link(t, dir, path)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// script writes a script that becomes a program.
func script(t *testing.T, path, program string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", program)), 0o755); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link.
func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
