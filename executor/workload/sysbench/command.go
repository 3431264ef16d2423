package sysbench

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// ignoredErrors are the errors after which the bundled tests run their
// transaction again, as the program has them by default: deadlock, record
// changed, lock wait. Its driver for PostgreSQL has its own, which no option
// changes: deadlock, serialization failure, unique violation.
var ignoredErrors = []string{"1213", "1020", "1205"}

// arguments returns the program's command line for a step, its name left out.
// A run takes the given time.
func (c *config) arguments(t workload.Target, step string, length time.Duration) []string {
	args := []string{"--threads=" + strconv.FormatInt(c.threads, 10)}
	add := func(name, value string) { args = append(args, "--"+name+"="+value) }
	if step == stepRun {
		add("time", strconv.FormatInt(int64(length/time.Second), 10))
		add("events", strconv.FormatInt(c.events, 10))
		add("report-interval", strconv.FormatInt(c.reportInterval, 10))
		add("percentile", strconv.FormatInt(c.percentile, 10))
		add("histogram", "on")
		if c.rate > 0 {
			add("rate", strconv.FormatFloat(c.rate, 'f', -1, 64))
		}
	}
	add("rand-seed", strconv.FormatInt(randSeed(t), 10))
	switch {
	case !c.needsServer():
	case t.Flavour == postgres:
		// A host that begins with a slash is the folder of the socket.
		add("db-driver", "pgsql")
		add("pgsql-host", filepath.Dir(t.Socket))
		add("pgsql-port", strings.TrimPrefix(filepath.Ext(t.Socket), "."))
		add("pgsql-user", t.User)
		add("pgsql-db", database)
	default:
		add("db-driver", "mysql")
		add("mysql-socket", t.Socket)
		add("mysql-user", t.User)
		add("mysql-db", database)
		add("mysql-ignore-errors", strings.Join(slices.Concat(ignoredErrors, c.allowed), ","))
	}
	if scripts[c.script].tables {
		add("tables", strconv.FormatInt(c.tables, 10))
		add("table_size", strconv.FormatInt(c.tableSize, 10))
		if t.Flavour != postgres {
			add("mysql_storage_engine", c.engine)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.options)) {
		add(strings.TrimLeft(name, "-"), onOff(c.options[name]))
	}
	test := c.script
	if c.lua != "" {
		test = c.lua
		if !filepath.IsAbs(test) {
			test = filepath.Join(t.Source, test)
		}
	}
	return append(args, test, step)
}

// randSeed returns the start of the program's random numbers: another one for
// each iteration, and for a warm-up, since a run that asks for the same rows
// again finds them in the cache. The program takes a positive whole number of 31
// bits, and the time of day for 0.
func randSeed(t workload.Target) int64 {
	const (
		largest  = 1<<31 - 1
		distance = 1000003 // a prime
	)
	seed := (t.Seed%largest + int64(t.Iteration-1)*distance) % largest
	if seed <= 0 {
		seed += largest
	}
	return seed
}

// onOff spells a bool as the program takes it.
func onOff(value string) string {
	switch value {
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return value
}
