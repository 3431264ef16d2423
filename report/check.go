package report

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
)

// Check judges the report blocks of an experiment before anything was measured:
// it makes the report of no results and returns what is wrong with the
// definition. Unknown columns are warnings, since a workload may record a metric
// of that name. Of an experiment that has faults, rows are made of the cells that
// have none, and blocks that have faults are checked for their columns alone.
func Check(exp *matrix.Experiment, cells []*matrix.Cell) hcl.Diagnostics {
	sound := slices.DeleteFunc(slices.Clone(cells), func(c *matrix.Cell) bool { return c.Unsound })
	b := newBuilder(Input{Experiment: exp, Cells: sound, Eval: exp.Eval})
	b.checking, b.unsound = true, map[matrix.CellKey]bool{}
	for _, c := range cells {
		b.unsound[c.Key] = c.Unsound
	}
	b.lacking = b.lacking || len(cells) == 0 || slices.ContainsFunc(exp.Phases, func(p *matrix.PhaseBlock) bool { return p.WorkloadType == "" })
	maps.Copy(b.recorded, metricNames(cells))
	for _, block := range exp.Report {
		if t, ok := block.(*matrix.Table); ok && !b.isSource(t.Source) {
			b.runs[t.Source] = nil // an import that is on record: matrix.Load knows it
			b.sources = append(b.sources, t.Source)
		}
		b.checkBlock(block, exp.CellsKnown())
		if len(sound) < len(cells) {
			b.checkColumns(block)
		}
	}
	b.checkImports(func(*matrix.ImportCheck, Misfit) {})
	return b.diags
}

// checkBlock makes a block, unless it has faults or there may be cells that are not
// known.
func (b *builder) checkBlock(block matrix.ReportBlock, cellsKnown bool) {
	faulty := false
	switch def := block.(type) {
	case *matrix.Table:
		faulty = def.Faulty
	case *matrix.Chart:
		faulty = def.Faulty
	}
	if faulty || !cellsKnown {
		b.checkColumns(block)
		return
	}
	b.block(block)
}

// checkColumns checks the columns of a table or chart, and those that they are
// computed from by name, without a row.
func (b *builder) checkColumns(block matrix.ReportBlock) {
	var tb *tableBuilder
	switch def := block.(type) {
	case *matrix.Table:
		tb = b.blankTable(def, "table")
	case *matrix.Chart:
		if def.Phase == "" || def.Y == "" {
			return // told as missing
		}
		tb = b.blankTable(b.chartTable(def), "chart")
	default:
		return
	}
	tb.resolveColumns()
	for _, c := range tb.columns {
		for _, name := range slices.Concat(c.reads.col, c.reads.base) {
			tb.named(name)
		}
	}
}

// metricNames returns the metrics that runs of the cells are known to record:
// those that the column library reads, those of workloads that it does not read,
// and those that the definition names itself.
func metricNames(cells []*matrix.Cell) map[string]bool {
	names := map[string]bool{}
	word := regexp.MustCompile(`[a-z]+(_[a-z0-9]+)*`)
	for _, s := range Columns() {
		for _, name := range word.FindAllString(s.Formula, -1) {
			names[name] = true
		}
	}
	for _, name := range otherMetrics() {
		names[name] = true
	}
	for _, c := range cells {
		for _, p := range c.Phases {
			for _, name := range definedMetrics(p) {
				names[name] = true
			}
		}
	}
	return names
}

// otherMetrics are metrics that samplers and workloads record and no column of
// the library reads.
func otherMetrics() []string {
	names := []string{
		"cpus", "cpu_idle", "kernel_cpu", "swap_in", "swap_out",
		"server_swap", "server_read_bytes", "server_write_bytes",
		"client_rss", "client_rss_peak", "client_pss", "client_swap", "client_read_bytes", "client_write_bytes",
		"rows_added", "indexings", // of the insert benchmark
		"tpm_reported", "tpmC_reported", "efficiency_reported", "errors_unnamed", // of TPC-C
		"serialization_failures", "transactions_retried", "transactions_skipped", "transactions_late", "tps_connecting",
		"lat_transaction_stddev", "schedule_lag_mean", "schedule_lag_max", "connect_secs", // of pgbench
		"events", "eps", "file_reads", "file_writes", "file_fsyncs", "file_read_bytes", "file_write_bytes", "memory_bytes", "sysbench_secs", "reconnects", // of sysbench
		"nodes_inserted", "links_inserted", "counts_inserted", "counts_checked", "most_tries", "rows_indexed", "retries",
		"add_to_update", "update_to_add", "links_asked", "links_found", "older_lists",
		"list_rows", "list_rows_p50", "list_rows_p75", "list_rows_p95", "list_rows_p99", "list_rows_max", // of LinkBench
	}
	for _, kind := range []string{"new_order", "payment", "order_status", "delivery", "stock_level"} { // of TPC-C
		names = append(names, "transactions_"+kind, "failed_"+kind)
	}
	for _, op := range linkbenchOperations() {
		names = append(names, "requests_"+op.metric, "lat_"+op.metric+"_p99_upper")
	}
	return names
}

// definedMetrics are the metrics that a phase names: counters of the server, other
// programs, and the metric blocks of its workload.
func definedMetrics(p *matrix.Phase) []string {
	var names []string
	for _, counter := range p.Sample.Status {
		names = append(names, "status_"+strings.ToLower(counter))
	}
	for _, c := range p.Sample.Exec {
		names = append(names, c.Name)
	}
	blocks, ok := p.Workload.Args["metric"]
	if !ok || !blocks.IsKnown() || blocks.IsNull() || !blocks.Type().IsTupleType() {
		return names
	}
	for _, b := range blocks.AsValueSlice() {
		if b.Type().IsObjectType() && b.Type().HasAttribute("name") {
			if name, ok := asText(b.GetAttr("name")); ok {
				names = append(names, name)
			}
		}
	}
	return names
}
