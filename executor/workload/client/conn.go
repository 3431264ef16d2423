package client

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/go-sql-driver/mysql"

	"dbmatrix/executor/workload"
)

// handshakeTimeout bounds each read and write while a connection is made. A
// server that is there answers within milliseconds; one that is stopped or out
// of connections must not hold up the phase for good.
const handshakeTimeout = 30 * time.Second

// A Conn is one connection to a MySQL or MariaDB server. One goroutine uses it,
// except for Interrupt.
type Conn struct {
	raw    driverConn
	socket *socket
	wire   *wire
	target workload.Target
	id     uint64
	dest   []driver.Value // one row
}

// driverConn is what the driver's connection can do beyond driver.Conn: calls
// that take no context, for which the driver starts no watching.
type driverConn interface {
	driver.Conn
	Exec(query string, args []driver.Value) (driver.Result, error)
	Query(query string, args []driver.Value) (driver.Rows, error)
}

// Open connects to the target's server. database may be empty.
func Open(ctx context.Context, t workload.Target, database string) (*Conn, error) {
	return open(ctx, t, database, 0)
}

// open connects; no single read or write on the connection may then take
// longer than timeout, 0 being no bound.
func open(ctx context.Context, t workload.Target, database string, timeout time.Duration) (*Conn, error) {
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
		return nil, fmt.Errorf("connecting to %s: %w", t.Socket, err)
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if number(err) == tooManyConnections {
			err = fmt.Errorf("%w; raise max_connections in my_cnf, or use fewer clients", err)
		}
		return nil, fmt.Errorf("connecting to %s: %w", t.Socket, err)
	}
	calls, ok := raw.(driverConn)
	if !ok {
		raw.Close()
		return nil, errors.New("connecting: the MySQL driver's connection has no calls without a context")
	}
	c := &Conn{raw: calls, socket: s, target: t}
	if c.wire, err = newWire(s); err == nil {
		err = c.begin(timeout)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("connecting to %s: %w", t.Socket, err)
	}
	return c, nil
}

// begin sets up the session: what it may take is clear, and what a mode of the
// server would let pass silently is an error.
func (c *Conn) begin(timeout time.Duration) error {
	id, err := c.Text("SELECT CONNECTION_ID()")
	if err != nil {
		return err
	}
	if c.id, err = strconv.ParseUint(id, 10, 64); err != nil {
		return fmt.Errorf("connection id %q: %w", id, err)
	}
	// The server's own modes stay; its autocommit may be off, and then what
	// a workload inserts would never be there.
	if _, err := c.Exec("SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'), SESSION autocommit = 1"); err != nil {
		return err
	}
	return c.socket.setTimeout(timeout)
}

// Close ends the connection.
func (c *Conn) Close() error { return c.raw.Close() }

// Interrupt makes the call that waits on the connection return with an error,
// and all later ones too. Any goroutine may call it. The server's side goes on
// until it is killed, see Run.
func (c *Conn) Interrupt() { c.socket.Close() }

// ID returns the number that the server gave to the connection.
func (c *Conn) ID() uint64 { return c.id }

// Exec runs a statement that yields no rows and returns how many it affected.
func (c *Conn) Exec(statement string) (int64, error) {
	result, err := c.raw.Exec(statement, nil)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// ExecBytes is Exec of a statement in a buffer that the caller goes on to use.
func (c *Conn) ExecBytes(statement []byte) (int64, error) {
	if len(statement) >= maxPacket-1 {
		// The driver sends it in several packets. It copies the statement
		// into its own buffer before it returns.
		return c.Exec(unsafe.String(unsafe.SliceData(statement), len(statement)))
	}
	affected, _, err := c.wire.query(statement)
	return affected, err
}

// Query runs a statement and reads all of its rows. It calls row for each of
// them, unless that is nil; the values are valid until it returns.
func (c *Conn) Query(statement string, row func([]driver.Value) error) (int64, error) {
	rows, err := c.raw.Query(statement, nil)
	if err != nil {
		return 0, err
	}
	return c.read(rows, len(rows.Columns()), row)
}

// QueryBytes runs a statement in a buffer that the caller goes on to use, and
// reads and counts the rows of its first result set.
func (c *Conn) QueryBytes(statement []byte) (int64, error) {
	_, rows, err := c.wire.query(statement)
	return rows, err
}

// read takes all rows and returns how many there were.
func (c *Conn) read(rows driver.Rows, columns int, row func([]driver.Value) error) (int64, error) {
	if columns > len(c.dest) {
		c.dest = make([]driver.Value, columns)
	}
	dest := c.dest[:columns]
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
			return n, errors.Join(err, rows.Close())
		}
		n++
	}
	return n, rows.Close()
}

