package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dbmatrix/matrix"
)

// Drain tells the server to do at once the work that it has put off, as far as a
// phase's settle block waits for it: by itself an idle server may keep dirty
// pages for hours. restore gives the variables that were changed their values
// back; it is never nil.
func (i *Instance) Drain(ctx context.Context, s *matrix.Settle) (restore func(context.Context) error, err error) {
	restore, err = i.flavour.drain(ctx, i.db, i.address, s)
	if err != nil {
		err = fmt.Errorf("telling server %q to do the work it has put off: %w", i.launch.Settings.Server.Name, err)
	}
	return restore, err
}

// flushers are the variables that let InnoDB flush dirty pages down to none
// while it is idle: below the low water mark it does not flush at all.
var flushers = []string{"innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"}

// drain implements Flavour.
func (f *family) drain(ctx context.Context, db *sql.DB, _ Address, s *matrix.Settle) (func(context.Context) error, error) {
	before := map[string]float64{}
	restore := func(ctx context.Context) error {
		var errs []error
		for _, name := range []string{flushers[1], flushers[0]} { // the mark may not lie above the bound
			if value, ok := before[name]; ok {
				_, err := db.ExecContext(ctx, fmt.Sprintf("SET GLOBAL %s = %g", name, value))
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	if s.DirtyPagesPct != nil || s.CheckpointAge != nil {
		if err := flush(ctx, db, before); err != nil {
			return restore, err
		}
	}
	if !s.Compaction {
		return restore, nil
	}
	_, err := db.ExecContext(ctx, "SET GLOBAL rocksdb_force_flush_memtable_now = 1")
	if isUnknown(err) {
		err = nil // a server without MyRocks
	}
	return restore, err
}

// flush lets InnoDB flush all dirty pages. before takes the values that the
// variables had.
func flush(ctx context.Context, db *sql.DB, before map[string]float64) error {
	for _, name := range flushers {
		var value float64
		err := db.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&value)
		if isUnknown(err) {
			continue // a server without InnoDB
		}
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "SET GLOBAL "+name+" = 0"); err != nil {
			return err
		}
		before[name] = value
	}
	return nil
}
