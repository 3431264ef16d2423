package program

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// A Stream is one of the two that a program prints to.
type Stream int

// The streams.
const (
	Stdout Stream = 1 + iota
	Stderr
)

const (
	// tailLines is how many of the last lines a message shows, and tailWidth
	// how much of each.
	tailLines = 8
	tailWidth = 400

	// longestLine bounds what is kept of a line that has no end.
	longestLine = 64 << 20
)

// An output takes what a program prints while it runs: it keeps it, and hands it
// on line by line.
type output struct {
	raw  io.Writer
	take func(Stream, string)
	hide hider // in what is kept and shown

	mu   sync.Mutex
	part [3][]byte // of a line of each stream that is not whole yet
	tail []string
	err  error // of writing to raw: the program is not to fail for it
}

type streamWriter struct {
	out    *output
	stream Stream
}

func (o *output) stream(s Stream) io.Writer { return &streamWriter{o, s} }

// Write takes a part of what is printed to a stream.
func (w *streamWriter) Write(p []byte) (int, error) {
	o := w.out
	o.mu.Lock()
	defer o.mu.Unlock()
	o.part[w.stream] = append(o.part[w.stream], p...)
	part := o.part[w.stream]
	for {
		line, rest, whole := bytes.Cut(part, []byte("\n"))
		if !whole {
			break
		}
		o.line(w.stream, string(line))
		part = rest
	}
	if len(part) > longestLine {
		o.line(w.stream, string(part))
		part = nil
	}
	o.part[w.stream] = append(o.part[w.stream][:0], part...)
	return len(p), nil
}

// line takes a whole line. The caller holds the lock.
func (o *output) line(s Stream, line string) {
	kept := o.hide.Replace(line)
	if _, err := io.WriteString(o.raw, kept+"\n"); err != nil && o.err == nil {
		o.err = err
	}
	line = strings.TrimSuffix(line, "\r")
	if strings.TrimSpace(line) != "" {
		o.tail = append(o.tail, Shorten(strings.TrimSuffix(kept, "\r"), tailWidth))
		o.tail = o.tail[max(0, len(o.tail)-tailLines):]
	}
	if o.take != nil {
		o.take(s, line)
	}
}

// flush takes the last lines, which need not have an end.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range []Stream{Stdout, Stderr} {
		if len(o.part[s]) > 0 {
			o.line(s, string(o.part[s]))
			o.part[s] = nil
		}
	}
}

// last returns the last lines.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.tail, "\n")
}

// Shorten returns a line as a message shows it: no longer than most bytes, and
// something.
func Shorten(line string, most int) string {
	line = strings.ToValidUTF8(line, "?")
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + " ..."
}
