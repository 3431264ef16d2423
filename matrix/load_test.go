package matrix

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

func TestScratch(t *testing.T) {
	path := os.Getenv("SKETCH")
	if path == "" {
		t.Skip()
	}
	o := LoadOptions{Path: path, Machine: os.Getenv("MACHINE"), Host: Host{CPUs: 2, Memory: 24}, Dialects: []Dialect{
		{Flavour: "mysql", Attribute: "my_cnf", Negations: true, Whole: map[string]bool{"skip_networking": true}, Separators: map[string]string{"rocksdb_default_cf_options": ";"}, Units: map[string]uint64{"K": 1024, "M": 1 << 20, "G": 1 << 30}, FoldUnits: true},
		{Flavour: "postgres", Attribute: "postgresql_conf"},
	}}
	for _, n := range []string{"insert_benchmark", "linkbench", "sysbench", "sql", "pgbench", "tpcc"} {
		w := WorkloadType{Name: n, Version: 1}
		for _, a := range []string{"step", "profile", "tables", "clients", "rows", "engine", "insert_rate", "seconds", "maxid1", "loaders", "partitions", "compression", "key_block_size", "requesters", "statements", "script", "options", "threads", "table_size", "warehouses", "scale", "init_steps", "mode", "jobs", "fillfactor", "row_bytes", "scripts"} {
			w.Attributes = append(w.Attributes, Attribute{Name: a, Type: cty.DynamicPseudoType})
		}
		if n == "sysbench" {
			w.Server = func(a Args) bool { return a["script"].IsNull() || a["script"].AsString() != "fileio" }
		}
		o.Workloads = append(o.Workloads, w)
	}
	if v := os.Getenv("SCALE"); v != "" {
		o.Vars = []VarValue{{"scale", v}}
	}
	e, files, diags := Load(context.Background(), o)
	w := hcl.NewDiagnosticTextWriter(os.Stdout, files, 120, false)
	w.WriteDiagnostics(diags)
	if e == nil {
		t.Fatal("no experiment")
	}
	cells, diags := e.Expand()
	w.WriteDiagnostics(diags)
	fmt.Println(path, len(cells))
	if os.Getenv("V") != "" {
		for _, c := range cells {
			fmt.Println(c.Key, c.Fingerprints)
			for _, p := range c.Phases {
				fmt.Println("   ", p.Block, p.FirstIteration, p.Iterations, p.Inputs())
			}
		}
	}
}
