package client

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"dbmatrix/executor/workload"
)

// applicationName is what the sessions of this package are known by in a
// PostgreSQL server.
const applicationName = "dbmatrix"

// defaultDatabase is there in every PostgreSQL server. A session is always in one
// database.
const defaultDatabase = "postgres"

// postgresSession is the protocol of PostgreSQL. pgx makes the connection and
// reads the server's messages; statements are sent as they are, without its
// caches, watchers and values: what is left allocates nothing.
type postgresSession struct {
	socket   *socket
	frontend *pgproto3.Frontend // reads alone
	pid      uint32
	out      []byte
	dest     []driver.Value // one row
	columns  []column       // of the result that is read
	notices  Warnings       // of the last statement
	prepares int            // statements so far
	tail     []byte         // the last column of the last row
	begins   bool           // a transaction begins with the next statement
	beginner *postgresStatement
}

// A column is what is known of a column of a result: its type, and whether its
// values come in the form that the type has in memory.
type column struct {
	name   string
	typ    uint32
	binary bool
}

func connectPostgres(ctx context.Context, t workload.Target, database string) (protocol, *socket, error) {
	cfg, err := postgresConfig(t, database)
	if err != nil {
		return nil, nil, err
	}
	var s *socket
	unhook := func() bool { return true }
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		var err error
		if s, err = dialSocket(t.Socket, handshakeTimeout); err == nil {
			unhook = context.AfterFunc(ctx, func() { s.Close() })
		}
		return s, err
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	defer unhook()
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SyncConn(ctx); err != nil {
		s.Close()
		return nil, nil, err
	}
	made, err := conn.Hijack()
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return &postgresSession{socket: s, frontend: pgproto3.NewFrontend(s, nil), pid: made.PID}, s, nil
}

// postgresConfig returns how to connect. Variables such as PGOPTIONS have no
// effect on it.
func postgresConfig(t workload.Target, database string) (*pgconn.Config, error) {
	// The socket is .../.s.PGSQL.5432: the port is a part of its name.
	port, err := strconv.ParseUint(strings.TrimPrefix(filepath.Ext(t.Socket), "."), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the socket has no port in its name")
	}
	cfg, err := pgconn.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, err
	}
	if database == "" {
		database = defaultDatabase
	}
	cfg.Host, cfg.Port, cfg.User, cfg.Password, cfg.Database = filepath.Dir(t.Socket), uint16(port), t.User, "", database
	cfg.RuntimeParams = map[string]string{
		"application_name": applicationName,
		// Else a backslash in a text would mean something else.
		"standard_conforming_strings": "on",
	}
	cfg.Fallbacks, cfg.TLSConfig, cfg.ValidateConnect, cfg.AfterConnect = nil, nil, nil, nil
	cfg.ConnectTimeout = handshakeTimeout
	return cfg, nil
}

func (p *postgresSession) begin() (uint64, error) { return uint64(p.pid), nil }

func (p *postgresSession) close() error {
	p.out = p.out[:0]
	if err := p.append(&pgproto3.Terminate{}); err == nil {
		_, _ = p.socket.Write(p.out) // a server that is gone needs no goodbye
	}
	return p.socket.Close()
}

// append adds a message to those that are sent next.
func (p *postgresSession) append(m pgproto3.FrontendMessage) (err error) {
	p.out, err = m.Encode(p.out)
	return err
}

// send sends the messages that were appended.
func (p *postgresSession) send() error {
	p.notices = nil
	_, err := p.socket.Write(p.out)
	p.out = p.out[:0]
	return err
}

// simple sends a statement, or several, as text.
func (p *postgresSession) simple(statement string) error {
	p.out = p.out[:0]
	query := pgproto3.Query{String: statement}
	var err error
	if p.out, err = query.Encode(p.out); err != nil {
		return err
	}
	return p.send()
}

func (p *postgresSession) exec(statement string) (int64, error) {
	if err := p.simple(statement); err != nil {
		return 0, err
	}
	affected, _, err := p.results(nil, nil)
	return affected, err
}

func (p *postgresSession) run(statement []byte) (affected, rows int64, err error) {
	// It is copied before this returns.
	if err := p.simple(unsafe.String(unsafe.SliceData(statement), len(statement))); err != nil {
		return 0, 0, err
	}
	return p.results(nil, nil)
}

func (p *postgresSession) query(statement string, head func([]string), row func([]driver.Value) error) (int64, error) {
	if err := p.simple(statement); err != nil {
		return 0, err
	}
	_, rows, err := p.results(head, row)
	return rows, err
}

