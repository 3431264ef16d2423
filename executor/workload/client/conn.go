package client

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// handshakeTimeout bounds each read and write while a connection is made. A
// server that is there answers within milliseconds; one that is stopped or out
// of connections must not hold up the phase for good.
const handshakeTimeout = 30 * time.Second

// A Conn is one connection to a server. One goroutine uses it, except for
// Interrupt.
type Conn struct {
	protocol protocol
	socket   *socket
	target   workload.Target
	id       uint64
}

// A protocol is how a server is spoken to: that of MySQL and MariaDB, or that of
// PostgreSQL.
type protocol interface {
	// begin sets up the session and returns the number that the server gave
	// to it. What it may take is clear then, and what a mode of the server
	// would let pass silently is an error.
	begin() (id uint64, err error)

	exec(statement string) (affected int64, err error)

	// run runs a statement in a buffer that the caller goes on to use. It
	// returns how many rows were affected, and how many there are in the
	// first result that has rows.
	run(statement []byte) (affected, rows int64, err error)

	// query calls head with the names of the columns, and row with the
	// values of each row, valid until it returns. Either may be nil.
	query(statement string, head func(columns []string), row func([]driver.Value) error) (rows int64, err error)

	// last returns the last column of the last row that run read.
	last() (int64, error)

	// beginNext begins a transaction, at the latest with the next prepared
	// statement.
	beginNext() error

	prepare(statement string) (prepared, error)

	// warnings returns those of the last statement.
	warnings() (Warnings, error)

	close() error
}

// prepared is a protocol's statement that the server has prepared.
type prepared interface {
	run(args []driver.Value) (affected, rows int64, err error)
	query(args []driver.Value, row func([]driver.Value) error) (rows int64, err error)
	last() (int64, error) // as protocol has it
	close() error
}

// Open connects to the target's server. database may be empty.
func Open(ctx context.Context, t workload.Target, database string) (*Conn, error) {
	return open(ctx, t, database, 0)
}

// open connects; no single read or write on the connection may then take
// longer than timeout, 0 being no bound.
func open(ctx context.Context, t workload.Target, database string, timeout time.Duration) (*Conn, error) {
	connect := connectMySQL
	if t.Flavour == "postgres" {
		connect = connectPostgres
	}
	c := &Conn{target: t}
	var err error
	if c.protocol, c.socket, err = connect(ctx, t, database); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if classOf(err) == tooManyConnections {
			err = fmt.Errorf("%w; raise max_connections in the server's options, or use fewer clients", err)
		}
		return nil, fmt.Errorf("connecting to %s: %w", t.Socket, err)
	}
	if c.id, err = c.protocol.begin(); err == nil {
		err = c.socket.setTimeout(timeout)
	}
	if err != nil {
		c.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("connecting to %s: %w", t.Socket, err)
	}
	return c, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.protocol.close() }

// Interrupt makes the call that waits on the connection return with an error,
// and all later ones too. Any goroutine may call it. The server's side goes on
// until it is killed, see Run.
func (c *Conn) Interrupt() { c.socket.Close() }

// ID returns the number that the server gave to the connection.
func (c *Conn) ID() uint64 { return c.id }

// Postgres reports whether the server is PostgreSQL, which understands other
// statements than MySQL and MariaDB do.
func (c *Conn) Postgres() bool { return c.target.Flavour == "postgres" }

// Exec runs a statement that yields no rows and returns how many it affected.
func (c *Conn) Exec(statement string) (int64, error) { return c.protocol.exec(statement) }

// ExecBytes is Exec of a statement in a buffer that the caller goes on to use.
func (c *Conn) ExecBytes(statement []byte) (int64, error) {
	affected, _, err := c.protocol.run(statement)
	return affected, err
}

// Query runs a statement and reads all of its rows. It calls row for each of
// them, unless that is nil; the values are valid until it returns.
func (c *Conn) Query(statement string, row func([]driver.Value) error) (int64, error) {
	return c.protocol.query(statement, nil, row)
}

// QueryBytes runs a statement in a buffer that the caller goes on to use, and
// reads and counts the rows of its first result set.
func (c *Conn) QueryBytes(statement []byte) (int64, error) {
	_, rows, err := c.protocol.run(statement)
	return rows, err
}

