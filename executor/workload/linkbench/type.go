package linkbench

import (
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// version changes when the data or the statements do.
const version = 2

// Steps of the benchmark.
const (
	stepLoad  = "load"
	stepIndex = "index"
	stepQuery = "query"
	stepCheck = "check"
)

// Disk for each node with its links, in bytes: 20 million nodes were published to
// take 24 GB in InnoDB, a thousand million 693 GB in MyRocks without compression.
const (
	bytesPerNode        = 1290
	bytesPerNodeRocksDB = 745
)

// Type returns the workload type linkbench.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:       "linkbench",
			Summary:    "a social graph: load of nodes and links, then a mix of ten operations",
			Version:    version,
			Attributes: attributes(),
			Follows: func(args matrix.Args) []string {
				if workload.Read(args).Text("step") == stepLoad {
					return nil
				}
				return []string{stepLoad}
			},
			Check: func(args matrix.Args, build matrix.Build) []matrix.ArgError {
				_, faults := decode(args, build)
				return faults
			},
			Duration: func(args matrix.Args) time.Duration {
				if v := workload.Read(args); v.Text("step") == stepQuery && !v.Has("requests") {
					return time.Duration(v.Int("seconds", 1)) * time.Second
				}
				return 0
			},
			Bytes: func(args matrix.Args) uint64 {
				v := workload.Read(args)
				perNode := uint64(bytesPerNode)
				if v.Text("engine") == "rocksdb" {
					perNode = bytesPerNodeRocksDB
				}
				return perNode * uint64(v.Int("maxid1", 1))
			},
			WarmUp: true,
			Built:  true,
		},
		New: newWorkload,
	}
}

func attributes() []matrix.Attribute {
	return []matrix.Attribute{
		workload.Step("load makes and fills the tables, index makes the secondary index of links where the load left it out, query runs the mix, check compares the counts with the links.",
			stepLoad, stepIndex, stepQuery, stepCheck),
		workload.Choice("profile", "Mix of operations, payload sizes, number of links of a node, and client: of 2017 or of 2011 with the original client, or modern: of 2017 with the client of the present fork.",
			profileFB2017, profileFB2011, profileModern),
		workload.Whole("maxid1", "ids", 10000001, "Nodes have the ids 1 .. maxid1 - 1."),
		workload.Whole("loaders", "clients", 10, "Clients that load links; one more loads the nodes."),
		workload.Whole("requesters", "clients", 100, "Clients that run the mix, each with two connections: one for transactions of links, one for the rest."),
		workload.Whole("seconds", "seconds", 60, "How long the query step takes, unless requests is given."),
		workload.Optional("requests", "requests", "Requests of each requester after which it ends; unless given, the time decides."),
		workload.Optional("request_rate", "requests/s", "Requests of each requester in a second, at random times; unless given, as many as it can."),
		workload.Choice("engine", "Storage engine of the tables; PostgreSQL has none to choose.", "innodb", "rocksdb"),
		workload.Whole("partitions", "partitions", 0, "Partitions of each table, by key (id1) and key (id), in PostgreSQL by hash; 0 is unpartitioned."),
		workload.Choice("compression", "none; table is InnoDB's compressed row format, of links and counts; transparent is page compression with hole punching, of all tables (COMPRESSION='zlib' in MySQL, PAGE_COMPRESSED=1 in MariaDB). MyRocks is compressed by its server options.",
			"none", "table", "transparent"),
		workload.Optional("key_block_size", "KiB", "Compressed page size with compression = table: 1, 2, 4, 8 or 16; 8 unless given. Half of the page size gives compression to a half."),
		workload.Choice("secondary_index", "Index of links by node, type, visibility and time: covering has all columns, so that lists of links read the index alone; plain has these four.",
			"covering", "plain"),
		workload.Switch("late_index", "Load without the secondary index, which the step index makes then."),
		workload.Whole("link_types", "types", 2, "Types of links."),
		workload.Optional("max_links", "links", "Most links of a node; as many as there are ids unless given. The original has no such bound: its first node has four million links in a graph of any size."),
		{Name: "distribution", Type: cty.String, File: true, Doc: "A file with the distribution of the number of links of a node (its section nlinks), in place of the profile's own, which is thinned."},
		{
			Name: "verify", Type: cty.Bool, Default: cty.True,
			Doc: "Count the rows of all tables after the load, outside the measured time. It reads every table once.",
		},
		workload.Switch("load_without_binlog", "Load with sql_log_bin = 0."),
		workload.Seed(),
		{Name: "bug_compat", Type: cty.Bool, Default: cty.True, Doc: "Do as the original program does where it differs from its own documentation."},
		workload.AllowErrors(),
	}
}