// results reads all that the server answers. It returns how many rows the last
// statement affected, and how many rows the first result with rows has, which
// are those that row is called with.
func (p *postgresSession) results(head func([]string), row func([]driver.Value) error) (affected, rows int64, err error) {
	var failure error
	var n int64
	withRows, counted := false, false
	for {
		message, err := p.frontend.Receive()
		if err != nil {
			return affected, rows, workload.Join(failure, err)
		}
		switch m := message.(type) {
		case *pgproto3.RowDescription:
			withRows, n = true, 0
			if !counted {
				p.describe(m, head)
			}
		case *pgproto3.DataRow:
			n, withRows = n+1, true
			p.tail = p.tail[:0]
			if last := len(m.Values) - 1; last >= 0 && len(m.Values[last]) < tailLength {
				p.tail = append(p.tail, m.Values[last]...)
			}
			if row != nil && !counted && failure == nil {
				failure = p.row(m.Values, row)
			}
		case *pgproto3.CommandComplete:
			affected = affectedBy(m.CommandTag)
			if withRows && !counted {
				rows, counted = n, true
			}
			withRows = false
		case *pgproto3.ErrorResponse:
			failure = workload.Join(failure, pgconn.ErrorResponseToPgError(m))
		case *pgproto3.NoticeResponse:
			p.note(m)
		case *pgproto3.CopyInResponse:
			if err := p.refuseCopy(); err != nil {
				return affected, rows, workload.Join(failure, err)
			}
		case *pgproto3.ReadyForQuery:
			return affected, rows, failure
		}
	}
}

// refuseCopy answers a server that asks for data of the client.
func (p *postgresSession) refuseCopy() error {
	if err := p.append(&pgproto3.CopyFail{Message: "the client gives no data"}); err != nil {
		return err
	}
	return p.send()
}

// describe takes note of the columns of a result.
func (p *postgresSession) describe(m *pgproto3.RowDescription, head func([]string)) {
	if head == nil {
		p.columns = p.columns[:0] // all are text
		return
	}
	p.columns = columnsOf(m, p.columns[:0])
	names := make([]string, len(p.columns))
	for i, c := range p.columns {
		names[i] = c.name
	}
	head(names)
}

// columnsOf appends the columns of a result, in the form in which they come.
func columnsOf(m *pgproto3.RowDescription, columns []column) []column {
	for _, f := range m.Fields {
		columns = append(columns, column{string(f.Name), f.DataTypeOID, f.Format == pgproto3.BinaryFormat})
	}
	return columns
}

// row calls row with the values of one.
func (p *postgresSession) row(values [][]byte, row func([]driver.Value) error) error {
	p.dest = p.dest[:0]
	for i, v := range values {
		var c column
		if i < len(p.columns) {
			c = p.columns[i]
		}
		value, err := c.value(v)
		if err != nil {
			return err
		}
		p.dest = append(p.dest, value)
	}
	return row(p.dest)
}

// value returns a value: a whole number that comes as one, or text, or bytes.
func (c *column) value(v []byte) (driver.Value, error) {
	switch {
	case v == nil:
		return nil, nil
	case !c.binary || c.typ == pgtype.ByteaOID:
		return v, nil
	}
	switch len(v) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v))), nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v))), nil
	case 8:
		return int64(binary.BigEndian.Uint64(v)), nil
	}
	return nil, errMalformed
}

// affectedBy reads the tag of a statement that was run, such as INSERT 0 100. A
// query affects nothing.
func affectedBy(tag []byte) int64 {
	if bytes.HasPrefix(tag, []byte("SELECT")) {
		return 0
	}
	var n int64
	for _, digit := range tag[bytes.LastIndexByte(tag, ' ')+1:] {
		if digit < '0' || digit > '9' {
			return 0 // such as COMMIT
		}
		n = 10*n + int64(digit-'0')
	}
	return n
}

// note keeps a warning. What is less grave than that is none.
func (p *postgresSession) note(m *pgproto3.NoticeResponse) {
	severity := m.SeverityUnlocalized
	if severity == "" { // before version 9.6
		severity = m.Severity
	}
	if severity == "WARNING" {
		p.notices = append(p.notices, Warning{"Warning", m.Code, m.Message})
	}
}

func (p *postgresSession) last() (int64, error) { return strconv.ParseInt(string(p.tail), 10, 64) }

func (p *postgresSession) beginNext() error {
	if p.beginner == nil {
		s, err := p.prepare("BEGIN")
		if err != nil {
			return err
		}
		p.beginner = s.(*postgresStatement)
	}
	p.begins = true
	return nil
}

func (p *postgresSession) warnings() (Warnings, error) { return p.notices, nil }

// A postgresStatement is a statement prepared in the server.
type postgresStatement struct {
	session *postgresSession
	name    string
	columns []column
	values  []byte // of the arguments

	bind    pgproto3.Bind
	execute pgproto3.Execute
	sync    pgproto3.Sync
}

