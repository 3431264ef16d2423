package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"dbmatrix/matrix"
)

// A Store is an open record. Its methods may be called from any goroutine.
type Store struct {
	path    string
	abs     string // the same, absolute
	place   place  // of the open file
	moved   atomic.Bool
	writer  *sql.DB // one connection; nil where the store is read-only
	reader  *sql.DB
	ballast ballast
	full    atomic.Bool
	now     func() time.Time
	tidy    func() // after Close; nil where there is nothing to tidy up
}

// Errors that a caller may want to tell apart.
var (
	// ErrDiskFull says that the filesystem of the record is full. What was
	// measured before is recorded.
	ErrDiskFull = errors.New("the disk that holds the results is full")

	// ErrUnwritable says that the record cannot be written any more: its disk
	// is in trouble, or its filesystem has become read-only.
	ErrUnwritable = errors.New("the results cannot be written any more")

	// ErrNewer says that a newer dbmatrix wrote the file.
	ErrNewer = errors.New("the results were written by a newer dbmatrix")

	// ErrNotFound says that the record has no such thing.
	ErrNotFound = errors.New("not in the record")
)

// What each connection is set to. A lost commit would make dbmatrix measure
// again what it had measured, so every commit is synced (FULL). A transaction
// takes the write lock at its beginning (immediate): one that took it later would
// fail at once, without waiting, when another process had written meanwhile.
//
// Package sql gives a connection to one goroutine at a time, so that those that
// read hundreds of thousands of rows need no lock of their own around each value
// (_mutex=no).
const (
	writing = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_foreign_keys=on"
	reading = "?mode=ro&_mutex=no&_busy_timeout=10000"
	frozen  = "?mode=ro&_mutex=no&immutable=1"
)

// logLimit is the size in bytes that the log is cut back to after a checkpoint.
const logLimit = 64 << 20