// QueryLast is QueryBytes of a statement whose last column is a whole number of 8
// bytes: it also returns that of the last row, 0 where there is none.
func (c *Conn) QueryLast(statement []byte) (rows, last int64, err error) {
	_, rows, err = c.protocol.run(statement)
	if err == nil && rows > 0 {
		last, err = c.protocol.last()
	}
	return rows, last, err
}

// Begin begins a transaction. PostgreSQL is told so in the round trip of the next
// prepared statement.
func (c *Conn) Begin() error { return c.protocol.beginNext() }

// Rows returns the rows of a statement as text; NULL is "NULL".
func (c *Conn) Rows(statement string) (columns []string, rows [][]string, err error) {
	head := func(names []string) { columns = names }
	_, err = c.protocol.query(statement, head, func(values []driver.Value) error {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = Text(v)
		}
		rows = append(rows, row)
		return nil
	})
	return columns, rows, err
}

// Text returns the first column of the first row as text. Where there is no
// row that is an error.
func (c *Conn) Text(statement string) (string, error) {
	_, rows, err := c.Rows(statement)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("%s: no row", workload.Line(statement))
	}
	return rows[0][0], nil
}

// Int is Text for a whole number.
func (c *Conn) Int(statement string) (int64, error) {
	s, err := c.Text(statement)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is no whole number", workload.Line(statement), s)
	}
	return n, nil
}

// Text gives a value as the server would print it.
func Text(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// DDL runs a statement that defines something. A warning is an error: the
// server took the statement, but not as it was written. Notes are not.
func (c *Conn) DDL(statement string) error {
	if _, err := c.Exec(statement); err != nil {
		return fmt.Errorf("%s: %w", workload.Line(statement), err)
	}
	warnings, err := c.Warnings()
	if err != nil {
		return fmt.Errorf("%s: %w", workload.Line(statement), err)
	}
	if len(warnings) > 0 {
		return fmt.Errorf("%s: %w", workload.Line(statement), warnings)
	}
	return nil
}

// Warnings are what the server says of a statement that it took. As an error
// they are all of it.
type Warnings []Warning

// A Warning is one of them, of the level Warning or Error. Its code is the number
// of MySQL and MariaDB, or the SQLSTATE of PostgreSQL.
type Warning struct {
	Level, Code, Message string
}

// Error tells all warnings.
func (w Warnings) Error() string {
	texts := make([]string, len(w))
	for i, one := range w {
		texts[i] = fmt.Sprintf("%s %s: %s", one.Level, one.Code, one.Message)
	}
	return "the server warns: " + strings.Join(texts, "; ")
}

// Warnings returns what the server says of the last statement, notes left out.
func (c *Conn) Warnings() (Warnings, error) { return c.protocol.warnings() }

// A Stmt is a statement prepared in the server.
type Stmt struct{ prepared prepared }

// Prepare prepares a statement in the server. Its arguments may be int64,
// float64, string, []byte and nil; or *int64 and *float64, with which statements
// whose rows are only counted allocate nothing. They are written ? in MySQL and
// MariaDB, $1, $2 and so on in PostgreSQL.
func (c *Conn) Prepare(statement string) (*Stmt, error) {
	p, err := c.protocol.prepare(statement)
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", workload.Line(statement), err)
	}
	return &Stmt{p}, nil
}

// Exec runs the statement and returns how many rows it affected.
func (s *Stmt) Exec(args []driver.Value) (int64, error) {
	affected, _, err := s.prepared.run(args)
	return affected, err
}

// Query runs the statement and reads all of its rows, as Conn.Query does.
func (s *Stmt) Query(args []driver.Value, row func([]driver.Value) error) (int64, error) {
	if row == nil {
		_, rows, err := s.prepared.run(args)
		return rows, err
	}
	return s.prepared.query(args, row)
}

// QueryLast runs the statement and counts its rows, as Conn.QueryLast does.
func (s *Stmt) QueryLast(args []driver.Value) (rows, last int64, err error) {
	_, rows, err = s.prepared.run(args)
	if err == nil && rows > 0 {
		last, err = s.prepared.last()
	}
	return rows, last, err
}

// Close gives the statement back to the server.
func (s *Stmt) Close() error { return s.prepared.close() }
