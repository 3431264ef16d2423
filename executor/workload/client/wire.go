package client

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-sql-driver/mysql"
)

// A wire runs statements whose rows are read and counted, but not looked at: the
// bulk of what a benchmark does. It speaks to the server between the calls of
// the driver, on its socket, as the driver has agreed with the server. Beside
// the driver it makes no value of what is in a row, and allocates nothing.
//
// The protocol is that of MySQL's client/server protocol documentation, chapter
// "Command Phase", with MariaDB's one extension that leaves the definitions of
// columns out where the client has them.
type wire struct {
	socket     *socket
	endsWithOK bool // rows end with an OK packet, not with EOF
	leavesOut  bool // the server may leave out definitions of columns
	out        []byte
	in         []byte // of a fixed size; in[from:to] is read and not yet used
	from, to   int
	sequence   byte
	tail       []byte // the end of the last row
}

// Commands and the first bytes of answers.
const (
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
	comStmtClose   = 0x19

	answerOK    = 0x00
	answerFile  = 0xfb // the server asks for a file of the client
	answerEOF   = 0xfe
	answerError = 0xff
)

// Bits of what client and server agree on, and of the status after a statement.
const (
	capabilityMySQL        = 1 << 0 // not set: the server is MariaDB
	capabilityDeprecateEOF = 1 << 24
	mariadbCacheMetadata   = 1 << 4
	statusMoreResults      = 1 << 3
)

const (
	headerLength = 4
	// maxPacket is the length of a packet that is continued in the next.
	maxPacket = 1<<24 - 1
	// inputBuffer holds the answer of most queries, so that one call reads
	// it. No single packet but those of rows, which are skipped, is longer.
	inputBuffer = 16 << 10
)

var errMalformed = errors.New("the server's answer cannot be read")

// newWire returns the wire of a connection that the driver has made. What it
// agreed on is in its first packet: capabilities, and in the last four of 23
// unused bytes those that MariaDB has beside MySQL's.
func newWire(s *socket) (*wire, error) {
	const capabilitiesAt, mariadbAt = headerLength, headerLength + 4 + 4 + 1 + 19
	if len(s.first) < mariadbAt+4 {
		return nil, errMalformed
	}
	capabilities := binary.LittleEndian.Uint32(s.first[capabilitiesAt:])
	w := &wire{socket: s, endsWithOK: capabilities&capabilityDeprecateEOF != 0, in: make([]byte, inputBuffer)}
	if capabilities&capabilityMySQL == 0 {
		w.leavesOut = binary.LittleEndian.Uint32(s.first[mariadbAt:])&mariadbCacheMetadata != 0
	}
	return w, nil
}

// command begins a packet with a command.
func (w *wire) command(c byte) { w.out = append(w.out[:0], 0, 0, 0, 0, c) }

// send sends the packet.
func (w *wire) send() error {
	size := len(w.out) - headerLength
	if size >= maxPacket {
		return fmt.Errorf("a statement of %d bytes is too long: at most %d are possible", size, maxPacket-1)
	}
	if w.from != w.to {
		return errMalformed // more came than belongs to the last answer
	}
	w.out[0], w.out[1], w.out[2], w.out[3] = byte(size), byte(size>>8), byte(size>>16), 0
	w.sequence = 1
	_, err := w.socket.Write(w.out)
	return err
}

// query runs a statement as text and returns how many rows it affected, and how
// many its first result set has.
func (w *wire) query(statement []byte) (affected, rows int64, err error) {
	w.command(comQuery)
	w.out = append(w.out, statement...)
	if err := w.send(); err != nil {
		return 0, 0, err
	}
	return w.results()
}

