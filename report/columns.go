package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"dbmatrix/executor/store"
)

// A Direction says which way a column's numbers are better.
type Direction int

// Directions.
const (
	Neither Direction = iota
	Higher
	Lower
)

// String names the direction as lists of columns print it.
func (d Direction) String() string {
	switch d {
	case Higher:
		return "higher is better"
	case Lower:
		return "lower is better"
	}
	return ""
}

// A Spec is a column of the library: what a token means and how it is printed.
type Spec struct {
	Token     string // case-sensitive
	Unit      string
	Format    string // "%.2f"; what rounds to zero prints as 0
	Direction Direction
	Divisor   int    // how many kB make an MB, and MB a GB; 0 where the unit needs none
	Formula   string // in the names of recorded metrics
	Legend    string // one sentence without the full stop
	Source    string // where the numbers come from

	value func(m Metrics, divisor float64) float64
	needs string // what it takes that there is a value, where it is not obvious
}

// percentileNeeds is what the workloads ask for before they record percentiles of
// rates.
const percentileNeeds = "it takes a phase of at least 10 intervals"

// Value computes the column from recorded metrics. A missing metric, or a
// division by nothing, makes the value missing. divisor 0 is the Spec's own.
func (s *Spec) Value(m Metrics, divisor int) Value {
	if divisor == 0 {
		divisor = s.Divisor
	}
	return number(s.value(m, float64(divisor)))
}

// get returns a recorded metric, or NaN, which makes all that is computed from
// it NaN.
func (m Metrics) get(name string) float64 {
	if metric, ok := store.Metrics(m).Get(name); ok {
		return metric.Value
	}
	return math.NaN()
}

// first returns the first of the named metrics that was recorded, or NaN.
func (m Metrics) first(names ...string) float64 {
	for _, name := range names {
		if metric, ok := store.Metrics(m).Get(name); ok {
			return metric.Value
		}
	}
	return math.NaN()
}

// cpuSeconds returns the CPU time that programs and the kernel used on all
// CPUs, which vmstat shows as us + sy.
func (m Metrics) cpuSeconds() float64 { return m.get("cpu_user") + m.get("cpu_system") }

// cpuTotal returns the CPU time that there was.
func (m Metrics) cpuTotal() float64 {
	return m.cpuSeconds() + m.get("cpu_iowait") + m.get("cpu_idle") + m.get("cpu_steal")
}

// cpuPercent returns us + sy in percent of all hardware threads.
func (m Metrics) cpuPercent() float64 { return 100 * m.cpuSeconds() / m.cpuTotal() }

// kB is what iostat and ps count in.
const kB = 1024

// million is the constant of the Mcpu columns: CPU percent x seconds for each
// operation is too small to print. (20.8 / 136752 x 1e6 = 152.1, printed 152.)
const million = 1e6

const (
	fromDevice = "/proc/diskstats of the devices that hold the cell's files, both ends of the phase"
	fromHost   = "/proc/stat, both ends of the phase"
	fromClient = "the workload's own counts"
	fromServer = "/proc/<pid> of the server's processes"
	fromSize   = "allocated blocks of the server's files"
)

// An operation is what a cost is divided by.
type operation struct {
	suffix string // in tokens: r/i
	letter string // in the tokens of later reports: rpi
	name   string // in legends
	metric string // in formulas
	count  func(Metrics) float64
}

func operations() []operation {
	return []operation{
		{"i", "i", "row inserted", "rows_inserted", func(m Metrics) float64 { return m.get("rows_inserted") }},
		{"q", "q", "query", "queries", func(m Metrics) float64 { return m.get("queries") }},
		{"t", "t", "transaction", "transactions", func(m Metrics) float64 { return m.get("transactions") }},
		{"o", "o", "row read (query, transaction where no rows are counted)", "rows_read | queries | transactions",
			func(m Metrics) float64 { return m.first("rows_read", "queries", "transactions") }},
	}
}

