package executor

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A teardown that fails has all of its commands tried. Its run keeps its result,
// and no other is measured on a host that is not as it was.
func TestTeardownThatFailsEndsThePlan(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.guardError = errors.New("target is busy\x1b[31m")
		definition := oneServer + `
experiment {
  name = "experiment"
  replicates = 2
}
phase "p" {
  teardown = [["umount", "/a"], ["umount", "/b"]]
  workload "fake" { }
}`
		definition = strings.Replace(definition, "experiment { name = \"experiment\" }\n", "", 1)
		out := h.run(t.Context(), definition)
		var env *EnvironmentError
		if out.Done != 1 || out.Left != 1 || len(out.Failed) != 0 || !errors.As(out.Stopped, &env) {
			t.Errorf("%s", out.sentence())
		}
		for _, part := range []string{"the setup of the only cell is not undone", "/a", "/b", "--accept-environment", "busy?[31m"} {
			if !strings.Contains(out.sentence(), part) {
				t.Errorf("no %q in %q", part, out.sentence())
			}
		}
		want := []string{"copy template to run", "start one", "work 1", "stop", "command umount /a", "command umount /b", "remove run"}
		if diff := cmp.Diff(want, h.log); diff != "" {
			t.Errorf("done (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"ok p=ok"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		// Accepted: that it fails again is told, and it is not said to be undone.
		h.events = nil
		h.run(t.Context(), definition)
		for _, ev := range h.events {
			if strings.Contains(ev.Message, "undid") {
				t.Errorf("event %q", ev.Message)
			}
		}
	})
}

// A phase's teardown that fails ends the run too: its next phase is not for this
// host.
func TestTeardownBetweenPhases(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.guardError = errors.New("target is busy")
		out := h.run(t.Context(), oneServer+phase("a", `teardown = [["umount", "/a"]]`, do("work"))+phase("b", do("work")))
		if out.Done != 0 || out.Stopped == nil {
			t.Errorf("%s", out.sentence())
		}
		if diff := cmp.Diff([]string{"interrupted a=ok"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// A command that does not end is told of, and ended.
func TestCommandThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		c := command{args: []string{"sleep", "infinity"}, bound: time.Hour, stalled: func(text string) { told = append(told, text) }}
		began := time.Now()
		err := c.run(t.Context(), func(ctx context.Context, _ *exec.Cmd) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if err == nil || !strings.Contains(err.Error(), "it was not done within 1h0m0s") || time.Since(began) != time.Hour {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if diff := cmp.Diff([]string{`["sleep" "infinity"] still runs after 5m30s; after 1h0m0s it is ended`}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// What a program printed is shown without what a terminal would obey.
func TestFailuresAreClean(t *testing.T) {
	err := errors.New("it said \x1b[31mred\a \u202edrow\nand\tmore \xff")
	const want = "it said ?[31mred? ?drow\nand\tmore ?"
	var res result
	res.add(&failure{err: err, details: []string{err.Error()}})
	got := []string{res.message(), res.details[0], (&EnvironmentError{err}).Error()}
	var told Event
	e := &executor{opts: Options{Report: func(ev Event) { told = ev }}}
	e.event(Event{Message: err.Error(), Details: []string{err.Error()}})
	for _, text := range append(got, told.Message, told.Details[0]) {
		if text != want {
			t.Errorf("got %q", text)
		}
	}
}
