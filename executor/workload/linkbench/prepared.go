package linkbench

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"time"

	"dbmatrix/executor/workload/client"
)

// A preparedStore is the fork's client: prepared statements, but for multigets.
// Links are written on one connection, in transactions; all else is done on
// another.
type preparedStore struct {
	writes, reads *client.Conn
	postgres      bool
	multiget      string
	text          []byte // of a multiget
	args          []driver.Value
	now           int64

	addNode, updateNode, deleteNode, getNode             *client.Stmt
	countLink, linksList                                 *client.Stmt
	lockLink, insertLink, addCount, changeLink, hideLink *client.Stmt
	changeCount                                          *client.Stmt
}

func newPreparedStore(writes, reads *client.Conn, s *statements) (*preparedStore, error) {
	p := &preparedStore{writes: writes, reads: reads, postgres: s.postgres, multiget: s.multiget}
	for _, one := range []struct {
		conn *client.Conn
		text string
		stmt **client.Stmt
	}{
		{reads, s.addNode, &p.addNode}, {reads, s.updateNode, &p.updateNode}, {reads, s.deleteNode, &p.deleteNode},
		{reads, s.getNode, &p.getNode}, {reads, s.countLink, &p.countLink}, {reads, s.linksList, &p.linksList},
		{writes, s.lockLink, &p.lockLink}, {writes, s.insertLink, &p.insertLink}, {writes, s.addCount, &p.addCount},
		{writes, s.changeLink, &p.changeLink}, {writes, s.hideLink, &p.hideLink}, {writes, s.changeCount, &p.changeCount},
	} {
		text := one.text
		if s.postgres {
			text = numbered(text)
		}
		var err error
		if *one.stmt, err = one.conn.Prepare(text); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *preparedStore) do(r *request) error {
	switch r.op {
	case addLink, updateLink:
		if r.insert {
			return p.insert(r)
		}
		return p.update(r)
	case deleteLink:
		return p.delete(r)
	case countLink:
		return p.query(r, p.countLink, &r.id, &r.typ)
	case multigetLink:
		return p.many(r)
	case getLinksList:
		return p.list(r)
	case addNode:
		_, err := p.exec(p.addNode, int64(nodeType), int64(newVersion), p.seconds(r), r.data)
		return err
	case updateNode:
		_, err := p.exec(p.updateNode, int64(upVersion), p.seconds(r), r.data, &r.id, int64(nodeType))
		return err
	case deleteNode:
		_, err := p.exec(p.deleteNode, &r.id, int64(nodeType))
		return err
	}
	return p.query(r, p.getNode, &r.id)
}

// at returns a time in milliseconds as an argument, valid until the next one. A
// number in an interface would be allocated; a pointer to one that is there is not.
func (p *preparedStore) at(t time.Time) *int64 {
	p.now = t.UnixMilli()
	return &p.now
}

// seconds is at for the time of a node.
func (p *preparedStore) seconds(r *request) *int64 {
	p.now = r.now.Unix()
	return &p.now
}

// exec runs a statement and returns how many rows it affected.
func (p *preparedStore) exec(s *client.Stmt, args ...driver.Value) (int64, error) {
	p.args = append(p.args[:0], args...)
	return s.Exec(p.args)
}

// one runs a statement that must affect a row.
func (p *preparedStore) one(what string, s *client.Stmt, args ...driver.Value) error {
	n, err := p.exec(s, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: %d rows were affected, want 1", what, n)
	}
	return err
}

func (p *preparedStore) query(r *request, s *client.Stmt, args ...driver.Value) (err error) {
	p.args = append(p.args[:0], args...)
	r.rows, err = s.Query(p.args, nil)
	return err
}

func (p *preparedStore) many(r *request) (err error) {
	p.text = appendIDs(fill(p.text[:0], p.multiget, r.id, r.typ), r.ids)
	r.rows, err = p.reads.QueryBytes(p.text)
	return err
}

func (p *preparedStore) list(r *request) (err error) {
	p.args = append(p.args[:0], &r.id, &r.typ, int64(0), &r.newest, int64(listLimit), &r.skip)
	r.rows, r.oldest, err = p.linksList.QueryLast(p.args)
	return err
}

// insert adds a link that must not be there yet.
func (p *preparedStore) insert(r *request) error {
	if err := p.begin(); err != nil {
		return err
	}
	err := p.one("inserting a link", p.insertLink, &r.id, &r.id2, &r.typ, int64(visible), r.data, int64(0), p.at(r.now))
	if client.Duplicate(err) {
		return errExists
	}
	if err != nil {
		return err
	}
	now := p.at(time.Now())
	n, err := p.exec(p.addCount, &r.id, &r.typ, int64(1), now, int64(1), now)
	if err != nil {
		return err
	}
	if n != 1 && n != 2 { // a new row, or a changed one
		return fmt.Errorf("counting a link: %d rows were affected, want 1 or 2", n)
	}
	return p.end("COMMIT")
}

// update changes a link that must be there.
func (p *preparedStore) update(r *request) error {
	before, err := p.lock(r)
	if err != nil {
		return err
	}
	if before == absent {
		return errMissing
	}
	n, err := p.exec(p.changeLink, int64(visible), r.data, int64(0), p.at(r.now), &r.id, &r.id2, &r.typ)
	if err != nil {
		return err
	}
	if n == 0 { // it had these very values
		return p.end("ROLLBACK")
	}
	if before == hidden {
		if err := p.count(r, 1); err != nil {
			return err
		}
	}
	return p.end("COMMIT")
}

// delete hides a link.
func (p *preparedStore) delete(r *request) error {
	before, err := p.lock(r)
	if err != nil {
		return err
	}
	if before != visible {
		return p.end("ROLLBACK")
	}
	if err := p.one("hiding a link", p.hideLink, &r.id, &r.id2, &r.typ); err != nil {
		return err
	}
	if err := p.count(r, -1); err != nil {
		return err
	}
	return p.end("COMMIT")
}

// absent stands for the visibility of a link that is not there.
const absent = -1

// lock begins a transaction, locks a link and returns its visibility.
func (p *preparedStore) lock(r *request) (int64, error) {
	if err := p.begin(); err != nil {
		return absent, err
	}
	p.args = append(p.args[:0], r.id, r.id2, r.typ)
	visibility := int64(absent)
	_, err := p.lockLink.Query(p.args, func(row []driver.Value) (err error) {
		visibility, err = whole(row[0])
		return err
	})
	return visibility, err
}

func (p *preparedStore) count(r *request, difference int64) error {
	return p.one("counting a link", p.changeCount, difference, p.at(time.Now()), &r.id, &r.typ)
}

// begin begins a transaction. In a MySQL session without autocommit its first
// statement does.
func (p *preparedStore) begin() error {
	if !p.postgres {
		return nil
	}
	return p.writes.Begin()
}

func (p *preparedStore) end(statement string) error {
	_, err := p.writes.Exec(statement)
	return err
}

// whole returns a column that is a whole number.
func whole(v driver.Value) (int64, error) {
	if n, ok := v.(int64); ok {
		return n, nil
	}
	return strconv.ParseInt(client.Text(v), 10, 64)
}

// appendIDs writes the ids of a list and closes it.
func appendIDs(b []byte, ids []int64) []byte {
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return append(b, ')')
}
