package pgbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/program"
	"dbmatrix/matrix"
)

// A benchmark is a phase that runs pgbench.
type benchmark struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("pgbench: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &benchmark{c}, nil
}

// Run does one iteration of the step.
func (b *benchmark) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if b.seed != nil {
		t.Seed = *b.seed
	}
	if t.Warmup > 0 && b.step != stepRun {
		return fmt.Errorf("pgbench: the step %s cannot be warmed up: take warmup out of the phase", b.step)
	}
	path, version, err := b.look(ctx, t)
	if err != nil {
		return fmt.Errorf("pgbench: %w", err)
	}
	r.Fact("pgbench", version)
	if b.step == stepInit {
		err = b.init(ctx, t, r, path)
	} else {
		err = b.run(ctx, t, r, path, version)
	}
	var sla *workload.SLAError
	if errors.As(err, &sla) {
		return err
	}
	if err != nil {
		return fmt.Errorf("pgbench %s: %w", b.step, program.EndSessions(ctx, t, database, err))
	}
	return nil
}

// find returns the path of the program of that name; source is the experiment's
// directory.
func (c *config) find(source, name string) (string, error) {
	path, err := program.Find(source, name)
	if err != nil {
		return "", fmt.Errorf("%w: install the package that holds it (postgresql-contrib, or that of the server), or give its path in the attribute program", err)
	}
	return path, nil
}

var versionWords = regexp.MustCompile(`^pgbench \(PostgreSQL\) ([0-9][0-9.]*)`)

// ownName is the program's name where the definition gives none.
const ownName = "pgbench"

// look finds the program and asks for its version. Without an attribute it is
// the one that belongs to the server's build: a program of another version may
// run other statements.
func (b *benchmark) look(ctx context.Context, t workload.Target) (path, version string, err error) {
	name := b.config.program
	if name == "" {
		name = ownName
		if beside := filepath.Join(t.Programs, ownName); t.Programs != "" && isThere(beside) {
			name = beside
		}
	}
	if path, err = b.find(t.Source, name); err != nil {
		return "", "", err
	}
	said, err := program.Version(ctx, path)
	if err != nil {
		return "", "", err
	}
	words := versionWords.FindStringSubmatch(said)
	if words == nil {
		return "", "", fmt.Errorf("%s is no pgbench: it says %q", path, said)
	}
	return path, words[1], nil
}

// isThere reports whether there is a file at a path.
func isThere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// environment are the variables of PostgreSQL's clients: what they say would
// change what is measured without a word in the definition.
var environment = []string{"PG"}

// init makes the database and fills it.
func (b *benchmark) init(ctx context.Context, t workload.Target, r *workload.Recorder, path string) error {
	err := client.Session(ctx, t, "", func(conn *client.Conn) error {
		return send(conn, "DROP DATABASE IF EXISTS "+database, "CREATE DATABASE "+database)
	})
	if err != nil {
		return err
	}
	var out report
	p := program.Program{
		Name: fmt.Sprintf("pgbench-init.%d", t.Iteration), Command: append([]string{path}, b.initArguments(t)...), Without: environment,
		Line: func(_ program.Stream, line string) {
			if failureLine.MatchString(line) {
				out.fault(line)
			}
		},
	}
	rows := b.scale * (accountsEach + tellersEach + 1)
	r.Expect("row", rows, 0)
	r.Begin()
	tail, err := p.Run(ctx, t, r)
	r.End()
	if failed := out.failures(); err == nil && failed != nil {
		err = fmt.Errorf("%w\n%s", failed, tail)
	}
	if err != nil {
		return err
	}
	err = client.Session(ctx, t, database, func(conn *client.Conn) error {
		if err := b.afterInit(conn); err != nil {
			return err
		}
		return b.checkTables(conn)
	})
	if err != nil {
		return err
	}
	r.Metric("rows_inserted", workload.UnitCount, float64(rows))
	return nil
}

// Rows for each unit of the scale, beside one branch.
const (
	accountsEach = 100000
	tellersEach  = 10
)

// afterInit runs the statements after the load. A statement that writes a table
// anew leaves it without the maps and the statistics that init made.
func (b *benchmark) afterInit(conn *client.Conn) error {
	if len(b.afterLoad) == 0 {
		return nil
	}
	if err := send(conn, b.afterLoad...); err != nil {
		return fmt.Errorf("after_load: %w", err)
	}
	return send(conn, "VACUUM ANALYZE")
}

// checkTables checks that all rows are there. Their numbers are consecutive, so
// the last of each table tells how many there are.
func (b *benchmark) checkTables(conn *client.Conn) error {
	for _, table := range []struct {
		name, key string
		rows      int64
	}{
		{"pgbench_branches", "bid", b.scale}, {"pgbench_tellers", "tid", b.scale * tellersEach}, {"pgbench_accounts", "aid", b.scale * accountsEach},
	} {
		last, err := conn.Int("SELECT coalesce(max(" + table.key + "), 0) FROM " + table.name)
		if err != nil {
			return fmt.Errorf("table %s: %w", table.name, err)
		}
		if last != table.rows {
			return fmt.Errorf("table %s ends at %d, not at %d", table.name, last, table.rows)
		}
	}
	return nil
}

