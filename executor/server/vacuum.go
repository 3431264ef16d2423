package server

import (
	"context"
	"database/sql"
	"fmt"
)

// vacuum vacuums and analyses the tables of every database of the server of
// PostgreSQL at an address, to which db is connected: a session reaches those of
// its own database alone.
func vacuum(ctx context.Context, db *sql.DB, at Address) error {
	databases, err := pairs(ctx, db, "SELECT datname::text, '' FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY datname")
	if err != nil {
		return err
	}
	for _, d := range databases {
		if err := vacuumDatabase(ctx, at, d.Name); err != nil {
			return fmt.Errorf("vacuuming database %s: %w", d.Name, err)
		}
	}
	return nil
}

func vacuumDatabase(ctx context.Context, at Address, name string) error {
	db, err := sql.Open("pgx", at.DSN(name))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM (ANALYZE)")
	return err
}

// vacuumsUnderWay returns how many of the server's own vacuums run.
func vacuumsUnderWay(ctx context.Context, db *sql.DB) (*uint64, error) {
	var n uint64
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'").Scan(&n)
	return &n, err
}