// binaryColumns are the types whose values are asked for as they are in memory,
// which is less work than text. Others come as text.
var binaryColumns = map[uint32]bool{pgtype.Int2OID: true, pgtype.Int4OID: true, pgtype.Int8OID: true, pgtype.ByteaOID: true}

func (p *postgresSession) prepare(statement string) (prepared, error) {
	p.prepares++
	s := &postgresStatement{session: p, name: "s" + strconv.Itoa(p.prepares)}
	p.out = p.out[:0]
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Parse{Name: s.name, Query: statement},
		&pgproto3.Describe{ObjectType: 'S', Name: s.name},
		&pgproto3.Sync{},
	} {
		if err := p.append(m); err != nil {
			return nil, err
		}
	}
	if err := p.send(); err != nil {
		return nil, err
	}
	s.bind.PreparedStatement = s.name
	head := func([]string) {
		for _, c := range p.columns {
			c.binary = binaryColumns[c.typ]
			s.columns = append(s.columns, c)
			format := int16(pgproto3.TextFormat)
			if c.binary {
				format = pgproto3.BinaryFormat
			}
			s.bind.ResultFormatCodes = append(s.bind.ResultFormatCodes, format)
		}
	}
	if _, _, err := p.results(head, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// start sends the statement with its arguments.
func (s *postgresStatement) start(args []driver.Value) error {
	if err := s.arguments(args); err != nil {
		return err
	}
	p := s.session
	p.out = p.out[:0]
	if p.begins {
		p.begins = false
		if err := p.beginner.encode(); err != nil {
			return err
		}
	}
	if err := s.encode(); err != nil {
		return err
	}
	var err error
	if p.out, err = s.sync.Encode(p.out); err != nil {
		return err
	}
	return p.send()
}

// encode adds the statement with its arguments to what is sent next.
func (s *postgresStatement) encode() (err error) {
	p := s.session
	if p.out, err = s.bind.Encode(p.out); err != nil {
		return err
	}
	p.out, err = s.execute.Encode(p.out)
	return err
}

// arguments puts the arguments into the message that binds them: bytes as they
// are, numbers as text.
func (s *postgresStatement) arguments(args []driver.Value) error {
	b := &s.bind
	b.Parameters, b.ParameterFormatCodes, s.values = b.Parameters[:0], b.ParameterFormatCodes[:0], s.values[:0]
	for i, arg := range args {
		format, from := int16(pgproto3.TextFormat), len(s.values)
		switch v := arg.(type) {
		case nil:
			b.Parameters, b.ParameterFormatCodes = append(b.Parameters, nil), append(b.ParameterFormatCodes, format)
			continue
		case int64:
			s.values = strconv.AppendInt(s.values, v, 10)
		case *int64:
			s.values = strconv.AppendInt(s.values, *v, 10)
		case float64:
			s.values = strconv.AppendFloat(s.values, v, 'g', -1, 64)
		case *float64:
			s.values = strconv.AppendFloat(s.values, *v, 'g', -1, 64)
		case string:
			s.values = append(s.values, v...)
		case []byte:
			format, s.values = pgproto3.BinaryFormat, append(s.values, v...)
		default:
			return fmt.Errorf("argument %d is of the type %T, which no statement here takes", i+1, arg)
		}
		if s.values == nil {
			s.values = []byte{} // an empty value is none that is missing
		}
		b.Parameters, b.ParameterFormatCodes = append(b.Parameters, s.values[from:]), append(b.ParameterFormatCodes, format)
	}
	return nil
}

func (s *postgresStatement) run(args []driver.Value) (affected, rows int64, err error) {
	if err := s.start(args); err != nil {
		return 0, 0, err
	}
	return s.session.results(nil, nil)
}

func (s *postgresStatement) last() (int64, error) {
	p := s.session
	last := len(s.columns) - 1
	if last < 0 || !s.columns[last].binary {
		return p.last()
	}
	value, err := s.columns[last].value(p.tail)
	n, ok := value.(int64)
	if err == nil && !ok {
		err = errMalformed
	}
	return n, err
}

func (s *postgresStatement) query(args []driver.Value, row func([]driver.Value) error) (int64, error) {
	if err := s.start(args); err != nil {
		return 0, err
	}
	s.session.columns = append(s.session.columns[:0], s.columns...)
	_, rows, err := s.session.results(nil, row)
	return rows, err
}

func (s *postgresStatement) close() error {
	p := s.session
	p.out = p.out[:0]
	if err := workload.Join(p.append(&pgproto3.Close{ObjectType: 'S', Name: s.name}), p.append(&pgproto3.Sync{})); err != nil {
		return err
	}
	if err := p.send(); err != nil {
		return err
	}
	_, _, err := p.results(nil, nil)
	return err
}
