package client_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// TestPostgres is what TestMariaDB is, for the other protocol.
func TestPostgres(t *testing.T) {
	target := workloadtest.StartPostgres(t, "lock_timeout=300ms", "deadlock_timeout=100ms", "max_connections=10", "superuser_reserved_connections=0")
	for _, test := range []struct {
		name string
		run  func(*testing.T, workload.Target)
	}{
		{"conn", postgresConn}, {"warnings", postgresWarnings}, {"run ends", runEnds}, {"policy", postgresPolicy},
		{"tables", postgresTables}, {"allocations", postgresAllocations},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, target) })
	}
	_, err := client.OpenAll(t.Context(), target, "", 20)
	if err == nil || !strings.Contains(err.Error(), "raise max_connections") {
		t.Errorf("with too many connections the error is %v", err)
	}
}

func postgresConn(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, price FLOAT, name VARCHAR(20), data BYTEA, at TIMESTAMP)")
	affected, err := conn.ExecBytes([]byte(`INSERT INTO t VALUES (1, 12.5, 'on\e', 'x', '2026-01-02 03:04:05'), (2, NULL, 'two', NULL, NULL)`))
	if err != nil || affected != 2 {
		t.Fatalf("%d rows affected, %v; want 2", affected, err)
	}
	columns, rows, err := conn.Rows("SELECT id, price, name, at FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"id", "price", "name", "at"}, columns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"1", "12.5", `on\e`, "2026-01-02 03:04:05"}, {"2", "NULL", "two", "NULL"}}, rows); diff != "" {
		t.Error(diff)
	}
	insert, err := conn.Prepare("INSERT INTO t VALUES ($1, $2, $3, $4, NULL)")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := insert.Exec([]driver.Value{int64(-3), 0.25, "", []byte{0, 0xff, '\''}}); err != nil || n != 1 {
		t.Fatalf("%d rows inserted, %v; want 1", n, err)
	}
	stmt, err := conn.Prepare("SELECT id, price, name, data, id::int8 * 5000000000, id::int2 FROM t WHERE id < $1 ORDER BY t.id")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got []string
		n, err := stmt.Query([]driver.Value{int64(3)}, func(values []driver.Value) error {
			got = append(got, fmt.Sprintf("%v", texts(values)))
			return nil
		})
		want := []string{`[-3 0.25  "\x00\xff'" -15000000000 -3]`, `[1 12.5 on\e "x" 5000000000 1]`, `[2 NULL two "NULL" 10000000000 2]`}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || n != 3 {
			t.Errorf("%d rows, %v: %s", n, err, diff)
		}
	}
	if n, err := stmt.Query([]driver.Value{int64(2)}, nil); err != nil || n != 2 {
		t.Errorf("%d rows counted, %v; want 2", n, err)
	}
	if err := stmt.Close(); err != nil {
		t.Error(err)
	}
	if n, err := conn.QueryBytes([]byte("SELECT * FROM t; SELECT 1")); err != nil || n != 3 {
		t.Errorf("%d rows counted, %v; want 3", n, err)
	}
	if _, err := conn.Exec("COPY t FROM STDIN"); err == nil || !strings.Contains(err.Error(), "gives no data") {
		t.Errorf("the server asks for data: the error is %v", err)
	}
	for _, statement := range []string{"SELECT", "SELECT 1/0", "SELECT absent", "COPY t TO STDOUT", ""} {
		_, _ = conn.Exec(statement)
		if n, err := conn.Int("SELECT COUNT(*) FROM t"); err != nil || n != 3 {
			t.Errorf("after %q: %d, %v; want 3", statement, n, err)
		}
	}
}

// texts gives values as texts, the fourth quoted.
func texts(values []driver.Value) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = client.Text(v)
		if i == 3 {
			all[i] = fmt.Sprintf("%q", all[i])
		}
	}
	return all
}

