package executor

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNotificationsAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent []string
		n := newNotifier([]string{"tell-me", "--loud"}, "e", func(Event) {})
		n.run = func(args []string) error {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, strings.Join(args, " "))
			return nil
		}
		n.notify(notifyFailure, "a: failed")
		synctest.Wait()
		n.notify(notifyFailure, "b: failed")
		n.notify(notifyStall, "c: nothing moves")
		time.Sleep(notifyEvery)
		n.notify(notifyFailure, "d: failed")
		synctest.Wait()
		n.notify(notifyFinished, "1 done")
		n.wait()
		want := []string{
			"tell-me --loud failure e: a: failed",
			"tell-me --loud failure e: d: failed (and 2 more since the last notification)",
			"tell-me --loud finished e: 1 done",
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestNotificationThatFailsIsTold(t *testing.T) {
	told := make(chan Event, 1)
	n := newNotifier([]string{"tell-me"}, "e", func(ev Event) { told <- ev })
	n.run = func([]string) error { return errors.New("no mail today") }
	n.notify(notifyFinished, "1 done")
	n.wait()
	if ev := <-told; !strings.Contains(ev.Message, "no mail today") {
		t.Errorf("told %q", ev.Message)
	}
	newNotifier(nil, "e", func(Event) { t.Error("told without a command") }).notify(notifyFailure, "x")
}

func TestNotificationCommand(t *testing.T) {
	if err := runNotification([]string{"sh", "-c", `test "$0" = failure && test "$1" = "e: text"`, "failure", "e: text"}); err != nil {
		t.Error(err)
	}
	if err := runNotification([]string{"false"}); err == nil {
		t.Error("a command that fails is no error")
	}
	if err := runNotification([]string{"/nonexistent/tell-me"}); err == nil {
		t.Error("a command that is not there is no error")
	}
}

// A server that stands still is told of before its phase counts as hung.
func TestStallIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), oneServer+phase("query", do("hang")))
		var at []time.Time
		for _, ev := range h.events {
			if ev.Kind == Notice && strings.Contains(ev.Message, "has moved for") || ev.Kind == Failure {
				at = append(at, ev.Time)
			}
		}
		if len(at) != 2 || at[1].Sub(at[0]) < silenceDefault/3 {
			t.Errorf("told at %v", at)
		}
		if events := h.recordedEvents("stall"); len(events) != 1 {
			t.Errorf("recorded: %q", events)
		}
	})
}
