package report

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// inParallel returns what f makes of each number below n, in their order. As many
// are made at the same time as there are processors to make them.
func inParallel[T any](n int, f func(i int) T) []T {
	made := make([]T, n)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			made[i] = f(i)
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	return made
}
