package server

import (
	"context"
	"database/sql"
	"fmt"
)

// vacuumed reports whether the flavour's tables are vacuumed.
func (i *Instance) vacuumed() bool { return i.address.Flavour == "postgres" }

// vacuum vacuums and analyses the tables of every database: a session of
// PostgreSQL reaches those of its own alone.
func (i *Instance) vacuum(ctx context.Context) error {
	databases, err := pairs(ctx, i.db, "SELECT datname::text, '' FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY datname")
	if err != nil {
		return err
	}
	for _, d := range databases {
		if err := i.vacuumDatabase(ctx, d.Name); err != nil {
			return fmt.Errorf("vacuuming database %s: %w", d.Name, err)
		}
	}
	return nil
}

func (i *Instance) vacuumDatabase(ctx context.Context, name string) error {
	db, err := sql.Open("pgx", i.address.DSN(name))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM (ANALYZE)")
	return err
}

// vacuumDebt returns how many of the server's own vacuums run.
func vacuumDebt(ctx context.Context, db *sql.DB) (*uint64, error) {
	var n uint64
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'").Scan(&n)
	return &n, err
}