// prepare prepares a statement and returns its number.
func (w *wire) prepare(statement string) (id uint32, err error) {
	w.command(comStmtPrepare)
	w.out = append(w.out, statement...)
	if err := w.send(); err != nil {
		return 0, err
	}
	size, first, err := w.next()
	if err != nil {
		return 0, err
	}
	if first == answerError {
		return 0, w.failure(size)
	}
	answer, err := w.take(size)
	if err != nil || len(answer) < 9 {
		return 0, errors.Join(errMalformed, err)
	}
	id = binary.LittleEndian.Uint32(answer[1:])
	columns, parameters := binary.LittleEndian.Uint16(answer[5:]), binary.LittleEndian.Uint16(answer[7:])
	for _, n := range []uint16{parameters, columns} {
		if n == 0 {
			continue
		}
		if err := w.skipDefinitions(int(n)); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// execute runs a prepared statement and returns how many rows it affected, and
// how many its result set has.
func (w *wire) execute(id uint32, args []driver.Value) (affected, rows int64, err error) {
	w.command(comStmtExecute)
	w.out = binary.LittleEndian.AppendUint32(w.out, id)
	w.out = append(w.out, 0)                           // no cursor
	w.out = binary.LittleEndian.AppendUint32(w.out, 1) // once
	if err := w.arguments(args); err != nil {
		return 0, 0, err
	}
	if err := w.send(); err != nil {
		return 0, 0, err
	}
	return w.results()
}

// Types of arguments.
const (
	typeDouble = 0x05
	typeNull   = 0x06
	typeInt64  = 0x08
	typeString = 0xfe
)

// arguments writes which arguments are NULL, their types and their values.
func (w *wire) arguments(args []driver.Value) error {
	if len(args) == 0 {
		return nil
	}
	nulls := len(w.out)
	for range (len(args) + 7) / 8 {
		w.out = append(w.out, 0)
	}
	w.out = append(w.out, 1) // types follow
	for i, arg := range args {
		kind := byte(typeString)
		switch arg.(type) {
		case nil:
			kind = typeNull
			w.out[nulls+i/8] |= 1 << (i % 8)
		case int64, *int64:
			kind = typeInt64
		case float64, *float64:
			kind = typeDouble
		case string, []byte:
		default:
			return fmt.Errorf("argument %d is of the type %T, which no statement here takes", i+1, arg)
		}
		w.out = append(w.out, kind, 0)
	}
	for _, arg := range args {
		switch v := arg.(type) {
		case int64:
			w.out = binary.LittleEndian.AppendUint64(w.out, uint64(v))
		case *int64:
			w.out = binary.LittleEndian.AppendUint64(w.out, uint64(*v))
		case float64:
			w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(v))
		case *float64:
			w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(*v))
		case string:
			w.out = append(appendLength(w.out, len(v)), v...)
		case []byte:
			w.out = append(appendLength(w.out, len(v)), v...)
		}
	}
	return nil
}

// closeStatement gives a prepared statement back. The server does not answer.
func (w *wire) closeStatement(id uint32) error {
	w.command(comStmtClose)
	w.out = binary.LittleEndian.AppendUint32(w.out, id)
	return w.send()
}

// results reads all results of a command. It returns how many rows the last one
// without rows affected, and how many rows the first one with rows has.
func (w *wire) results() (affected, rows int64, err error) {
	counted := false
	for more := true; more; {
		size, first, err := w.next()
		if err != nil {
			return affected, rows, err
		}
		switch first {
		case answerError:
			return affected, rows, w.failure(size)
		case answerFile:
			return affected, rows, errors.New("the server asks for a file of the client, which gives none")
		case answerOK:
			affected, more, err = w.done(size)
		default:
			var n int64
			n, more, err = w.rows(size)
			if !counted {
				rows, counted = n, true
			}
		}
		if err != nil {
			return affected, rows, err
		}
	}
	return affected, rows, nil
}

// done reads an OK packet: how many rows were affected, and whether another
// result follows.
func (w *wire) done(size int) (affected int64, more bool, err error) {
	answer, err := w.take(size)
	if err != nil {
		return 0, false, err
	}
	n, answer, ok := cutLength(answer[1:])
	if ok {
		_, answer, ok = cutLength(answer) // the last insert id
	}
	if !ok || len(answer) < 2 {
		return 0, false, errMalformed
	}
	return int64(n), binary.LittleEndian.Uint16(answer)&statusMoreResults != 0, nil
}

// rows reads a result set whose first packet has that size, and returns how many
// rows there were and whether another result follows.
func (w *wire) rows(size int) (n int64, more bool, err error) {
	answer, err := w.take(size)
	if err != nil {
		return 0, false, err
	}
	columns, rest, ok := cutLength(answer)
	if !ok || w.leavesOut && len(rest) == 0 {
		return 0, false, errMalformed
	}
	if w.leavesOut && rest[0] == 0 {
		columns = 0 // their definitions are left out
	}
	if err := w.skipDefinitions(int(columns)); err != nil {
		return 0, false, err
	}
	for ; ; n++ {
		size, first, err := w.next()
		if err != nil {
			return n, false, err
		}
		switch {
		case first == answerError:
			return n, false, w.failure(size)
		case first == answerEOF && size < maxPacket:
			more, err := w.end(size)
			return n, more, err
		}
		if err := w.row(size); err != nil {
			return n, false, err
		}
	}
}

// tailLength is how much of a row is kept: the longest whole number as text, and
// its length.
const tailLength = 1 + len("-9223372036854775808")

// row reads over a row of that size and keeps its end, unless it is very long.
func (w *wire) row(size int) error {
	if size > len(w.in) {
		w.tail = w.tail[:0]
		return w.skipPacket(size)
	}
	row, err := w.take(size)
	w.tail = append(w.tail[:0], row[max(0, len(row)-tailLength):]...)
	return err
}

