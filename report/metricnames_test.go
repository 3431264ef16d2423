package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// builtMetrics are the metrics that workloads and samplers make of parts, by what they
// begin with: an example of each.
func builtMetrics() map[string][]string {
	return map[string][]string{
		"lat_": {
			"lat_insert_p50", "lat_query_p95", "lat_delete_p99", "lat_index_max", "lat_scan_mean", "lat_request_p99", "lat_statement_max",
			"lat_transaction_p99", "lat_transaction_stddev", "lat_event_max", "lat_new_order_p99", "lat_get_links_list_p99", "lat_get_links_list_p99_upper",
		},
		"requests_":     {"requests_add_node", "requests_multiget_link"},
		"transactions_": {"transactions_new_order", "transactions_stock_level"},
		"failed_":       {"failed_payment"},
		"tps_":          {"tps_p50", "tps_p99"},
		"secs_":         {"secs_1", "secs_12"},
		"status_":       {}, // the phase names them
		"size_":         {"size_allocated", "size_data_apparent", "size_binlog_allocated", "size_extents"},
	}
}

// TestMetricsAreKnown checks that a table may name every metric which a built-in
// workload or sampler records: it has a column, or is known as a metric.
func TestMetricsAreKnown(t *testing.T) {
	names := recordedNames(t)
	for _, list := range builtMetrics() {
		names = append(names, list...)
	}
	// Those that are in lists of the workloads.
	names = append(names, "secs", "ips_p50", "dps_p99", "qps_p75", "tps_p95", "retries", "serialization_failures", "transactions_retried", "transactions_skipped",
		"transactions_late", "tps_connecting", "schedule_lag_mean", "schedule_lag_max", "connect_secs", "reconnects", "events", "eps", "file_reads",
		"file_writes", "file_fsyncs", "file_read_bytes", "file_write_bytes", "memory_bytes", "server_cpu", "client_cpu", "server_rss", "server_rss_peak",
		"client_rss", "client_rss_peak", "server_pss", "client_pss", "server_swap", "client_swap", "server_read_bytes", "client_write_bytes",
		"list_rows_p50", "list_rows_max")
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 100 {
		t.Fatalf("%d metrics were found: %q", len(names), names)
	}
	known, library := metricNames(nil), NewLibrary()
	for _, name := range names {
		if !known[name] && library.Lookup(name) == nil {
			t.Errorf("nothing knows the metric %s: a table that names it is warned of", name)
		}
	}
}

// recordedNames reads the names of metrics out of the sources of workloads and
// samplers.
func recordedNames(t *testing.T) []string {
	t.Helper()
	var names []string
	prefixes := builtMetrics()
	err := filepath.WalkDir(filepath.Join("..", "executor"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "workloadtest") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, e := range metricExpressions(n) {
				switch e := e.(type) {
				case *ast.BasicLit:
					if name, err := strconv.Unquote(e.Value); err == nil && name != "" {
						names = append(names, name)
					}
				case *ast.BinaryExpr:
					if lit, ok := e.X.(*ast.BasicLit); ok {
						if prefix, _ := strconv.Unquote(lit.Value); prefixes[prefix] == nil {
							t.Errorf("%s: metrics begin with %q, of which builtMetrics has no example", path, prefix)
						}
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// metricExpressions returns what a node names as metrics: the first argument of a
// recorder's Metric and Count and of a sampler's counter, and the counts and the
// rate of an operation.
func metricExpressions(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		called := ""
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			called = f.Sel.Name
		case *ast.Ident:
			called = f.Name
		}
		if slices.Contains([]string{"Metric", "counter", "sample"}, called) && len(n.Args) > 1 || called == "Count" && len(n.Args) == 2 && isRecorder(n.Fun) {
			return n.Args[:1]
		}
	case *ast.CompositeLit:
		var names []ast.Expr
		for _, e := range n.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, ok := kv.Key.(*ast.Ident)
			switch kind := typeName(n.Type); {
			case !ok:
			case kind == "Operation" && slices.Contains([]string{"Calls", "Items"}, key.Name),
				kind == "Sample" && key.Name == "Metric":
				names = append(names, kv.Value)
			}
		}
		return names
	}
	return nil
}

// isRecorder tells a recorder's Count from that of package strings.
func isRecorder(f ast.Expr) bool {
	s, ok := f.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return !ok || x.Name != "strings" && x.Name != "bytes"
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestLegendOfIndexing checks that the step that makes indexes is not said to insert
// rows.
func TestLegendOfIndexing(t *testing.T) {
	exp, cells := loadBlocks(t, "")
	b := newBuilder(Input{Experiment: exp, Cells: cells, Eval: exp.Eval})
	of := func() string { return b.legendOf(&column{phase: "load", spec: b.library.Lookup("ips")}) }
	if got := of(); got != "rows inserted per second, average of the phase" {
		t.Errorf("a load: %q", got)
	}
	for _, c := range cells {
		for _, p := range c.Phases {
			if p.Name == "load" {
				p.Workload.Args["step"] = cty.StringVal("l.x")
			}
		}
	}
	if got := of(); got != "rows indexed per second, average of the phase" {
		t.Errorf("the step that makes the indexes: %q", got)
	}
}
