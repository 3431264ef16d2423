package program

import (
	"context"
	"errors"
	"fmt"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// EndSessions ends what an interrupted program has left in the server, in the
// database that is its own. It returns err, with what went wrong in ending them
// where ctx is what broke the program off; a server that failed with its program is
// somebody else's finding.
func EndSessions(ctx context.Context, t workload.Target, database string, err error) error {
	end := client.EndSessions(context.WithoutCancel(ctx), t, database)
	if end != nil && ctx.Err() != nil {
		return errors.Join(err, fmt.Errorf("ending its sessions: %w", end))
	}
	return err
}