// Columns returns the library in the order in which it is listed.
func Columns() []*Spec {
	var specs []*Spec
	for _, group := range [][]*Spec{
		rateColumns(), percentileColumns(), costColumns(), deviceColumns(), cpuColumns(), sizeColumns(),
		memoryColumns(), latencyColumns(), linkbenchColumns(), eventColumns(),
	} {
		specs = append(specs, group...)
	}
	return specs
}

// per makes the value of a rate: a count for each second.
func per(count string) func(Metrics, float64) float64 {
	return func(m Metrics, _ float64) float64 { return m.get(count) / m.get("secs") }
}

// perMinute makes the value of a rate that the field states for a minute.
func perMinute(count string) func(Metrics, float64) float64 {
	return func(m Metrics, _ float64) float64 { return 60 * m.get(count) / m.get("secs") }
}

// plain makes the value of a column that shows a metric as recorded, times a
// constant.
func plain(metric string, times float64) func(Metrics, float64) float64 {
	return func(m Metrics, _ float64) float64 { return m.get(metric) * times }
}

func rateColumns() []*Spec {
	rate := func(token, count, legend string) *Spec {
		return &Spec{Token: token, Unit: "1/s", Format: "%.0f", Direction: Higher, Formula: count + " / secs", Legend: legend, Source: fromClient, value: per(count)}
	}
	return []*Spec{
		rate("ips", "rows_inserted", "rows inserted per second, average of the phase"),
		rate("ips.av", "rows_inserted", "rows inserted per second, average of the phase"),
		rate("dps", "rows_deleted", "rows deleted per second, average of the phase"),
		rate("qps", "queries", "queries per second, all clients, average of the phase"),
		rate("qps.av", "queries", "queries per second, all clients, average of the phase"),
		rate("tps", "transactions", "transactions per second, all clients, average of the phase"),
		rate("t/s", "transactions", "transactions per second, all clients, average of the phase"),
		rate("rows/s", "rows_read", "rows read per second, average of the phase"),
		{Token: "reads/s", Unit: "1/s", Format: "%.0f", Direction: Higher, Formula: "file_reads", Legend: "reads of files per second, as sysbench counts them", Source: fromClient, value: plain("file_reads", 1)},
		{Token: "writes/s", Unit: "1/s", Format: "%.0f", Direction: Higher, Formula: "file_writes", Legend: "writes of files per second, as sysbench counts them", Source: fromClient, value: plain("file_writes", 1)},
		{Token: "fsyncs/s", Unit: "1/s", Format: "%.0f", Direction: Higher, Formula: "file_fsyncs", Legend: "fsync calls per second, as sysbench counts them", Source: fromClient, value: plain("file_fsyncs", 1)},
		{Token: "tpm", Unit: "1/min", Format: "%.0f", Direction: Higher, Formula: "60 * transactions / secs", Legend: "transactions of all kinds a minute, average of the phase", Source: fromClient, value: perMinute("transactions")},
		{Token: "tpmC", Unit: "1/min", Format: "%.0f", Direction: Higher, Formula: "60 * transactions_new_order / secs", Legend: "new orders a minute, average of the phase", Source: fromClient, value: perMinute("transactions_new_order")},
		{Token: "MB/s", Unit: "MB/s", Format: "%.1f", Direction: Higher, Formula: "(file_read_bytes + file_write_bytes) / 1024 / 1024", Legend: "MB of 1024 kB read and written per second, as sysbench counts them", Source: fromClient,
			value: func(m Metrics, _ float64) float64 {
				return (m.get("file_read_bytes") + m.get("file_write_bytes")) / kB / kB
			}},
		{Token: "secs", Unit: "s", Format: "%.0f", Direction: Lower, Formula: "secs", Legend: "wall seconds of the phase", Source: fromClient, value: plain("secs", 1)},
		{Token: "target", Unit: "1/s", Format: "%.0f", Formula: "target_rate", Legend: "the rate that was asked for, per second", Source: fromClient, value: plain("target_rate", 1)},
		{Token: "achieved", Unit: "1/s", Format: "%.0f", Direction: Higher, Formula: "achieved_rate", Legend: "the rate that was reached, per second", Source: fromClient, value: plain("achieved_rate", 1)},
	}
}

