package sysbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/program"
	"dbmatrix/matrix"
)

// A benchmark is a phase that runs sysbench.
type benchmark struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("sysbench: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &benchmark{c}, nil
}

// Run does one iteration of the step.
func (b *benchmark) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if b.seed != nil {
		t.Seed = *b.seed
	}
	if b.step == stepRun {
		r.Fact("seed", strconv.FormatInt(t.Seed, 10))
	}
	path, err := b.look(ctx, t, r)
	if err != nil {
		return err
	}
	if t.Warmup > 0 && b.step != stepRun {
		return fmt.Errorf("sysbench: the step %s cannot be warmed up: take warmup out of the phase", b.step)
	}
	if b.step == stepPrepare && b.needsServer() {
		if err := client.Session(ctx, t, "", makeDatabase); err != nil {
			return fmt.Errorf("sysbench prepare: %w", err)
		}
	}
	if b.step == stepRun && t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		discarded := workload.NewRecorder("", workload.Hooks{})
		warm := t
		warm.Iteration = 0 // random numbers of its own
		if _, err := b.execute(ctx, warm, discarded, path, t.Warmup); err != nil {
			return fmt.Errorf("sysbench, warming up: %w", err)
		}
	}
	length := time.Duration(b.seconds) * time.Second
	if b.step == stepRun {
		r.Expect("event", b.events, length)
	}
	out, err := b.execute(ctx, t, r, path, length)
	if err != nil {
		return fmt.Errorf("sysbench %s: %w", b.step, err)
	}
	switch {
	case b.step == stepRun:
		b.record(r, out)
	case b.step == stepPrepare && scripts[b.script].tables:
		if err := client.Session(ctx, t, database, b.checkTables); err != nil {
			return fmt.Errorf("sysbench prepare: %w", err)
		}
		r.Metric("rows_inserted", workload.UnitCount, float64(b.tables*b.tableSize))
	}
	return nil
}

// find returns the path of the program; source is the experiment's directory.
func (c *config) find(source string) (string, error) {
	path, err := program.Find(source, c.program)
	if err != nil {
		return "", fmt.Errorf("sysbench: %w: install the package sysbench, or give its path in the attribute program", err)
	}
	return path, nil
}

// look finds the program and records its version.
func (b *benchmark) look(ctx context.Context, t workload.Target, r *workload.Recorder) (string, error) {
	path, err := b.find(t.Source)
	if err != nil {
		return "", err
	}
	version, err := program.Version(ctx, path)
	if err != nil {
		return "", fmt.Errorf("sysbench: %w", err)
	}
	r.Fact("sysbench", version)
	return path, nil
}

// makeDatabase makes the database anew, so that a second prepare works as the
// first did.
func makeDatabase(conn *client.Conn) error {
	if err := conn.DDL("DROP DATABASE IF EXISTS " + database); err != nil {
		return err
	}
	return conn.DDL("CREATE DATABASE " + database)
}

// checkTables checks that prepare made the tables, with the engine that was
// asked for and all of their rows.
func (b *benchmark) checkTables(conn *client.Conn) error {
	for n := int64(1); n <= b.tables; n++ {
		table := fmt.Sprintf("sbtest%d", n)
		if err := b.checkEngine(conn, table); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		last, err := conn.Int("SELECT COALESCE(MAX(id), 0) FROM " + table)
		if err != nil {
			return err
		}
		// Without interleaved numbers the last id is the number of rows.
		if last < b.tableSize {
			return fmt.Errorf("table %s ends at id %d of %d", table, last, b.tableSize)
		}
	}
	return nil
}

// checkEngine checks a table's engine where the server has several.
func (b *benchmark) checkEngine(conn *client.Conn, table string) error {
	if conn.Postgres() {
		return nil
	}
	engine, err := conn.Text("SELECT engine FROM information_schema.tables WHERE table_schema = '" + database + "' AND table_name = '" + table + "'")
	if err != nil {
		return err
	}
	if !strings.EqualFold(engine, b.engine) {
		return fmt.Errorf("it has the engine %s, not %s", engine, b.engine)
	}
	return nil
}

// grace is how much longer than its own time limit the program may take, beside
// half of that: its last transactions may wait for locks.
const grace = time.Minute

// environment are the variables of the servers' client libraries: what they say
// would change what is measured without a word in the definition.
var environment = []string{"PG", "MYSQL_"}

