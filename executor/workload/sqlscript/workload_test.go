package sqlscript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

type block = workloadtest.Block

// A dialect is what the tests say otherwise to each flavour.
type dialect struct {
	start  func(testing.TB, ...string) workload.Target
	sleep  string // for a fifth of a second
	ever   string // sleeps for a minute
	unsaid string // a statement that the server may not do unasked, and warns of
	code   string // of that warning
	number string // a number that does not fit
	absent string // the error of a table that is not there
	broken string // the error of a database that is not there
	script string // of a file: it sleeps, and returns two rows in all

	// deadlock makes the function d.once(), which fails with a deadlock the
	// first time that a session calls it; call calls it.
	deadlock, call string
}

var dialects = map[string]dialect{
	"mariadb": {
		start: workloadtest.Start,
		sleep: "DO SLEEP(0.2)", ever: "SELECT SLEEP(60)",
		unsaid: "INSERT IGNORE INTO d.t VALUES (1, 1)", code: "1062", number: "Out of range",
		absent: "Error 1051", broken: "Unknown database 'absent'",
		script:   "# a file\nDO SLEEP(0.2);\nSELECT 'a;'; SELECT \"b\\\";\"",
		deadlock: "CREATE PROCEDURE d.once() BEGIN IF @n IS NULL THEN SET @n = 1; SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF; END",
		call:     "CALL d.once()",
	},
	postgres: {
		start: workloadtest.StartPostgres,
		sleep: "DO $$ BEGIN PERFORM pg_sleep(0.2); END; $$", ever: "SELECT pg_sleep(60)",
		unsaid: "DO $$ BEGIN RAISE WARNING 'so so'; END $$", code: "01000", number: "out of range",
		absent: "SQLSTATE 42P01", broken: `database "absent" does not exist`,
		script: "-- a file\nDO $x$ BEGIN PERFORM pg_sleep(0.2); END; $x$;\nSELECT 'a\\'; /* ; /* ; */ */ SELECT E'b\\';'",
		deadlock: "CREATE SEQUENCE d.n; CREATE FUNCTION d.once() RETURNS int LANGUAGE plpgsql AS" +
			" $$ BEGIN IF nextval('d.n') = 1 THEN RAISE 'in the way' USING ERRCODE = '40P01'; END IF; RETURN 1; END $$",
		call: "SELECT d.once()",
	},
}

func TestServers(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			target := d.start(t)
			t.Run("script", func(t *testing.T) { d.testScript(t, target) })
			t.Run("connections", func(t *testing.T) { d.testConnections(t, target) })
			t.Run("faults", func(t *testing.T) { d.testFaults(t, target) })
			t.Run("transaction", func(t *testing.T) { d.testTransaction(t, target) })
			t.Run("interrupt", func(t *testing.T) { d.testInterrupt(t, target) })
			suite := workloadtest.Suite{Type: Type(), Work: block{"statements": []string{d.ever}, "connections": 3}}
			suite.LoseConnections(t, target)
			suite.LoseServer(t, target)
		})
	}
}

