package executor

import (
	"context"
	"fmt"
	"net"
	"slices"

	"dbmatrix/matrix"
)

// port returns a free port of the loopback address for the server of a run in
// which a workload needs one, else 0. All servers of the run listen then, so that
// its phases differ in nothing but their settings.
func (a *attempt) port(ctx context.Context) (int, error) {
	needed := slices.ContainsFunc(a.phases, func(p matrix.RunPhase) bool {
		t := a.workloadType(p.Phase.Workload.Type)
		return t != nil && t.Port != nil && t.Port(p.Phase.Workload.Args)
	})
	if !needed {
		return 0, nil
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port for the server: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	// The server takes the port a moment later; one that another program has
	// taken meanwhile fails the start.
	return port, l.Close()
}
