package workload

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/matrix"
)

// Schemas returns the workload types of coming versions: experiments that use
// them validate and plan, but cannot run yet.
func Schemas() []Type {
	return []Type{
		{WorkloadType: pgbench()},
		{WorkloadType: tpcc()},
	}
}

// compressions are what all workloads with tables of their own call the same.
func compressions(whose string) matrix.Attribute {
	return Choice("compression", "none; table is InnoDB's compressed row format; transparent is page compression with hole punching. "+whose,
		"none", "table", "transparent")
}

func keyBlockSize() matrix.Attribute {
	return Optional("key_block_size", "KiB", "Compressed page size with compression = table: half of the page size gives compression to a half.")
}

func pgbench() matrix.WorkloadType {
	return matrix.WorkloadType{
		Name:    "pgbench",
		Summary: "PostgreSQL's own benchmark program",
		Version: 1,
		Attributes: []matrix.Attribute{
			Step("init makes and fills the tables, run measures.", "init", "run"),
			Whole("scale", "scale", 1, "Scale factor: 100,000 accounts each."),
			Choice("mode", "How queries are sent.", "simple", "extended", "prepared"),
			Whole("clients", "clients", 1, "Sessions."),
			Whole("threads", "threads", 1, "Threads of the program; the clients are shared out among them."),
			Whole("seconds", "seconds", 60, "How long run takes."),
			Optional("transactions", "transactions", "Transactions of each client, in place of seconds."),
			Optional("rate", "transactions/s", "Transactions a second, all clients together; unless given, as many as it can."),
			Choice("builtin", "Script that comes with the program.", "tpcb-like", "simple-update", "select-only"),
			{Name: "scripts", Type: cty.List(cty.String), File: true, Doc: "Script files beside the experiment, in place of the one that comes with the program."},
			{Name: "after_load", Type: cty.List(cty.String), Doc: "Statements to run after init, such as one that makes rows wider."},
			Whole("fillfactor", "percent", 100, "Fill factor of the tables."),
			Whole("partitions", "partitions", 0, "Partitions of pgbench_accounts; 0 is unpartitioned."),
			Choice("partition_method", "How pgbench_accounts is partitioned.", "range", "hash"),
			Switch("foreign_keys", "Make foreign keys between the tables."),
			Switch("unlogged", "Make the tables unlogged."),
			{Name: "program", Type: cty.String, Program: true, Doc: "The program; the one beside the server unless given."},
			Seed(),
		},
		Check: func(args matrix.Args, build matrix.Build) []matrix.ArgError {
			v := Read(args)
			wholes(v, 1, "scale", "clients", "threads", "seconds", "transactions", "fillfactor")
			wholes(v, 0, "partitions", "seed")
			if clients, threads := v.Int("clients", 1), v.Int("threads", 1); threads > clients {
				v.Fault("threads", "more threads than clients", "Give at most one thread for each client.")
			}
			if build.Flavour != "" && build.Flavour != "postgres" {
				v.Fault("", "pgbench runs against PostgreSQL", fmt.Sprintf("This cell's server is of the flavour %s.", build.Flavour))
			}
			return v.Faults
		},
		WarmUp: true,
	}
}

func tpcc() matrix.WorkloadType {
	return matrix.WorkloadType{
		Name:    "tpcc",
		Summary: "orders of warehouses, by the program go-tpc",
		Version: 1,
		Attributes: []matrix.Attribute{
			Step("load makes and fills the tables, run measures, check tests the consistency conditions.", "load", "run", "check"),
			Whole("warehouses", "warehouses", 10, "Warehouses, of about 100 MB each."),
			Choice("engine", "Storage engine of the tables.", "innodb", "rocksdb"),
			Whole("partitions", "partitions", 0, "Partitions of each table, at most one for each warehouse; 0 is unpartitioned."),
			Choice("partition_type", "How the tables are partitioned.", "hash", "range", "list_by_hash", "list_by_range"),
			compressions("It is for all tables."),
			keyBlockSize(),
			Whole("clients", "clients", 1, "Clients."),
			Whole("seconds", "seconds", 60, "How long run takes."),
			{Name: "weight", Type: cty.List(cty.Number), Unit: "percent", Doc: "Shares of new order, payment, order status, delivery and stock level; 45, 43, 4, 4, 4 unless given."},
			{Name: "program", Type: cty.String, Default: cty.StringVal("go-tpc"), Program: true, Doc: "The program: a path, or a name to be found on PATH."},
			AllowErrors(),
		},
		Check: func(args matrix.Args, _ matrix.Build) []matrix.ArgError {
			v := Read(args)
			wholes(v, 1, "clients", "seconds", "key_block_size")
			if v.Int("partitions", 0) > v.Int("warehouses", 1) {
				v.Fault("partitions", "more partitions than warehouses", "Give at most one partition for each warehouse.")
			}
			v.Codes("allow_errors")
			rocksdbCompression(v)
			return v.Faults
		},
		WarmUp: true,
	}
}

// wholes judges attributes that are whole numbers of at least lowest.
func wholes(v *Values, lowest int64, names ...string) {
	for _, name := range names {
		v.Int(name, lowest)
	}
}

// rocksdbCompression finds InnoDB's compression asked of MyRocks.
func rocksdbCompression(v *Values) {
	if c := v.Text("compression"); v.Text("engine") == "rocksdb" && c != "" && c != "none" {
		v.Fault("compression", c+" compression is InnoDB's",
			`MyRocks is compressed by rocksdb_default_cf_options: set that in my_cnf, and compression = "none" here (or null) for these cells.`)
	}
}
