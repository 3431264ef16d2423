package main

import (
	"dbmatrix/executor/server"

	"github.com/spf13/cobra"
)

// newGuardianCommand is the other side of server.StartGuardian: this program as
// the parent of servers and workload programs. Nobody calls it by hand.
func newGuardianCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:    server.GuardianCommand,
		Short:  "Be the parent of servers, and end them when the runner is gone",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if code := server.GuardianMain(c.Context(), s.err); code != 0 {
				return silent(code)
			}
			return nil
		},
	}
}