// config is the decoded body of a block.
type config struct {
	profile
	step          string
	nodes         int64
	loaders       int
	requesters    int
	seconds       int64
	requests      int64 // of each requester; 0: the time decides
	rate          float64
	table         tableForm
	lateIndex     bool
	types         int64
	maxLinks      int64
	distribution  string
	verify        bool
	withoutBinlog bool
	seed          *int64
	bugCompat     bool
	allowed       []string
}

// decode reads the arguments and judges them, for a build where it is known.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		profile:    newProfile(v.Text("profile")),
		step:       v.Text("step"),
		nodes:      v.Int("maxid1", 2) - 1,
		loaders:    int(v.Int("loaders", 1)),
		requesters: int(v.Int("requesters", 1)),
		seconds:    v.Int("seconds", 1),
		requests:   v.Int("requests", 1),
		rate:       v.Float("request_rate"),
		table: tableForm{
			engine:       v.Text("engine"),
			partitions:   v.Int("partitions", 0),
			compression:  v.Text("compression"),
			keyBlockSize: v.Int("key_block_size", 1),
			covering:     v.Text("secondary_index") != "plain",
		},
		lateIndex:     v.Bool("late_index"),
		types:         v.Int("link_types", 1),
		maxLinks:      v.Int("max_links", 1),
		distribution:  v.Text("distribution"),
		verify:        v.Bool("verify"),
		withoutBinlog: v.Bool("load_without_binlog"),
		bugCompat:     v.Bool("bug_compat"),
		allowed:       v.ErrorCodes("allow_errors"),
	}
	c.table.wideCount = !c.original
	if v.Has("seed") {
		seed := v.Int("seed", 0)
		c.seed = &seed
	}
	if c.table.compression == "table" && c.table.keyBlockSize == 0 {
		c.table.keyBlockSize = 8
	}
	if c.maxLinks == 0 {
		c.maxLinks = c.nodes
	}
	if len(v.Faults) == 0 {
		c.check(v, build)
	}
	return c, v.Faults
}

// Bounds of attributes.
const (
	maxNodes      = 1<<31 - 2 // the original's ids have 31 bits
	maxPartitions = 8192      // of MySQL and MariaDB
	maxTypes      = 1000
)

// check finds what is wrong between attributes, and with the build.
func (c *config) check(v *workload.Values, build matrix.Build) {
	if c.nodes > maxNodes {
		v.Fault("maxid1", "too many", "Give at most 2147483647, since ids have 31 bits.")
	}
	if c.types > maxTypes {
		v.Fault("link_types", "too many", "Give at most 1000.")
	}
	if v.Has("request_rate") && c.rate <= 0 {
		v.Fault("request_rate", "no rate", "Give more than 0 requests a second, or leave it out for no limit.")
	}
	if c.step == stepIndex && !c.lateIndex {
		v.Fault("late_index", "the load has made the index", "Say late_index = true in the phase that loads; the later ones take it from there.")
	}
	c.checkStorage(v)
	if build.Flavour == "postgres" {
		c.checkPostgres(v)
	}
}

// checkPostgres finds what PostgreSQL does not have.
func (c *config) checkPostgres(v *workload.Values) {
	const out = "Set it to null where the server is PostgreSQL."
	if c.table.engine == "rocksdb" {
		v.Fault("engine", "PostgreSQL has no storage engines", out)
	}
	if c.table.compression == "table" || c.table.compression == "transparent" {
		v.Fault("compression", "PostgreSQL compresses no pages", out)
	}
	if c.withoutBinlog {
		v.Fault("load_without_binlog", "PostgreSQL has no binary log", out)
	}
}

func (c *config) checkStorage(v *workload.Values) {
	t := c.table
	if t.partitions > maxPartitions {
		v.Fault("partitions", "too many", "A table has at most 8192 partitions.")
	}
	if t.engine == "rocksdb" && t.compression != "" && t.compression != "none" {
		v.Fault("compression", t.compression+" compression is InnoDB's",
			`MyRocks is compressed by rocksdb_default_cf_options: set that in my_cnf, and compression = "none" here (or null) for these cells.`)
	}
	switch {
	case t.keyBlockSize == 0:
	case t.compression != "table":
		v.Fault("key_block_size", `only compression = "table" has one`, "Set it to null where the compression is another.")
	case !slices.Contains([]int64{1, 2, 4, 8, 16}, t.keyBlockSize):
		v.Fault("key_block_size", "no such page size", "InnoDB compresses to pages of 1, 2, 4, 8 or 16 KiB.")
	}
}

// graph returns the graph that the load makes, of a distribution of the number
// of links.
func (c *config) graph(d degrees) *graph {
	g := &graph{
		nodes: c.nodes, types: c.types, most: c.maxLinks, degrees: d,
		shuffler: newShuffler(seedLinks, c.nodes), middle: !c.bugCompat,
	}
	switch {
	case !c.original:
		g.share = equalShare
	case c.bugCompat:
		g.share = originalShare
	default:
		g.share = evenShare
	}
	return g
}
