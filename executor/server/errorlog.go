package server

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tailLines is how many lines of an error log a message carries.
const tailLines = 8

// tailBytes is how much of the end of a log is read for that. InnoDB's monitor
// writes dumps of more than a megabyte.
const tailBytes = 1 << 18

// readLog returns the lines of a log: all of a small one, of a large one the
// beginning and the end. What cannot be read is empty.
func readLog(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	size := info.Size()
	if size <= 2*tailBytes {
		b, _ := io.ReadAll(f)
		return logLines(b)
	}
	head, end := make([]byte, tailBytes), make([]byte, tailBytes)
	n, _ := f.ReadAt(head, 0)
	m, _ := f.ReadAt(end, size-tailBytes)
	return append(logLines(head[:n]), logLines(end[:m])...)
}

// logLines splits a log into lines that can be shown, without the NULs that a
// power cut leaves.
func logLines(b []byte) []string {
	b = bytes.ReplaceAll(b, []byte{0}, nil)
	text := strings.TrimRight(string(b), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = clean(strings.TrimSuffix(line, "\r"))
	}
	return lines
}

// limitLine matches what MariaDB writes at the end of a crash: the limits of the
// process and the kernel, which push the stack out of the last lines.
var limitLine = regexp.MustCompile(`^(Resource Limits|Limit {2,}Soft Limit|Max [a-z ]+ {2,}(unlimited|\d+) |Core pattern:|Kernel version:|$)`)

// telling returns the lines of a log without those that tell nothing of what went
// wrong.
func telling(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), limitLine.MatchString)
}

// tail returns the last n lines.
func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

// errorLine matches a line of an error log that says what went wrong, in the
// forms of MySQL and MariaDB ("... [ERROR] ...") and of PostgreSQL, which tells
// what is wrong with an option as LOG, and as FATAL only that something is.
var errorLine = regexp.MustCompile(`\[(ERROR|FATAL)\]|\b(FATAL|PANIC): |\bLOG: +(unrecognized configuration parameter|invalid value for parameter|syntax error in file|parameter ".*" cannot|.* is outside the valid range)`)

// stamp matches what comes before the words of a line: time, thread, codes.
var stamp = regexp.MustCompile(`^[-0-9T:.+Z ]+([A-Z]{3,4} )?(\d+ )?(\[[0-9]+\] )?`)

// firstError returns the first line that says what went wrong, without its
// stamp. The first, since a server that gives up for one reason logs others
// after it that mislead. It is "" where there is none.
func firstError(lines []string) string {
	for _, line := range lines {
		if errorLine.MatchString(line) {
			return strings.TrimSpace(stamp.ReplaceAllString(line, ""))
		}
	}
	return ""
}

// A LogEvent is a line of the error log that matters.
type LogEvent struct {
	At    time.Time // when it was read; servers' own stamps are of several clocks
	Class string    // error, warning, long_wait, corruption, no_space, io_error, crash, shutdown
	Line  string
}

// logClasses tell the class of a line of the error log: the first that matches.
var logClasses = []struct {
	class string
	words *regexp.Regexp
}{
	{"crash", regexp.MustCompile(`got signal \d+|\[FATAL\]|Assertion failure|\bPANIC:|was terminated by signal`)},
	{"shutdown", regexp.MustCompile(`\breceived (smart|fast|immediate) shutdown request|: Normal shutdown\b|\bReceived SHUTDOWN from user\b`)},
	{"long_wait", regexp.MustCompile(`(?i)long semaphore wait|semaphore wait has lasted|has waited at .* for [0-9.]+ seconds`)},
	{"no_space", regexp.MustCompile(`(?i)out of disk space|no space left|disk is full|error(code| number)?:? 28\b|waiting for someone to free`)},
	{"io_error", regexp.MustCompile(`(?i)input/output error|errcode: 5\b|can't sync file|could not fsync`)},
	{"corruption", regexp.MustCompile(`(?i)corrupt|checksum mismatch|wrong space id|invalid page in block`)},
	{"error", regexp.MustCompile(`\[ERROR\]|\b(ERROR|FATAL): `)},
	{"warning", regexp.MustCompile(`\[Warning\]|\bWARNING: `)},
}

// classify returns the class of a line, or "".
func classify(line string) string {
	for _, c := range logClasses {
		if c.words.MatchString(line) {
			return c.class
		}
	}
	return ""
}

// A logReader reads a growing log, line by line as they are finished.
type logReader struct {
	path string
	at   int64
	rest []byte // the beginning of a line that is not finished
}

// next returns the lines that the log has gained. A log that has become shorter
// was replaced, and is read from its beginning.
func (r *logReader) next() ([]string, error) {
	f, err := os.Open(r.path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < r.at {
		r.at, r.rest = 0, nil
	}
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, info.Size()-r.at))
	r.at += int64(len(b))
	b = append(r.rest, b...)
	end := bytes.LastIndexByte(b, '\n') + 1
	r.rest = bytes.Clone(b[end:])
	return logLines(b[:end]), err
}
