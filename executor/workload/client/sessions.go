package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// EndTimeout bounds how long sessions may take to end in the server, and each
// answer of a server that is asked to end them.
const EndTimeout = 10 * time.Second

// indexPatience is how long a statement that makes an index may go on in a server
// with MyRocks before it is killed: MariaDB 10.11 can die of a segmentation fault
// in ha_rocksdb::inplace_populate_sk when it is.
const indexPatience = EndTimeout / 2

// endPoll is how often the server is asked whether sessions have ended.
const endPoll = 10 * time.Millisecond

// errStillThere says that sessions did not end in time.
var errStillThere = errors.New("they have not ended in the server")

// EndSessions ends all sessions of others in a database, which is that of a
// program that was interrupted, and waits until they have ended: a statement such
// as one that makes an index runs on without its client.
func EndSessions(ctx context.Context, t workload.Target, database string) error {
	ctx, cancel := context.WithTimeout(ctx, EndTimeout)
	defer cancel()
	return Session(ctx, t, "", func(c *Conn) error {
		_, err := endAll(ctx, c, othersIn(c, database))
		return err
	})
}

// CountSessions returns how many sessions of others there are in a database.
func CountSessions(ctx context.Context, t workload.Target, database string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, EndTimeout)
	defer cancel()
	err = Session(ctx, t, "", func(c *Conn) error {
		list := "information_schema.processlist"
		if c.Postgres() {
			list = "pg_stat_activity"
		}
		n, err = c.Int("SELECT COUNT(*) FROM " + list + " WHERE " + othersIn(c, database))
		return err
	})
	return n, err
}

// othersIn is a condition on pg_stat_activity or on MySQL's processlist that holds
// of the sessions of others in a database.
func othersIn(c *Conn, database string) string {
	if c.Postgres() {
		// What the server does there by itself, such as a vacuum, has no client.
		return "datname = '" + database + "' AND client_port IS NOT NULL AND pid <> pg_backend_pid()"
	}
	return "db = '" + database + "' AND id <> CONNECTION_ID()"
}

// endOf ends those of the connections that are still there, and waits until they
// have ended. A server that is gone, or does not answer, is somebody else's
// finding: it is no error here.
func endOf(workers []Worker) error {
	if len(workers) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), EndTimeout)
	defer cancel()
	c, err := open(ctx, workers[0].Conn.target, "", EndTimeout)
	if err != nil {
		return nil
	}
	defer c.Close()
	var ids []string
	for _, w := range workers {
		for _, conn := range w.conns() {
			ids = append(ids, fmt.Sprint(conn.id))
		}
	}
	which := "id IN (" + strings.Join(ids, ",") + ")"
	if c.Postgres() { // which may have given the number to somebody else by now
		which = "pid IN (" + strings.Join(ids, ",") + ") AND application_name = '" + applicationName + "'"
	}
	if n, err := endAll(ctx, c, which); errors.Is(err, errStillThere) {
		return fmt.Errorf("%d interrupted statements still run in the server after %s", n, EndTimeout)
	}
	return nil
}

// endAll tells the sessions that the condition holds of to end, again and again
// until there are none. It returns how many there were at last: some only where
// the error is errStillThere.
func endAll(ctx context.Context, c *Conn, which string) (int, error) {
	for began := time.Now(); ; {
		left, err := endOnce(c, which, time.Since(began) < indexPatience)
		if err != nil || left == 0 {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return left, errStillThere
		case <-time.After(endPoll):
		}
	}
}

// endOnce tells the sessions to end that a condition on pg_stat_activity or on
// MySQL's processlist holds of, and returns how many they were. With patience
// those are left alone that make an index for MyRocks.
func endOnce(c *Conn, which string, patience bool) (int, error) {
	if c.Postgres() {
		// The function takes time to have its effect.
		_, rows, err := c.Rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE " + which)
		return len(rows), err
	}
	_, rows, err := c.Rows("SELECT id, info LIKE 'CREATE INDEX%' OR info LIKE 'ALTER TABLE%'," +
		" EXISTS (SELECT * FROM information_schema.engines WHERE engine = 'ROCKSDB' AND support IN ('YES', 'DEFAULT'))" +
		" FROM information_schema.processlist WHERE " + which)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if patience && row[1] == "1" && row[2] == "1" {
			continue
		}
		// One that has ended by itself meanwhile is no fault.
		_, _ = c.Exec("KILL " + row[0])
	}
	return len(rows), nil
}
