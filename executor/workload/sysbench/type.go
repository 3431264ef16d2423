package sysbench

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

// Steps: the program's own commands.
const (
	stepPrepare = "prepare"
	stepWarmup  = "warmup"
	stepRun     = "run"
	stepCleanup = "cleanup"
)

// postgres is the flavour that the program speaks to by its driver pgsql.
const postgres = "postgres"

// scripts are the tests that come with the program: whether they need a server,
// and whether they work on tables sbtest1 .. sbtestN.
var scripts = map[string]struct{ server, tables bool }{
	"bulk_insert":           {true, false},
	"oltp_delete":           {true, true},
	"oltp_insert":           {true, true},
	"oltp_point_select":     {true, true},
	"oltp_read_only":        {true, true},
	"oltp_read_write":       {true, true},
	"oltp_update_index":     {true, true},
	"oltp_update_non_index": {true, true},
	"oltp_write_only":       {true, true},
	"select_random_points":  {true, true},
	"select_random_ranges":  {true, true},
	"cpu":                   {},
	"fileio":                {},
	"memory":                {},
	"mutex":                 {},
	"threads":               {},
}

// owned are options of the program that have another place here.
var owned = map[string]string{
	"threads": "the attribute threads", "num_threads": "the attribute threads",
	"time": "the attribute seconds", "max_time": "the attribute seconds",
	"events": "the attribute events", "max_requests": "the attribute events",
	"rate": "the attribute rate", "tx_rate": "the attribute rate",
	"tables": "the attribute tables", "table_size": "the attribute table_size",
	"mysql_storage_engine": "the attribute engine",
	"rand_seed":            "the attribute seed",
	"percentile":           "the attribute percentile",
	"report_interval":      "the attribute report_interval",
	"mysql_ignore_errors":  "the attribute allow_errors",
	"histogram":            "dbmatrix: it is always on",
	"warmup_time":          "the phase's warmup",
	"db_driver":            "dbmatrix", "mysql_socket": "dbmatrix", "mysql_user": "dbmatrix",
	"mysql_db": "dbmatrix", "mysql_host": "dbmatrix", "mysql_port": "dbmatrix", "mysql_password": "dbmatrix",
	"pgsql_db": "dbmatrix", "pgsql_host": "dbmatrix", "pgsql_port": "dbmatrix", "pgsql_password": "dbmatrix", "pgsql_user": "dbmatrix",
	"config_file": "options", "verbosity": "dbmatrix", "report_checkpoints": "dbmatrix",
}

// bytesPerRow is the disk that a row of sysbench's tables takes, with its index.
const bytesPerRow = 230

// Type returns the workload type sysbench.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:       "sysbench",
			Summary:    "the sysbench program: its bundled tests, with or without a server, or a Lua script",
			Version:    version,
			Attributes: attributes(),
			Server: func(args matrix.Args) bool {
				script, bundled := scripts[workload.Read(args).Text("script")]
				return !bundled || script.server
			},
			Follows: func(args matrix.Args) []string {
				v := workload.Read(args)
				script := v.Text("script")
				if v.Text("step") == stepPrepare || !scripts[script].server && script != "fileio" {
					return nil
				}
				return []string{stepPrepare}
			},
			Opaque: func(args matrix.Args) bool { return workload.Read(args).Has("lua") },
			Check: func(args matrix.Args, build matrix.Build) []matrix.ArgError {
				_, faults := decode(args, build)
				return faults
			},
			Duration: func(args matrix.Args) time.Duration {
				if v := workload.Read(args); v.Text("step") == stepRun {
					return time.Duration(v.Int("seconds", 0)) * time.Second
				}
				return 0
			},
			Bytes: func(args matrix.Args) uint64 {
				v := workload.Read(args)
				switch script, bundled := scripts[v.Text("script")]; {
				case v.Text("script") == "fileio":
					return fileBytes(v.Map("options")["file-total-size"])
				case bundled && !script.server:
					return 0
				}
				return bytesPerRow * uint64(v.Int("tables", 1)) * uint64(v.Int("table_size", 0))
			},
			WarmUp: true,
			Built:  true,
		},
		New: newWorkload,
		Needs: func(args matrix.Args, source string) error {
			c, _ := decode(args, matrix.Build{})
			_, err := c.find(source)
			return err
		},
	}
}

func attributes() []matrix.Attribute {
	list := []matrix.Attribute{
		workload.Step("The program's command: prepare makes the tables or files, warmup reads them, run measures, cleanup removes them.",
			stepPrepare, stepWarmup, stepRun, stepCleanup),
		workload.Text("script", "", "A test that comes with the program, such as oltp_read_write or fileio. Either this or lua."),
		{Name: "lua", Type: cty.String, File: true, Doc: "A Lua script beside the experiment, in place of a bundled test."},
		{Name: "program", Type: cty.String, Default: cty.StringVal("sysbench"), Program: true, Doc: "The program: a path, or a name to be found on PATH."},
		workload.Whole("tables", "tables", 1, "Tables sbtest1 .. sbtestN."),
		workload.Whole("table_size", "rows", 10000, "Rows of each table."),
		workload.Whole("threads", "threads", 1, "Threads of the program, each a client with a connection."),
		workload.Whole("seconds", "seconds", 10, "How long run takes; 0 is until all events are done."),
		workload.Whole("events", "events", 0, "Events after which run ends; 0 is no bound."),
		workload.Optional("rate", "events/s", "Events a second, all threads together; unless given, as many as it can."),
		workload.Choice("engine", "Storage engine of the tables of MySQL and MariaDB.", "innodb", "rocksdb", "myisam", "aria", "memory"),
		{Name: "options", Type: cty.Map(cty.String), Doc: "Further options of the program and of the test, such as { file-total-size = \"1G\", range_size = 100 }."},
		workload.Whole("report_interval", "seconds", 1, "How often the program prints its rates; these are kept as a series."),
		workload.Whole("percentile", "percent", 99, "The percentile that the program prints; 50, 95 and 99 are recorded in any case."),
		{Name: "seed", Type: cty.Number, Doc: "Start of the random numbers of run, the number of the replicate unless given. The program has none for prepare: two loads are alike, not the same."},
		{Name: "allow_errors", Type: cty.List(cty.Number), Unit: "error numbers", Doc: "Errors of MySQL and MariaDB after which the tests run their transaction again; they are counted in errors and do not end the run. Deadlocks (1213), lock waits (1205) and records that have changed since they were read (1020) are treated so in any case; in PostgreSQL deadlocks, serialization failures and unique violations are."},
	}
	// The program's own names, written as attributes: --time is seconds here.
	for i := range list {
		for name, place := range owned {
			if place == "the attribute "+list[i].Name && name != list[i].Name {
				list[i].Also = append(list[i].Also, name)
			}
		}
		slices.Sort(list[i].Also)
	}
	return list
}