// percentileColumns are percentiles of the rates of one client in one interval,
// sorted from high to low: the rate that so many percent of the intervals reach
// or beat. A higher percentile is a lower rate.
func percentileColumns() []*Spec {
	var specs []*Spec
	for _, rate := range []struct{ token, what string }{{"ips", "inserts"}, {"dps", "rows deleted"}, {"qps", "queries"}, {"tps", "transactions"}} {
		for _, p := range []int{50, 75, 90, 95, 99} {
			metric := fmt.Sprintf("%s_p%d", rate.token, p)
			specs = append(specs, &Spec{
				Token: fmt.Sprintf("%s.%d", rate.token, p), Unit: "1/s", Format: "%.0f", Direction: Higher, Formula: metric,
				Legend: fmt.Sprintf("%s per second of one client that %d%% of the intervals reach or beat", rate.what, p),
				Source: fromClient, value: plain(metric, 1), needs: percentileNeeds,
			})
		}
	}
	return specs
}

// A cost is a total that columns divide by a count of operations.
type cost struct {
	token   string // with %s for the operation: r/%s
	later   string // the same in later reports: rp%s
	format  string
	unit    string
	formula string
	legend  string
	source  string
	total   func(m Metrics) float64
}

func costs() []cost {
	return []cost{
		{"r/%s", "rp%s", "%.2f", "1", "disk_reads", "storage reads", fromDevice, func(m Metrics) float64 { return m.get("disk_reads") }},
		{"w/%s", "wp%s", "%.2f", "1", "disk_writes", "storage writes", fromDevice, func(m Metrics) float64 { return m.get("disk_writes") }},
		{"rkb/%s", "rkbp%s", "%.2f", "kB", "disk_read_bytes / 1024", "kB read from storage", fromDevice, func(m Metrics) float64 { return m.get("disk_read_bytes") / kB }},
		{"wkb/%s", "wkbp%s", "%.2f", "kB", "disk_write_bytes / 1024", "kB written to storage", fromDevice, func(m Metrics) float64 { return m.get("disk_write_bytes") / kB }},
		{"cs/%s", "csp%s", "%.3f", "1", "context_switches", "context switches", fromHost, func(m Metrics) float64 { return m.get("context_switches") }},
		{"Mcpu/%s", "", "%.0f", "", "cpu percent x secs x 1000000", "CPU (us + sy) scaled by a constant, to compare on the same number of CPUs", fromHost,
			func(m Metrics) float64 { return m.cpuPercent() * m.get("secs") * million }},
		{"", "cpup%s", "%.0f", "us", "(cpu_user + cpu_system) x 1000000", "CPU microseconds of all processes", fromHost, func(m Metrics) float64 { return m.cpuSeconds() * million }},
		{"", "dsecp%s", "%.0f", "us", "server_cpu x 1000000", "CPU microseconds of the server", fromServer, func(m Metrics) float64 { return m.get("server_cpu") * million }},
		{"", "csecp%s", "%.0f", "us", "client_cpu x 1000000", "CPU microseconds of the clients", fromServer, func(m Metrics) float64 { return m.get("client_cpu") * million }},
	}
}

func costColumns() []*Spec {
	var specs []*Spec
	for _, op := range operations() {
		for _, c := range costs() {
			for _, pattern := range []string{c.token, c.later} {
				if pattern == "" {
					continue
				}
				specs = append(specs, costColumn(c, op, pattern))
			}
		}
		if op.suffix == "o" {
			specs = append(specs, scanColumns(op)...)
		}
	}
	return specs
}

func costColumn(c cost, op operation, pattern string) *Spec {
	suffix := op.suffix
	format := c.format
	if suffix == "o" { // a scanned row costs little: tables of scans print three decimals
		format = "%.3f"
	}
	return &Spec{
		Token: fmt.Sprintf(pattern, suffix), Unit: c.unit, Format: format, Direction: Lower,
		Formula: c.formula + " / " + op.metric, Legend: c.legend + " for each " + op.name, Source: c.source,
		value: func(m Metrics, _ float64) float64 { return c.total(m) / op.count(m) },
	}
}