// lastBinary returns the last column of the last row of a prepared statement, which
// is a whole number of 8 bytes.
func (w *wire) lastBinary() (int64, error) {
	if len(w.tail) < 8 {
		return 0, errMalformed
	}
	return int64(binary.LittleEndian.Uint64(w.tail[len(w.tail)-8:])), nil
}

// lastText is lastBinary of a statement that was sent as text: its digits are
// behind their number.
func (w *wire) lastText() (int64, error) {
	for from := len(w.tail) - 1; from > 0; from-- {
		if text := w.tail[from:]; int(w.tail[from-1]) == len(text) {
			return strconv.ParseInt(string(text), 10, 64)
		}
	}
	return 0, errMalformed
}

// end reads the packet behind the last row, and whether another result follows.
func (w *wire) end(size int) (more bool, err error) {
	if w.endsWithOK {
		_, more, err = w.done(size)
		return more, err
	}
	answer, err := w.take(size)
	if err != nil || len(answer) < 5 {
		return false, errors.Join(errMalformed, err)
	}
	return binary.LittleEndian.Uint16(answer[3:])&statusMoreResults != 0, nil
}

// failure reads the packet of an error.
func (w *wire) failure(size int) error {
	answer, err := w.take(size)
	if err != nil || len(answer) < 3 {
		return errors.Join(errMalformed, err)
	}
	failure := &mysql.MySQLError{Number: binary.LittleEndian.Uint16(answer[1:])}
	answer = answer[3:]
	if len(answer) >= 6 && answer[0] == '#' {
		copy(failure.SQLState[:], answer[1:])
		answer = answer[6:]
	}
	failure.Message = string(answer)
	return failure
}

// skipDefinitions reads over the definitions of n columns or parameters.
func (w *wire) skipDefinitions(n int) error {
	if !w.endsWithOK {
		n++ // an EOF packet is behind them
	}
	for range n {
		size, first, err := w.next()
		if err != nil {
			return err
		}
		if first == answerError {
			return w.failure(size)
		}
		if err := w.skipPacket(size); err != nil {
			return err
		}
	}
	return nil
}

// next reads the header of a packet: its size and its first byte, which is not
// used up.
func (w *wire) next() (size int, first byte, err error) {
	if err := w.need(headerLength); err != nil {
		return 0, 0, err
	}
	header := w.in[w.from:]
	size = int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	inOrder := header[3] == w.sequence
	w.sequence = header[3] + 1
	w.from += headerLength
	if size > 0 {
		if err := w.need(1); err != nil {
			return 0, 0, err
		}
		first = w.in[w.from]
	}
	// A server that shuts down says so at any time.
	if !inOrder && first != answerError {
		return 0, 0, errMalformed
	}
	return size, first, nil
}

// need reads until n bytes are there.
func (w *wire) need(n int) error {
	if n > len(w.in) {
		return errMalformed
	}
	for w.to-w.from < n {
		if w.from > 0 {
			copy(w.in, w.in[w.from:w.to])
			w.from, w.to = 0, w.to-w.from
		}
		read, err := w.socket.Read(w.in[w.to:])
		if err != nil {
			return err
		}
		w.to += read
	}
	return nil
}

// take returns the next n bytes, which are valid until the next read.
func (w *wire) take(n int) ([]byte, error) {
	if err := w.need(n); err != nil {
		return nil, err
	}
	w.from += n
	return w.in[w.from-n : w.from], nil
}

// skipPacket reads over a packet of that size, and over those that continue it.
func (w *wire) skipPacket(size int) error {
	for {
		for left := size; ; {
			n := min(left, w.to-w.from)
			w.from += n
			if left -= n; left == 0 {
				break
			}
			if err := w.need(1); err != nil {
				return err
			}
		}
		if size < maxPacket {
			return nil
		}
		var err error
		if size, _, err = w.next(); err != nil {
			return err
		}
	}
}

// appendLength writes the length of a value.
func appendLength(b []byte, n int) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	}
	return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16)) // a packet is no longer
}

// cutLength reads a number of that form and returns what is behind it.
func cutLength(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	width := 0
	switch b[0] {
	case 0xfc:
		width = 2
	case 0xfd:
		width = 3
	case 0xfe:
		width = 8
	case 0xfb, 0xff: // NULL, and no number
		return 0, nil, false
	default:
		return uint64(b[0]), b[1:], true
	}
	if len(b) <= width {
		return 0, nil, false
	}
	for i := range width {
		n |= uint64(b[1+i]) << (8 * i)
	}
	return n, b[1+width:], true
}
