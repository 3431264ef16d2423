package tpcc

import (
	"fmt"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

const version = 1

// Steps.
const (
	stepLoad  = "load"
	stepRun   = "run"
	stepCheck = "check"
)

// bytesPerWarehouse is the disk that a warehouse takes: 1000 were published to take
// 100 GB.
const bytesPerWarehouse = 100 << 20

// Type returns the workload type tpcc.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:       "tpcc",
			Summary:    "orders of warehouses, by the program go-tpc",
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
			Port: func(args matrix.Args) bool { return workload.Read(args).Text("step") != stepCheck },
			Duration: func(args matrix.Args) time.Duration {
				if v := workload.Read(args); v.Text("step") == stepRun {
					return time.Duration(v.Int("seconds", 0)) * time.Second
				}
				return 0
			},
			Bytes: func(args matrix.Args) uint64 {
				return bytesPerWarehouse * uint64(workload.Read(args).Int("warehouses", 1))
			},
			WarmUp: true,
			Built:  true,
		},
		New: newWorkload,
		Needs: func(args matrix.Args, source string) error {
			c, _ := decode(args, matrix.Build{})
			if c.step == stepCheck {
				return nil
			}
			_, _, err := c.find(source)
			return err
		},
	}
}

func attributes() []matrix.Attribute {
	return []matrix.Attribute{
		workload.Step("load makes and fills the tables, run measures, check tests the consistency conditions.", stepLoad, stepRun, stepCheck),
		workload.Whole("warehouses", "warehouses", 10, "Warehouses, of about 100 MB each."),
		workload.Choice("engine", "Storage engine of the tables of MySQL and MariaDB.", "innodb", "rocksdb"),
		workload.Whole("partitions", "partitions", 0, "Partitions of each table but item, by warehouse, at most one for each; 0 is unpartitioned."),
		workload.Choice("partition_type", "How the tables are partitioned; list_by_hash and list_by_range are lists with the warehouses that the remainder of their number, or range, puts together. PostgreSQL spreads those of hash by a function of its own.",
			"hash", "range", "list_by_hash", "list_by_range"),
		workload.Choice("compression", "none; table is InnoDB's compressed row format; transparent is page compression with hole punching (COMPRESSION='zlib' in MySQL, PAGE_COMPRESSED=1 in MariaDB). It is for all tables. MyRocks is compressed by its server options.",
			"none", "table", "transparent"),
		workload.Optional("key_block_size", "KiB", "Compressed page size with compression = table: 1, 2, 4, 8 or 16; 8 unless given. Half of the page size gives compression to a half."),
		workload.Whole("clients", "clients", 1, "Clients: those that load, and those that run."),
		workload.Whole("seconds", "seconds", 60, "How long run takes."),
		{Name: "weight", Type: cty.List(cty.Number), Unit: "percent", Doc: "Shares of new order, payment, order status, delivery and stock level; 45, 43, 4, 4, 4 unless given."},
		{Name: "verify", Type: cty.Bool, Default: cty.True, Doc: "Count the rows of all tables and test the consistency conditions after the load, outside the measured time. It reads every table several times."},
		{Name: "program", Type: cty.String, Default: cty.StringVal("go-tpc"), Program: true, Doc: "The program, of version 1.0.12: a path, or a name to be found on PATH."},
		{Name: "allow_errors", Type: cty.List(cty.Number), Unit: "error numbers", Doc: "Errors of the server that are counted and do not end the run. Deadlocks (1213), lock waits (1205) and records that have changed since they were read (1020) are counted in any case; no transaction is tried again."},
	}
}

// config is the decoded body of a block.
type config struct {
	step         string
	warehouses   int64
	engine       string
	partitions   int64
	partitioning string
	compression  string
	keyBlockSize int64
	clients      int64
	seconds      int64
	weight       []int64
	verify       bool
	program      string
	allowed      []string
}

// defaultWeight is the program's own: the specification asks for at least 43, 4,
// 4 and 4 of all but new orders.
var defaultWeight = []int64{45, 43, 4, 4, 4}

// decode reads the arguments and judges them, for a build where it is known.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		step:         v.Text("step"),
		warehouses:   v.Int("warehouses", 1),
		engine:       v.Text("engine"),
		partitions:   v.Int("partitions", 0),
		partitioning: v.Text("partition_type"),
		compression:  v.Text("compression"),
		keyBlockSize: v.Int("key_block_size", 1),
		clients:      v.Int("clients", 1),
		seconds:      v.Int("seconds", 1),
		weight:       defaultWeight,
		verify:       v.Bool("verify"),
		program:      v.Text("program"),
		allowed:      v.ErrorCodes("allow_errors"),
	}
	if v.Has("weight") {
		c.weight = weights(v, args["weight"])
	}
	c.check(v)
	if build.Flavour == postgres {
		c.checkPostgres(v)
	}
	if c.compression == "table" && c.keyBlockSize == 0 {
		c.keyBlockSize = 8
	}
	return c, v.Faults
}

// checkPostgres judges what there is in PostgreSQL.
func (c *config) checkPostgres(v *workload.Values) {
	if c.engine != "innodb" {
		v.Fault("engine", "PostgreSQL has no engine "+c.engine, "Set it to null for these cells.")
	}
	if c.compression != "none" {
		v.Fault("compression", "PostgreSQL does not compress tables", "Set it to null for these cells.")
	}
	if len(c.allowed) > 0 {
		v.Fault("allow_errors", "go-tpc does not tell the state of an error of PostgreSQL", "Leave it out: deadlocks and serialization failures are counted in any case.")
	}
}

// weights reads the shares of the five transactions.
func weights(v *workload.Values, list cty.Value) []int64 {
	var shares []int64
	var sum int64
	for _, element := range list.AsValueSlice() {
		share := workload.Read(matrix.Args{"weight": element})
		shares = append(shares, share.Int("weight", 0))
		v.Faults = append(v.Faults, share.Faults...)
		sum += shares[len(shares)-1]
	}
	switch {
	case len(shares) != len(defaultWeight):
		v.Fault("weight", fmt.Sprintf("%d shares", len(shares)), "Give five: of new order, payment, order status, delivery and stock level.")
	case sum != 100:
		v.Fault("weight", fmt.Sprintf("the shares make %d %%", sum), "Give shares that make 100.")
	case shares[0] == 0:
		v.Fault("weight", "no new orders", "Give them a share: the benchmark's rate is that of new orders.")
	}
	return shares
}

// mostPartitions is the bound of MySQL and MariaDB.
const mostPartitions = 8192

func (c *config) check(v *workload.Values) {
	if c.partitions > c.warehouses {
		v.Fault("partitions", "more partitions than warehouses", "Give at most one partition for each warehouse.")
	}
	if c.partitions > mostPartitions {
		v.Fault("partitions", "too many", fmt.Sprintf("Give at most %d.", mostPartitions))
	}
	if c.engine == "rocksdb" && c.compression != "" && c.compression != "none" {
		v.Fault("compression", c.compression+" compression is InnoDB's",
			`MyRocks is compressed by rocksdb_default_cf_options: set that in my_cnf, and compression = "none" here (or null) for these cells.`)
	}
	switch {
	case c.keyBlockSize == 0:
	case c.compression != "table":
		v.Fault("key_block_size", `only compression = "table" has one`, "Set it to null where the compression is another.")
	case !slices.Contains([]int64{1, 2, 4, 8, 16}, c.keyBlockSize):
		v.Fault("key_block_size", "no such page size", "InnoDB compresses to pages of 1, 2, 4, 8 or 16 KiB.")
	}
}