// scanColumns are the spellings that tables of scans use.
func scanColumns(op operation) []*Spec {
	bytes := func(token, metric, what string) *Spec {
		return &Spec{
			Token: token, Unit: "kB", Format: "%.3f", Direction: Lower, Formula: metric + " / 1024 / " + op.metric,
			Legend: "kB " + what + " storage for each " + op.name, Source: fromDevice,
			value: func(m Metrics, _ float64) float64 { return m.get(metric) / kB / op.count(m) },
		}
	}
	return []*Spec{
		bytes("rKB/o", "disk_read_bytes", "read from"),
		bytes("wKB/o", "disk_write_bytes", "written to"),
		{Token: "cpu/o", Unit: "%", Format: "%.6f", Direction: Lower, Formula: "cpu percent x secs / " + op.metric,
			Legend: "CPU percent (us + sy) for each operation per second", Source: fromHost,
			value: func(m Metrics, _ float64) float64 { return m.cpuPercent() * m.get("secs") / op.count(m) }},
	}
}

func deviceColumns() []*Spec {
	count := func(token, metric, legend string) *Spec {
		return &Spec{Token: token, Unit: "1/s", Format: "%.0f", Formula: metric + " / secs", Legend: legend, Source: fromDevice, value: per(metric)}
	}
	// megabytes: kB are of 1024 bytes, as iostat has them; the divisor says
	// how many of them make an MB.
	megabytes := func(token, metric, legend string, divisor int) *Spec {
		return &Spec{
			Token: token, Unit: "MB/s", Format: "%.1f", Divisor: divisor, Formula: metric + " / 1024 / divisor / secs", Legend: legend, Source: fromDevice,
			value: func(m Metrics, d float64) float64 { return m.get(metric) / kB / d / m.get("secs") },
		}
	}
	gigabytes := func(token, metric, legend string) *Spec {
		return &Spec{
			Token: token, Unit: "GB", Format: "%.0f", Divisor: 1024, Formula: metric + " / 1024 / divisor / divisor", Legend: legend, Source: fromDevice,
			value: func(m Metrics, d float64) float64 { return m.get(metric) / kB / d / d },
		}
	}
	return []*Spec{
		count("r/s", "disk_reads", "storage reads per second"),
		count("w/s", "disk_writes", "storage writes per second"),
		count("rps", "disk_reads", "storage reads per second"),
		count("wps", "disk_writes", "storage writes per second"),
		// In the published tables r/i x ips is r/s, and rkb/i x ips is
		// 1000 x rmb/s; the tables of scans have 1024 to the MB.
		megabytes("rmb/s", "disk_read_bytes", "MB read from storage per second", 1000),
		megabytes("wmb/s", "disk_write_bytes", "MB written to storage per second", 1000),
		megabytes("rMB/s", "disk_read_bytes", "MB read from storage per second", 1024),
		megabytes("wMB/s", "disk_write_bytes", "MB written to storage per second", 1024),
		megabytes("rmbps", "disk_read_bytes", "MB read from storage per second", 1024),
		megabytes("wmbps", "disk_write_bytes", "MB written to storage per second", 1024),
		gigabytes("rGB", "disk_read_bytes", "GB read from storage in the phase"),
		gigabytes("wGB", "disk_write_bytes", "GB written to storage in the phase"),
		{Token: "util", Unit: "%", Format: "%.1f", Formula: "100 x disk_busy / secs", Legend: "percent of the time in which the device was busy",
			Source: fromDevice, value: func(m Metrics, _ float64) float64 { return 100 * m.get("disk_busy") / m.get("secs") }},
	}
}

