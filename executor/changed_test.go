package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
)

// A file that a run names changes while the run is under way: that run fails, the
// next is not tried, and the plan then has something new to measure.
func TestFileThatChangesDuringTheMatrix(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		file := filepath.Join(h.dir, "tune.sh")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write("true")
		h.startError = func(*server.Launch) error { write("false"); return nil }
		definition := oneServer + `
axis "a" {
  level "x" { params = { x = 1 } }
  level "y" { params = { x = 2 } }
}
phase "p" {
  setup = [["sh", "tune.sh"], ["echo", "${param.x}"]]
  workload "fake" { }
}`
		out := h.run(t.Context(), definition)
		const why = "file.tune.sh has changed since the plan was made; run again to measure what is there now"
		var got []string
		for _, f := range out.Failed {
			got = append(got, fmt.Sprintf("%s: %s %t", f.Status, f.Message, f.Stale))
		}
		if diff := cmp.Diff([]string{"failed: " + why + " true", "skipped: " + why + " false"}, got); diff != "" {
			t.Errorf("failures (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a=x failed p=failed", "a=y skipped"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		h.startError = nil
		if out := h.run(t.Context(), definition); out.Done != 2 {
			t.Errorf("then: %s", out.sentence())
		}
	})
}

// The programs that stand before the server and the workload, and those of samplers,
// are looked at again as well.
func TestProgramBesideThatChanges(t *testing.T) {
	for name, definition := range map[string]string{
		"server": `server "one" { prefix = ["./tool"] }` + "\n" + oneServer + phase("p", do("work")),
		"workload": oneServer + `axis "a" {
  levels = ["x"]
  prefix = ["./tool"]
}
` + phase("p", do("work")),
		"sampler": oneServer + phase("p", do("work"), `sample { exec = [{ name = "s", command = ["./tool"], every = "1h" }] }`),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				tool := filepath.Join(h.dir, "tool")
				write := func(text string) {
					if err := os.WriteFile(tool, []byte(text), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				write("one")
				h.startError = func(*server.Launch) error { write("two"); return nil }
				out := h.run(t.Context(), definition)
				if len(out.Failed) != 1 || !out.Failed[0].Stale || !strings.HasPrefix(out.Failed[0].Message, "program../tool has changed since the plan was made") {
					t.Errorf("failures: %+v", out.Failed)
				}
				h.startError = nil
				if out := h.run(t.Context(), definition); out.Done != 1 {
					t.Errorf("then: %s", out.sentence())
				}
			})
		})
	}
}

func TestContents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.sql")
	var c contents
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, want := c.of(file), matrix.ContentOf(file); got != want {
			t.Errorf("the content is %s, want %s", got, want)
		}
	}
	write("select 1")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	write("select 2, 3")
	// A copy may bring its times along.
	if err := os.WriteFile(file, []byte("select 4"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got, want := c.of(file), matrix.ContentOf(file); got != want {
		t.Errorf("the content is %s, want %s", got, want)
	}
	if got := c.of(""); got != matrix.ContentOf("") {
		t.Errorf("a program that is not installed has the content %s", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := c.of(file); got != "unreadable" {
		t.Errorf("a file that is gone has the content %s", got)
	}
}

// The build of a server is a script here, as it is where one that is being
// developed is started through a wrapper.
func TestBuildThatChanges(t *testing.T) {
	script := filepath.Join(t.TempDir(), "mysqld")
	write := func(text string) {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("exec true")
	prober := &server.Prober{}
	s := &matrix.Settings{Server: &matrix.Server{Name: "one", Mysqld: script}}
	var err error
	if s.Server.Build.Content, err = prober.Content(*s.Server); err != nil {
		t.Fatal(err)
	}
	want := func(text string) {
		t.Helper()
		if got := build(prober, s); !strings.HasPrefix(got, text) || text == "" && got != "" {
			t.Errorf("changed: %q, want %q", got, text)
		}
	}
	want("")
	write("exec true --other")
	want(`the build of server "one"`)
	write("exec true")
	want("")
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	want(`the build of server "one" (`)
	if got := build(nil, s); got != "" {
		t.Errorf("without a prober: %q", got)
	}
}

// What a build cannot do in the environment of one level, it may do in another's.
func TestInitialisationThatFailsByEnvironment(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.initError = errors.New("cannot preload")
		out := h.run(t.Context(), oneServer+`
axis "a" {
  level "x" { env = { LD_PRELOAD = "/no/such.so" } }
  level "y" { env = { LD_PRELOAD = "/a.so" } }
}
`+phase("p", do("work")))
		if diff := cmp.Diff([]string{"a=x failed p=failed", "a=y failed p=failed"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s\n%s", diff, out.sentence())
		}
	})
}
