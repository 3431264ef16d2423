package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"dbmatrix/executor"

	"golang.org/x/term"
)

// termGrace is how long after a SIGTERM the server is stopped without waiting
// for the iteration: those who send one, such as a shutdown of the host, send a
// SIGKILL some time later (systemd after 90 s).
const termGrace = 10 * time.Second

// interrupts turns signals into the three levels of an end: finish the current
// iteration, stop the server and leave, leave now.
type interrupts struct {
	// finish is closed at the first level.
	finish chan struct{}

	mu     sync.Mutex
	level  int
	cancel context.CancelCauseFunc // the second level
	leave  func()                  // the third level
}

// watchSignals returns a context that is cancelled at the second level, the
// levels, and a function that ends the watch.
func watchSignals(ctx context.Context, stdout io.Writer) (context.Context, *interrupts, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	in := &interrupts{
		finish: make(chan struct{}),
		cancel: cancel,
		// Whatever runs under the guardian ends when this process does.
		leave: func() { os.Exit(exitInterrupted) },
	}
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	if !isTerminal(stdout) {
		signal.Ignore(syscall.SIGHUP)
	}
	done := make(chan struct{})
	go in.watch(ch, done)
	return ctx, in, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

// watch raises the level for each signal until done is closed.
func (in *interrupts) watch(ch <-chan os.Signal, done <-chan struct{}) {
	var term <-chan time.Time
	for {
		select {
		case s := <-ch:
			in.raise()
			if s == syscall.SIGTERM && term == nil {
				term = time.After(termGrace)
			}
		case <-term:
			in.raiseTo(2)
		case <-done:
			return
		}
	}
}

// raise goes up one level.
func (in *interrupts) raise() {
	in.mu.Lock()
	next := in.level + 1
	in.mu.Unlock()
	in.raiseTo(next)
}

// raiseTo goes up to a level; it never goes down.
func (in *interrupts) raiseTo(level int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.level < level {
		in.level++
		switch in.level {
		case 1:
			close(in.finish)
		case 2:
			in.cancel(executor.ErrInterrupted)
		case 3:
			in.leave()
		}
	}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	if o, ok := stream.(*output); ok {
		stream = o.w
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