func cpuColumns() []*Spec {
	percent := func(token, formula, legend string, part func(Metrics) float64) *Spec {
		return &Spec{
			Token: token, Unit: "%", Format: "%.1f", Formula: formula, Legend: legend, Source: fromHost,
			value: func(m Metrics, _ float64) float64 { return 100 * part(m) / m.cpuTotal() },
		}
	}
	seconds := func(token, metric, legend string) *Spec {
		return &Spec{Token: token, Unit: "s", Format: "%.1f", Direction: Lower, Formula: metric, Legend: legend, Source: fromServer, value: plain(metric, 1)}
	}
	share := func(token, metric, legend string) *Spec {
		return &Spec{
			Token: token, Unit: "1", Format: "%.2f", Formula: metric + " / secs", Legend: legend, Source: fromServer,
			value: func(m Metrics, _ float64) float64 { return m.get(metric) / m.get("secs") },
		}
	}
	return []*Spec{
		percent("cpu", "100 x (cpu_user + cpu_system) / all CPU seconds", "CPU in percent of all hardware threads, us + sy", Metrics.cpuSeconds),
		percent("cpups", "100 x (cpu_user + cpu_system) / all CPU seconds", "CPU in percent of all hardware threads, us + sy", Metrics.cpuSeconds),
		percent("us", "100 x cpu_user / all CPU seconds", "CPU in programs, percent", func(m Metrics) float64 { return m.get("cpu_user") }),
		percent("sy", "100 x cpu_system / all CPU seconds", "CPU in the kernel, percent", func(m Metrics) float64 { return m.get("cpu_system") }),
		percent("wa", "100 x cpu_iowait / all CPU seconds", "CPUs idle while they wait for storage, percent", func(m Metrics) float64 { return m.get("cpu_iowait") }),
		percent("st", "100 x cpu_steal / all CPU seconds", "CPU taken by other guests of the host, percent", func(m Metrics) float64 { return m.get("cpu_steal") }),
		{Token: "wa.sec", Unit: "s", Format: "%.1f", Direction: Lower, Formula: "secs x cpu_iowait / all CPU seconds",
			Legend: "seconds in state wa, as if the whole machine waited for storage", Source: fromHost,
			value: func(m Metrics, _ float64) float64 { return m.get("secs") * m.get("cpu_iowait") / m.cpuTotal() }},
		{Token: "cs/s", Unit: "1/s", Format: "%.0f", Formula: "context_switches / secs", Legend: "context switches per second", Source: fromHost, value: per("context_switches")},
		{Token: "csps", Unit: "1/s", Format: "%.0f", Formula: "context_switches / secs", Legend: "context switches per second", Source: fromHost, value: per("context_switches")},
		seconds("dsec", "server_cpu", "CPU seconds of the server"),
		seconds("csec", "client_cpu", "CPU seconds of the clients"),
		seconds("osec", "other_cpu", "CPU seconds of everything but server and clients"),
		share("dutil", "server_cpu", "CPUs that the server kept busy"),
		share("cutil", "client_cpu", "CPUs that the clients kept busy"),
	}
}