func (d dialect) testScript(t *testing.T, target workload.Target) {
	result := workloadtest.Do(t, Type(), target, block{"statements": []string{
		"CREATE SCHEMA d", "CREATE TABLE d.t (id INT PRIMARY KEY, n SMALLINT)", "INSERT INTO d.t VALUES (1, 1), (2, 1), (3, 1)",
		"SELECT COUNT(*), 'x' FROM d.t", d.sleep, "DROP TABLE IF EXISTS d.absent; DELETE FROM d.t WHERE id > 1",
	}, "expect": map[string]string{"4": "3"}})
	affected := 5.0
	if target.Flavour == "mariadb" {
		affected++ // it counts a schema as a row
	}
	for name, want := range map[string]float64{"queries": 7, "rows_affected": affected, "rows_read": 1} {
		if got := workloadtest.Metric(t, result, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	slept, all := workloadtest.Metric(t, result, "secs_5"), workloadtest.Metric(t, result, "secs")
	if slept < 0.2 || slept > all {
		t.Errorf("sleeping for 0.2 s took %v s of %v s", slept, all)
	}
	if first := workloadtest.Metric(t, result, "secs_1"); first > all-slept {
		t.Errorf("the first statement took %v s of %v s, with %v s of the fifth", first, all, slept)
	}
}

func (d dialect) testConnections(t *testing.T, target workload.Target) {
	if err := os.WriteFile(filepath.Join(target.Source, "a.sql"), []byte(d.script+";\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	result := workloadtest.Do(t, Type(), target, block{"file": "a.sql", "connections": 4})
	if got := workloadtest.Metric(t, result, "queries"); got != 12 {
		t.Errorf("%v queries, want 12", got)
	}
	if got := workloadtest.Metric(t, result, "rows_read"); got != 8 {
		t.Errorf("%v rows, want 8", got)
	}
	if got := workloadtest.Metric(t, result, "secs"); got < 0.2 || got > 0.7 {
		t.Errorf("four connections that sleep for 0.2 s at once took %v s", got)
	}
}

func (d dialect) testFaults(t *testing.T, target workload.Target) {
	for _, test := range []struct {
		block block
		want  string // "" is no error
	}{
		{block{"statements": []string{"SELECT 1", "DROP TABLE d.absent"}}, "statement 2, DROP TABLE d.absent: "},
		{block{"statements": []string{"DROP TABLE d.absent"}}, d.absent},
		{block{"statements": []string{"DROP TABLE d.absent"}, "allow_errors": []string{"1051", "42P01"}}, ""},
		{block{"statements": []string{d.unsaid}}, "the server warns: Warning " + d.code},
		{block{"statements": []string{d.unsaid, "SELECT 1"}}, "statement 1, "},
		{block{"statements": []string{d.unsaid}, "allow_errors": []string{d.code}}, ""},
		{block{"statements": []string{"INSERT INTO d.t VALUES (2, 100000)"}}, d.number}, // strict mode
		{block{"statements": []string{"SELECT n FROM d.t"}, "expect": map[string]string{"1": "2"}}, "the result is 1, expected was 2"},
		{block{"statements": []string{"SELECT n FROM d.t WHERE id = 9"}, "expect": map[string]string{"1": "2"}}, "there is no result, expected was 2"},
		{block{"statements": []string{"/* a comment */ SELECT n FROM d.t"}, "expect": map[string]string{"1": "2"}}, "the result is 1, expected was 2"},
		{block{"statements": []string{d.sleep}, "expect": map[string]string{"1": "2"}}, "there is no result, expected was 2"},
		{block{"statements": []string{"SELECT 1"}, "expect": map[string]string{"2": "1"}}, "there are 1 statements; expect names number 2"},
		{block{"statements": []string{"SELECT 1"}, "database": "absent"}, d.broken},
		{block{"statements": []string{"-- nothing"}}, "there is no statement"},
		{block{"statements": []string{"SELECT 'a"}}, "statement 1 cannot be read: line 1: the quote ' has no end"},
		{block{"file": "absent.sql"}, "no such file"},
	} {
		_, err := workloadtest.Try(t.Context(), t, Type(), target, test.block)
		if (err == nil) != (test.want == "") || !strings.Contains(fmt.Sprint(err), test.want) && test.want != "" {
			t.Errorf("%v: the error is %v, want %q", test.block, err, test.want)
		}
	}
}

// testTransaction checks that a transaction that meets a deadlock is sent again
// as a whole, and once.
func (d dialect) testTransaction(t *testing.T, target workload.Target) {
	err := client.Session(t.Context(), target, "", func(conn *client.Conn) error {
		_, err := conn.Exec(d.deadlock)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	result := workloadtest.Do(t, Type(), target, block{
		"statements": []string{"CREATE TABLE d.log (n INT)", "BEGIN", "INSERT INTO d.log VALUES (1)", d.call, "commit", "SELECT COUNT(*) FROM d.log"},
		"expect":     map[string]string{"6": "1"},
	})
	// BEGIN and INSERT were done twice.
	for name, want := range map[string]float64{"deadlocks": 1, "queries": 8, "errors": 0} {
		if got := workloadtest.Metric(t, result, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func (d dialect) testInterrupt(t *testing.T, target workload.Target) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, context.Canceled)
	defer cancel()
	started := time.Now()
	_, err := workloadtest.Try(ctx, t, Type(), target, block{"statements": []string{d.ever}, "connections": 3})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want the interrupt", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if left := workloadtest.Processes(t, target); len(left) > 0 {
		t.Errorf("the server still has the connections %v", left)
	}
}

func TestWarmupRefused(t *testing.T) {
	w, err := Type().New(workloadtest.Args(t, Type(), block{"statements": []string{"SELECT 1"}}))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(t.Context(), workload.Target{Warmup: time.Second}, workload.NewRecorder("", workload.Hooks{}))
	if err == nil || !strings.Contains(err.Error(), "take warmup out") {
		t.Errorf("the error is %v", err)
	}
}
