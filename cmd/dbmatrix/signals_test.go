package main

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dbmatrix/executor"
)

func TestInterruptLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := false
		ctx, cancel := context.WithCancelCause(context.Background())
		in := &interrupts{finish: make(chan struct{}), cancel: cancel, leave: func() { left = true }}
		ch, done := make(chan os.Signal, 1), make(chan struct{})
		go in.watch(ch, done)
		defer close(done)

		level := func() int {
			synctest.Wait()
			switch {
			case left:
				return 3
			case ctx.Err() != nil:
				return 2
			}
			select {
			case <-in.finish:
				return 1
			default:
				return 0
			}
		}
		for want := range 4 {
			if got := level(); got != want {
				t.Fatalf("after %d signals: level %d", want, got)
			}
			ch <- syscall.SIGINT
		}
		if context.Cause(ctx) != executor.ErrInterrupted {
			t.Errorf("cause is %v", context.Cause(ctx))
		}
	})
}

func TestTermIsASecondSignalLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		in := &interrupts{finish: make(chan struct{}), cancel: cancel, leave: func() { t.Error("left") }}
		ch, done := make(chan os.Signal, 1), make(chan struct{})
		go in.watch(ch, done)
		defer close(done)

		ch <- syscall.SIGTERM
		time.Sleep(termGrace - time.Millisecond)
		if ctx.Err() != nil {
			t.Error("the server is stopped before the grace is over")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("the server is not stopped after the grace")
		}
	})
}
