package executor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// commandOutput bounds what is kept of the output of a setup or teardown
// command, for messages.
const commandOutput = 4 << 10

// places are what the braces of setup and teardown commands stand for.
type places struct {
	dir     string // the data directory
	socket  string // of the server, once it has one
	storage string // the directory of the storage that holds the data
}

// fill replaces {dir}, {socket} and {storage} in an argument list.
func (p places) fill(args []string) []string {
	r := strings.NewReplacer("{dir}", p.dir, "{socket}", p.socket, "{storage}", p.storage)
	filled := make([]string, len(args))
	for i, a := range args {
		filled[i] = r.Replace(a)
	}
	return filled
}

// fillAll fills in each of several argument lists.
func (p places) fillAll(commands [][]string) [][]string {
	filled := make([][]string, len(commands))
	for i, c := range commands {
		filled[i] = p.fill(c)
	}
	return filled
}

// runCommands runs setup or teardown commands in their order, as the invoking
// user and without a shell. It ends at the first that fails.
func runCommands(ctx context.Context, guard func(context.Context, *exec.Cmd) error, commands [][]string, dir string, env []string) error {
	for _, args := range commands {
		cmd := exec.Command(args[0], args[1:]...)
		if cmd.Err != nil {
			return fmt.Errorf("running %q: %w", args, cmd.Err)
		}
		out, err := os.CreateTemp("", "dbmatrix-command-*")
		if err != nil {
			return fmt.Errorf("running %q: %w", args, err)
		}
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		cmd.Stdout, cmd.Stderr = out, out
		err = guard(ctx, cmd)
		tail := readTail(out.Name(), commandOutput)
		_ = out.Close()
		if rerr := os.Remove(out.Name()); err == nil {
			err = rerr
		}
		if err != nil {
			return fmt.Errorf("running %q: %w%s", args, err, tail)
		}
	}
	return nil
}

// readTail returns the end of a file with a line break before it, or "".
func readTail(path string, limit int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	b = bytes.TrimSpace(b)
	if len(b) > limit {
		b = b[len(b)-limit:]
	}
	if len(b) == 0 {
		return ""
	}
	return "\n" + string(bytes.ToValidUTF8(b, []byte("?")))
}
