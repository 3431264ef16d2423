package insertbench

import "iter"

// A batch is the rows of one INSERT, and of the DELETE that goes with it.
type batch struct {
	table          int    // from 1
	stream, number uint64 // what its random numbers start from
	rows           int64
}

// A share is what one client has of the tables: all of some, or a part of one.
type share struct {
	tables        []int // from 1
	first, stride int64 // which of their batches: first, first+stride, ...
}

// share returns what the n-th client has, from 0.
func (c *config) share(n int) share {
	if c.clients > c.tables {
		return share{[]int{n%c.tables + 1}, int64(n / c.tables), int64(c.clients / c.tables)}
	}
	s := share{stride: 1}
	for table := n; table < c.tables; table += c.clients {
		s.tables = append(s.tables, table+1)
	}
	return s
}

// fill returns the batches that put so many rows into each table of a share, a
// batch of each in turn.
func (c *config) fill(s share, stream uint64, rows func(table int) int64) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		for number, left := s.first, true; left; number += s.stride {
			left = false
			for _, table := range s.tables {
				n := min(c.rowsPerCommit, rows(table)-number*c.rowsPerCommit)
				if n <= 0 {
					continue
				}
				left = true
				if !yield(batch{table, stream + uint64(table), uint64(number), n}) {
					return
				}
			}
		}
	}
}

// endless returns batches of each table of a share in turn, without end.
func (c *config) endless(s share, stream uint64) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		for i := 0; yield(batch{s.tables[i%len(s.tables)], stream, uint64(i), c.rowsPerCommit}); i++ {
		}
	}
}

// split returns the n-th table's part of rows, from 1: an equal share, and one
// of the rows that are left over.
func (c *config) split(rows int64, n int) int64 {
	tables := int64(c.tables)
	part := rows / tables
	if int64(n) <= rows%tables {
		part++
	}
	return part
}

// loadRows returns how many rows the n-th table gets in the load.
func (c *config) loadRows(n int) int64 { return c.split(c.rows, n) }
