package linkbench

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// Values of columns.
const (
	nodeType   = 2048 // of all nodes
	hidden     = 0    // visibility of a link that was deleted
	visible    = 1    // and of the others
	listLimit  = 10000
	newVersion = 1 // of a node
	upVersion  = 2 // of an updated node
)

// statements are those of both clients, in the words of a flavour. A parameter
// is a question mark.
type statements struct {
	addNode     string // type, version, time, data
	updateNode  string // version, time, data, id, type
	deleteNode  string // id, type
	getNode     string // id
	countLink   string // id, type of link
	linksList   string // id1, type of link, least time, greatest time, limit, offset
	multiget    string // id1, type of link; the list of id2 and ) follow
	lockLink    string // id1, id2, type of link
	insertLink  string // id1, id2, type of link, visibility, data, version, time
	addCount    string // id, type of link, count, time, count, time
	changeLink  string // visibility, data, version, time, id1, id2, type of link
	hideLink    string // id1, id2, type of link
	changeCount string // difference, time, id, type of link

	// The original client writes a link with these.
	upsertLink bulk
	lessCount  string // id, type of link, time, time

	// The load; loadLinks and replaceCounts are the original client's.
	insertLinks, insertCounts, insertNodes bulk
	loadLinks, replaceCounts               bulk

	postgres bool
}

// A bulk is a statement whose rows stand between its two parts.
type bulk struct{ head, tail string }

// The columns of a link that a client reads.
const linkColumns = "id1, id2, link_type, visibility, data, version, time"

const (
	inLinks  = database + "." + linkTable
	inCounts = database + "." + countTable
	inNodes  = database + "." + nodeTable

	whereLink  = " WHERE id1 = ? AND id2 = ? AND link_type = ?"
	whereList  = " WHERE id1 = ? AND link_type = ? AND time >= ? AND time <= ? AND visibility = 1 ORDER BY time DESC LIMIT ? OFFSET ?"
	whereCount = " WHERE id = ? AND link_type = ?"

	intoLinks   = "INTO " + inLinks + " (id1, id2, link_type, visibility, data, version, time) VALUES "
	countValues = " (id, link_type, count, time, version) VALUES "
	intoCounts  = "INTO " + inCounts + countValues
	intoNodes   = "INTO " + inNodes + " (type, version, time, data) VALUES "
)

// newStatements returns the statements of a flavour.
func newStatements(flavour string) statements {
	orVisibility := bulk{"INSERT " + intoLinks, " ON DUPLICATE KEY UPDATE visibility = VALUES(visibility)"}
	s := statements{
		addNode:     "INSERT " + intoNodes + "(?, ?, ?, ?)",
		updateNode:  "UPDATE " + inNodes + " SET version = ?, time = ?, data = ? WHERE id = ? AND type = ?",
		deleteNode:  "DELETE FROM " + inNodes + " WHERE id = ? AND type = ?",
		getNode:     "SELECT id, type, version, time, data FROM " + inNodes + " WHERE id = ?",
		countLink:   "SELECT count FROM " + inCounts + whereCount,
		linksList:   "SELECT " + linkColumns + " FROM " + inLinks + " FORCE INDEX (" + linkIndex + ")" + whereList,
		multiget:    "SELECT " + linkColumns + " FROM " + inLinks + " WHERE id1 = ? AND link_type = ? AND id2 IN (",
		lockLink:    "SELECT visibility FROM " + inLinks + whereLink + " FOR UPDATE",
		insertLink:  "INSERT " + intoLinks + "(?, ?, ?, ?, ?, ?, ?)",
		addCount:    "INSERT " + intoCounts + "(?, ?, ?, ?, 0) ON DUPLICATE KEY UPDATE count = count + ?, version = version + 1, time = ?",
		changeLink:  "UPDATE " + inLinks + " SET visibility = ?, data = ?, version = ?, time = ?" + whereLink,
		hideLink:    "UPDATE " + inLinks + " SET visibility = 0" + whereLink,
		changeCount: "UPDATE " + inCounts + " SET count = count + ?, version = version + 1, time = ?" + whereCount,

		upsertLink: orVisibility,
		lessCount: "INSERT " + intoCounts + "(?, ?, 0, ?, 0) ON DUPLICATE KEY UPDATE" +
			" count = IF(count = 0, 0, count - 1), time = ?, version = version + 1",

		insertLinks:   bulk{head: "INSERT " + intoLinks},
		insertCounts:  bulk{head: "INSERT " + intoCounts},
		loadLinks:     orVisibility,
		replaceCounts: bulk{head: "REPLACE " + intoCounts},
		insertNodes:   bulk{head: "INSERT " + intoNodes},
	}
	if flavour == "postgres" {
		s.inPostgres()
	}
	return s
}

