package pgbench

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"dbmatrix/executor/workload"
)

// Versions of the program from which it knows an option.
const (
	sinceRandomSeed       = 11
	sinceFailuresDetailed = 15
	sinceExitOnAbort      = 17
)

// initArguments returns the program's command line for the step init, its name
// left out.
func (c *config) initArguments(t workload.Target) []string {
	args := []string{"-i", "-s", whole(c.scale), "-F", whole(c.fillfactor)}
	if c.partitions > 0 {
		args = append(args, "--partitions="+whole(c.partitions), "--partition-method="+c.method)
	}
	if c.foreignKeys {
		args = append(args, "--foreign-keys")
	}
	if c.unlogged {
		args = append(args, "--unlogged-tables")
	}
	return append(args, where(t)...)
}

// runArguments returns the program's command line for a run: of the given
// length where that is not 0, else of the configured one.
func (c *config) runArguments(t workload.Target, major int, length time.Duration) []string {
	args := []string{"-n", "-M", c.mode, "-c", whole(c.clients), "-j", whole(c.threads), "-P", "1"}
	switch {
	case length > 0:
		args = append(args, "-T", whole(int64((length+time.Second-1)/time.Second)))
	case c.transactions > 0:
		args = append(args, "-t", whole(c.transactions))
	default:
		args = append(args, "-T", whole(c.seconds))
	}
	if c.rate > 0 {
		args = append(args, "-R", decimal(c.rate))
	}
	if c.latencyLimit > 0 {
		args = append(args, "-L", decimal(c.latencyLimit))
	}
	if c.maxTries > 1 {
		args = append(args, "--max-tries="+whole(c.maxTries))
	}
	if c.responseTimes {
		args = append(args, "-l")
	}
	if major >= sinceFailuresDetailed {
		args = append(args, "--failures-detailed")
	}
	if major >= sinceExitOnAbort {
		args = append(args, "--exit-on-abort")
	}
	if major >= sinceRandomSeed {
		args = append(args, "--random-seed="+whole(randomSeed(t)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.variables)) {
		args = append(args, "-D", name+"="+c.variables[name])
	}
	if len(c.scripts) == 0 {
		args = append(args, "-b", c.builtin)
	}
	for _, script := range c.scripts {
		if !filepath.IsAbs(script) {
			script = filepath.Join(t.Source, script)
		}
		args = append(args, "-f", script)
	}
	return append(args, where(t)...)
}

// where returns the arguments that name the server.
func where(t workload.Target) []string {
	dir, port := socketPlace(t.Socket)
	return []string{"-h", dir, "-p", port, "-U", t.User, database}
}

// randomSeed returns the start of the program's random numbers: another one for
// each iteration, and for a warm-up, since a run that asks for the same rows
// again finds them in the cache. The program takes a number of 31 bits.
func randomSeed(t workload.Target) int64 {
	const (
		bound    = 1 << 31
		distance = 1000003 // a prime
	)
	seed := (t.Seed%bound + int64(t.Iteration-1)*distance) % bound
	if seed < 0 {
		seed += bound
	}
	return seed
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
