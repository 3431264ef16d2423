package linkbench

import (
	"database/sql/driver"
	"fmt"

	"dbmatrix/executor/workload/client"
)

// A textStore is the original client: all statements are text. Whatever is
// written is written on one connection, in transactions; the other one reads.
type textStore struct {
	statements
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
		return s.query(r, s.countLink, r.id, r.typ)
	case multigetLink:
		s.text = appendIDs(fill(s.text[:0], s.multiget, r.id, r.typ), r.ids)
		var err error
		r.rows, err = s.reads.QueryBytes(s.text)
		return err
	case getLinksList:
		return s.list(r)
	case addNode:
		s.text = s.bind(s.text[:0], s.addNode, []int64{nodeType, newVersion, r.now.Unix()}, r.data)
		return s.alone()
	case updateNode:
		s.text = s.bind(s.text[:0], s.updateNode, []int64{upVersion, r.now.Unix()}, r.data, r.id, nodeType)
		return s.alone()
	case deleteNode:
		s.text = fill(s.text[:0], s.deleteNode, r.id, nodeType)
		return s.alone()
	}
	return s.query(r, s.getNode, r.id)
}

func (s *textStore) query(r *request, statement string, values ...int64) (err error) {
	s.text = fill(s.text[:0], statement, values...)
	r.rows, err = s.reads.QueryBytes(s.text)
	return err
}

func (s *textStore) list(r *request) (err error) {
	s.text = fill(s.text[:0], s.linksList, r.id, r.typ, 0, r.newest, listLimit, r.skip)
	r.rows, r.oldest, err = s.reads.QueryLast(s.text)
	return err
}

// begin returns the text with which a transaction begins, in the round trip of
// its first statement. In a MySQL session without autocommit it begins by itself.
func (s *textStore) begin() []byte {
	if s.postgres {
		return append(s.text[:0], "BEGIN; "...)
	}
	return s.text[:0]
}

// alone sends the text as a transaction of one statement.
func (s *textStore) alone() error {
	if s.postgres { // which commits it by itself
		_, err := s.writes.ExecBytes(s.text)
		return err
	}
	return s.last()
}

// last sends the text and ends the transaction.
func (s *textStore) last() error {
	s.text = append(s.text, commit...)
	_, err := s.writes.ExecBytes(s.text)
	return err
}

// exec sends a statement within the transaction.
func (s *textStore) exec(statement string, values ...int64) (affected int64, err error) {
	s.text = fill(s.text[:0], statement, values...)
	return s.writes.ExecBytes(s.text)
}

// What the insert of a link did, by how many rows an INSERT ... ON DUPLICATE KEY
// UPDATE affects.
const (
	rowUnchanged = 0
	rowInserted  = 1
	rowChanged   = 2
)

// upsert inserts a link or, where it exists, makes it visible and then writes its
// data. It counts the link where it was not visible before.
func (s *textStore) upsert(r *request) error {
	did, err := s.show(r)
	if err != nil {
		return err
	}
	now := r.now.UnixMilli()
	switch did {
	case rowInserted:
		s.text = fill(s.text[:0], s.addCount, r.id, r.typ, 1, now, 1, now)
		return s.last()
	case rowChanged:
		if _, err := s.exec(s.addCount, r.id, r.typ, 1, now, 1, now); err != nil {
			return err
		}
	case rowUnchanged:
	default:
		return fmt.Errorf("inserting a link: %d rows were affected, want 0 to 2", did)
	}
	s.text = s.bind(s.text[:0], s.changeLink, []int64{visible}, r.data, 0, now, r.id, r.id2, r.typ)
	return s.last()
}

// show inserts a link or makes the one that exists visible, and tells what it
// did.
func (s *textStore) show(r *request) (did int64, err error) {
	s.text = append(s.begin(), s.upsertLink.head...)
	s.text = s.bind(s.text, "(?,?,?,?,?,?,?)", []int64{r.id, r.id2, r.typ, visible}, r.data, 0, r.now.UnixMilli())
	s.text = append(s.text, s.upsertLink.tail...)
	did, err = s.writes.ExecBytes(s.text)
	if err != nil || did == rowInserted || !s.postgres {
		return did, err
	}
	s.text = s.text[:0]
	before, err := s.lock(r)
	if before == hidden {
		return rowChanged, err
	}
	return rowUnchanged, err
}

// lock adds to the text what locks a link, sends it and returns the link's
// visibility.
func (s *textStore) lock(r *request) (visibility int64, err error) {
	s.text = fill(s.text, s.lockLink, r.id, r.id2, r.typ)
	visibility = absent
	_, err = s.writes.Query(string(s.text), func(row []driver.Value) (err error) {
		visibility, err = whole(row[0])
		return err
	})
	return visibility, err
}

// delete hides a link that is visible, and counts it off.
func (s *textStore) delete(r *request) error {
	s.text = s.begin()
	before, err := s.lock(r)
	if err != nil {
		return err
	}
	if before == visible {
		if _, err := s.exec(s.hideLink, r.id, r.id2, r.typ); err != nil {
			return err
		}
		now := r.now.UnixMilli()
		if _, err := s.exec(s.lessCount, r.id, r.typ, now, now); err != nil {
			return err
		}
	}
	_, err = s.writes.Exec("COMMIT")
	return err
}
