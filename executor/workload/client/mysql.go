package client

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"unsafe"

	"github.com/go-sql-driver/mysql"

	"dbmatrix/executor/workload"
)

// mysqlSession is the protocol of MySQL and MariaDB: the driver's connection and,
// for statements whose rows are only counted, the wire beside it.
type mysqlSession struct {
	raw  driverConn
	wire *wire
	dest []driver.Value // one row
}

// driverConn is what the driver's connection can do beyond driver.Conn: calls
// that take no context, for which the driver starts no watching.
type driverConn interface {
	driver.Conn
	Exec(query string, args []driver.Value) (driver.Result, error)
	Query(query string, args []driver.Value) (driver.Rows, error)
}

func connectMySQL(ctx context.Context, t workload.Target, database string) (protocol, *socket, error) {
	var s *socket
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName = t.User, database
	cfg.Net, cfg.Addr = "unix", t.Socket
	cfg.CheckConnLiveness = false // nothing is pooled here
	cfg.MultiStatements = true    // a COMMIT may go with the last statement of its transaction
	cfg.Logger = &mysql.NopLogger{}
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		var err error
		s, err = dialSocket(t.Socket, handshakeTimeout)
		return s, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	calls, ok := raw.(driverConn)
	if !ok {
		return nil, nil, workload.Join(errors.New("the MySQL driver's connection has no calls without a context"), raw.Close())
	}
	w, err := newWire(s)
	if err != nil {
		return nil, nil, workload.Join(err, raw.Close())
	}
	return &mysqlSession{raw: calls, wire: w}, s, nil
}

func (m *mysqlSession) begin() (uint64, error) {
	// The server's own modes stay; its autocommit may be off, and then what
	// a workload inserts would never be there.
	if _, err := m.exec("SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'), SESSION autocommit = 1"); err != nil {
		return 0, err
	}
	var id uint64
	_, err := m.query("SELECT CONNECTION_ID()", nil, func(row []driver.Value) (err error) {
		id, err = strconv.ParseUint(Text(row[0]), 10, 64)
		return err
	})
	return id, err
}

func (m *mysqlSession) close() error { return m.raw.Close() }

func (m *mysqlSession) exec(statement string) (int64, error) {
	result, err := m.raw.Exec(statement, nil)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (m *mysqlSession) run(statement []byte) (affected, rows int64, err error) {
	if len(statement) >= maxPacket-1 {
		// The driver sends it in several packets. It copies the statement
		// into its own buffer before it returns.
		affected, err = m.exec(unsafe.String(unsafe.SliceData(statement), len(statement)))
		return affected, 0, err
	}
	return m.wire.query(statement)
}

func (m *mysqlSession) query(statement string, head func([]string), row func([]driver.Value) error) (int64, error) {
	rows, err := m.raw.Query(statement, nil)
	if err != nil {
		return 0, err
	}
	columns := rows.Columns()
	if head != nil {
		head(columns)
	}
	return m.read(rows, len(columns), row)
}

// read takes all rows and returns how many there were.
func (m *mysqlSession) read(rows driver.Rows, columns int, row func([]driver.Value) error) (int64, error) {
	if columns > len(m.dest) {
		m.dest = make([]driver.Value, columns)
	}
	dest := m.dest[:columns]
	var n int64
	for {
		err := rows.Next(dest)
		if err == io.EOF {
			break
		}
		if err == nil && row != nil {
			err = row(dest)
		}
		if err != nil {
			return n, workload.Join(err, rows.Close())
		}
		n++
	}
	return n, rows.Close()
}

func (m *mysqlSession) last() (int64, error) { return m.wire.lastText() }

func (m *mysqlSession) beginNext() error {
	_, err := m.exec("BEGIN")
	return err
}

func (m *mysqlSession) warnings() (Warnings, error) {
	var warnings Warnings
	_, err := m.query("SHOW WARNINGS", nil, func(row []driver.Value) error {
		if len(row) < 3 {
			return errMalformed
		}
		if level := Text(row[0]); level != "Note" {
			warnings = append(warnings, Warning{level, Text(row[1]), Text(row[2])})
		}
		return nil
	})
	return warnings, err
}

// A mysqlStatement is prepared by way of the wire and, the first time that its
// rows are to be looked at, once more by way of the driver.
type mysqlStatement struct {
	session *mysqlSession
	text    string
	id      uint32

	raw     stmtCalls
	columns int // of its rows: asking each time costs
}

// stmtCalls are the driver's calls on a statement that take no context.
type stmtCalls interface {
	driver.Stmt
	Query(args []driver.Value) (driver.Rows, error)
}

func (m *mysqlSession) prepare(statement string) (prepared, error) {
	id, err := m.wire.prepare(statement)
	if err != nil {
		return nil, err
	}
	return &mysqlStatement{session: m, text: statement, id: id}, nil
}

func (s *mysqlStatement) run(args []driver.Value) (affected, rows int64, err error) {
	return s.session.wire.execute(s.id, args)
}

func (s *mysqlStatement) last() (int64, error) { return s.session.wire.lastBinary() }

func (s *mysqlStatement) query(args []driver.Value, row func([]driver.Value) error) (int64, error) {
	if err := s.prepareRows(); err != nil {
		return 0, err
	}
	rows, err := s.raw.Query(args)
	if err != nil {
		return 0, err
	}
	if s.columns < 0 {
		s.columns = len(rows.Columns())
	}
	return s.session.read(rows, s.columns, row)
}

// prepareRows prepares the statement by way of the driver, unless it is.
func (s *mysqlStatement) prepareRows() error {
	if s.raw != nil {
		return nil
	}
	raw, err := s.session.raw.Prepare(s.text)
	if err != nil {
		return fmt.Errorf("preparing %s: %w", s.text, err)
	}
	calls, ok := raw.(stmtCalls)
	if !ok {
		return workload.Join(errors.New("the MySQL driver's statement has no calls without a context"), raw.Close())
	}
	s.raw, s.columns = calls, -1
	return nil
}

func (s *mysqlStatement) close() error {
	err := s.session.wire.closeStatement(s.id)
	if s.raw != nil {
		err = workload.Join(err, s.raw.Close())
	}
	return err
}
