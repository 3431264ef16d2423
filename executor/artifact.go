package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// logBound is how much of a log is kept at each end: the monitor output of InnoDB
// alone can fill a disk.
const logBound = 32 << 20

// copyArtifact copies a file into a folder of artifacts; of a long one the middle
// is left out. It returns the path of the copy.
func copyArtifact(dir, name, from string) (string, error) {
	src, err := os.Open(from)
	if err != nil {
		return "", fmt.Errorf("keeping %s: %w", name, err)
	}
	defer src.Close()
	to := filepath.Join(dir, name)
	dst, err := os.Create(to)
	if err != nil {
		return "", fmt.Errorf("keeping %s: %w", name, err)
	}
	err = copyEnds(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		return "", fmt.Errorf("keeping %s: %w", name, err)
	}
	return to, nil
}

// copyEnds copies a file without its middle where it is longer than two bounds.
func copyEnds(dst io.Writer, src *os.File) error {
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if info.Size() <= 2*logBound {
		_, err = io.Copy(dst, src)
		return err
	}
	if _, err := io.CopyN(dst, src, logBound); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(dst, "\n[%d bytes left out]\n", info.Size()-2*logBound); err != nil {
		return err
	}
	if _, err := src.Seek(-logBound, io.SeekEnd); err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return err
}

// artifactRow describes a file for the record.
func (a *attempt) artifactRow(kind, path string) store.Artifact {
	row := store.Artifact{Kind: kind, Path: path}
	if rel, err := filepath.Rel(filepath.Dir(a.deps.Store.Path()), path); err == nil {
		row.Path = filepath.ToSlash(rel)
	}
	if info, err := os.Stat(path); err == nil {
		row.Bytes = info.Size()
	}
	return row
}

// collect copies the option file and the log of the server to the artifacts of a
// phase, and writes the script of what was executed. What cannot be kept is told:
// the numbers stand without it.
func (ph *phaseRun) collect() []store.Artifact {
	var rows []store.Artifact
	keep := func(kind, name, from string) {
		if from == "" {
			return
		}
		to, err := copyArtifact(ph.dir, name, from)
		if err != nil {
			ph.event(Event{Kind: Notice, Run: ph.run, Message: err.Error()})
			return
		}
		rows = append(rows, ph.artifactRow(kind, to))
	}
	if ph.subject != nil {
		file := ph.subject.OptionFile()
		keep("option file", filepath.Base(file), file)
		keep("error log", "error.log", ph.subject.ErrorLog())
	}
	if ph.subject != nil && ph.alive() {
		rows = append(rows, ph.serverState(context.Background())...)
	}
	if text := ph.script.String(); text != "" && ph.dir != "" {
		path := filepath.Join(ph.dir, "commands.sh")
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			ph.event(Event{Kind: Notice, Run: ph.run, Message: err.Error()})
		} else {
			rows = append(rows, ph.artifactRow("commands", path))
		}
	}
	return rows
}

// keepErrorLog keeps the log of a server that has ended with the phase that it
// was started for: its last lines tell of the stop.
func (a *attempt) keepErrorLog(s subject) {
	if s.ErrorLog() == "" || a.started == nil {
		return
	}
	dir, err := a.artifacts(a.started)
	if err == nil {
		var to string
		if to, err = copyArtifact(dir, "error.log", s.ErrorLog()); err == nil {
			err = a.deps.Store.AddArtifacts(context.Background(), a.id, []store.Artifact{a.artifactRow("error log", to)})
		}
	}
	if err != nil {
		a.event(Event{Kind: Notice, Run: a.run, Message: err.Error()})
	}
}

// guardClient returns what runs workload programs: under the guardian, each noted
// in the script.
func (ph *phaseRun) guardClient() func(context.Context, *exec.Cmd) error {
	return func(ctx context.Context, cmd *exec.Cmd) error {
		ph.script.program(cmd)
		return ph.machine.guard(ctx, cmd)
	}
}

// A script collects the exact commands of an attempt, in their order. It can be
// read by a shell.
type script struct {
	mu sync.Mutex
	b  strings.Builder
}

// add appends a line.
func (s *script) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.b.Len() == 0 {
		s.b.WriteString("#!/bin/sh\n# What dbmatrix executed, in this order. The data directory is gone by now.\n")
	}
	s.b.WriteString(line + "\n")
}

// server notes the start of a server: the arguments that the kernel has of it,
// and what was put before it.
func (s *script) server(prefix []string, pid int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return // it has ended already, which the phase will tell
	}
	args := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	if len(prefix) > 0 && args[0] != prefix[0] {
		args = append(append([]string{}, prefix...), args...) // taskset and the like become the server
	}
	s.add(quote(args) + " &")
}

// command notes a setup command.
func (s *script) command(args []string) { s.add(quote(args)) }

// program notes a workload program with its directory.
func (s *script) program(cmd *exec.Cmd) {
	line := quote(cmd.Args)
	if cmd.Dir != "" {
		line = "(cd " + quote([]string{cmd.Dir}) + " && " + line + ")"
	}
	s.add(line)
}

// String returns the script so far, or "".
func (s *script) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// quote joins arguments as a shell reads them.
func quote(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'`$&|;<>()*?[]#~!\\{}") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted[i] = a
	}
	return strings.Join(quoted, " ")
}

// ownerAfter notes a completed phase in an owner file.
func ownerAfter(rp matrix.RunPhase) func(*server.Owner) {
	return func(o *server.Owner) { o.Phase, o.Fingerprint = rp.Phase.Block, rp.Fingerprint }
}
