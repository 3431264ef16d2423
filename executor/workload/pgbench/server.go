package pgbench

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"dbmatrix/executor/workload/client"
)

// socketPlace splits the path of a socket, .../.s.PGSQL.5432, as PostgreSQL's
// clients want it.
func socketPlace(socket string) (dir, port string) {
	return filepath.Dir(socket), strings.TrimPrefix(filepath.Ext(socket), ".")
}

// send runs statements, one after the other.
func send(conn *client.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// major returns the first number of the server's version.
func major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// walPosition is the server's question for how much was written to its log, in
// bytes since the start of the log. Version 10 renamed it.
func walPosition(version string) string {
	if major(version) < 10 {
		return "SELECT pg_xlog_location_diff(pg_current_xlog_insert_location(), '0/0')::text"
	}
	return "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text"
}

// walBytes returns the insert position of the write-ahead log.
func walBytes(conn *client.Conn, version string) (int64, error) {
	position, err := conn.Int(walPosition(version))
	if err != nil {
		return 0, fmt.Errorf("asking for the position of the write-ahead log: %w", err)
	}
	return position, nil
}
