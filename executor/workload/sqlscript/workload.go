package sqlscript

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/matrix"
)

// A script is a phase that runs statements.
type script struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("sql: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &script{c}, nil
}

var statementOperation = workload.Operation{Name: "statement", Calls: "queries"}

// Run runs all statements once on each connection.
func (s *script) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if t.Warmup > 0 {
		return errors.New("sql: statements cannot be warmed up: take warmup out of the phase")
	}
	statements, err := s.read(t)
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	conns, err := client.OpenAll(ctx, t, s.database, s.connections)
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	defer client.CloseAll(conns)
	sessions := make([]*session, len(conns))
	workers := make([]client.Worker, len(conns))
	for i, conn := range conns {
		sessions[i] = &session{
			config: &s.config, statements: statements, conn: conn, recorder: r,
			track: r.Track(statementOperation, i+1), policy: client.NewPolicy(r, s.allowed),
			times: make([]time.Duration, len(statements)),
		}
		workers[i] = client.Worker{Conn: conn, Work: sessions[i].run}
	}
	r.Expect(statementOperation.Name, int64(len(statements)*len(conns)), 0)
	if err := client.Run(ctx, r.Begin, r.End, workers); err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	return s.record(r, sessions, statements)
}

// read returns the statements, from the file where they are in one.
func (s *script) read(t workload.Target) ([]string, error) {
	if s.file == "" {
		return s.statements, nil
	}
	path := s.file
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.Source, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	statements, err := split(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(statements) == 0 {
		return nil, fmt.Errorf("%s holds no statement", path)
	}
	for n := range s.expect {
		if n > len(statements) {
			return nil, fmt.Errorf("%s holds %d statements; expect names number %d", path, len(statements), n)
		}
	}
	return statements, nil
}

// record records how long each statement took, on the connection on which it
// took longest, and how many rows there were in all.
func (s *script) record(r *workload.Recorder, sessions []*session, statements []string) error {
	for i := range statements {
		var longest time.Duration
		for _, session := range sessions {
			longest = max(longest, session.times[i])
		}
		r.Metric(fmt.Sprintf("secs_%d", i+1), workload.UnitSeconds, longest.Seconds())
	}
	for _, session := range sessions {
		r.Count("rows_affected", session.affected)
		r.Count("rows_read", session.read)
		if err := session.checkWarnings(len(statements)); err != nil {
			return fmt.Errorf("sql: %w", err)
		}
	}
	return nil
}

// A session runs the statements on one connection.
type session struct {
	*config
	statements []string
	conn       *client.Conn
	recorder   *workload.Recorder
	track      *workload.Track
	policy     *client.Policy

	times          []time.Duration // of each statement
	affected, read int64
	skipped        bool // the last statement failed in an allowed way
}

func (s *session) run(gate *client.Gate) error {
	for i, statement := range s.statements {
		if gate.Stopped() {
			return nil
		}
		// Those of the last one are asked for when the window has ended.
		if err := s.checkWarnings(i); err != nil {
			return err
		}
		if err := s.send(i+1, statement); err != nil {
			return fmt.Errorf("statement %d, %s: %w", i+1, shorten(statement), err)
		}
	}
	return nil
}

// send runs the n-th statement, again where the server rolled it back.
func (s *session) send(n int, statement string) error {
	started := s.recorder.Elapsed()
	for try := 1; ; try++ {
		err := s.execute(n, statement)
		verdict, err := s.policy.Judge(err, try)
		switch verdict {
		case client.Fail:
			return err
		case client.Done, client.Skip:
			ended := s.recorder.Elapsed()
			s.times[n-1] = ended - started
			s.track.Done(1, started, ended)
			s.skipped = verdict == client.Skip
			return nil
		}
	}
}

// readers begin statements that return rows.
var readers = []string{"select", "with", "show", "table", "values", "explain", "describe", "desc", "check", "call", "("}

func (s *session) execute(n int, statement string) error {
	want, checked := s.expect[n]
	if !checked && !slices.Contains(readers, strings.ToLower(firstWord(statement))) {
		affected, err := s.conn.Exec(statement)
		s.affected += affected
		return err
	}
	first := true
	rows, err := s.conn.Query(statement, func(values []driver.Value) error {
		if first && checked && client.Text(values[0]) != want {
			return fmt.Errorf("the result is %s, expected was %s", client.Text(values[0]), want)
		}
		first = false
		return nil
	})
	if err == nil && checked && rows == 0 {
		return fmt.Errorf("there is no result, expected was %s", want)
	}
	s.read += rows
	return err
}

// firstWord returns the first word of a statement, or its parenthesis. Comments
// before it hide it: such a statement counts as one without rows.
func firstWord(statement string) string {
	if strings.HasPrefix(statement, "(") {
		return "("
	}
	end := strings.IndexFunc(statement, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	if end < 0 {
		return statement
	}
	return statement[:end]
}

// checkWarnings judges what the server says of the n-th statement, from 1; of
// none before the first.
func (s *session) checkWarnings(n int) error {
	if n == 0 || s.skipped {
		return nil
	}
	warnings, err := s.conn.Warnings()
	if err != nil {
		return err
	}
	warnings = slices.DeleteFunc(warnings, func(w client.Warning) bool { return s.policy.Allows(w.Code) })
	if len(warnings) > 0 {
		return fmt.Errorf("statement %d, %s: %w (allow_errors lets a code pass)", n, shorten(s.statements[n-1]), warnings)
	}
	return nil
}

// shorten gives a statement in one line of a message.
func shorten(statement string) string {
	const most = 80
	line := strings.Join(strings.Fields(statement), " ")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + " ..."
	}
	return line
}
