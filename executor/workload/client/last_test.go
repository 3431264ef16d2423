package client_test

import (
	"database/sql/driver"
	"fmt"
	"math"
	"testing"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// TestLast reads the last column of the last row beside the driver, and begins
// transactions with a statement, on both protocols.
func TestLast(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) workload.Target{
		"MariaDB": workloadtest.Start, "PostgreSQL": workloadtest.StartPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			conn := open(t, start(t))
			parameter := "?"
			if conn.Postgres() {
				parameter = "$1"
				execute(t, conn, "CREATE SCHEMA d")
			} else {
				execute(t, conn, "CREATE DATABASE d")
			}
			execute(t, conn, "CREATE TABLE d.t (id INT PRIMARY KEY, name TEXT, n BIGINT NOT NULL)")
			lastRows(t, conn, parameter)
			begins(t, conn, parameter)
		})
	}
}

func lastRows(t *testing.T, conn *client.Conn, parameter string) {
	stmt, err := conn.Prepare("SELECT id, name, n FROM d.t WHERE id < " + parameter + " ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	// Rows of more than a buffer, and of next to nothing.
	for i, n := range []int64{0, 7, -1, 1234567890123, math.MaxInt64, math.MinInt64, 42} {
		id, size := i+1, []int{0, 1, 8000, 3}[i%4]
		execute(t, conn, fmt.Sprintf("INSERT INTO d.t VALUES (%d, REPEAT('x', %d), %d)", id, size, n))
		rows, last, err := conn.QueryLast([]byte("SELECT id, name, n FROM d.t ORDER BY id"))
		if rows != int64(id) || last != n || err != nil {
			t.Errorf("text: %d rows, the last with %d, %v; want %d with %d", rows, last, err, id, n)
		}
		if rows, last, err = stmt.QueryLast([]driver.Value{int64(100)}); rows != int64(id) || last != n || err != nil {
			t.Errorf("prepared: %d rows, the last with %d, %v; want %d with %d", rows, last, err, id, n)
		}
	}
	if rows, last, err := stmt.QueryLast([]driver.Value{int64(0)}); rows != 0 || last != 0 || err != nil {
		t.Errorf("of none: %d rows, the last with %d, %v", rows, last, err)
	}
	if _, _, err := conn.QueryLast([]byte("SELECT absent")); err == nil {
		t.Error("a query that the server refuses has a last row")
	}
	args := []driver.Value{int64(100)}
	if allocations := testing.AllocsPerRun(100, func() { _, _, _ = stmt.QueryLast(args) }); allocations > 0 {
		t.Errorf("a query took %v allocations", allocations)
	}
}

// begins rolls back what a statement began.
func begins(t *testing.T, conn *client.Conn, parameter string) {
	remove, err := conn.Prepare("DELETE FROM d.t WHERE id = " + parameter)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		end  string
		want string
	}{{"ROLLBACK", "7"}, {"COMMIT", "6"}} {
		if err := conn.Begin(); err != nil {
			t.Fatal(err)
		}
		if n, err := remove.Exec([]driver.Value{int64(1)}); n != 1 || err != nil {
			t.Fatalf("%d rows were removed, %v", n, err)
		}
		execute(t, conn, test.end)
		if got, err := conn.Text("SELECT COUNT(*) FROM d.t"); got != test.want || err != nil {
			t.Errorf("after %s there are %s rows, %v; want %s", test.end, got, err, test.want)
		}
	}
}
