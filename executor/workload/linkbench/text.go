package linkbench

import (
	"database/sql/driver"
	"fmt"

	"dbmatrix/executor/workload/client"
)

// A textStore is the original client: all statements are text. Whatever is
// written is written on one connection, in transactions; the other one reads.
type textStore struct {
	writes, reads *client.Conn
	text          []byte
}

// commit ends a transaction in the round trip of its last statement.
const commit = "; COMMIT"

func (s *textStore) do(r *request) error {
	switch r.op {
	case addLink, updateLink:
		return s.upsert(r)
	case deleteLink:
		return s.delete(r)
	case countLink:
		return s.query(r, "SELECT count FROM "+inCounts+" WHERE id = ? AND link_type = ?", r.id, r.typ)
	case multigetLink:
		s.text = fill(s.text[:0], "SELECT "+linkColumns+" FROM "+inLinks+" WHERE id1 = ? AND link_type = ? AND id2 IN (", r.id, r.typ)
		s.text = appendIDs(s.text, r.ids)
		var err error
		r.rows, err = s.reads.QueryBytes(s.text)
		return err
	case getLinksList:
		return s.list(r)
	case addNode:
		return s.addNode(r)
	case updateNode:
		return s.updateNode(r)
	case deleteNode:
		return s.exec("DELETE FROM "+inNodes+" WHERE id = ? AND type = ?"+commit, r.id, nodeType)
	}
	return s.query(r, "SELECT id, type, version, time, data FROM "+inNodes+" WHERE id = ?", r.id)
}

func (s *textStore) query(r *request, statement string, values ...int64) (err error) {
	s.text = fill(s.text[:0], statement, values...)
	r.rows, err = s.reads.QueryBytes(s.text)
	return err
}

func (s *textStore) exec(statement string, values ...int64) error {
	s.text = fill(s.text[:0], statement, values...)
	return s.send()
}

func (s *textStore) send() error {
	_, err := s.writes.ExecBytes(s.text)
	return err
}

func (s *textStore) list(r *request) (err error) {
	s.text = fill(s.text[:0], "SELECT "+linkColumns+" FROM "+inLinks+" FORCE INDEX ("+linkIndex+") WHERE id1 = ? AND link_type = ?"+
		" AND time >= ? AND time <= ? AND visibility = 1 ORDER BY time DESC LIMIT ?,?", r.id, r.typ, 0, r.newest, r.skip, listLimit)
	r.rows, err = s.reads.Query(string(s.text), r.keepOldest)
	return err
}

func (s *textStore) addNode(r *request) error {
	s.text = fill(s.text[:0], "INSERT INTO "+inNodes+" (type, version, time, data) VALUES (?,?,?,", nodeType, newVersion, r.now.Unix())
	s.text = append(appendLiteral(s.text, r.data), ")"+commit...)
	return s.send()
}

func (s *textStore) updateNode(r *request) error {
	s.text = fill(s.text[:0], "UPDATE "+inNodes+" SET version = ?, time = ?, data = ", upVersion, r.now.Unix())
	s.text = appendLiteral(s.text, r.data)
	s.text = fill(s.text, " WHERE id = ? AND type = ?"+commit, r.id, nodeType)
	return s.send()
}

// How many rows an INSERT ... ON DUPLICATE KEY UPDATE affects.
const (
	rowUnchanged = 0
	rowInserted  = 1
	rowChanged   = 2
)

// countOne counts a link that was not visible.
const countOne = "INSERT INTO " + inCounts + " (id, link_type, count, time, version) VALUES (?,?,1,?,0)" +
	" ON DUPLICATE KEY UPDATE count = count + 1, version = version + 1, time = ?"

// countLess counts a link off.
const countLess = "INSERT INTO " + inCounts + " (id, link_type, count, time, version) VALUES (?,?,0,?,0)" +
	" ON DUPLICATE KEY UPDATE count = IF(count = 0, 0, count - 1), time = ?, version = version + 1"

// upsert inserts a link or, where it exists, makes it visible and then writes its
// data. It counts the link where it was not visible before.
func (s *textStore) upsert(r *request) error {
	s.text = fill(s.text[:0], insertLinks+"(?,?,?,?,", r.id, r.id2, r.typ, visible)
	s.text = appendLiteral(s.text, r.data)
	now := r.now.UnixMilli()
	s.text = fill(s.text, ",?,?)"+orVisibility, 0, now)
	affected, err := s.writes.ExecBytes(s.text)
	if err != nil {
		return err
	}
	switch affected {
	case rowInserted:
		return s.exec(countOne+commit, r.id, r.typ, now, now)
	case rowChanged:
		if err := s.exec(countOne, r.id, r.typ, now, now); err != nil {
			return err
		}
	case rowUnchanged:
	default:
		return fmt.Errorf("inserting a link: %d rows were affected, want 0 to 2", affected)
	}
	s.text = fill(s.text[:0], "UPDATE "+inLinks+" SET visibility = ?, data = ", visible)
	s.text = appendLiteral(s.text, r.data)
	s.text = fill(s.text, ", time = ?, version = ? WHERE id1 = ? AND id2 = ? AND link_type = ?"+commit, now, 0, r.id, r.id2, r.typ)
	return s.send()
}

// delete hides a link that is visible, and counts it off.
func (s *textStore) delete(r *request) error {
	s.text = fill(s.text[:0], "SELECT visibility FROM "+inLinks+" WHERE id1 = ? AND id2 = ? AND link_type = ? FOR UPDATE", r.id, r.id2, r.typ)
	before := int64(absent)
	_, err := s.writes.Query(string(s.text), func(row []driver.Value) (err error) {
		before, err = whole(row[0])
		return err
	})
	if err != nil {
		return err
	}
	if before == visible {
		if err := s.exec("UPDATE "+inLinks+" SET visibility = 0 WHERE id1 = ? AND id2 = ? AND link_type = ?", r.id, r.id2, r.typ); err != nil {
			return err
		}
		now := r.now.UnixMilli()
		if err := s.exec(countLess, r.id, r.typ, now, now); err != nil {
			return err
		}
	}
	_, err = s.writes.Exec("COMMIT")
	return err
}
