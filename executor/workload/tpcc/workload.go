package tpcc

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/program"
	"dbmatrix/matrix"
)

// A benchmark is a phase of TPC-C.
type benchmark struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("tpcc: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &benchmark{c}, nil
}

// Run does one iteration of the step.
func (b *benchmark) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if t.Warmup > 0 && b.step != stepRun {
		return fmt.Errorf("tpcc: the step %s cannot be warmed up: take warmup out of the phase", b.step)
	}
	var err error
	switch b.step {
	case stepLoad:
		err = b.load(ctx, t, r)
	case stepRun:
		err = b.run(ctx, t, r)
	case stepCheck:
		err = b.test(ctx, t, r)
	}
	if err != nil {
		return fmt.Errorf("tpcc %s: %w", b.step, err)
	}
	return nil
}

// The program's module and its version, and how to get it.
const (
	module        = "github.com/pingcap/go-tpc"
	moduleVersion = "v1.0.12"
	install       = "GOBIN=/usr/local/bin go install " + module + "/cmd/go-tpc@" + moduleVersion
)

// find returns the path of the program and its version; source is the
// experiment's directory. Other versions have other options, and may run other
// statements.
func (c *config) find(source string) (path, version string, err error) {
	path, err = program.Find(source, c.program)
	if err != nil {
		return "", "", fmt.Errorf("%w: install it by %q, or give its path in the attribute program", err, install)
	}
	// What is no Go program, such as a wrapper, is taken as it is.
	version = "unknown"
	if info, err := buildinfo.ReadFile(path); err == nil && info.Main.Path == module {
		version = info.Main.Version
		if version != moduleVersion && version != "(devel)" {
			return "", "", fmt.Errorf("%s is of version %s: install %s by %q", path, version, moduleVersion, install)
		}
	}
	return path, version, nil
}

// look finds the program and records its version.
func (b *benchmark) look(t workload.Target, r *workload.Recorder) (string, error) {
	if t.Port == 0 {
		return "", errors.New("go-tpc speaks TCP only, and the server has no port")
	}
	path, version, err := b.find(t.Source)
	if err != nil {
		return "", err
	}
	r.Fact("go-tpc", version)
	return path, nil
}

// arguments returns the program's command line for one of its commands, its name
// left out.
func (b *benchmark) arguments(t workload.Target, command string, length time.Duration) []string {
	args := []string{"tpcc", command, "-H", "127.0.0.1", "-P", strconv.Itoa(t.Port)}
	if t.Flavour == postgres {
		args = append(args, "-d", "postgres", "-U", t.User, "--conn-params", "sslmode=disable&lc_messages=C")
	} else {
		args = append(args, "-U", user, "--conn-params", "tls=false")
	}
	args = append(args, "-D", database,
		"--warehouses", strconv.FormatInt(b.warehouses, 10), "-T", strconv.FormatInt(b.clients, 10))
	if command == "prepare" {
		return append(args, "--no-check", "--retry-count", "10", "--retry-interval", "100ms")
	}
	shares := make([]string, len(b.weight))
	for i, share := range b.weight {
		shares[i] = strconv.FormatInt(share, 10)
	}
	return append(args, "--time", length.String(), "--interval", interval.String(), "--ignore-error",
		"--max-measure-latency", "1h", "--weight", strings.Join(shares, ","))
}

// load makes the tables and fills them.
func (b *benchmark) load(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	path, err := b.look(t, r)
	if err != nil {
		return err
	}
	if err := b.makeTables(ctx, t); err != nil {
		return err
	}
	r.Expect("load", 0, 0)
	out, tail, err := b.execute(ctx, t, r, path, "prepare", 0)
	if err != nil {
		return err
	}
	if err := out.checkLoad(); err != nil {
		return fmt.Errorf("%w\n%s", err, tail)
	}
	b.count(r, out)
	return client.Session(ctx, t, database, func(conn *client.Conn) error {
		if err := tidy(conn); err != nil {
			return err
		}
		if b.verify {
			if err := b.checkRows(conn); err != nil {
				return err
			}
			if err := b.checkConditions(conn, true, func() {}); err != nil {
				return err
			}
		}
		rows, err := b.rows(conn)
		if err == nil {
			r.Metric("rows_inserted", workload.UnitCount, float64(rows))
		}
		return err
	})
}

// run measures.
func (b *benchmark) run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	path, err := b.look(t, r)
	if err != nil {
		return err
	}
	measure := func(t workload.Target, r *workload.Recorder, length time.Duration) (*report, error) {
		r.Expect("transaction", 0, length)
		out, tail, err := b.execute(ctx, t, r, path, "run", length)
		if err != nil {
			return nil, err
		}
		if err := out.checkRun(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, tail)
		}
		return out, nil
	}
	if t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		warm := t
		warm.Iteration = 0
		if _, err := measure(warm, workload.NewRecorder("", workload.Hooks{}), t.Warmup); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
	}
	out, err := measure(t, r, time.Duration(b.seconds)*time.Second)
	if err != nil {
		return err
	}
	b.count(r, out)
	b.record(r, out)
	return nil
}