// inPostgres puts what differs in PostgreSQL. An insert there does not tell by
// the rows that it affected whether a row was new or was changed: that of a link
// leaves a row that is there as it is.
func (s *statements) inPostgres() {
	const (
		onLink   = " ON CONFLICT (link_type, id1, id2) DO "
		onCount  = " ON CONFLICT (id, link_type) DO "
		addCount = "INSERT INTO " + inCounts + " AS c" + countValues
	)
	s.postgres = true
	s.linksList = "SELECT " + linkColumns + " FROM " + inLinks + whereList
	s.addCount = addCount + "(?, ?, ?, ?, 0)" + onCount + "UPDATE SET count = c.count + ?, version = c.version + 1, time = ?"
	s.lessCount = addCount + "(?, ?, 0, ?, 0)" + onCount + "UPDATE SET count = GREATEST(c.count - 1, 0), time = ?, version = c.version + 1"
	s.upsertLink.tail = onLink + "NOTHING"
	s.loadLinks.tail = onLink + "UPDATE SET visibility = EXCLUDED.visibility"
	s.replaceCounts = bulk{s.insertCounts.head,
		onCount + "UPDATE SET count = EXCLUDED.count, time = EXCLUDED.time, version = EXCLUDED.version"}
}

// byIndex returns what makes a query read a table by an index. PostgreSQL chooses
// for itself.
func (s *statements) byIndex(index string) string {
	if s.postgres {
		return ""
	}
	return " FORCE INDEX (" + index + ")"
}

// numbered gives the parameters of a statement PostgreSQL's form.
func numbered(statement string) string {
	var b strings.Builder
	n := 0
	for _, c := range []byte(statement) {
		if c != '?' {
			b.WriteByte(c)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

// fill puts whole numbers in the place of a statement's parameters.
func fill(b []byte, statement string, values ...int64) []byte {
	for _, value := range values {
		before, after, _ := strings.Cut(statement, "?")
		b = append(b, before...)
		b = strconv.AppendInt(b, value, 10)
		statement = after
	}
	return append(b, statement...)
}

// bind is fill of a statement with bytes between the whole numbers.
func (s *statements) bind(b []byte, statement string, before []int64, data []byte, after ...int64) []byte {
	for _, value := range before {
		head, tail, _ := strings.Cut(statement, "?")
		b = fill(append(b, head...), "?", value)
		statement = tail
	}
	head, tail, _ := strings.Cut(statement, "?")
	return fill(s.literal(append(b, head...), data), tail, after...)
}

// literal writes bytes as the text of a value. In MySQL and MariaDB it is that of
// a session in which a backslash escapes, see prepareSession.
func (s *statements) literal(b, data []byte) []byte {
	if s.postgres {
		b = append(b, `'\x`...)
		return append(hex.AppendEncode(b, data), '\'')
	}
	b = append(b, '\'')
	for _, c := range data {
		if c == '\'' || c == '\\' {
			b = append(b, c)
		}
		b = append(b, c)
	}
	return append(b, '\'')
}
