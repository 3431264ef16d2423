package insertbench

import (
	"fmt"
	"time"

	"dbmatrix/executor/workload/client"
)

// A holder is one client's means to keep a transaction open that has read a row:
// what other clients change meanwhile, the server must keep for it.
type holder struct {
	conn  *client.Conn
	table int
	time  time.Duration
	over  chan struct{} // closed when the client has done all else
}

// run opens one transaction after the other until the client has done all else.
func (h *holder) run(gate *client.Gate) error {
	for {
		if _, err := h.conn.Exec("BEGIN"); err != nil {
			return fmt.Errorf("opening a transaction: %w", err)
		}
		if _, err := h.conn.Query("SELECT * FROM "+tableName(h.table)+" LIMIT 1", nil); err != nil {
			return fmt.Errorf("reading a row in a transaction: %w", err)
		}
		over := h.wait(gate)
		if gate.Stopped() {
			return nil
		}
		if _, err := h.conn.Exec("COMMIT"); err != nil || over {
			return err
		}
	}
}

// wait waits for the time that a transaction is held, and reports whether there
// is to be no other.
func (h *holder) wait(gate *client.Gate) bool {
	timer := time.NewTimer(h.time)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-h.over:
	case <-gate.Done():
	}
	return true
}
