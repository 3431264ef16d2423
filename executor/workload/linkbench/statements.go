package linkbench

import (
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

// statements are those that the fork's client prepares, in the words of a
// flavour. A parameter is a question mark, or $1, $2 ... in PostgreSQL.
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
}

// The columns of a link that a client reads.
const linkColumns = "id1, id2, link_type, visibility, data, version, time"

const (
	inLinks  = database + "." + linkTable
	inCounts = database + "." + countTable
	inNodes  = database + "." + nodeTable

	whereLink  = " WHERE id1 = ? AND id2 = ? AND link_type = ?"
	whereList  = " WHERE id1 = ? AND link_type = ? AND time >= ? AND time <= ? AND visibility = 1 ORDER BY time DESC LIMIT ? OFFSET ?"
	whereCount = " WHERE id = ? AND link_type = ?"
)

// Bulk statements, which the load sends and the original client also for one
// link. The rows stand between the two parts of an insert of links.
const (
	insertLinks   = "INSERT INTO " + inLinks + " (id1, id2, link_type, visibility, data, version, time) VALUES "
	orVisibility  = " ON DUPLICATE KEY UPDATE visibility = VALUES(visibility)"
	insertCounts  = "INSERT INTO " + inCounts + " (id, link_type, count, time, version) VALUES "
	replaceCounts = "REPLACE INTO " + inCounts + " (id, link_type, count, time, version) VALUES "
	insertNodes   = "INSERT INTO " + inNodes + " (type, version, time, data) VALUES "
)

// newStatements returns the statements of a flavour.
func newStatements(flavour string) statements {
	s := statements{
		addNode:     "INSERT INTO " + inNodes + " (type, version, time, data) VALUES (?, ?, ?, ?)",
		updateNode:  "UPDATE " + inNodes + " SET version = ?, time = ?, data = ? WHERE id = ? AND type = ?",
		deleteNode:  "DELETE FROM " + inNodes + " WHERE id = ? AND type = ?",
		getNode:     "SELECT id, type, version, time, data FROM " + inNodes + " WHERE id = ?",
		countLink:   "SELECT count FROM " + inCounts + whereCount,
		linksList:   "SELECT " + linkColumns + " FROM " + inLinks + " FORCE INDEX (" + linkIndex + ")" + whereList,
		multiget:    "SELECT " + linkColumns + " FROM " + inLinks + " WHERE id1 = ? AND link_type = ? AND id2 IN (",
		lockLink:    "SELECT visibility FROM " + inLinks + whereLink + " FOR UPDATE",
		insertLink:  "INSERT INTO " + inLinks + " (id1, id2, link_type, visibility, data, version, time) VALUES (?, ?, ?, ?, ?, ?, ?)",
		addCount:    "INSERT INTO " + inCounts + " (id, link_type, count, time, version) VALUES (?, ?, ?, ?, 0) ON DUPLICATE KEY UPDATE count = count + ?, version = version + 1, time = ?",
		changeLink:  "UPDATE " + inLinks + " SET visibility = ?, data = ?, version = ?, time = ?" + whereLink,
		hideLink:    "UPDATE " + inLinks + " SET visibility = 0" + whereLink,
		changeCount: "UPDATE " + inCounts + " SET count = count + ?, version = version + 1, time = ?" + whereCount,
	}
	if flavour == "postgres" {
		s.linksList = "SELECT " + linkColumns + " FROM " + inLinks + whereList
		s.addCount = "INSERT INTO " + inCounts + " AS c (id, link_type, count, time, version) VALUES (?, ?, ?, ?, 0) ON CONFLICT (id, link_type) DO UPDATE SET count = c.count + ?, version = c.version + 1, time = ?"
		for _, text := range s.all() {
			*text = numbered(*text)
		}
	}
	return s
}

// all returns the texts in the order of the fields.
func (s *statements) all() []*string {
	return []*string{
		&s.addNode, &s.updateNode, &s.deleteNode, &s.getNode, &s.countLink, &s.linksList, &s.multiget,
		&s.lockLink, &s.insertLink, &s.addCount, &s.changeLink, &s.hideLink, &s.changeCount,
	}
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

// appendLiteral writes bytes as the text of a string for a session in which a
// backslash escapes, see prepareSession.
func appendLiteral(b, data []byte) []byte {
	b = append(b, '\'')
	for _, c := range data {
		if c == '\'' || c == '\\' {
			b = append(b, c)
		}
		b = append(b, c)
	}
	return append(b, '\'')
}
