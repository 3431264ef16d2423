package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// An Orphan is a process that an earlier runner left behind.
type Orphan struct {
	ID      ProcessID
	Command string // its arguments, for messages
	Dir     string // of the owner file with its token
	token   string // "" of a guardian, which runs under none
}

// tokenVariable is the environment variable that names the owner of a process.
const tokenVariable = "DBMATRIX_TOKEN="

// Orphans returns the processes that carry the token of an owner file below one
// of the directories (data_dir and storages), and the guardians that such files
// name: one that was stopped when its runner was killed is there still. Call it
// with the lock of the host held: else they may belong to a runner that is alive.
func Orphans(dirs ...string) ([]Orphan, error) {
	owners, guardians, err := owned(dirs)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	var found []Orphan
	for id, dir := range guardians {
		if !id.runs() {
			continue
		}
		command := "guardian"
		if p, err := procfs.NewProc(id.PID); err == nil {
			args, _ := p.CmdLine()
			command = clean(strings.Join(args, " "))
		}
		found = append(found, Orphan{ID: id, Command: command, Dir: dir})
	}
	for _, p := range procs {
		token := tokenOf(p)
		dir, ours := owners[token]
		if !ours || p.PID == os.Getpid() {
			continue
		}
		id, err := processID(p.PID)
		if err != nil {
			continue // it has ended meanwhile
		}
		args, _ := p.CmdLine()
		found = append(found, Orphan{ID: id, Command: clean(strings.Join(args, " ")), Dir: dir, token: token})
	}
	return found, nil
}

// owned returns the directory of each token, and of each guardian, in the owner
// files.
func owned(dirs []string) (owners map[string]string, guardians map[ProcessID]string, err error) {
	owners, guardians = map[string]string{}, map[ProcessID]string{}
	for _, root := range dirs {
		listed, err := Listed(root, KindRun, KindTemplate, KindSnapshot)
		if err != nil {
			return nil, nil, err
		}
		for _, dir := range listed {
			if o, err := ReadOwner(dir); err == nil {
				owners[o.Token] = dir
				if o.Guardian != nil {
					guardians[*o.Guardian] = dir
				}
			}
		}
	}
	return owners, guardians, nil
}

// tokenOf returns the token in a process's environment, or "". Only root reads
// the environment of others' processes.
func tokenOf(p procfs.Proc) string {
	env, err := p.Environ()
	if err != nil {
		return ""
	}
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, tokenVariable) })
	if at < 0 {
		return ""
	}
	return strings.TrimPrefix(env[at], tokenVariable)
}

// orphanWait bounds the wait for an orphan's end.
const orphanWait = 30 * time.Second

// End kills an orphan and waits until it is gone. It holds the process by a
// descriptor and looks at it again before it kills, so that the signal can reach
// no other. Its data directory counts as not cleanly stopped.
func (o Orphan) End(ctx context.Context) error {
	fd, err := unix.PidfdOpen(o.ID.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ending process %d of an earlier run: %w", o.ID.PID, err)
	}
	defer unix.Close(fd)
	p, err := procfs.NewProc(o.ID.PID)
	if err != nil || !o.ID.runs() || tokenOf(p) != o.token {
		return nil // it has ended, and its pid is another's
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending process %d of an earlier run: %w", o.ID.PID, err)
	}
	limit := time.After(orphanWait)
	for o.ID.runs() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return fmt.Errorf("process %d of an earlier run (%s) survived SIGKILL: %s", o.ID.PID, o.Command, o.ID.describe())
		case <-time.After(stopPoll):
		}
	}
	return nil
}
