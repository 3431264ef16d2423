package executor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
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

// commandBound bounds a setup or teardown command where the timeout of its phase
// is not longer: making a filesystem or copying a data set fits in, and a mount
// that hangs does not hold up a matrix for good.
const commandBound = 30 * time.Minute

// commandStall is how long a setup or teardown command runs before that is told.
const commandStall = silenceDefault / 2

// A command is a setup or teardown command to be run: as the invoking user and
// without a shell.
type command struct {
	args    []string
	dir     string
	env     []string      // beside that of dbmatrix itself
	bound   time.Duration // after which it is ended
	stalled func(text string)
}

// run runs the command. Its error quotes the end of what it printed.
func (c command) run(ctx context.Context, guard func(context.Context, *exec.Cmd) error) error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	if cmd.Err != nil {
		return fmt.Errorf("running %q: %w", c.args, cmd.Err)
	}
	out, err := os.CreateTemp("", "dbmatrix-command-*")
	if err != nil {
		return fmt.Errorf("running %q: %w", c.args, err)
	}
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = out, out
	err = c.inTime(ctx, cmd, guard)
	tail := readTail(out.Name(), commandOutput)
	_ = out.Close()
	if rerr := os.Remove(out.Name()); err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("running %q: %w%s", c.args, err, tail)
	}
	return nil
}

// inTime runs a program within the bound, and tells once where it takes long.
func (c command) inTime(ctx context.Context, cmd *exec.Cmd, guard func(context.Context, *exec.Cmd) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.bound, fmt.Errorf("it was not done within %s", c.bound))
	defer cancel()
	told := time.AfterFunc(commandStall, func() {
		c.stalled(fmt.Sprintf("%q still runs after %s; after %s it is ended", c.args, commandStall, c.bound))
	})
	defer told.Stop()
	return guard(ctx, cmd)
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