// execute runs the program's command for the step and reads what it prints. The
// window of a run is what it says it is, that of another step the whole life of
// the program.
func (b *benchmark) execute(ctx context.Context, t workload.Target, r *workload.Recorder, path string, length time.Duration) (*report, error) {
	var out report
	p := program.Program{
		Name: fmt.Sprintf("sysbench-%s.%d", b.step, t.Iteration), Command: append([]string{path}, b.arguments(t, b.step, length)...), Without: environment,
		Line: func(_ program.Stream, line string) {
			before := out
			out.line(line)
			if b.step == stepRun {
				out.mark(r, &before, b.reportInterval)
			}
		},
	}
	if b.step == stepRun && length > 0 {
		p.Limit = length + length/2 + grace
	}
	if b.step != stepRun {
		r.Begin()
	}
	tail, err := p.Run(ctx, t, r)
	r.End()
	if err != nil && b.needsServer() {
		err = program.EndSessions(ctx, t, database, err)
	}
	switch {
	case err != nil && context.Cause(ctx) == nil:
		return nil, errors.Join(out.failures(), err)
	case err != nil:
		return nil, err
	case b.step == stepRun:
		err = out.check(b.required())
	default:
		err = out.failures()
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tail)
	}
	return &out, nil
}

// required returns the values that the report of a run must have.
func (c *config) required() []string {
	switch {
	case c.lua != "":
		return nil // a script may report what it likes
	case scripts[c.script].server:
		return []string{"transactions", "tps", "queries", "qps", "errors", "reconnects"}
	case c.script == "fileio":
		return []string{"file_reads", "file_writes", "file_fsyncs", "file_read_mib", "file_write_mib"}
	case c.script == "memory":
		return []string{"events", "memory_mib"}
	}
	return []string{"events"}
}

// record makes metrics of the report of a run. Rates are those that the program
// prints, response times are in seconds.
func (b *benchmark) record(r *workload.Recorder, out *report) {
	for _, name := range []string{"transactions", "queries", "errors", "reconnects", "events"} {
		if value, ok := out.values[name]; ok {
			r.Metric(name, workload.UnitCount, value)
		}
	}
	for _, name := range []string{"tps", "qps", "eps", "file_reads", "file_writes", "file_fsyncs"} {
		if value, ok := out.values[name]; ok {
			r.Metric(name, workload.UnitRate, value)
		}
	}
	for from, to := range map[string]string{"file_read_mib": "file_read_bytes", "file_write_mib": "file_write_bytes", "memory_mib": "memory_bytes"} {
		if value, ok := out.values[from]; ok {
			r.Metric(to, unitByteRate, value*(1<<20))
		}
	}
	if value, ok := out.values["total_time"]; ok {
		r.Metric("sysbench_secs", workload.UnitSeconds, value)
	}
	b.recordLatency(r, out)
	b.recordSeries(r, out)
}

// unitByteRate is bytes per second.
const unitByteRate = "B/s"

// recordLatency records response times: of transactions where the test has
// them, else of events.
func (b *benchmark) recordLatency(r *workload.Recorder, out *report) {
	op := "event"
	if _, ok := out.values["transactions"]; ok {
		op = "transaction"
	}
	for _, name := range []string{"mean", "max"} {
		r.Metric("lat_"+op+"_"+name, workload.UnitSeconds, out.values["lat_"+name]/1000)
	}
	for _, percentile := range []float64{50, 95, 99} {
		if ms, ok := out.latency(percentile); ok {
			r.Metric(fmt.Sprintf("lat_%s_p%g", op, percentile), workload.UnitSeconds, ms/1000)
		}
	}
	hist := hdrhistogram.New(100, int64(time.Hour), 3)
	for _, b := range out.buckets {
		// The program's own bound is 100 s, so all values fit.
		_ = hist.RecordValues(int64(math.Round(b.milliseconds*1e6)), b.count)
	}
	if hist.TotalCount() > 0 {
		r.AddHistogram(workload.Histogram{Op: op, Hist: hist})
	}
}

// recordSeries records the interval lines. The program prints none for the last
// interval where it ends within it.
func (b *benchmark) recordSeries(r *workload.Recorder, out *report) {
	for _, name := range []string{"tps", "qps", "eps"} {
		s := workload.Series{Name: name, Interval: time.Duration(b.reportInterval) * time.Second}
		for _, i := range out.intervals {
			if value, ok := i.rates[name]; ok {
				s.Values = append(s.Values, value)
			}
		}
		if len(s.Values) > 0 {
			r.AddSeries(s)
		}
	}
}