// run measures.
func (b *benchmark) run(ctx context.Context, t workload.Target, r *workload.Recorder, path, version string) error {
	if b.seed != nil && major(version) < sinceRandomSeed {
		return fmt.Errorf("pgbench %s cannot be given a seed: take it out", version)
	}
	r.Fact("seed", strconv.FormatInt(t.Seed, 10))
	if t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		warm := t
		warm.Iteration = 0 // random numbers of its own
		if err := client.Session(ctx, t, database, func(conn *client.Conn) error { return tidy(conn) }); err != nil {
			return err
		}
		if _, err := b.execute(ctx, warm, workload.NewRecorder("", workload.Hooks{}), path, version, t.Warmup); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
	}
	return client.Session(ctx, t, database, func(conn *client.Conn) error {
		if err := tidy(conn); err != nil {
			return err
		}
		if err := send(conn, "CHECKPOINT"); err != nil {
			return err
		}
		before, err := walBytes(conn, t.Version)
		if err != nil {
			return err
		}
		out, err := b.execute(ctx, t, r, path, version, 0)
		if err != nil {
			return err
		}
		written, err := walBytes(conn, t.Version)
		if err != nil {
			return err
		}
		r.Metric("wal_bytes", workload.UnitBytes, float64(written-before))
		return b.record(r, out)
	})
}

// tidy does what the program does by itself before it measures, where the tables
// are there: scripts may do without.
func tidy(conn *client.Conn) error {
	there, err := conn.Int("SELECT count(*) FROM pg_class WHERE pg_table_is_visible(oid)" +
		" AND relname IN ('pgbench_branches', 'pgbench_tellers', 'pgbench_history')")
	if err != nil || there < 3 {
		return err
	}
	return send(conn, "VACUUM pgbench_branches", "VACUUM pgbench_tellers", "TRUNCATE pgbench_history")
}

// grace is how much longer than its own time limit the program may take, beside
// half of that: its last transactions may wait for locks.
const grace = time.Minute

// execute runs the program and reads what it prints; length 0 is the configured
// one.
func (b *benchmark) execute(ctx context.Context, t workload.Target, r *workload.Recorder, path, version string, length time.Duration) (*report, error) {
	var out report
	p := program.Program{
		Name: fmt.Sprintf("pgbench-run.%d", t.Iteration), Command: append([]string{path}, b.runArguments(t, major(version), length)...), Without: environment,
		Line: func(s program.Stream, line string) {
			known := len(out.seconds)
			out.line(s, line)
			if n := len(out.seconds); n > known {
				r.Advance(int64(math.Round(out.seconds[n-1].tps)))
			}
		},
	}
	if length == 0 && b.transactions == 0 {
		length = time.Duration(b.seconds) * time.Second
	}
	if length > 0 {
		p.Limit = length + length/2 + grace
	}
	log, err := b.newLog(t)
	if err != nil {
		return nil, err
	}
	defer log.remove()
	p.Dir = log.dir
	r.Expect("transaction", b.transactions*b.clients, length)
	r.Begin()
	start := time.Now()
	tail, err := p.Run(ctx, t, r)
	r.End()
	if err != nil && ctx.Err() == nil {
		err = errors.Join(out.failures(), err)
	}
	if err != nil {
		return nil, err
	}
	if err := out.check(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tail)
	}
	if err := log.read(r, start, &out); err != nil {
		return nil, fmt.Errorf("reading the times of the transactions: %w", err)
	}
	return &out, nil
}

// record makes metrics of the report of a run.
func (b *benchmark) record(r *workload.Recorder, out *report) error {
	for _, m := range []struct {
		from, to, unit string
		factor         float64
	}{
		{"transactions", "transactions", workload.UnitCount, 1},
		{"failed", "errors", workload.UnitCount, 1},
		{"serialization_failures", "serialization_failures", workload.UnitCount, 1},
		{"deadlocks", "deadlocks", workload.UnitCount, 1},
		{"retried", "transactions_retried", workload.UnitCount, 1},
		{"retries", "retries", workload.UnitCount, 1},
		{"skipped", "transactions_skipped", workload.UnitCount, 1},
		{"late", "transactions_late", workload.UnitCount, 1},
		{"tps", "tps", workload.UnitRate, 1},
		{"tps_connecting", "tps_connecting", workload.UnitRate, 1},
		{"lat_stddev", "lat_transaction_stddev", workload.UnitSeconds, 1e-3},
		{"lag_mean", "schedule_lag_mean", workload.UnitSeconds, 1e-3},
		{"lag_max", "schedule_lag_max", workload.UnitSeconds, 1e-3},
		{"connect", "connect_secs", workload.UnitSeconds, 1e-3},
	} {
		if value, ok := out.values[m.from]; ok {
			r.Metric(m.to, m.unit, value*m.factor)
		}
	}
	if !b.responseTimes { // else it is computed of them
		r.Metric("lat_transaction_mean", workload.UnitSeconds, out.values["lat_mean"]/1000)
		if rates := out.rates(); len(rates) > 0 {
			r.AddSeries(workload.Series{Name: "tps", Interval: time.Second, Values: rates})
		}
	}
	if b.rate == 0 {
		return nil
	}
	r.Metric("target_rate", workload.UnitRate, b.rate)
	r.Metric("achieved_rate", workload.UnitRate, out.values["tps"])
	if out.values["tps"] < workload.SLAShare*b.rate {
		return &workload.SLAError{Target: b.rate, Achieved: out.values["tps"], What: "transactions"}
	}
	return nil
}
