package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// full returns a stream that takes nothing, under the name of another.
func full(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return os.NewFile(f.Fd(), name)
}

func TestOutputThatTakesNoMore(t *testing.T) {
	var messages strings.Builder
	if code := run(t.Context(), []string{"columns"}, nil, full(t, os.Stdout.Name()), &messages); code != exitEnvironment {
		t.Errorf("exit code %d, want %d", code, exitEnvironment)
	}
	if text := messages.String(); !strings.Contains(text, "no space left") || strings.Contains(text, "fault in dbmatrix") {
		t.Errorf("messages: %s", text)
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{exit(exitUsage, errors.New("wrong")), exitUsage},
		{fmt.Errorf("around: %w", silent(exitFailedRuns)), exitFailedRuns},
		{&fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: errors.New("full")}, exitEnvironment},
		{&fs.PathError{Op: "write", Path: "/some/file", Err: errors.New("full")}, exitInternal},
		{errors.New("unexpected"), exitInternal},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("exitCode(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"never run":             "never run",
		"it ended:\nline\nline": "it ended ...",
		"with\ta tab\n":         "with a tab",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

// Help and versions that cannot be printed end with 3 as other output does.
func TestFullStandardOutput(t *testing.T) {
	out := full(t, os.Stdout.Name())
	for _, args := range [][]string{{"version"}, {"--version"}, {"--help"}, {"run", "--help"}, {"help", "run"}, {"completion", "bash"}} {
		if code := run(t.Context(), args, nil, out, io.Discard); code != exitEnvironment {
			t.Errorf("%q ended with %d, want %d", args, code, exitEnvironment)
		}
	}
}
