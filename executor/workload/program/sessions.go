package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// endTimeout bounds how long the server may take to end the sessions of an
// interrupted program.
const endTimeout = 10 * time.Second

// indexPatience is how long a statement that makes an index may go on in a server
// with MyRocks before it is killed: MariaDB 10.11 can die of a segmentation fault
// in ha_rocksdb::inplace_populate_sk when it is.
const indexPatience = endTimeout / 2

// EndSessions ends what an interrupted program has left in the server, in the
// database that is its own: a statement such as one that makes an index runs on
// without its client. It returns err, with what went wrong in ending them where
// ctx is what broke the program off; a server that failed with its program is
// somebody else's finding.
func EndSessions(ctx context.Context, t workload.Target, database string, err error) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	began := time.Now()
	end := client.Session(limited, t, "", func(conn *client.Conn) error {
		for {
			left, err := endOnce(conn, database, time.Since(began) < indexPatience)
			if err != nil || left == 0 {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	if end != nil && ctx.Err() != nil {
		return errors.Join(err, fmt.Errorf("ending its sessions: %w", end))
	}
	return err
}

// endOnce tells all sessions in a database to end and returns how many there
// were. With patience those are left alone that make an index for MyRocks.
func endOnce(conn *client.Conn, database string, patience bool) (int, error) {
	if conn.Postgres() {
		// What the server does there by itself, such as a vacuum, has no
		// client. The function takes time to have its effect.
		_, rows, err := conn.Rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity" +
			" WHERE datname = '" + database + "' AND client_port IS NOT NULL AND pid <> pg_backend_pid()")
		return len(rows), err
	}
	_, rows, err := conn.Rows("SELECT id, info LIKE 'CREATE INDEX%' OR info LIKE 'ALTER TABLE%'," +
		" EXISTS (SELECT * FROM information_schema.engines WHERE engine = 'ROCKSDB' AND support IN ('YES', 'DEFAULT'))" +
		" FROM information_schema.processlist WHERE db = '" + database + "' AND id <> CONNECTION_ID()")
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if patience && row[1] == "1" && row[2] == "1" {
			continue
		}
		// One that has ended by itself meanwhile is no fault.
		_, _ = conn.Exec("KILL " + row[0])
	}
	return len(rows), nil
}
