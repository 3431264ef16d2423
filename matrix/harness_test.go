package matrix

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// testOptions are what tests load experiments with: two flavours, workloads
// with a few attributes, and builds that are whatever their server is called.
func testOptions(path string) LoadOptions {
	return LoadOptions{
		Path: path, Machine: filepath.Join("testdata", "machine.hcl"),
		Host: Host{ID: "host1", CPUs: 2, Memory: 24},
		Dialects: []Dialect{
			testDialect(MySQL), testDialect(MariaDB),
			{Flavour: Postgres, Attribute: "postgresql_conf", Units: map[string]uint64{"kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}, Sizes: []string{"_buffers"}, Fractions: true},
		},
		Workloads: []WorkloadType{
			{
				Name: "bench", Version: 1, Built: true, WarmUp: true,
				Attributes: []Attribute{
					{Name: "step", Type: cty.String, Required: true, Values: []string{"load", "scan", "query"}, Doc: "what to do"},
					{Name: "rows", Type: cty.Number, Default: cty.NumberIntVal(1000)},
					{Name: "rate", Type: cty.Number},
					{Name: "engine", Type: cty.String},
					{Name: "partitions", Type: cty.Number},
					{Name: "compression", Type: cty.String},
					{Name: "seconds", Type: cty.Number},
					{Name: "seed", Type: cty.Number},
				},
				Duration: func(a Args) time.Duration {
					if v := a["seconds"]; !v.IsNull() {
						seconds, _ := v.AsBigFloat().Int64()
						return time.Duration(seconds) * time.Second
					}
					return 0
				},
				Steps: func(a Args) int {
					if s := a["step"]; !s.IsNull() && s.AsString() == "scan" {
						return 5
					}
					return 1
				},
				Check: func(a Args, b Build) []ArgError {
					if v := a["rows"]; !v.IsNull() && v.LessThan(cty.NumberIntVal(1)).True() {
						return []ArgError{{Attribute: "rows", Summary: "No rows", Detail: "Load at least one row."}}
					}
					return nil
				},
			},
			{
				Name: "sql", Version: 1, Built: true,
				Attributes: []Attribute{
					{Name: "statements", Type: cty.List(cty.String)},
					{Name: "file", Type: cty.String, File: true},
				},
			},
			{
				Name: "fileio", Version: 1, Built: true,
				Attributes: []Attribute{{Name: "mode", Type: cty.String}},
				Server:     func(Args) bool { return false },
			},
			{
				Name: "exec", Version: 1, Built: true,
				Attributes: []Attribute{
					{Name: "command", Type: cty.List(cty.String), Required: true, Program: true, Doc: "what is run"},
					{Name: "note", Type: cty.String, Outside: true},
				},
				Blocks: []BlockType{{Name: "metric", Attributes: []Attribute{
					{Name: "regex", Type: cty.String, Required: true},
					{Name: "unit", Type: cty.String, Default: cty.StringVal("count")},
				}}},
				Server: func(Args) bool { return false },
			},
		},
		Probe: func(_ context.Context, s *Server) Build {
			if strings.Contains(s.Mysqld+s.Bindir, "absent") {
				return Build{Absent: "no such program"}
			}
			b := Build{Flavour: MariaDB, Version: "10.11.19", Content: "build of " + s.Name}
			if strings.Contains(s.Mysqld, "mysql97") {
				b.Flavour, b.Version = MySQL, "9.7.4"
			}
			if s.Bindir != "" {
				b.Flavour, b.Version = Postgres, "15.18"
			}
			return b
		},
	}
}

func testDialect(flavour string) Dialect {
	return Dialect{
		Flavour: flavour, Attribute: "my_cnf", Negations: true,
		Whole:      map[string]bool{"skip_networking": true},
		Aliases:    map[string]string{"table_cache": "table_open_cache"},
		Owned:      map[string]string{"datadir": "dbmatrix lays out the data directory itself; use storage"},
		Short:      true,
		InitTime:   map[string]bool{"innodb_page_size": true},
		Places:     map[string]bool{"plugin_dir": true},
		Separators: map[string]string{"rocksdb_default_cf_options": ";", "optimizer_switch": ","},
		Units:      map[string]uint64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30},
		FoldUnits:  true,
		Sizes:      []string{"_size"},
	}
}

// loadText loads an experiment from source text.
func loadText(t testing.TB, src string, change ...func(*LoadOptions)) (*Experiment, hcl.Diagnostics) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "test")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "experiment.hcl"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	o := testOptions(dir)
	for _, c := range change {
		c(&o)
	}
	e, _, diags := Load(context.Background(), o)
	return e, diags
}

// expandText loads an experiment that must be sound and expands it.
func expandText(t testing.TB, src string, change ...func(*LoadOptions)) (*Experiment, []*Cell) {
	t.Helper()
	e, diags := loadText(t, src, change...)
	if diags.HasErrors() {
		t.Fatalf("Load: %v", diags)
	}
	cells, diags := e.Expand()
	if diags.HasErrors() {
		t.Fatalf("Expand: %v", diags)
	}
	return e, cells
}

// planText plans an experiment over a history.
func planText(t testing.TB, src string, h History, o PlanOptions, change ...func(*LoadOptions)) *Plan {
	t.Helper()
	e, cells := expandText(t, src, change...)
	p, err := e.MakePlan(cells, h, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cellKeys lists the keys of cells.
func cellKeys(cells []*Cell) []CellKey {
	var keys []CellKey
	for _, c := range cells {
		keys = append(keys, c.Key)
	}
	return keys
}
