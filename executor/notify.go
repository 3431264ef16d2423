package executor

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// notifyBound bounds the user's notification command: a mail server that does
// not answer must not hold up the end of a matrix.
const notifyBound = 30 * time.Second

// notifyEvery is the least time between two notifications that are not of the
// end: a broken disk fails one run after the other.
const notifyEvery = time.Minute

// What a notification is about; the user's command gets the word.
const (
	notifyFailure  = "failure"
	notifyStall    = "stall"
	notifyFinished = "finished"
)

// A notifier runs the user's notify command.
type notifier struct {
	command []string
	name    string // of the experiment
	tell    func(Event)
	run     func(args []string) error // runs a command, for tests

	mu      sync.Mutex
	last    time.Time
	held    int // notifications held back since then
	running sync.WaitGroup
}

// newNotifier returns a notifier of an experiment; tell takes notices.
func newNotifier(command []string, name string, tell func(Event)) *notifier {
	return &notifier{command: command, name: name, tell: tell, run: runNotification}
}

// notify tells the user's command what happened, with a sentence as its last
// argument. It does not wait for the command. Of failures and stalls that come
// too soon after the last notification, the next one tells how many there were.
func (n *notifier) notify(what, text string) {
	if n == nil || len(n.command) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if what != notifyFinished && !n.last.IsZero() && time.Since(n.last) < notifyEvery {
		n.held++
		return
	}
	if n.held > 0 {
		text += fmt.Sprintf(" (and %d more since the last notification)", n.held)
	}
	n.last, n.held = time.Now(), 0
	args := append(append([]string{}, n.command...), what, n.name+": "+text)
	n.running.Go(func() {
		if err := n.run(args); err != nil {
			n.tell(Event{Kind: Notice, Message: "the notify command: " + err.Error()})
		}
	})
}

// wait waits for the commands that run.
func (n *notifier) wait() { n.running.Wait() }

// runNotification runs a command for as long as it may take.
func runNotification(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), notifyBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second // for a child of it that holds its output
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it was ended after %s", notifyBound)
	}
	return err
}