func sizeColumns() []*Spec {
	size := func(token, metric, format, legend string) *Spec {
		return &Spec{
			Token: token, Unit: "GB", Format: format, Direction: Lower, Divisor: 1024, Formula: metric + " / 1024 / divisor / divisor", Legend: legend, Source: fromSize,
			value: func(m Metrics, d float64) float64 { return m.get(metric) / kB / d / d },
		}
	}
	specs := []*Spec{
		size("size", "size_allocated", "%.1f", "database size in GB at the end of the phase, allocated blocks: with the unused end of each file's last block"),
		size("gb", "size_allocated", "%.1f", "database size in GB at the end of the phase, allocated blocks: with the unused end of each file's last block"),
		size("size.apparent", "size_apparent", "%.1f", "database size in GB at the end of the phase, as the lengths of the files have it"),
		size("dbgb2", "size_apparent", "%.1f", "size of all the server's files in GB, as their lengths have it"),
		size("dbgb1", "size_data_apparent", "%.1f", "size of the data files in GB, as their lengths have it"),
	}
	for _, role := range []string{"data", "redo", "binlog", "tmp"} {
		specs = append(specs,
			size("size."+role, "size_"+role+"_allocated", "%.1f", "size of the "+role+" files in GB, allocated blocks"),
			size("size."+role+".apparent", "size_"+role+"_apparent", "%.1f", "size of the "+role+" files in GB, as their lengths have it"))
	}
	return append(specs,
		&Spec{Token: "mb", Unit: "MB", Format: "%.0f", Direction: Lower, Divisor: 1024, Formula: "size_allocated / 1024 / divisor",
			Legend: "database size in MB at the end of the phase, allocated blocks", Source: fromSize,
			value: func(m Metrics, d float64) float64 { return m.get("size_allocated") / kB / d }},
		&Spec{Token: "mb.apparent", Unit: "MB", Format: "%.0f", Direction: Lower, Divisor: 1024, Formula: "size_apparent / 1024 / divisor",
			Legend: "database size in MB at the end of the phase, as the lengths of the files have it", Source: fromSize,
			value: func(m Metrics, d float64) float64 { return m.get("size_apparent") / kB / d }},
		// Files without holes take a little more than their length, since
		// each ends within a block: that is no hole less than none.
		&Spec{Token: "hole%", Unit: "%", Format: "%.1f", Direction: Higher, Formula: "100 x (1 - size_allocated / size_apparent), at least 0",
			Legend: "percent of the files' length that takes no space (punched holes)", Source: fromSize,
			value: func(m Metrics, _ float64) float64 {
				return max(0, 100*(1-m.get("size_allocated")/m.get("size_apparent")))
			}},
		&Spec{Token: "extents", Unit: "1", Format: "%.0f", Direction: Lower, Formula: "size_extents",
			Legend: "pieces that the filesystem has split the files into; recorded where the phase samples extents", Source: fromSize,
			value: plain("size_extents", 1)},
		&Spec{Token: "wal_gb", Unit: "GB", Format: "%.2f", Direction: Lower, Divisor: 1024, Formula: "wal_bytes / 1024 / divisor / divisor",
			Legend: "write-ahead log written in the phase, GB", Source: fromServer,
			value: func(m Metrics, d float64) float64 { return m.get("wal_bytes") / kB / d / d }},
		&Spec{Token: "wal_mb", Unit: "MB", Format: "%.0f", Direction: Lower, Divisor: 1024, Formula: "wal_bytes / 1024 / divisor",
			Legend: "write-ahead log written in the phase, MB", Source: fromServer,
			value: func(m Metrics, d float64) float64 { return m.get("wal_bytes") / kB / d }},
	)
}

func memoryColumns() []*Spec {
	memory := func(token, metric, legend string) *Spec {
		return &Spec{
			Token: token, Unit: "GB", Format: "%.1f", Direction: Lower, Divisor: 1024, Formula: metric + " / 1024 / divisor / divisor", Legend: legend, Source: fromServer,
			value: func(m Metrics, d float64) float64 { return m.get(metric) / kB / d / d },
		}
	}
	return []*Spec{
		memory("rss", "server_rss", "resident memory of the server in GB, at the end of the phase"),
		memory("rss.peak", "server_rss_peak", "resident memory of the server in GB, its peak in the phase"),
		memory("pss", "server_pss", "memory of the server in GB, shared pages counted in part"),
	}
}

// quantile returns the column of a response time, in milliseconds.
func quantile(token, metric, legend string) *Spec {
	return &Spec{
		Token: token, Unit: "ms", Format: "%.2f", Direction: Lower, Formula: "1000 x " + metric, Legend: legend, Source: fromClient,
		value: plain(metric, 1000),
	}
}

func latencyColumns() []*Spec {
	return []*Spec{
		{Token: "maxop", Unit: "s", Format: "%.3f", Direction: Lower, Formula: "max(lat_insert_max, lat_query_max)",
			Legend: "the longest insert or query, seconds", Source: fromClient,
			value: func(m Metrics, _ float64) float64 {
				insert, query := m.get("lat_insert_max"), m.get("lat_query_max")
				if math.IsNaN(insert) {
					return query
				}
				if math.IsNaN(query) {
					return insert
				}
				return max(insert, query)
			}},
	}
}

// latencyStatistics are what is recorded of the response times of an operation.
var latencyStatistics = map[string]string{
	"p50": "that 50% stay below", "p95": "that 95% stay below", "p99": "that 99% stay below",
	"max": "of the longest one", "mean": "on average",
}

