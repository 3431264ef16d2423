package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

func run(ctx context.Context, t *testing.T, p Program) (dir string, lines []string, tail string, err error) {
	t.Helper()
	dir = t.TempDir()
	p.Line = func(s Stream, line string) {
		lines = append(lines, map[Stream]string{Stdout: "out ", Stderr: "err "}[s]+line)
	}
	target := workload.Target{Dir: t.TempDir(), Guard: workloadtest.Guard, Env: []string{"A=1"}, Prefix: []string{"nice", "-n", "1"}}
	tail, err = p.Run(ctx, target, workload.NewRecorder(dir, workload.Hooks{}))
	return dir, lines, tail, err
}

func TestRun(t *testing.T) {
	t.Setenv("PGOPTIONS", "-c everything=off")
	p := Program{
		Name: "x.1", Env: []string{"B=it's", "DB_PASSWORD=xyzzy"}, Without: []string{"PG"},
		Command: []string{"sh", "-c", `printf 'one\r\ntwo'; sleep 0.2; printf 'half'; sleep 0.1; printf "$A $B $PGOPTIONS$DB_PASSWORD\nthree" >&2`, "--password=xyzzy"},
	}
	dir, lines, tail, err := run(t.Context(), t, p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"out one", "err 1 it's xyzzy", "out twohalf", "err three"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if tail != "one\n1 it's (secret)\ntwohalf\nthree" {
		t.Errorf("the tail is %q", tail)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "x.1.txt"))
	if string(raw) != "one\r\n1 it's (secret)\ntwohalf\nthree\n" {
		t.Errorf("kept is %q", raw)
	}
	script, _ := os.ReadFile(filepath.Join(dir, "x.1.sh"))
	for _, want := range []string{"\nexport A=1\nexport B='it'\\''s'\n", "\nnice -n 1 sh -c 'printf ", "'--password=(secret)'\n"} {
		if !strings.Contains(string(script), want) {
			t.Errorf("the script is\n%s\nwithout %q", script, want)
		}
	}
	if strings.Contains(string(script), "xyzzy") {
		t.Errorf("the script tells a secret:\n%s", script)
	}
}

// A prefix with a slash is relative to the experiment, wherever the program runs.
func TestPrefixOfTheExperiment(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	gently := filepath.Join(source, "gently")
	if err := os.WriteFile(gently, []byte("#!/bin/sh\necho gently\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var lines []string
	p := Program{Name: "x", Command: []string{"echo", "done"}, Line: func(_ Stream, line string) { lines = append(lines, line) }}
	target := workload.Target{Dir: t.TempDir(), Source: source, Guard: workloadtest.Guard, Prefix: []string{"./gently"}}
	if _, err := p.Run(t.Context(), target, workload.NewRecorder(dir, workload.Hooks{})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"gently", "done"}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if script, _ := os.ReadFile(filepath.Join(dir, "x.sh")); !strings.Contains(string(script), "\n"+gently+" echo done\n") {
		t.Errorf("the script is\n%s", script)
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name, script string
		limit        time.Duration
		want         string
	}{
		{"status", "seq 20; exit 3", 0, "exit status 3\n13\n14\n15\n16\n17\n18\n19\n20"},
		{"signal", "kill -SEGV $$", 0, "segmentation fault"},
		{"limit", "echo here; sleep 60", 200 * time.Millisecond, "it did not end by itself\nhere"},
	} {
		_, _, _, err := run(t.Context(), t, Program{Name: "x", Command: []string{"sh", "-c", test.script}, Limit: test.limit})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", test.name, err, test.want)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, context.Canceled)
	defer cancel()
	if _, _, _, err := run(ctx, t, Program{Name: "x", Command: []string{"sleep", "60"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want the interrupt", err)
	}
	if _, err := (&Program{Command: []string{"true"}}).Run(t.Context(), workload.Target{}, nil); err == nil {
		t.Error("a program runs without a guardian")
	}
}

func TestFind(t *testing.T) {
	source := t.TempDir()
	own := filepath.Join(source, "own")
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"./own": own, own: own, "own": "", "./absent": ""} {
		if got, err := Find(source, name); got != want || (err != nil) != (want == "") {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
}

// A program that hangs, deaf to SIGTERM and with a child that holds its output
// open, ends with its limit and with an interrupt.
func TestDeafProgram(t *testing.T) {
	deaf := filepath.Join(t.TempDir(), "deaf")
	if err := os.WriteFile(deaf, []byte("#!/bin/sh\ntrap '' TERM\nsleep 30 & sleep 30\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := version(t.Context(), deaf, 200*time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not answer within 200ms") {
		t.Errorf("its version: got %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, context.Canceled)
	defer cancel()
	if _, err := Version(ctx, deaf); !errors.Is(err, context.Canceled) {
		t.Errorf("its version, interrupted: got %v", err)
	}
	if _, _, _, err := run(t.Context(), t, Program{Name: "x", Command: []string{deaf}, Limit: 200 * time.Millisecond}); !errors.Is(err, ErrLimit) {
		t.Errorf("its run: got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"p 1.2 $1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Version(t.Context(), path); got != "p 1.2 --version" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestQuote(t *testing.T) {
	got := Quote([]string{"a", "--b=c/d", "e f", "it's", "", "$x"})
	want := `a --b=c/d 'e f' 'it'\''s' '' '$x'`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzOutput checks that lines come whole and in their order, however they are
// cut on the way.
func FuzzOutput(f *testing.F) {
	f.Add("one\ntwo\n\nthree", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 || strings.ContainsRune(text, '\r') {
			return
		}
		var got []string
		var raw strings.Builder
		o := &output{raw: &raw, hide: newHider(nil), take: func(_ Stream, line string) { got = append(got, line) }}
		w := o.stream(Stdout)
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		o.flush()
		whole := strings.Join(got, "\n")
		if len(got) > 0 {
			whole += "\n"
		}
		if want := strings.TrimSuffix(text, "\n"); text != "" && strings.TrimSuffix(whole, "\n") != want || raw.String() != whole {
			t.Errorf("%q came as %q, kept as %q", text, whole, raw.String())
		}
	})
}

// A server that does not answer holds nobody up who wants to end sessions in it.
func TestEndSessions(t *testing.T) {
	target := workloadtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := EndSessions(ctx, target, "x", ctx.Err()); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("without sessions: the error is %v, want the interrupt alone", err)
	}
	pid := workloadtest.PID(t, target)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err := EndSessions(ctx, target, "x", ctx.Err())
	if took := time.Since(began); took > client.EndTimeout+5*time.Second {
		t.Errorf("a stopped server: it took %s", took)
	}
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "ending its sessions: ") {
		t.Errorf("a stopped server: the error is %v", err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