func postgresWarnings(t *testing.T, target workload.Target) {
	conn := open(t, target)
	for _, test := range []struct{ statement, want string }{
		{"DROP TABLE IF EXISTS absent", ""}, // a notice
		{"CREATE TEMPORARY TABLE a (id INT)", ""},
		{"ROLLBACK", "Warning 25P01: there is no transaction in progress"},
		{"CREATE TABLE b (id ABSENT)", `type "absent" does not exist`},
	} {
		err := conn.DDL(test.statement)
		if got := fmt.Sprint(err); (test.want == "") != (err == nil) || !strings.Contains(got, test.want) && test.want != "" {
			t.Errorf("%s: the error is %v, want %q", test.statement, err, test.want)
		}
	}
}

// postgresPolicy checks the classes of errors, on errors of a real server.
func postgresPolicy(t *testing.T, target workload.Target) {
	one, two := open(t, target), open(t, target)
	execute(t, one, "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)")
	recorder := workload.NewRecorder("", workload.Hooks{})
	policy := client.NewPolicy(recorder, []string{"23505"})

	execute(t, one, "BEGIN", "UPDATE t SET n = 1 WHERE id = 1")
	_, lockWait := two.Exec("UPDATE t SET n = 2 WHERE id = 1")
	_, duplicate := two.Exec("INSERT INTO t VALUES (2, 0)")
	_, unknown := two.Exec("SELECT absent FROM t")

	execute(t, two, "BEGIN", "UPDATE t SET n = 2 WHERE id = 2")
	blocked := make(chan error)
	go func() {
		_, err := two.Exec("UPDATE t SET n = 2 WHERE id = 1")
		blocked <- err
	}()
	time.Sleep(20 * time.Millisecond)
	_, victim := one.Exec("UPDATE t SET n = 1 WHERE id = 2")
	execute(t, one, "ROLLBACK") // the other goes on then, if it is not the victim
	deadlock := <-blocked
	if victim != nil {
		deadlock = victim
	}
	execute(t, two, "ROLLBACK", "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT * FROM t")
	execute(t, one, "UPDATE t SET n = 3 WHERE id = 1")
	_, serialization := two.Exec("UPDATE t SET n = 4 WHERE id = 1")

	for _, test := range []struct {
		name string
		err  error
		want client.Verdict
	}{
		{"lock wait", lockWait, client.Again},
		{"deadlock", deadlock, client.Again},
		{"serialization failure", serialization, client.Again},
		{"allowed", duplicate, client.Skip},
		{"not allowed", unknown, client.Fail},
	} {
		if got, err := policy.Judge(test.err, 1); got != test.want {
			t.Errorf("%s: %v (%v), want %v; the error was %v", test.name, got, err, test.want, test.err)
		}
	}
	if !client.Duplicate(duplicate) || client.Duplicate(unknown) {
		t.Errorf("which error is of a duplicate row: %v, not %v", duplicate, unknown)
	}
	result := recorder.Result()
	for name, want := range map[string]float64{"lock_waits": 1, "deadlocks": 2, "errors": 1} {
		if got := workloadtest.Metric(t, result, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// postgresAllocations checks that nothing is allocated in steady state.
func postgresAllocations(t *testing.T, target workload.Target) {
	conn := open(t, target)
	rows, price := int64(100), 12.5
	stmt, err := conn.Prepare("SELECT n::text || 'abc' FROM generate_series(1, $1) AS n WHERE n > $2::float / 10")
	if err != nil {
		t.Fatal(err)
	}
	args := []driver.Value{&rows, &price}
	text := []byte("SELECT " + strings.Repeat("1 + ", 1000) + "1")
	if n, err := stmt.Query(args, nil); err != nil || n != 99 {
		t.Errorf("%d rows, %v; want 99", n, err)
	}
	for name, call := range map[string]func() (int64, error){
		"prepared": func() (int64, error) { return stmt.Query(args, nil) },
		"text":     func() (int64, error) { return conn.QueryBytes(text) },
	} {
		allocations := testing.AllocsPerRun(100, func() {
			if _, err := call(); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%s: %v allocations for each call", name, allocations)
		}
	}
}
