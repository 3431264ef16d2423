package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// migrations holds the files that lead from each version of the schema to the
// next.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a database as a record of dbmatrix: "dbmx" in ASCII.
const applicationID = 0x64626d78

// checkLimit is the size in bytes up to which a database is checked whenever it
// is opened for writing; it takes about a second. A larger one is checked only
// where its last writer did not close it.
const checkLimit = 256 << 20

// migrationSteps returns the migrations in order; the i-th leads to version i+1.
func migrationSteps(files fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(files, "migrations")
	if err != nil {
		return nil, err
	}
	var steps []string
	for i, e := range entries {
		if want := fmt.Sprintf("%04d.sql", i+1); e.Name() != want {
			return nil, fmt.Errorf("migration %s is there in place of %s", e.Name(), want)
		}
		text, err := fs.ReadFile(files, "migrations/"+e.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(text))
	}
	return steps, nil
}

// identify returns the schema version of a database at an absolute path, 0 where
// it is empty. A file that is not ours is an error.
func identify(ctx context.Context, abs, settings string) (int, error) {
	db, err := connect(abs, settings, 1)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var version, id, tables int
	err = db.QueryRowContext(ctx, `SELECT
		(SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&version, &id, &tables)
	switch {
	case isNotDatabase(err):
		return 0, errors.New("it is no database: move it away")
	case isCorrupt(err):
		return 0, damagedError(err.Error())
	case isBusy(err):
		return 0, lockedError(abs)
	case err != nil:
		return 0, err
	case tables == 0 && id == 0 && version == 0:
		return 0, nil
	case id != applicationID:
		return 0, errors.New("it is a database of another program: move it away")
	}
	return version, nil
}

func damagedError(detail string) error {
	return fmt.Errorf("it is damaged (%s): keep it, and save what can be read with `sqlite3 results.db .recover | sqlite3 saved.db`", detail)
}

// check looks for damage in a database of some size.
func check(ctx context.Context, abs string, size int64) error {
	if _, err := os.Stat(abs + "-wal"); size > checkLimit && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := connect(abs, reading, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	switch {
	case isCorrupt(err):
		return damagedError(err.Error())
	case err != nil:
		return err
	case verdict != "ok":
		return damagedError(verdict)
	}
	return nil
}

// backUp copies a database of an older version before it is migrated.
func backUp(ctx context.Context, abs string, version int) error {
	to, err := backUpName(abs, version)
	if err != nil {
		return err
	}
	db, err := connect(abs, reading, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	partial := to + ".tmp"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", partial); err != nil {
		return fmt.Errorf("copying it to %s before it is migrated: %w", to, err)
	}
	return settle(partial, to)
}

// backUpName returns a name for a copy that no file has. There is one of an earlier
// migration where that was broken off after its copy, or where somebody put an
// older database back.
func backUpName(abs string, version int) (string, error) {
	name := fmt.Sprintf("%s-v%d.backup", abs, version)
	for n := 2; ; n++ {
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s-v%d-%d.backup", abs, version, n)
	}
}

// settle gives a file that was written under a temporary name its own, so that
// it is there whole or not at all.
func settle(partial, to string) error {
	if err := syncFile(partial); err != nil {
		return err
	}
	if err := os.Rename(partial, to); err != nil {
		return err
	}
	return syncFile(filepath.Dir(to))
}

// syncFile brings a file or a folder to the device.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}

// migrate brings a database up to the last of the steps, each in a transaction
// of its own. Foreign keys are checked at the end of each, not meanwhile, since a
// table may have to be made anew.
func migrate(ctx context.Context, abs string, steps []string) error {
	db, err := connect(abs, "?_synchronous=FULL&_busy_timeout=10000&_txlock=immediate&_foreign_keys=off", 1)
	if err != nil {
		return err
	}
	defer db.Close()
	for i, step := range steps {
		if err := transact(ctx, db, func(t *tx) error { return migrateStep(t, i+1, step) }); err != nil {
			return fmt.Errorf("migrating to schema %d: %w", i+1, err)
		}
	}
	return nil
}

func migrateStep(t *tx, version int, step string) error {
	var have int
	if err := t.one("PRAGMA user_version", nil, &have); err != nil || have >= version {
		return err // done before, maybe by another process just now
	}
	for _, statement := range []string{
		step,
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", version),
	} {
		if _, err := t.ExecContext(t.ctx, statement); err != nil {
			return err
		}
	}
	return t.each("PRAGMA foreign_key_check", nil, func(rows *sql.Rows) error {
		return errors.New("rows refer to others that are not there")
	})
}