// Rows returns the rows of a statement as text; NULL is "NULL".
func (c *Conn) Rows(statement string) (columns []string, rows [][]string, err error) {
	r, err := c.raw.Query(statement, nil)
	if err != nil {
		return nil, nil, err
	}
	columns = r.Columns()
	_, err = c.read(r, len(columns), func(values []driver.Value) error {
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
		return "", fmt.Errorf("%s: no row", statement)
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
		return 0, fmt.Errorf("%s: %q is no whole number", statement, s)
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
		return fmt.Errorf("%s: %w", statement, err)
	}
	warnings, err := c.Warnings()
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	if len(warnings) > 0 {
		return fmt.Errorf("%s: %w", statement, warnings)
	}
	return nil
}

// Warnings are what the server says of a statement that it took. As an error
// they are all of it.
type Warnings []Warning

// A Warning is one of them, of the level Warning or Error.
type Warning struct {
	Level   string
	Number  uint16
	Message string
}

// Error tells all warnings.
func (w Warnings) Error() string {
	texts := make([]string, len(w))
	for i, one := range w {
		texts[i] = fmt.Sprintf("%s %d: %s", one.Level, one.Number, one.Message)
	}
	return "the server warns: " + strings.Join(texts, "; ")
}

// Warnings returns what the server says of the last statement, notes left out.
func (c *Conn) Warnings() (Warnings, error) {
	_, rows, err := c.Rows("SHOW WARNINGS")
	if err != nil {
		return nil, err
	}
	var warnings Warnings
	for _, row := range rows {
		if len(row) < 3 || row[0] == "Note" {
			continue
		}
		number, err := strconv.ParseUint(row[1], 10, 16)
		if err != nil {
			return nil, fmt.Errorf("SHOW WARNINGS: the number of a warning is %q", row[1])
		}
		warnings = append(warnings, Warning{row[0], uint16(number), row[2]})
	}
	return warnings, nil
}

// A Stmt is a statement prepared in the server.
type Stmt struct {
	conn *Conn
	text string
	id   uint32

	// The driver's own, for those whose rows are looked at.
	raw     stmtCalls
	columns int // of its rows: asking each time costs
}

// stmtCalls are the driver's calls on a statement that take no context.
type stmtCalls interface {
	driver.Stmt
	Query(args []driver.Value) (driver.Rows, error)
}

// Prepare prepares a statement in the server. Its arguments may be int64,
// float64, string, []byte and nil.
func (c *Conn) Prepare(statement string) (*Stmt, error) {
	id, err := c.wire.prepare(statement)
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", statement, err)
	}
	return &Stmt{conn: c, text: statement, id: id}, nil
}

// Exec runs the statement and returns how many rows it affected.
func (s *Stmt) Exec(args []driver.Value) (int64, error) {
	affected, _, err := s.conn.wire.execute(s.id, args)
	return affected, err
}

// Query runs the statement and reads all of its rows, as Conn.Query does. The
// first time that its rows are to be looked at it is prepared once more.
func (s *Stmt) Query(args []driver.Value, row func([]driver.Value) error) (int64, error) {
	if row == nil {
		_, rows, err := s.conn.wire.execute(s.id, args)
		return rows, err
	}
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
	return s.conn.read(rows, s.columns, row)
}

// prepareRows prepares the statement by way of the driver, unless it is.
func (s *Stmt) prepareRows() error {
	if s.raw != nil {
		return nil
	}
	raw, err := s.conn.raw.Prepare(s.text)
	if err != nil {
		return fmt.Errorf("preparing %s: %w", s.text, err)
	}
	calls, ok := raw.(stmtCalls)
	if !ok {
		return errors.Join(errors.New("the MySQL driver's statement has no calls without a context"), raw.Close())
	}
	s.raw, s.columns = calls, -1
	return nil
}

// Close gives the statement back to the server.
func (s *Stmt) Close() error {
	err := s.conn.wire.closeStatement(s.id)
	if s.raw != nil {
		err = errors.Join(err, s.raw.Close())
	}
	return err
}
