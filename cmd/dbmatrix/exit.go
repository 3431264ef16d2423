package main

import (
	"errors"
	"io/fs"
	"os"
)

// Exit codes. They are a contract: scripts that call dbmatrix rely on them, and
// each command's help lists those that it can end with.
const (
	exitOK          = 0   // done; runs that missed their rate included
	exitFailedRuns  = 1   // finished or stopped with failed runs; fmt --check found a file to format; compare --threshold not met
	exitUsage       = 2   // wrong usage, a fault in the definition, refused options, a question without a terminal
	exitEnvironment = 3   // no server, disk full, locked by another, doctor found a fault
	exitInternal    = 4   // a fault in dbmatrix
	exitInterrupted = 130 // stopped by a signal
)

// exitHelp is what each help text ends with, by exit code.
var exitHelp = []struct {
	code int
	text string
}{
	{exitOK, "done"},
	{exitFailedRuns, "failed"},
	{exitUsage, "wrong usage, or a fault in the definition"},
	{exitEnvironment, "this host cannot: no server, disk full, locked by another runner"},
	{exitInternal, "a fault in dbmatrix itself"},
	{exitInterrupted, "interrupted"},
}

// An exitError ends the program with a code. Its message is printed unless it
// is empty, as it is where all has been said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exit wraps an error with an exit code.
func exit(code int, err error) error { return &exitError{code, err} }

// silent is an end with a code after all has been said.
func silent(code int) error { return &exitError{code: code} }

// exitCode returns the code for an error that a command ended with.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case ofOutput(err):
		return exitEnvironment
	}
	return exitInternal
}

// ofOutput reports whether an error is that of a standard stream which takes no
// more: its disk is full, or its reader is gone.
func ofOutput(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "write" && (at.Path == os.Stdout.Name() || at.Path == os.Stderr.Name())
}
