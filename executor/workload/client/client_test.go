package client_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

func open(t testing.TB, target workload.Target) *client.Conn {
	t.Helper()
	conn, err := client.Open(t.Context(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func execute(t testing.TB, conn *client.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestMariaDB runs all that one server can be used for, each with a database d
// of its own.
func TestMariaDB(t *testing.T) {
	target := workloadtest.Start(t, "--innodb_lock_wait_timeout=1", "--max_allowed_packet=64M")
	for _, test := range []struct {
		name string
		run  func(*testing.T, workload.Target)
	}{
		{"conn", conn}, {"warnings", warnings}, {"run order", runOrder}, {"run ends", runEnds}, {"policy", policy},
		{"tables", mysqlTables}, {"wire", wire}, {"wire allocations", wireAllocations},
	} {
		err := client.Session(t.Context(), target, "", func(conn *client.Conn) error { return conn.DDL("DROP DATABASE IF EXISTS d") })
		if err != nil {
			t.Fatal(err)
		}
		t.Run(test.name, func(t *testing.T) { test.run(t, target) })
	}
}

func conn(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, price FLOAT, name VARCHAR(20), at DATETIME)")
	affected, err := conn.ExecBytes([]byte("INSERT INTO t VALUES (1, 12.5, 'one', '2026-01-02 03:04:05'), (2, NULL, 'two', NULL)"))
	if err != nil || affected != 2 {
		t.Fatalf("%d rows affected, %v; want 2", affected, err)
	}
	columns, rows, err := conn.Rows("SELECT * FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"id", "price", "name", "at"}, columns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"1", "12.5", "one", "2026-01-02 03:04:05"}, {"2", "NULL", "two", "NULL"}}, rows); diff != "" {
		t.Error(diff)
	}
	stmt, err := conn.Prepare("SELECT name FROM t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var names []string
	for id := range int64(4) {
		n, err := stmt.Query([]driver.Value{id}, func(values []driver.Value) error {
			names = append(names, client.Text(values[0]))
			return nil
		})
		if want := int64(1); err != nil || (id == 1 || id == 2) != (n == want) {
			t.Errorf("id %d: %d rows, %v", id, n, err)
		}
	}
	if diff := cmp.Diff([]string{"one", "two"}, names); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("stop")
	if _, err := conn.Query("SELECT * FROM t", func([]driver.Value) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of a row is %v, want %v", err, stop)
	}
	if n, err := conn.Int("SELECT COUNT(*) FROM t"); err != nil || n != 2 {
		t.Errorf("after rows that were not read: %d, %v; want 2", n, err)
	}
}

func warnings(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE DATABASE d", "USE d")
	for _, test := range []struct{ statement, want string }{
		{"DROP TABLE IF EXISTS absent", ""}, // a note
		{"CREATE TABLE a (id INT) ENGINE=InnoDB", ""},
		{"CREATE TABLE b (id INT) ENGINE=absent", "Unknown storage engine"},
		{"CREATE TABLE c (id INT) COMMENT='" + strings.Repeat("x", 3000) + "'", "too long"},
		{"ALTER TABLE a ADD UNIQUE (id), ADD UNIQUE again (id)", ""}, // a note
		{"SELECT CAST('x' AS INT)", "Warning 1292"},
	} {
		err := conn.DDL(test.statement)
		if got := fmt.Sprint(err); (test.want == "") != (err == nil) || !strings.Contains(got, strings.TrimSpace(test.want)) && test.want != "" {
			t.Errorf("%.60s: the error is %v, want %q", test.statement, err, test.want)
		}
	}
}

func TestOpenFaults(t *testing.T) {
	for _, test := range []struct{ socket, want string }{
		{filepath.Join(t.TempDir(), "absent"), "no such file"},
		{"/" + strings.Repeat("x", 200), "at most 107"},
	} {
		_, err := client.Open(t.Context(), workload.Target{Socket: test.socket, User: "root"}, "")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.20s: the error is %v, want %q", test.socket, err, test.want)
		}
	}
}

// TestSession checks that a session is what a workload relies on, whatever the
// server's own settings are.
func TestSession(t *testing.T) {
	target := workloadtest.Start(t, "--sql_mode=", "--autocommit=0", "--max_connections=10")
	conn := open(t, target)
	if got, err := conn.Text("SELECT CONCAT(@@sql_mode, ' ', @@autocommit = 1)"); err != nil || got != "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION 1" {
		t.Errorf("the session has %q, %v", got, err)
	}
	_, err := client.OpenAll(t.Context(), target, "", 20)
	if err == nil || !strings.Contains(err.Error(), "raise max_connections") {
		t.Errorf("with too many connections the error is %v", err)
	}
}

// TestStopped checks that a server which does not answer any more holds nobody
// up for good: neither its clients nor those who look after them.
func TestStopped(t *testing.T) {
	target := workloadtest.Start(t)
	conn := open(t, target)
	pid := workloadtest.PID(t, target)
	cause := errors.New("no answer")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	defer syscall.Kill(pid, syscall.SIGCONT)
	worker := client.Worker{Conn: conn, Work: func(gate *client.Gate) error {
		for !gate.Stopped() {
			if _, err := conn.Exec("DO 1"); err != nil {
				return err
			}
		}
		return nil
	}}
	started := time.Now()
	err := client.Run(ctx, func() {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
	}, func() {}, []client.Worker{worker})
	if !errors.Is(err, cause) {
		t.Errorf("the error is %v, want %v", err, cause)
	}
	if took := time.Since(started); took > 15*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

// runOrder checks that the window lies around the work and that the work
// runs at once.
func runOrder(t *testing.T, target workload.Target) {
	conns, err := client.OpenAll(t.Context(), target, "", 3)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseAll(conns)
	before := runtime.GOMAXPROCS(0)
	events := make(chan string, 10)
	var workers []client.Worker
	for _, conn := range conns {
		workers = append(workers, client.Worker{Conn: conn, Work: func(*client.Gate) error {
			_, err := conn.Query("SELECT SLEEP(0.3)", nil)
			events <- "work"
			return err
		}})
	}
	started := time.Now()
	err = client.Run(t.Context(), func() { events <- "begin" }, func() { events <- "end" }, workers)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(started); took > 800*time.Millisecond {
		t.Errorf("three workers of 0.3 s took %s", took)
	}
	close(events)
	var got []string
	for e := range events {
		got = append(got, e)
	}
	if diff := cmp.Diff([]string{"begin", "work", "work", "work", "end"}, got); diff != "" {
		t.Error(diff)
	}
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS is %d, was %d", after, before)
	}
}

// runEnds checks that the failure of one worker, or the end of the context,
// ends all others, in the server too.
func runEnds(t *testing.T, target workload.Target) {
	failure := errors.New("failure")
	cause := errors.New("cause")
	for _, test := range []struct {
		name string
		run  func(ctx context.Context, cancel context.CancelCauseFunc, gate *client.Gate) error
		want error
	}{
		{"failure", func(_ context.Context, _ context.CancelCauseFunc, _ *client.Gate) error { return failure }, failure},
		{"cancel", func(_ context.Context, cancel context.CancelCauseFunc, gate *client.Gate) error {
			cancel(cause)
			gate.Sleep(time.Minute)
			return nil
		}, cause},
	} {
		t.Run(test.name, func(t *testing.T) {
			conns, err := client.OpenAll(t.Context(), target, "", 3)
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseAll(conns)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			workers := []client.Worker{{Conn: conns[0], Work: func(gate *client.Gate) error {
				gate.Sleep(100 * time.Millisecond) // the others have begun
				return test.run(ctx, cancel, gate)
			}}}
			for _, conn := range conns[1:] {
				workers = append(workers, client.Worker{Conn: conn, Work: func(*client.Gate) error {
					sleep := "SELECT SLEEP(60)"
					if conn.Postgres() {
						sleep = "SELECT pg_sleep(60)"
					}
					_, err := conn.Query(sleep, nil)
					return err
				}})
			}
			started, ended := time.Now(), false
			err = client.Run(ctx, func() {}, func() { ended = true }, workers)
			if !errors.Is(err, test.want) {
				t.Errorf("the error is %v, want %v", err, test.want)
			}
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("it took %s to end", took)
			}
			if ended {
				t.Error("the window of a failed run was ended")
			}
			if left := workloadtest.Processes(t, target); len(left) > 0 {
				t.Errorf("the server still has the connections %v", left)
			}
		})
	}
}

// policy checks the classes of errors, on errors of a real server.
func policy(t *testing.T, target workload.Target) {
	one, two := open(t, target), open(t, target)
	execute(t, one, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB", "INSERT INTO t VALUES (1, 0), (2, 0)", "BEGIN", "UPDATE t SET n = 1 WHERE id = 1")
	execute(t, two, "USE d", "BEGIN")
	recorder := workload.NewRecorder("", workload.Hooks{})
	policy := client.NewPolicy(recorder, []string{"1062"})

	_, lockWait := two.Exec("UPDATE t SET n = 2 WHERE id = 1")
	_, duplicate := two.Exec("INSERT INTO t VALUES (2, 0)")
	_, unknown := two.Exec("SELECT absent FROM t")
	execute(t, two, "UPDATE t SET n = 2 WHERE id = 2")
	blocked := make(chan error)
	go func() {
		_, err := two.Exec("UPDATE t SET n = 2 WHERE id = 1")
		blocked <- err
	}()
	time.Sleep(100 * time.Millisecond)
	_, victim := one.Exec("UPDATE t SET n = 1 WHERE id = 2")
	deadlock := errors.Join(victim, <-blocked) // either may be the victim

	for _, test := range []struct {
		name string
		err  error
		try  int
		want client.Verdict
	}{
		{"none", nil, 1, client.Done},
		{"lock wait", lockWait, 1, client.Again},
		{"deadlock", deadlock, 1, client.Again},
		{"deadlock again and again", deadlock, 1000, client.Fail},
		{"allowed", duplicate, 1, client.Skip},
		{"not allowed", unknown, 1, client.Fail},
		{"not the server's", errors.New("other"), 1, client.Fail},
	} {
		got, err := policy.Judge(test.err, test.try)
		if got != test.want || (err != nil) != (test.want == client.Fail) {
			t.Errorf("%s: %v (%v), want %v; the error was %v", test.name, got, err, test.want, test.err)
		}
	}
	result := recorder.Result()
	for name, want := range map[string]float64{"lock_waits": 1, "deadlocks": 2, "errors": 1} {
		if got := workloadtest.Metric(t, result, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// An interrupted statement that makes an index for MyRocks is left time to end: the
// server can die of having it killed.
func TestRunSparesIndexOfMyRocks(t *testing.T) {
	target := workloadtest.StartRocksDB(t)
	conn, look := open(t, target), open(t, target)
	execute(t, conn, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT) ENGINE=RocksDB", "SET rocksdb_bulk_load = 1",
		"INSERT INTO t SELECT seq, seq % 1000, seq FROM seq_1_to_300000", "SET rocksdb_bulk_load = 0")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	begins := func() {
		for left := 0; left < 1000; left++ {
			if n, err := look.Int("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'CREATE INDEX%'"); err != nil || n > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel(cause)
	}
	err := client.Run(ctx, func() { go begins() }, func() {}, []client.Worker{{Conn: conn, Work: func(*client.Gate) error {
		_, err := conn.Exec("CREATE INDEX ab ON t (a, b)")
		return err
	}}})
	if !errors.Is(err, cause) || strings.Contains(err.Error(), "interrupted statements") {
		t.Errorf("the error is %v, want %v", err, cause)
	}
	if n, err := look.Int("SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'd'"); err != nil || n != 2 {
		t.Errorf("%d indexes (%v), want 2: it was killed", n, err)
	}
}
