package sysbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	clientprogram "dbmatrix/executor/workload/program"
	"dbmatrix/matrix"
)

// A program is a phase that runs sysbench.
type program struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("sysbench: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &program{c}, nil
}

// Run does one iteration of the step.
func (p *program) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if p.seed != nil {
		t.Seed = *p.seed
	}
	r.Fact("seed", strconv.FormatInt(t.Seed, 10))
	if err := p.look(ctx, r); err != nil {
		return err
	}
	if t.Warmup > 0 && p.step != stepRun {
		return fmt.Errorf("sysbench: the step %s cannot be warmed up: take warmup out of the phase", p.step)
	}
	if p.step == stepPrepare && p.needsServer() {
		if err := client.Session(ctx, t, "", makeDatabase); err != nil {
			return fmt.Errorf("sysbench prepare: %w", err)
		}
	}
	if p.step == stepRun && t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		discarded := workload.NewRecorder("", workload.Hooks{})
		warm := t
		warm.Iteration = 0 // random numbers of its own
		if _, err := p.execute(ctx, warm, discarded, stepRun, t.Warmup); err != nil {
			return fmt.Errorf("sysbench, warming up: %w", err)
		}
	}
	length := time.Duration(p.seconds) * time.Second
	if p.step == stepRun {
		r.Expect("event", p.events, length)
	}
	out, err := p.execute(ctx, t, r, p.step, length)
	if err != nil {
		return fmt.Errorf("sysbench %s: %w", p.step, err)
	}
	switch {
	case p.step == stepRun:
		p.record(r, out)
	case p.step == stepPrepare && scripts[p.script].tables:
		if err := client.Session(ctx, t, database, p.checkTables); err != nil {
			return fmt.Errorf("sysbench prepare: %w", err)
		}
		r.Metric("rows_inserted", workload.UnitCount, float64(p.tables*p.tableSize))
	}
	return nil
}

// find returns the path of the program.
func (c *config) find() (string, error) {
	path, err := exec.LookPath(c.program)
	if err != nil {
		return "", fmt.Errorf("sysbench: the program %s is not on this host: install the package sysbench, or give its path in the attribute program", c.program)
	}
	return path, nil
}

// look finds the program and records its version.
func (p *program) look(ctx context.Context, r *workload.Recorder) error {
	path, err := p.find()
	if err != nil {
		return err
	}
	version, err := clientprogram.Version(ctx, path)
	if err != nil {
		return fmt.Errorf("sysbench: %w", err)
	}
	r.Fact("sysbench", version)
	return nil
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
func (p *program) checkTables(conn *client.Conn) error {
	for n := int64(1); n <= p.tables; n++ {
		table := fmt.Sprintf("sbtest%d", n)
		engine, err := conn.Text("SELECT engine FROM information_schema.tables WHERE table_schema = '" + database + "' AND table_name = '" + table + "'")
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		if !strings.EqualFold(engine, p.engine) {
			return fmt.Errorf("table %s has the engine %s, not %s", table, engine, p.engine)
		}
		last, err := conn.Int("SELECT COALESCE(MAX(id), 0) FROM " + table)
		if err != nil {
			return err
		}
		// Without interleaved numbers the last id is the number of rows.
		if last < p.tableSize {
			return fmt.Errorf("table %s ends at id %d of %d", table, last, p.tableSize)
		}
	}
	return nil
}

// grace is how much longer than its own time limit the program may take, beside
// half of that: its last transactions may wait for locks.
const grace = time.Minute

// errDeadline says that the program ran on.
var errDeadline = errors.New("it did not end by itself")

// execute runs the program's command and reads what it prints.
func (p *program) execute(ctx context.Context, t workload.Target, r *workload.Recorder, step string, length time.Duration) (*report, error) {
	if t.Guard == nil {
		return nil, errors.New("there is no guardian to run the program under")
	}
	command := append(append([]string{}, t.Prefix...), p.config.program)
	command = append(command, p.arguments(t, step, length)...)
	name := fmt.Sprintf("sysbench-%s.%d", step, t.Iteration)
	if err := r.WriteArtifact(name+".sh", "cd "+quote([]string{t.Dir})+"\n"+quote(command)+"\n"); err != nil {
		return nil, err
	}
	raw, err := r.Artifact(name + ".txt")
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	out := newOutput(raw, r, step, p.reportInterval)
	if step == stepRun && length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, length+length/2+grace, errDeadline)
		defer cancel()
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: command, Dir: t.Dir, Env: append(os.Environ(), t.Env...), Stdout: out, Stderr: out}
	if cmd.Dir != "" {
		cmd.Dir = filepath.Clean(cmd.Dir)
	}
	if step != stepRun {
		r.Begin()
	}
	err = t.Guard(ctx, cmd)
	r.End()
	return out.finish(ctx, err, p.required())
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
func (p *program) record(r *workload.Recorder, out *report) {
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
	p.recordLatency(r, out)
	p.recordSeries(r, out)
}

// unitByteRate is bytes per second.
const unitByteRate = "B/s"

// recordLatency records response times: of transactions where the test has
// them, else of events.
func (p *program) recordLatency(r *workload.Recorder, out *report) {
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
func (p *program) recordSeries(r *workload.Recorder, out *report) {
	for _, name := range []string{"tps", "qps", "eps"} {
		s := workload.Series{Name: name, Interval: time.Duration(p.reportInterval) * time.Second}
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
