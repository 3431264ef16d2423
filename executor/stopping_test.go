package executor

import (
	"testing"

	"dbmatrix/matrix"
)

// A server that somebody else told to stop is not the one to be measured any more,
// although it answers still, whether that was within an iteration or after the last.
func TestServerThatWasToldToStop(t *testing.T) {
	for _, what := range []string{"told to stop", "told afterwards"} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				out := h.run(t.Context(), oneServer+phase("query", do(what), `settle { pause = "5s" }`))
				if len(out.Failed) != 1 || out.Failed[0].Status != matrix.Crashed ||
					out.Failed[0].Message != "somebody else than dbmatrix told the server to stop: received smart shutdown request" {
					t.Errorf("outcome: %+v", out)
				}
			})
		})
	}
}