// test tests the consistency conditions.
func (b *benchmark) test(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	conn, err := client.Open(ctx, t, database)
	if err != nil {
		return err
	}
	defer conn.Close()
	var tested int64
	r.Expect("condition", b.warehouses*int64(len(conditions)-1), 0)
	r.Begin()
	defer r.End()
	err = client.Attend(ctx, conn, func(conn *client.Conn) error {
		return b.checkConditions(conn, false, func() { tested++; r.Advance(1) })
	})
	r.Metric("queries", workload.UnitCount, float64(tested))
	return err
}

// grace is how much longer than its own time limit the program may take, beside
// half of that: its last transactions may wait for locks.
const grace = time.Minute

// environment are the variables that the program's driver for PostgreSQL heeds.
var environment = []string{"PG"}

// execute runs one of the program's commands and reads what it prints. The first
// fault ends it: a client whose connection is gone would fail again and again.
func (b *benchmark) execute(ctx context.Context, t workload.Target, r *workload.Recorder, path, command string, length time.Duration) (*report, string, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &report{allowed: b.allowed}
	var s silence
	s.broken()
	p := program.Program{
		Name: fmt.Sprintf("tpcc-%s.%d", command, t.Iteration), Command: append([]string{path}, b.arguments(t, command, length)...),
		Without: environment,
		Line: func(stream program.Stream, line string) {
			s.broken()
			seconds := len(out.done)
			out.line(stream, line, r.Elapsed())
			if n := len(out.done); n > seconds && n > 1 {
				r.Advance(int64(out.perSecond("")[n-2]))
			}
			if out.finished {
				r.End()
			}
			if len(out.faults) > 0 {
				stop(out.failures())
			}
		},
	}
	if length > 0 {
		p.Limit = length + length/2 + grace
	}
	var watching sync.WaitGroup
	watched, ended := context.WithCancel(ctx)
	watching.Go(func() { watch(watched, t, &s, stop) })
	r.Begin()
	tail, err := p.Run(ctx, t, r)
	r.End()
	ended()
	watching.Wait()
	if err != nil {
		err = program.EndSessions(ctx, t, database, err)
	}
	return out, tail, err
}

// count counts the errors that were let pass.
func (b *benchmark) count(r *workload.Recorder, out *report) {
	r.Count("deadlocks", out.deadlocks)
	r.Count("lock_waits", out.lockWaits)
	r.Count("conflicts", out.conflicts)
	r.Count("errors", out.errors+out.unnamed)
	r.Count("errors_unnamed", out.unnamed)
}

// unitPerMinute is the benchmark's own.
const unitPerMinute = "1/min"

// perMinute returns rates of a second as rates of a minute.
func perMinute(rates []float64) []float64 {
	scaled := make([]float64, len(rates))
	for i, rate := range rates {
		scaled[i] = rate * time.Minute.Seconds()
	}
	return scaled
}

// record makes metrics of the report of a run. Response times are in seconds.
func (b *benchmark) record(r *workload.Recorder, out *report) {
	// The program divides the count of each kind by the time since its own first
	// transaction, which says too much in short runs. Columns divide by the window.
	r.Metric("tpmC_reported", unitPerMinute, out.values["tpmC"])
	r.Metric("tpm_reported", unitPerMinute, out.values["tpm"])
	r.Metric("efficiency_reported", "%", out.values["efficiency"])
	r.Metric("transactions", workload.UnitCount, float64(out.transactions()))
	r.AddSeries(workload.Series{Name: "tps", Interval: interval, Values: out.perSecond("")})
	r.AddSeries(workload.Series{Name: "tpm", Unit: unitPerMinute, Interval: interval, Values: perMinute(out.perSecond(""))})
	r.AddSeries(workload.Series{Name: "tpmC", Unit: unitPerMinute, Interval: interval, Values: perMinute(out.perSecond(newOrder))})
	for name, o := range out.summary {
		kind := strings.ToLower(strings.TrimSuffix(name, errSuffix))
		if strings.HasSuffix(name, errSuffix) {
			r.Metric("failed_"+kind, workload.UnitCount, float64(o.count))
			continue
		}
		r.Metric("transactions_"+kind, workload.UnitCount, float64(o.count))
		for statistic, ms := range map[string]float64{"mean": o.sum / float64(o.count), "p50": o.p50, "p95": o.p95, "p99": o.p99, "max": o.most} {
			r.Metric("lat_"+kind+"_"+statistic, workload.UnitSeconds, ms/1000)
		}
		r.AddSeries(workload.Series{Name: "tps_" + kind, Interval: interval, Values: out.perSecond(name)})
	}
}
