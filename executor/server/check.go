package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dbmatrix/matrix"
)

// A Complaint is what a server has to say against an option, before it runs.
type Complaint struct {
	Option  string // folded name; "" where the message names none of those asked
	Fatal   bool   // the server would not start, or would drop the value
	Message string // the server's own words
}

// checkLimit bounds a check, which takes less than a second.
const checkLimit = time.Minute

// Check asks the build of the settings to judge their options without starting:
// no data directory is made or touched. A server judges only what it knows
// before it opens its files, so what passes may still be changed at the start;
// see InForce.
func Check(ctx context.Context, s *matrix.Settings) ([]Complaint, error) {
	all, err := check(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("asking server %q to judge its options: %w", s.Server.Name, err)
	}
	return all, nil
}

func check(ctx context.Context, s *matrix.Settings) ([]Complaint, error) {
	f, err := FlavourOf(s.Server.Build.Flavour)
	if err != nil {
		return nil, err
	}
	program, err := programOf(f, *s.Server)
	if err != nil {
		return nil, err
	}
	user, err := accountFor(s.Server, f)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "dbmatrix-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	l := Layout{Dir: dir}
	if err := makeFolders(l, user); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	text, err := optionText(f, placement{
		layout: l, server: s.Server, options: s.Options, sockets: dir,
		log: filepath.Join(l.Logs(), "error.log"), title: "options to be judged",
	})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, f.optionFile())
	if err := writeDurably(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	output, err := runCheck(ctx, f.checkCommand(s.Server.Build, program, file), dir, serverEnv(s, ""), user)
	if err != nil {
		return nil, err
	}
	for _, line := range readLog(filepath.Join(l.Logs(), "error.log")) {
		output.messages += line + "\n"
	}
	output.options = s.Options
	return aboutOptions(f.complaints(output), s.Options), nil
}

// aboutOptions finds the option that each complaint names. A warning that names
// none is about the circumstances of the check, not about what was asked.
func aboutOptions(all []Complaint, options []matrix.Option) []Complaint {
	var about []Complaint
	for _, c := range all {
		if c.Option == "" {
			c.Option = namedIn(c.Message, options)
		}
		if c.Fatal || c.Option != "" {
			about = append(about, c)
		}
	}
	return about
}

// A checkOutput is what a check printed.
type checkOutput struct {
	messages string // on its standard error, and into its log
	printed  string
	code     int
	options  []matrix.Option // that were judged
}

// runCheck runs a program that ends by itself.
func runCheck(ctx context.Context, args []string, dir string, env []string, user *account) (checkOutput, error) {
	limitOpenFiles() // as for a start, since servers fit options to the limit
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	if c := user.credential(); c != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c}
	}
	var printed, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &messages
	cmd.WaitDelay = outputDelay
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return checkOutput{}, err
	}
	if ctx.Err() != nil {
		return checkOutput{}, ctx.Err()
	}
	return checkOutput{messages: strings.Join(logLines(messages.Bytes()), "\n") + "\n", printed: printed.String(), code: cmd.ProcessState.ExitCode()}, nil
}
