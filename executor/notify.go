package executor

import (
	"os/exec"
	"time"
)

// notifyBound bounds the user's notification command: a mail server that does
// not answer must not hold up a matrix.
const notifyBound = 30 * time.Second

// notifyEvery is the least time between two notifications of failures: a broken
// disk fails one run after the other.
const notifyEvery = time.Minute

// notify runs the user's command with what happened (finished or failure) and a
// sentence as its last arguments. A command that fails is told and nothing more.
func (e *executor) notify(what, text string) {
	args := e.plan.Experiment.Notify
	if len(args) == 0 || what == "failure" && !e.notified.IsZero() && time.Since(e.notified) < notifyEvery {
		return
	}
	e.notified = time.Now()
	cmd := exec.Command(args[0], append(append([]string{}, args[1:]...), what, e.plan.Experiment.Name+": "+text)...)
	if err := cmd.Start(); err != nil {
		e.event(Event{Kind: Notice, Message: "the notify command does not start: " + err.Error()})
		return
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			e.event(Event{Kind: Notice, Message: "the notify command failed: " + err.Error()})
		}
	case <-time.After(notifyBound):
		_ = cmd.Process.Kill() // it is our own child, not yet reaped
		<-done
		e.event(Event{Kind: Notice, Message: "the notify command was ended after " + notifyBound.String()})
	}
}