// Open opens the record at path for writing, creates it where it is not there
// and migrates it where it is older. It refuses a network filesystem, a file that
// is not a record of dbmatrix, a damaged one and one of a newer version.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(ctx, path)
	if isFull(err) {
		err = fmt.Errorf("%w: free some space (%w)", ErrDiskFull, err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the results %s: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	abs, err := absolute(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, abs: abs, ballast: ballast{abs + "-ballast", ballastSize}, now: time.Now}
	if err := prepare(ctx, abs); err != nil {
		return nil, err
	}
	if err := s.ballast.load(); err != nil {
		return nil, err
	}
	if s.writer, err = connect(abs, writing, 1); err != nil {
		return nil, err
	}
	if s.reader, err = connect(abs, reading, 4); err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	if err := checkWriter(ctx, s.writer); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.place, err = placeOf(abs); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare brings the file at an absolute path to the version that this dbmatrix
// works with.
func prepare(ctx context.Context, abs string) error {
	if err := refuseNetwork(filepath.Dir(abs)); err != nil {
		return err
	}
	if err := writable(abs); err != nil {
		return err
	}
	steps, err := migrationSteps(migrations)
	if err != nil {
		return err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return migrate(ctx, abs, steps)
	case err != nil:
		return err
	}
	version := 0
	if info.Size() > 0 {
		if version, err = identify(ctx, abs, reading); err != nil {
			return err
		}
		if err := check(ctx, abs, info.Size()); err != nil {
			return err
		}
	}
	switch {
	case version > len(steps):
		return newerError(version, len(steps))
	case version == len(steps):
		return nil
	case version > 0:
		if err := backUp(ctx, abs, version); err != nil {
			return err
		}
	}
	return migrate(ctx, abs, steps)
}

func newerError(version, known int) error {
	return fmt.Errorf("%w (schema %d, this one knows up to %d): use that dbmatrix, or another file", ErrNewer, version, known)
}

// connect opens a pool of connections to the database at an absolute path.
func connect(abs, settings string, connections int) (*sql.DB, error) {
	u := url.URL{Path: abs}
	db, err := sql.Open("sqlite3", "file:"+u.EscapedPath()+settings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// checkWriter sets the limit of the log and makes sure that there is one: where
// the filesystem cannot share memory SQLite goes on without, and says so only
// when asked.
func checkWriter(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("this filesystem does not allow a write-ahead log (SQLite uses %q): put the experiment on another one", mode)
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA journal_size_limit = %d", logLimit))
	return err
}

// OpenReadOnly opens the record at path for queries alone. It works while a
// runner writes, and in a directory that may not be written. A file that is not
// there is an error that wraps fs.ErrNotExist.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	s, err := openReadOnly(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("opening the results %s: %w", path, err)
	}
	return s, nil
}

func openReadOnly(ctx context.Context, path string) (*Store, error) {
	abs, err := absolute(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(abs); err != nil {
		return nil, err
	}
	tidy := tidyLog(abs)
	settings := reading
	version, err := identify(ctx, abs, settings)
	if isUnwritable(err) {
		// SQLite wants to make the shared memory of the log. Without a log
		// it is not needed: nobody can be writing in a directory like that.
		if info, statErr := os.Stat(abs + "-wal"); statErr == nil && info.Size() > 0 {
			return nil, fmt.Errorf("its log %s-wal is not merged, which this directory does not allow: copy both to one that may be written", path)
		}
		settings = frozen
		version, err = identify(ctx, abs, settings)
	}
	if err != nil {
		return nil, err
	}
	steps, err := migrationSteps(migrations)
	if err != nil {
		return nil, err
	}
	switch {
	case version > len(steps):
		return nil, newerError(version, len(steps))
	case version < len(steps):
		return nil, fmt.Errorf("it has the older schema %d, this dbmatrix reads %d: `dbmatrix run` migrates it, after a backup", version, len(steps))
	}
	db, err := connect(abs, settings, 4)
	if err != nil {
		return nil, err
	}
	return &Store{path: path, abs: abs, reader: db, now: time.Now, tidy: tidy}, nil
}

// tidyLog returns what removes the files of the log that reading makes, nil where
// they are there already. A reader may not remove them, since a writer may have
// begun to use them; SQLite does it when the last connection that may write ends.
func tidyLog(abs string) func() {
	if _, err := os.Lstat(abs + "-shm"); err == nil {
		return nil
	}
	return func() {
		db, err := connect(abs, "?mode=rw", 1)
		if err != nil {
			return
		}
		defer db.Close()
		var tables int // a connection opens the log when it reads
		_ = db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables)
	}
}

// Close checkpoints what was written and closes the file.
func (s *Store) Close() error {
	err := s.reader.Close()
	if s.writer == nil {
		if s.tidy != nil {
			s.tidy()
		}
		return err
	}
	// A reader that is still at work keeps the log from being emptied; then
	// the next writer does it.
	_, _ = s.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, s.save(context.Background()), s.writer.Close())
}

// checkpoint brings the log into the database, as far as no reader is in the way:
// it does not wait for one.
func (s *Store) checkpoint() {
	_, _ = s.writer.Exec("PRAGMA wal_checkpoint(PASSIVE)")
}

// Path returns the path that the store was opened with.
func (s *Store) Path() string { return s.path }

// DiskFull reports whether a write found the disk full, so that the ballast was
// given back to record what was measured. From then on BeginAttempt and
// BeginPhase return ErrDiskFull.
func (s *Store) DiskFull() bool { return s.full.Load() }

// record executes f in one transaction that ignores the cancellation of ctx: the
// driver commits what a cancelled transaction writes after it was rolled back.
// On a full disk f is executed once more after the ballast was given back.
func (s *Store) record(ctx context.Context, what string, f func(*tx) error) error {
	if s.writer == nil {
		return fmt.Errorf("recording %s: the results are open for reading only", what)
	}
	ctx = context.WithoutCancel(ctx)
	err := transact(ctx, s.writer, f)
	if isFull(err) {
		s.full.Store(true)
		if s.ballast.drop() {
			err = transact(ctx, s.writer, f)
		}
		if isFull(err) {
			err = fmt.Errorf("%w: free some space on the filesystem of %s (%w)", ErrDiskFull, s.path, err)
		}
	}
	if isBusy(err) {
		err = fmt.Errorf("%s: %w (%w)", s.path, lockedError(s.abs), err)
	}
	if isBroken(err) {
		err = fmt.Errorf("%w: look at the filesystem of %s (%w)", ErrUnwritable, s.path, err)
	}
	if err == nil {
		err = s.checkPlace()
	}
	if err != nil {
		return fmt.Errorf("recording %s: %w", what, err)
	}
	return nil
}

// begin is record for what must not begin on a full disk.
func (s *Store) begin(ctx context.Context, what string, f func(*tx) error) error {
	if s.full.Load() {
		return fmt.Errorf("recording %s: %w: what was measured is recorded; free some space on the filesystem of %s", what, ErrDiskFull, s.path)
	}
	return s.record(ctx, what, f)
}

// query executes f in one transaction, so that all its queries see the record as
// it was at one moment.
func (s *Store) query(ctx context.Context, what string, f func(*tx) error) error {
	if err := transact(ctx, s.reader, f); err != nil {
		if isBusy(err) {
			err = fmt.Errorf("%s: %w (%w)", s.path, lockedError(s.abs), err)
		}
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}

func transact(ctx context.Context, db *sql.DB, f func(*tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback() // after a commit it does nothing
	if err := f(&tx{Tx: t, conn: conn, ctx: ctx, prepared: map[string]*sql.Stmt{}}); err != nil {
		return err
	}
	return t.Commit()
}

// A tx is a transaction that prepares each statement once.
type tx struct {
	*sql.Tx
	conn     *sql.Conn // that it is on
	ctx      context.Context
	prepared map[string]*sql.Stmt
}

func (t *tx) prepare(query string) (*sql.Stmt, error) {
	if st := t.prepared[query]; st != nil {
		return st, nil
	}
	st, err := t.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	t.prepared[query] = st
	return st, nil
}

// exec executes a statement.
func (t *tx) exec(query string, args ...any) error {
	st, err := t.prepare(query)
	if err != nil {
		return err
	}
	_, err = st.ExecContext(t.ctx, args...)
	return err
}

// insert executes an INSERT and returns the id of the row.
func (t *tx) insert(query string, args ...any) (int64, error) {
	st, err := t.prepare(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// change executes an UPDATE that must change a row; missing says what there is
// none of.
func (t *tx) change(missing, query string, args ...any) error {
	st, err := t.prepare(query)
	if err != nil {
		return err
	}
	res, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("%s: %w", missing, ErrNotFound)
}

// one scans the only row of a query. Without a row it returns sql.ErrNoRows.
func (t *tx) one(query string, args []any, dest ...any) error {
	st, err := t.prepare(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(t.ctx, args...).Scan(dest...)
}

// each calls f for every row of a query; f scans it.
func (t *tx) each(query string, args []any, f func(*sql.Rows) error) error {
	st, err := t.prepare(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// bulk calls f for every row of a query that has hundreds of thousands. It takes
// the rows from the driver, past the conversions of package sql, which take as
// long as the query. The values are int64, float64, string or nil.
func (t *tx) bulk(query string, args []any, f func(row []driver.Value) error) error {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return err
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return t.conn.Raw(func(c any) error {
		rows, err := c.(driver.QueryerContext).QueryContext(t.ctx, query, named)
		if err != nil {
			return err
		}
		defer rows.Close()
		row := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(row); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := f(row); err != nil {
				return err
			}
		}
	})
}

// maybe returns a value of a row, or the zero value where it is NULL.
func maybe[T any](v driver.Value) T {
	t, _ := v.(T)
	return t
}

// finished reports whether a status is one that something ends with.
func finished(status matrix.Status) bool {
	return status.Complete() || status.Failure() || status == matrix.Interrupted
}
