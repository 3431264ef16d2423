package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// Every command that prints ends with 3 where its output is not taken.
func TestFullStandardOutput(t *testing.T) {
	dir := t.TempDir()
	here, there := filepath.Join(dir, "here"), filepath.Join(dir, "there")
	for path, host := range map[string]string{here: "", there: "elsewhere"} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "experiment.hcl"), []byte(`experiment { name = "e" }`+strings.TrimPrefix(sameExperiment, "experiment { replicates = 4 }")), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := recordMadeUp(t.Context(), path, "", 1, host); err != nil {
			t.Fatal(err)
		}
	}
	const cell, other = "engine=inno,io=buffered", "engine=rocks,io=direct"
	csv := filepath.Join(dir, "rows.csv")
	untidy := filepath.Join(dir, "untidy.hcl")
	if err := os.WriteFile(untidy, []byte("a   = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run(t.Context(), []string{"export", here, "-o", csv}, nil, io.Discard, io.Discard); code != exitOK {
		t.Fatalf("export ended with %d", code)
	}
	prints := map[string][][]string{
		"fmt":       {{"--check", untidy}},
		"plan":      {{here}, {here, "--format", "json"}, {here, "--matrix"}, {here, "--explain", cell}},
		"status":    {{here}, {here, "--format", "json"}},
		"show":      {{here, cell}, {here, cell, "--against", other}},
		"report":    {{here, "--format", "text"}, {here, "--format", "markdown"}, {here, "--format", "html"}, {here, "--format", "csv"}, {here, "--format", "json"}, {here, "--format", "benchfmt"}},
		"table":     {{here, "--columns", "ips"}, {here, "--columns", "ips", "--hcl"}},
		"compare":   {{here, "--axis", "io", "--columns", "ips"}},
		"import":    {{here, csv, "--name", "old", "--replace"}},
		"export":    {{here}, {here, "--format", "json"}, {here, "--format", "benchfmt"}, {here, "--long"}},
		"merge":     {{here, there}},
		"doctor":    {{here}},
		"columns":   {nil, {"ips"}},
		"workloads": {nil, {"sql"}},
		"functions": {nil},
		"version":   {nil},
		"run":       {{"--help"}},
		"help":      {nil, {"run"}},
		"--version": {nil},
		// These say what they did to standard error.
		"init": nil, "validate": nil, "accept": nil, "invalidate": nil, "clean": nil,
		"completion": {{"bash"}},
	}
	for _, c := range newRootCommand(&streams{}).Commands() {
		if _, ok := prints[c.Name()]; !ok && !c.Hidden {
			t.Errorf("%s is not tried", c.Name())
		}
	}
	out := full(t, os.Stdout.Name())
	for name, lines := range prints {
		for _, args := range lines {
			args = append([]string{name}, args...)
			var printed, messages strings.Builder
			if run(t.Context(), args, strings.NewReader(""), &printed, &messages); printed.Len() == 0 {
				t.Errorf("%q prints nothing\n%s", args, &messages)
			}
			messages.Reset()
			if code := run(t.Context(), args, strings.NewReader(""), out, &messages); code != exitEnvironment || !strings.Contains(messages.String(), "no space left") {
				t.Errorf("%q ended with %d, want %d; it said %q", args, code, exitEnvironment, &messages)
			}
		}
	}
}