// config is the decoded body of a block.
type config struct {
	step           string
	script         string // of the program, else ""
	lua            string // path beside the experiment, else ""
	program        string
	tables         int64
	tableSize      int64
	threads        int64
	seconds        int64
	events         int64
	rate           float64
	engine         string
	options        map[string]string
	reportInterval int64
	percentile     int64
	seed           *int64
	allowed        []string
}

// database holds the tables.
const database = "sbtest"

// decode reads the arguments and judges them, for a build where it is known.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		step:           v.Text("step"),
		script:         v.Text("script"),
		lua:            v.Text("lua"),
		program:        v.Text("program"),
		tables:         v.Int("tables", 1),
		tableSize:      v.Int("table_size", 1),
		threads:        v.Int("threads", 1),
		seconds:        v.Int("seconds", 0),
		events:         v.Int("events", 0),
		rate:           v.Float("rate"),
		engine:         v.Text("engine"),
		options:        v.Map("options"),
		reportInterval: v.Int("report_interval", 1),
		percentile:     v.Int("percentile", 1),
		allowed:        v.ErrorCodes("allow_errors"),
	}
	if v.Has("seed") {
		seed := v.Int("seed", 1)
		c.seed = &seed
	}
	c.checkScript(v)
	c.checkOptions(v)
	if c.step == stepRun && c.seconds == 0 && c.events == 0 {
		v.Fault("seconds", "the run would not end", "Give seconds, or events, or both.")
	}
	if c.percentile > 100 {
		v.Fault("percentile", "more than all", "Give a percentile of 1 to 100.")
	}
	if v.Has("rate") && c.rate <= 0 {
		v.Fault("rate", "no rate", "Give a number above 0, or leave it out for no limit.")
	}
	if build.Flavour == postgres && c.needsServer() {
		c.checkPostgres(v)
	}
	return c, v.Faults
}

// checkPostgres judges what the program can do against PostgreSQL.
func (c *config) checkPostgres(v *workload.Values) {
	if c.step == stepWarmup && c.lua == "" {
		v.Fault("step", "the bundled tests warm up MySQL and MariaDB only", "Leave the phase out for these cells by when, or use the warmup of a phase that runs.")
	}
	if c.engine != "innodb" && scripts[c.script].tables {
		v.Fault("engine", "PostgreSQL has no engine "+c.engine, "Set it to null for these cells.")
	}
	if len(c.allowed) > 0 {
		v.Fault("allow_errors", "the program knows no errors to let pass of PostgreSQL",
			"Leave it out: deadlocks, serialization failures and unique violations are counted in any case.")
	}
}

func (c *config) checkScript(v *workload.Values) {
	names := strings.Join(slices.Sorted(maps.Keys(scripts)), ", ")
	_, bundled := scripts[c.script]
	switch {
	case c.script == "" && c.lua == "":
		v.Fault("script", "no test is named", "Give script, one of "+names+", or lua with a script of your own.")
	case c.script != "" && c.lua != "":
		v.Fault("lua", "two tests are named", "Give either script or lua; the other is null.")
	case c.script != "" && !bundled:
		v.Fault("script", fmt.Sprintf("sysbench has no test %q", c.script),
			"It has "+names+". A script of your own is named by the attribute lua.")
	}
	if c.script == "fileio" && c.step != stepCleanup && c.options["file-total-size"] == "" && c.options["file_total_size"] == "" {
		v.Fault("options", "fileio without file-total-size",
			"The program would use 2 GiB of whatever prepare has made, and say nothing: give the same file-total-size to prepare and run.")
	}
	if c.script == "fileio" && c.step == stepRun && c.options["file-test-mode"] == "" && c.options["file_test_mode"] == "" {
		v.Fault("options", "fileio without file-test-mode", "Give one of seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw.")
	}
}

func (c *config) checkOptions(v *workload.Values) {
	for _, name := range slices.Sorted(maps.Keys(c.options)) {
		folded := strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
		if place, ok := owned[folded]; ok {
			v.Fault("options", fmt.Sprintf("%s is set elsewhere", name), "It is decided by "+place+".")
		}
	}
}

// needsServer reports whether the test runs against a server.
func (c *config) needsServer() bool {
	script, bundled := scripts[c.script]
	return !bundled || script.server
}

// fileBytes returns the size of the files of fileio, 2 GiB unless given, or 0 where
// the text is no size.
func fileBytes(total string) uint64 {
	if total == "" {
		return 2 << 30
	}
	n, err := matrix.ParseSize(total)
	if err != nil {
		return 0
	}
	return n
}
