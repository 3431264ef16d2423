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
			config: &s.config, statements: statements, flavour: t.Flavour, conn: conn, recorder: r,
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
	place, texts := "the attribute statements", s.texts
	if s.file != "" {
		place = s.file
		if !filepath.IsAbs(place) {
			place = filepath.Join(t.Source, place)
		}
		text, err := os.ReadFile(place)
		if err != nil {
			return nil, err
		}
		texts = []string{string(text)}
	}
	statements, err := splitAll(texts, t.Flavour)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if len(statements) == 0 {
		return nil, fmt.Errorf("%s: there is no statement", place)
	}
	for n := range s.expect {
		if n > len(statements) {
			return nil, fmt.Errorf("%s: there are %d statements; expect names number %d", place, len(statements), n)
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
	flavour    string
	conn       *client.Conn
	recorder   *workload.Recorder
	track      *workload.Track
	policy     *client.Policy

	times          []time.Duration // of each statement, all that it was sent
	affected, read int64
	begun          int // which statement, from 1, has begun a transaction that is open; 0 is none
	tries          int // of the statement, or of the open transaction, that failed
}

func (s *session) run(gate *client.Gate) error {
	for n := 1; n <= len(s.statements); {
		if gate.Stopped() {
			return nil
		}
		// Those of the last one are asked for when the window has ended.
		if err := s.checkWarnings(n - 1); err != nil {
			return err
		}
		next, err := s.send(n)
		if err != nil {
			return fmt.Errorf("statement %d, %s: %w", n, shorten(s.statements[n-1]), err)
		}
		n = next
	}
	return nil
}

// send runs the n-th statement and returns which comes next: the same once more
// where the server rolled it back because of others, or the first of its
// transaction, all of which was rolled back with it.
func (s *session) send(n int) (next int, err error) {
	statement := s.statements[n-1]
	started := s.recorder.Elapsed()
	affected, read, err := s.execute(n, statement)
	ended := s.recorder.Elapsed()
	s.times[n-1] += ended - started
	verdict, err := s.policy.Judge(err, s.tries+1)
	switch verdict {
	case client.Fail:
		return 0, err
	case client.Again:
		s.tries++
		return s.again(n)
	case client.Skip:
		err = s.forget()
	case client.Done:
		s.affected, s.read = s.affected+affected, s.read+read
	}
	if err != nil {
		return 0, err
	}
	s.track.Done(1, started, ended)
	s.follow(n, statement)
	if s.begun == 0 {
		s.tries = 0
	}
	return n + 1, nil
}

// again returns where to go on after the n-th statement was rolled back.
func (s *session) again(n int) (int, error) {
	if s.begun == 0 {
		return n, s.forget()
	}
	begun := s.begun
	s.begun = 0
	// After a lock wait, or in PostgreSQL, the transaction is still there.
	if _, err := s.conn.Exec("ROLLBACK"); err != nil {
		return 0, err
	}
	return begun, s.forget()
}

// forget makes the server forget an error: MySQL and MariaDB count it among the
// warnings until a statement reads a table.
func (s *session) forget() error {
	if s.conn.Postgres() {
		return nil
	}
	_, err := s.conn.Exec("DO (SELECT 1 FROM (SELECT 1) AS cleared)")
	return err
}

// follow takes note of a transaction that the n-th statement begins or ends.
func (s *session) follow(n int, statement string) {
	words := strings.Fields(strings.ToLower(statement))
	switch first := strings.ToLower(firstWord(statement, s.flavour)); {
	case first == "begin" || first == "start" && slices.Contains(words, "transaction"):
		s.begun = n
	case first == "commit", first == "end", first == "rollback" && !slices.Contains(words, "to"):
		s.begun = 0
	}
}

// readers begin statements that return rows.
var readers = []string{"select", "with", "show", "table", "values", "explain", "describe", "desc", "check", "call", "fetch", "("}

// execute sends the n-th statement once and returns how many rows it affected,
// and how many it returned.
func (s *session) execute(n int, statement string) (affected, read int64, err error) {
	want, checked := s.expect[n]
	if !checked && !slices.Contains(readers, strings.ToLower(firstWord(statement, s.flavour))) {
		affected, err = s.conn.Exec(statement)
		return affected, 0, err
	}
	first := true
	read, err = s.conn.Query(statement, func(values []driver.Value) error {
		if first && checked && client.Text(values[0]) != want {
			return fmt.Errorf("the result is %s, expected was %s", client.Text(values[0]), want)
		}
		first = false
		return nil
	})
	if err == nil && checked && read == 0 {
		err = fmt.Errorf("there is no result, expected was %s", want)
	}
	return 0, read, err
}

// checkWarnings judges what the server says of the n-th statement, from 1; of
// none before the first.
func (s *session) checkWarnings(n int) error {
	if n == 0 {
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