// latencyToken makes the column of a token such as p95.insert or max.query, a
// response time of any operation that the workload measures in milliseconds, or of
// the metric of one, such as lat_insert_p95, in seconds as it is recorded.
func latencyToken(token string) *Spec {
	if metric, ok := strings.CutPrefix(token, "lat_"); ok {
		return latencyMetric(token, metric)
	}
	statistic, op, found := strings.Cut(token, ".")
	if !found || op == "" {
		return nil
	}
	what := latencyStatistics[statistic]
	if what == "" {
		return nil
	}
	return quantile(token, "lat_"+op+"_"+statistic, fmt.Sprintf("response time of %s %s, milliseconds", op, what))
}

// latencyColumnOf returns the column in milliseconds of a recorded response time, as
// p99.query of lat_query_p99, or nil.
func latencyColumnOf(metric string) *Spec {
	operation, found := strings.CutPrefix(metric, "lat_")
	cut := strings.LastIndex(operation, "_")
	if !found || cut < 1 {
		return nil
	}
	return latencyToken(operation[cut+1:] + "." + operation[:cut])
}

// latencyMetric makes the column of a recorded response time of an operation that
// the built-in workloads have.
func latencyMetric(token, metric string) *Spec {
	cut := strings.LastIndex(metric, "_")
	if cut < 0 {
		return nil
	}
	op, what := metric[:cut], latencyStatistics[metric[cut+1:]]
	if what == "" || !slices.Contains(latencyOperations(), op) {
		return nil
	}
	return &Spec{
		Token: token, Unit: "s", Format: "%.6f", Direction: Lower, Formula: token, Source: fromClient, value: plain(token, 1),
		Legend: fmt.Sprintf("response time of %s %s, seconds", op, what),
	}
}

// latencyOperations are the operations that the built-in workloads measure response
// times of.
func latencyOperations() []string {
	operations := []string{
		"insert", "query", "delete", "index", "scan", "request", "statement", "transaction", "event",
		"new_order", "payment", "order_status", "delivery", "stock_level",
	}
	for _, op := range linkbenchOperations() {
		operations = append(operations, op.metric)
	}
	return operations
}

// A linkbenchOperation is an operation as tables call it, as metrics do and as
// LinkBench does.
type linkbenchOperation struct{ short, metric, name string }

func linkbenchOperations() []linkbenchOperation {
	return []linkbenchOperation{
		{"an", "add_node", "AddNode"}, {"un", "update_node", "UpdateNode"}, {"dn", "delete_node", "DeleteNode"}, {"gn", "get_node", "GetNode"},
		{"al", "add_link", "AddLink"}, {"dl", "delete_link", "DeleteLink"}, {"ul", "update_link", "UpdateLink"}, {"cl", "count_link", "CountLink"},
		{"mg", "multiget_link", "MultigetLink"}, {"gll", "get_links_list", "GetLinksList"},
		{"n", "load_node_bulk", "LoadNodeBulk"}, {"l", "load_links_bulk", "LoadLinksBulk"}, {"c", "load_counts_bulk", "LoadCountsBulk"},
	}
}

// linkbenchColumns are the response times of LinkBench's operations as its
// tables call them: un, gn, ul, gl for the upper bound of the bucket that p99 is
// in (0.1 ms wide below 1 ms, 1 ms below 100 ms), and 9, x, m for p99, maximum
// and mean.
func linkbenchColumns() []*Spec {
	ops := linkbenchOperations()
	var specs []*Spec
	for _, op := range ops {
		for _, s := range []struct{ suffix, statistic, name string }{{"9", "p99", "p99"}, {"x", "max", "maximum"}, {"m", "mean", "mean"}} {
			specs = append(specs, quantile(op.short+s.suffix, "lat_"+op.metric+"_"+s.statistic, s.name+" response time of "+op.name+", milliseconds"))
		}
	}
	for _, short := range []struct{ token, metric, name string }{
		{"un", "update_node", "UpdateNode"}, {"gn", "get_node", "GetNode"}, {"ul", "update_link", "UpdateLink"}, {"gl", "get_links_list", "GetLinksList"},
	} {
		exact := "lat_" + short.metric + "_p99"
		upper := exact + "_upper"
		spec := quantile(short.token, upper, "p99 response time of "+short.name+", milliseconds, rounded up as LinkBench does")
		spec.value = func(m Metrics, _ float64) float64 { return 1000 * m.first(upper, exact) }
		specs = append(specs, spec)
	}
	return specs
}

