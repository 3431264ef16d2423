package main

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameExperiment has a table and a chart, with runs that measured makes up.
const sameExperiment = `experiment { replicates = 4 }
server "none" { flavour = "mariadb" }
defaults { server = server.none }
axis "engine" { levels = ["inno", "rocks"] }
axis "io" { levels = ["buffered", "direct"] }
phase "load" {
  workload "sql" { statements = ["select '${axis.engine} ${axis.io}'"] }
}
table "load" {
  columns  = ["ips", "secs"]
  interval = true
  geomean  = true
}
chart "load" {
  kind  = "bar"
  phase = "load"
  x     = "engine"
  y     = "ips"
}
`

// TestSameBytes makes a report in every format, and makes it again from a copy of
// the experiment elsewhere as another user, in another time zone and language, and
// on another number of CPUs: every byte is the same.
func TestSameBytes(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{root, filepath.Dir(root)} { // for the other user
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	here, there := filepath.Join(root, "here", "e"), filepath.Join(root, "some", "other place", "e")
	if err := os.MkdirAll(here, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here, "experiment.hcl"), []byte(sameExperiment), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := recordMadeUp(context.Background(), here, "", 1, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(there, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "dbmatrix.test")
	copyProgram(t, program)
	utc := reports(t, program, here, filepath.Join(root, "a"), nil, "TZ=UTC", "LANG=C", "LC_ALL=C", "GOMAXPROCS=1", "HOME="+root)
	var nobody *syscall.Credential
	if os.Getuid() == 0 {
		nobody = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	far := reports(t, program, there, filepath.Join(root, "b"), nobody, "TZ=Pacific/Auckland", "LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8", "GOMAXPROCS=4", "HOME=/nonexistent", "USER=nobody")
	if len(utc) < 9 {
		t.Errorf("%d files were written: %v", len(utc), utc)
	}
	if diff := cmp.Diff(utc, far); diff != "" {
		t.Errorf("another user elsewhere gets another report: -here +there\n%s", diff)
	}
}

// copyProgram copies this test program, which the other user may not reach.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o755); err != nil {
		t.Fatal(err)
	}
}

// reports makes the report of an experiment in every format, with its charts in
// both of theirs, and returns all files by name.
func reports(t *testing.T, program, dir, out string, as *syscall.Credential, env ...string) map[string]string {
	t.Helper()
	if err := os.MkdirAll(out, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(out, 0o777); err != nil {
		t.Fatal(err)
	}
	for format, end := range extensions {
		for _, charts := range []string{"svg", "png"} {
			c := exec.Command(program, "report", dir, "--format", format, "--charts", charts, "-q", "-o", filepath.Join(out, charts+"."+end))
			c.Dir, c.Env = out, append(slices.Clone(env), "DBMATRIX_TEST_MAIN=1", "PATH="+os.Getenv("PATH"))
			c.SysProcAttr = &syscall.SysProcAttr{Credential: as}
			if text, err := c.CombinedOutput(); err != nil {
				t.Fatalf("report --format %s: %v\n%s", format, err, text)
			}
		}
	}
	files := map[string]string{}
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(out, path) // below out, as it is walked
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
