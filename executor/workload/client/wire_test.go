package client_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// TestMySQL is for the protocol of the other flavour.
func TestMySQL(t *testing.T) {
	wire(t, workloadtest.StartMySQL(t, "--max_allowed_packet=64M"))
}

// wire compares statements whose rows are counted with the same by way of the
// driver.
func wire(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE DATABASE d CHARACTER SET latin1", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20000), b DOUBLE, c LONGTEXT)",
		"INSERT INTO t VALUES (1, '', 1.5, NULL), (2, NULL, NULL, REPEAT('x', 300)), (3, REPEAT('y', 20000), 3, REPEAT('z', 70000)), (4, 'a', -1e300, REPEAT('w', 17000000))")
	long := strings.Repeat("p", 100000)
	for _, test := range []struct {
		statement string
		args      []driver.Value
	}{
		{"SELECT 1", nil},
		{"SELECT NULL, 1 UNION ALL SELECT '', 2 UNION ALL SELECT NULL, NULL", nil},
		{"SELECT * FROM t WHERE id < 4", nil},
		{"SELECT * FROM t", nil}, // a row of more than one packet
		{"SELECT c, id FROM t ORDER BY id DESC", nil},
		{"SELECT * FROM t WHERE id > 10", nil},
		{"SELECT id FROM t WHERE id IN (?, ?)", []driver.Value{int64(2), int64(3)}},
		{"SELECT id FROM t WHERE a = ? OR b > ?", []driver.Value{"a", 1.25}},
		{"SELECT id FROM t WHERE a <=> ? AND ? = ? AND b <=> ?", []driver.Value{nil, []byte(long), long, nil}},
		{"SELECT " + strings.Repeat("1,", 300) + "1 FROM t", nil}, // a count of columns in three bytes
	} {
		stmt, err := conn.Prepare(test.statement)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stmt.Query(test.args, func([]driver.Value) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time the columns are known
			if got, err := stmt.Query(test.args, nil); got != want || err != nil {
				t.Errorf("%.60s, prepared: %d rows, %v; want %d", test.statement, got, err, want)
			}
		}
		if test.args == nil {
			if got, err := conn.QueryBytes([]byte(test.statement)); got != want || err != nil {
				t.Errorf("%.60s: %d rows, %v; want %d", test.statement, got, err, want)
			}
		}
		if err := stmt.Close(); err != nil {
			t.Error(err)
		}
	}
	wireChanges(t, conn)
	wireFailures(t, conn)
}

func wireChanges(t *testing.T, conn *client.Conn) {
	stmt, err := conn.Prepare("UPDATE t SET b = ? WHERE id <= ?")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{2, 0} { // the second time nothing changes
		if got, err := stmt.Exec([]driver.Value{7.0, int64(2)}); got != want || err != nil {
			t.Errorf("%d rows were changed, %v; want %d", got, err, want)
		}
	}
	if got, err := conn.ExecBytes([]byte("UPDATE t SET b = b + 1 WHERE id < 4")); got != 3 || err != nil {
		t.Errorf("%d rows were changed, %v; want 3", got, err)
	}
	if got, err := conn.ExecBytes([]byte("UPDATE t SET c = '" + strings.Repeat("v", 1<<24) + "' WHERE id = 1")); got != 1 || err != nil {
		t.Errorf("%d rows were changed by a statement of more than one packet, %v; want 1", got, err)
	}
	// Of several results the first with rows counts; all are read.
	rows, err := conn.QueryBytes([]byte("SET @a = 1; SELECT id FROM t WHERE id < 3; SELECT id FROM t WHERE id < 2; COMMIT"))
	if rows != 2 || err != nil {
		t.Errorf("of several results: %d rows, %v; want 2", rows, err)
	}
	if n, err := conn.Int("SELECT COUNT(*) FROM t"); n != 4 || err != nil {
		t.Errorf("after several results: %d, %v; want 4", n, err)
	}
}

// wireFailures checks that errors are those of the driver, and that the
// connection is of use afterwards.
func wireFailures(t *testing.T, conn *client.Conn) {
	for _, statement := range []string{"SELECT absent FROM t", "SELECT 1; SELECT absent FROM t", "SELECT (SELECT id FROM t)", "INSERT INTO t (id) VALUES (1)"} {
		_, want := conn.Query(statement, nil)
		_, got := conn.QueryBytes([]byte(statement))
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Errorf("%s (-driver +wire):\n%s", statement, diff)
		}
		if server := new(mysql.MySQLError); !errors.As(got, &server) {
			t.Errorf("%s: the error %v is not the server's", statement, got)
		}
	}
	if _, err := conn.Prepare("SELECT absent FROM t"); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("preparing: the error is %v", err)
	}
	stmt, err := conn.Prepare("SELECT id FROM t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]driver.Value{{true}, {strings.Repeat("x", 1<<24)}} {
		if _, err := stmt.Query(args, nil); err == nil {
			t.Errorf("an argument that cannot be sent: %.20v", args)
		}
	}
	if n, err := stmt.Query([]driver.Value{int64(1)}, nil); n != 1 || err != nil {
		t.Errorf("after the errors: %d rows, %v; want 1", n, err)
	}
}

// wireAllocations holds queries to no allocation at all.
func wireAllocations(t *testing.T, target workload.Target) {
	conn := open(t, target)
	execute(t, conn, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))",
		"INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')")
	stmt, err := conn.Prepare("SELECT id, name FROM t WHERE id < ?")
	if err != nil {
		t.Fatal(err)
	}
	text, args := []byte("SELECT id, name FROM t"), []driver.Value{int64(3)}
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := conn.QueryBytes(text); err != nil {
			t.Error(err)
		}
		if _, err := stmt.Query(args, nil); err != nil {
			t.Error(err)
		}
	})
	if allocations > 0 {
		t.Errorf("two queries took %v allocations", allocations)
	}
}
