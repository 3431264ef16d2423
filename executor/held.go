package executor

import (
	"errors"
	"fmt"

	"dbmatrix/executor/server"

	"golang.org/x/sys/unix"
)

// held are the filesystems of servers that were killed and did not end, by their
// devices. Nothing is started there any more, and nothing is removed: whatever
// touches them may hang as these servers do.
type held map[uint64]*server.SurvivedError

// add notes the filesystem of a failed run, where its server did not end.
func (h *held) add(m *machine, failed error) {
	var survived *server.SurvivedError
	if !errors.As(failed, &survived) {
		return
	}
	device, err := m.device(survived.Dir)
	if err != nil {
		return // there is nothing to be started on what cannot be looked at
	}
	if *h == nil {
		*h = held{}
	}
	(*h)[device] = survived
}

// holds says why nothing can be done in a directory, or "".
func (h held) holds(m *machine, dir string) string {
	if len(h) == 0 {
		return ""
	}
	device, err := m.device(dir)
	if err != nil {
		return ""
	}
	if survived := h[device]; survived != nil {
		return fmt.Sprintf("nothing more is started on the filesystem of %s: the kernel still holds the killed server %q", survived.Dir, survived.Server)
	}
	return ""
}

// stopped returns what the outcome says of servers that did not end, nil where all
// did.
func (h held) stopped() error {
	for _, survived := range h {
		return &EnvironmentError{survived}
	}
	return nil
}

// deviceOf returns the number of the device that a directory's filesystem is on,
// or will be on where it is not there yet.
func deviceOf(dir string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(ancestor(dir), &st); err != nil {
		return 0, fmt.Errorf("looking at %s: %w", dir, err)
	}
	return st.Dev, nil
}
