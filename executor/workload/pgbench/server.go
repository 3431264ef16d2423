package pgbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dbmatrix/executor/workload"
)

// applicationName is what our own sessions are known by in the server.
const applicationName = "dbmatrix"

// connectTimeout bounds the making of a connection: a server that is there
// answers within milliseconds.
const connectTimeout = 30 * time.Second

// socketPlace splits the path of a socket, .../.s.PGSQL.5432, as PostgreSQL's
// clients want it.
func socketPlace(socket string) (dir, port string) {
	return filepath.Dir(socket), strings.TrimPrefix(filepath.Ext(socket), ".")
}

// session opens a connection for one piece of work. Variables such as PGOPTIONS
// have no effect on it.
func session(ctx context.Context, t workload.Target, database string, work func(*pgx.Conn) error) error {
	dir, port := socketPlace(t.Socket)
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("the socket %s has no port in its name", t.Socket)
	}
	cfg, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", t.Socket, err)
	}
	cfg.Host, cfg.Port, cfg.User, cfg.Password, cfg.Database = dir, uint16(number), t.User, "", database
	cfg.RuntimeParams = map[string]string{"application_name": applicationName}
	cfg.Fallbacks, cfg.TLSConfig, cfg.ValidateConnect = nil, nil, nil
	cfg.ConnectTimeout = connectTimeout
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err == nil {
		defer conn.Close(context.WithoutCancel(ctx))
		err = work(conn)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// send runs statements, one after the other.
func send(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
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
func walBytes(ctx context.Context, conn *pgx.Conn, version string) (int64, error) {
	var text string
	if err := conn.QueryRow(ctx, walPosition(version)).Scan(&text); err != nil {
		return 0, fmt.Errorf("asking for the position of the write-ahead log: %w", err)
	}
	position, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the position of the write-ahead log is %q: %w", text, err)
	}
	return position, nil
}

// bindir returns the folder of the programs that were installed with the server,
// as the server itself names it, or "" where it does not (before 9.6).
func bindir(ctx context.Context, conn *pgx.Conn) string {
	var dir string
	if err := conn.QueryRow(ctx, "SELECT setting FROM pg_config WHERE name = 'BINDIR'").Scan(&dir); err != nil {
		return ""
	}
	return dir
}

// endTimeout bounds how long the server may take to end the sessions of an
// interrupted program.
const endTimeout = 10 * time.Second

// endSessions ends what an interrupted program has left in the server: a
// statement such as one that makes an index runs on without its client.
func endSessions(ctx context.Context, t workload.Target) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return session(ctx, t, "postgres", func(conn *pgx.Conn) error {
		for {
			var left int
			err := conn.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"+
				" WHERE datname = '"+database+"' AND application_name IN ('pgbench', '"+applicationName+"')").Scan(&left)
			if err != nil || left == 0 {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%d sessions of the program do not end in the server", left)
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
}

// after adds to the error of an interrupted piece of work what went wrong in
// cleaning up after it.
func after(ctx context.Context, t workload.Target, err error) error {
	if err == nil {
		return nil
	}
	if end := endSessions(ctx, t); end != nil && ctx.Err() != nil {
		return errors.Join(err, fmt.Errorf("ending its sessions: %w", end))
	}
	return err
}
