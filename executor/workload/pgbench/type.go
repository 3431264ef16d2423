package pgbench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

const version = 1

// Steps.
const (
	stepInit = "init"
	stepRun  = "run"
)

// bytesPerScale is the disk that 100,000 accounts take, with their index.
const bytesPerScale = 16 << 20

// Type returns the workload type pgbench.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:       "pgbench",
			Summary:    "PostgreSQL's own benchmark program",
			Version:    version,
			Attributes: attributes(),
			Follows: func(args matrix.Args) []string {
				// Scripts of the user's own need not read the program's tables.
				if v := workload.Read(args); v.Text("step") == stepInit || len(v.Texts("scripts")) > 0 {
					return nil
				}
				return []string{stepInit}
			},
			Opaque: func(args matrix.Args) bool { return len(workload.Read(args).Texts("scripts")) > 0 },
			Check: func(args matrix.Args, build matrix.Build) []matrix.ArgError {
				_, faults := decode(args, build)
				return faults
			},
			Duration: func(args matrix.Args) time.Duration {
				v := workload.Read(args)
				if v.Text("step") == stepRun && !v.Has("transactions") {
					return time.Duration(v.Int("seconds", 0)) * time.Second
				}
				return 0
			},
			Bytes: func(args matrix.Args) uint64 {
				return bytesPerScale * uint64(workload.Read(args).Int("scale", 1))
			},
			WarmUp: true,
			Built:  true,
		},
		New: newWorkload,
		Needs: func(args matrix.Args, source string) error {
			c, _ := decode(args, matrix.Build{})
			if c.program == "" {
				return nil // the plan has looked for the server's own
			}
			_, err := c.find(source, c.program)
			return err
		},
	}
}

func attributes() []matrix.Attribute {
	return []matrix.Attribute{
		workload.Step("init makes and fills the tables, run measures.", stepInit, stepRun),
		workload.Whole("scale", "scale", 1, "Scale factor: 100,000 accounts each."),
		workload.Choice("mode", "How queries are sent.", "simple", "extended", "prepared"),
		workload.Whole("clients", "clients", 1, "Sessions."),
		workload.Whole("threads", "threads", 1, "Threads of the program; the clients are shared out among them."),
		workload.Whole("seconds", "seconds", 60, "How long run takes."),
		workload.Optional("transactions", "transactions", "Transactions of each client, in place of seconds."),
		workload.Optional("rate", "transactions/s", "Transactions a second, all clients together, at random times; unless given, as many as it can. Response times count from when they were due."),
		workload.Optional("latency_limit", "ms", "Transactions that take longer are counted; with rate, those that are due longer ago are left out."),
		workload.Whole("max_tries", "tries", 1, "How often a transaction is tried that fails for a serialization failure or a deadlock (from version 15)."),
		workload.Choice("builtin", "Script that comes with the program.", "tpcb-like", "simple-update", "select-only"),
		{Name: "scripts", Type: cty.List(cty.String), File: true, Doc: "Script files beside the experiment, in place of the one that comes with the program; each is as likely as the others."},
		{Name: "variables", Type: cty.Map(cty.String), Doc: "Variables of the scripts."},
		workload.Switch("response_times", "Keep the time of each transaction, by the program's log in the scratch directory: this adds percentiles, a histogram and the rates of each client."),
		{Name: "after_load", Type: cty.List(cty.String), Doc: "Statements to run after init, outside the measured time, such as one that makes rows wider; the tables are vacuumed and analyzed after them."},
		workload.Whole("fillfactor", "percent", 100, "Fill factor of the tables."),
		workload.Whole("partitions", "partitions", 0, "Partitions of pgbench_accounts; 0 is unpartitioned (from version 13)."),
		workload.Choice("partition_method", "How pgbench_accounts is partitioned.", "range", "hash"),
		workload.Switch("foreign_keys", "Make foreign keys between the tables."),
		workload.Switch("unlogged", "Make the tables unlogged."),
		{Name: "program", Type: cty.String, Program: true, Beside: ownName, Doc: "The program; the one that lies beside the server's unless given, else the one on PATH."},
		workload.Seed(),
	}
}

// config is the decoded body of a block.
type config struct {
	step          string
	scale         int64
	mode          string
	clients       int64
	threads       int64
	seconds       int64
	transactions  int64 // of each client; 0 where the time decides
	rate          float64
	latencyLimit  float64 // ms; 0 is none
	maxTries      int64
	builtin       string
	scripts       []string
	variables     map[string]string
	responseTimes bool
	afterLoad     []string
	fillfactor    int64
	partitions    int64
	method        string
	foreignKeys   bool
	unlogged      bool
	program       string
	seed          *int64
}

// database holds the tables.
const database = "pgbench"

// decode reads the arguments and judges them, for a build where it is known.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		step:          v.Text("step"),
		scale:         v.Int("scale", 1),
		mode:          v.Text("mode"),
		clients:       v.Int("clients", 1),
		threads:       v.Int("threads", 1),
		seconds:       v.Int("seconds", 1),
		transactions:  v.Int("transactions", 1),
		rate:          v.Float("rate"),
		latencyLimit:  v.Float("latency_limit"),
		maxTries:      v.Int("max_tries", 1),
		builtin:       v.Text("builtin"),
		scripts:       v.Texts("scripts"),
		variables:     v.Map("variables"),
		responseTimes: v.Bool("response_times"),
		afterLoad:     v.Texts("after_load"),
		fillfactor:    v.Int("fillfactor", lowestFillfactor),
		partitions:    v.Int("partitions", 0),
		method:        v.Text("partition_method"),
		foreignKeys:   v.Bool("foreign_keys"),
		unlogged:      v.Bool("unlogged"),
		program:       v.Text("program"),
	}
	if v.Has("seed") {
		seed := v.Int("seed", 0)
		c.seed = &seed
	}
	c.check(v)
	if build.Flavour != "" && build.Flavour != "postgres" {
		v.Fault("", "pgbench runs against PostgreSQL", fmt.Sprintf("This cell's server is of the flavour %s: give it another server, or leave the phase out by when.", build.Flavour))
	}
	return c, v.Faults
}

// Bounds of the server and of the program.
const (
	lowestFillfactor = 10
	mostPartitions   = 10000 // more would take hours to make
)

func (c *config) check(v *workload.Values) {
	if c.threads > c.clients {
		v.Fault("threads", "more threads than clients", "Give at most one thread for each client.")
	}
	if c.fillfactor > 100 {
		v.Fault("fillfactor", "more than all", "Give 10 to 100.")
	}
	if c.partitions > mostPartitions {
		v.Fault("partitions", "too many", fmt.Sprintf("Give at most %d.", mostPartitions))
	}
	if v.Has("rate") && c.rate <= 0 {
		v.Fault("rate", "no rate", "Give a number above 0, or leave it out for no limit.")
	}
	if v.Has("latency_limit") && c.latencyLimit <= 0 {
		v.Fault("latency_limit", "no limit", "Give milliseconds above 0, or leave it out.")
	}
	if v.Has("scripts") && len(c.scripts) == 0 {
		v.Fault("scripts", "no script is named", "Give the names of files, or null for the builtin script.")
	}
	for _, name := range slices.Sorted(maps.Keys(c.variables)) {
		if name == "" || strings.ContainsAny(name, "= ") {
			v.Fault("variables", fmt.Sprintf("%q is no name of a variable", name), "Give names of letters, digits and underscores.")
		}
	}
}