func eventColumns() []*Spec {
	count := func(token, metric, legend string, better Direction) *Spec {
		return &Spec{Token: token, Unit: "1", Format: "%.0f", Direction: better, Formula: metric, Legend: legend, Source: fromClient, value: plain(metric, 1)}
	}
	return []*Spec{
		count("rows", "rows_inserted", "rows inserted in the phase", Neither),
		count("rows_affected", "rows_affected", "rows that the statements inserted, changed or deleted, as the server counts them", Neither),
		count("inserts", "inserts", "insert statements in the phase", Neither),
		count("deletes", "deletes", "delete statements in the phase", Neither),
		count("queries", "queries", "queries in the phase", Neither),
		count("transactions", "transactions", "transactions in the phase", Neither),
		count("errors", "errors", "errors that the workload allows", Lower),
		count("deadlocks", "deadlocks", "statements or transactions that the server rolled back for a deadlock", Lower),
		count("lock_waits", "lock_waits", "lock waits that timed out", Lower),
		count("conflicts", "conflicts", "transactions that failed since a record had changed after they read it", Lower),
		count("log_warnings", "log_warnings", "warnings in the server's error log", Lower),
		count("kernel_messages", "kernel_messages", "kernel messages about storage or memory", Lower),
	}
}

// A Library finds columns by their tokens.
type Library struct {
	specs map[string]*Spec
}

// NewLibrary returns the column library.
func NewLibrary() *Library {
	l := &Library{specs: map[string]*Spec{}}
	for _, s := range Columns() {
		l.specs[s.Token] = s
	}
	return l
}

// Lookup returns the column of a token, or nil.
func (l *Library) Lookup(token string) *Spec {
	if s, ok := l.specs[token]; ok {
		return s
	}
	if s := statementToken(token); s != nil {
		return s
	}
	return latencyToken(token)
}

// statementToken makes the column of a token such as secs_2, the time of the second
// statement of a phase that runs SQL.
func statementToken(token string) *Spec {
	number, found := strings.CutPrefix(token, "secs_")
	if n, err := strconv.Atoi(number); !found || err != nil || n < 1 {
		return nil
	}
	return &Spec{
		Token: token, Unit: "s", Format: "%.3f", Direction: Lower, Formula: token, Source: fromClient, value: plain(token, 1),
		Legend: "wall seconds of statement " + number + ", on the connection where it took longest",
	}
}

// Nearest returns the token of the library that the given one was probably meant
// to be, or "".
func (l *Library) Nearest(token string) string {
	tokens := make([]string, 0, len(l.specs))
	for t := range l.specs {
		tokens = append(tokens, t)
	}
	return nearest(token, tokens)
}

// farthest is the distance at which a name is no longer taken for a slip of
// another, as for the names of a definition.
const farthest = 3

// nearest returns the name that the given one was probably meant to be, or "":
// the one with the fewest inserted, removed and replaced letters, two that are
// swapped counting as one, whatever their case.
func nearest(name string, names []string) string {
	sort.Strings(names)
	lower := strings.ToLower(name)
	best, found := min(farthest, len(name)-1), "" // a short name is soon like any other
	for _, n := range names {
		d := levenshtein.Distance(lower, strings.ToLower(n), nil)
		if swapped(lower, strings.ToLower(n)) {
			d = 1
		}
		if d < best {
			best, found = d, n
		}
	}
	return found
}

// swapped reports whether two names differ only by two neighbours in them.
func swapped(a, b string) bool {
	for i := 0; i+1 < len(a) && len(a) == len(b); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
