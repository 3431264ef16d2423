package workload

import (
	"github.com/zclconf/go-cty/cty"

	"dbmatrix/matrix"
)

// Schemas returns the workload types of coming versions: experiments that use
// them validate and plan, but cannot run yet.
func Schemas() []Type {
	return []Type{
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
