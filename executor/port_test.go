package executor

import (
	"testing"

	"dbmatrix/executor/server"
)

// TestPort checks that all servers of a run listen on a port where one of its
// workloads needs that, and none does otherwise.
func TestPort(t *testing.T) {
	for what, want := range map[string]bool{"port": true, "work": false} {
		inBubble(t, func(t *testing.T, h *harness) {
			var listening []bool
			h.startError = func(l *server.Launch) error {
				listening = append(listening, l.Port != 0)
				return nil
			}
			h.run(t.Context(), oneServer+phase("load", do("load"))+phase("run", do(what), "restart = true"))
			if len(listening) != 2 || listening[0] != want || listening[1] != want {
				t.Errorf("with %q the servers listen: %v, want %v for two", what, listening, want)
			}
		})
	}
}
