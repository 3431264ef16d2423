package executor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// current is the iteration under way, for the announcement of an end.
type current struct {
	mu   sync.Mutex
	last Event
}

// note remembers the last progress.
func (c *current) note(ev Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ev.Kind {
	case Progress, IterationStart:
		c.last = ev
	case IterationEnd, PhaseEnd, RunEnd:
		c.last = Event{}
	}
}

// announceFinish waits for the caller to ask for an end, and then says how long
// the iteration under way still takes. The returned function ends the wait.
func (e *executor) announceFinish(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-e.opts.Finish:
			e.event(Event{Kind: Finishing, Message: e.current.sentence()})
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// sentence says what is waited for.
func (c *current) sentence() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Phase == nil {
		return "ending after the step under way"
	}
	text := fmt.Sprintf("ending after iteration %d of %s", c.last.Iteration, c.last.Phase.Block)
	if left, ok := c.last.Live.Remaining(); ok {
		text += fmt.Sprintf(", in about %s", left.Round(time.Second))
	} else {
		text += "; how long it takes is not known"
	}
	return text + "; a second signal stops the server at once"
}
