package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// Timeouts of connections. A statement of a workload may last for hours, so only
// control connections have a limit on reading; without one, a stopped server
// would hold the caller for ever.
const (
	dialTimeout    = 10 * time.Second
	controlTimeout = time.Minute
)

// controlConnections is how many connections the runner keeps to a server.
const controlConnections = 4

// mysqlConfig returns the driver's settings for an address.
func mysqlConfig(a Address, database string) *driver.Config {
	c := driver.NewConfig()
	c.User, c.DBName = a.User, database
	c.Net, c.Addr = "unix", a.Socket
	c.Timeout, c.WriteTimeout = dialTimeout, controlTimeout
	c.AllowNativePasswords = true
	return c
}

// socket implements Flavour.
func (f *family) socket(int) string { return socketName }

// superuser implements Flavour.
func (f *family) superuser() string { return "root" }

// open implements Flavour.
func (f *family) open(a Address) (*sql.DB, error) {
	c := mysqlConfig(a, "")
	c.ReadTimeout = controlTimeout
	c.Logger = &driver.NopLogger{} // a server that is not ready yet is no news
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(controlConnections)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

// identity implements Flavour.
func (f *family) identity(ctx context.Context, db *sql.DB) (identity, error) {
	var who identity
	err := db.QueryRowContext(ctx, "SELECT @@datadir, @@pid_file, @@version").Scan(&who.dataDir, &who.pid, &who.version)
	return who, err
}

// stale implements Flavour: the pid file lies beside the socket.
func (f *family) stale() []string { return nil }

// place implements Flavour: the redo log moves to its storage.
func (f *family) place(l Layout) error {
	if _, ok := l.Roles[roleRedo]; !ok {
		return nil
	}
	entries, err := os.ReadDir(l.Data())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "ib_logfile") && e.Name() != "#innodb_redo" {
			continue
		}
		if err := move(filepath.Join(l.Data(), e.Name()), filepath.Join(l.Role(roleRedo), e.Name())); err != nil {
			return fmt.Errorf("moving the redo log to its storage: %w", err)
		}
	}
	return nil
}

// move moves a file or directory to another filesystem.
func move(from, to string) error {
	if err := os.Rename(from, to); err == nil {
		return nil
	}
	c := copier{ctx: context.Background(), buf: make([]byte, copyBuffer)}
	if err := c.tree(from, to); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// pairs runs a query with two text columns.
func pairs(ctx context.Context, db *sql.DB, query string, args ...any) ([]Variable, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Variable
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		all = append(all, Variable{name, value.String})
	}
	return all, rows.Err()
}

// facts implements Flavour.
func (f *family) facts(ctx context.Context, db *sql.DB) (Facts, error) {
	var facts Facts
	if err := db.QueryRowContext(ctx, "SELECT @@version, @@version_comment").Scan(&facts.Version, &facts.Comment); err != nil {
		return facts, err
	}
	var err error
	if facts.Variables, err = pairs(ctx, db, "SHOW GLOBAL VARIABLES"); err != nil {
		return facts, err
	}
	for i := range facts.Variables {
		facts.Variables[i].Name = strings.ToLower(facts.Variables[i].Name)
	}
	slices.SortFunc(facts.Variables, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	facts.Plugins, err = mysqlPlugins(ctx, db)
	return facts, err
}

// mysqlPlugins returns the active plugins.
func mysqlPlugins(ctx context.Context, db *sql.DB) ([]Plugin, error) {
	rows, err := db.QueryContext(ctx, "SELECT plugin_name, plugin_version, COALESCE(plugin_library, '') FROM information_schema.plugins WHERE plugin_status = 'ACTIVE' ORDER BY plugin_name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Plugin
	for rows.Next() {
		var p Plugin
		if err := rows.Scan(&p.Name, &p.Version, &p.Library); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// status returns the global status counters of the given names that are there.
func (f *family) status(ctx context.Context, db *sql.DB, names ...string) (map[string]float64, error) {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	rows, err := pairs(ctx, db, "SHOW GLOBAL STATUS WHERE Variable_name IN ("+marks+")", args...)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, r := range rows {
		if v, err := strconv.ParseFloat(r.Value, 64); err == nil {
			values[strings.ToLower(r.Name)] = v
		}
	}
	return values, nil
}

// debt implements Flavour. Where the status counters do not have a number, the
// text of SHOW ENGINE INNODB STATUS does.
func (f *family) debt(ctx context.Context, db *sql.DB) (Debt, error) {
	var d Debt
	s, err := f.status(ctx, db, "innodb_buffer_pool_pages_dirty", "innodb_buffer_pool_pages_total", "innodb_checkpoint_age", "innodb_history_list_length")
	if err != nil {
		return d, err
	}
	if total := s["innodb_buffer_pool_pages_total"]; total > 0 {
		pct := 100 * s["innodb_buffer_pool_pages_dirty"] / total
		d.DirtyPagesPct = &pct
	}
	if v, ok := s["innodb_checkpoint_age"]; ok {
		d.CheckpointAge = whole(v)
	}
	if v, ok := s["innodb_history_list_length"]; ok {
		d.PurgeHistory = whole(v)
	}
	if d.CheckpointAge == nil || d.PurgeHistory == nil {
		if err := innodbStatusDebt(ctx, db, &d); err != nil {
			return d, err
		}
	}
	d.PendingCompaction, err = rocksdbDebt(ctx, db)
	return d, err
}

// whole returns a counter as a whole number.
func whole(v float64) *uint64 {
	u := uint64(v)
	return &u
}

// Numbers in the text of SHOW ENGINE INNODB STATUS.
var (
	logSequence    = regexp.MustCompile(`(?m)^Log sequence number\s+(\d+)`)
	lastCheckpoint = regexp.MustCompile(`(?m)^Last checkpoint at\s+(\d+)`)
	historyLength  = regexp.MustCompile(`(?m)^History list length\s+(\d+)`)
)

// innodbStatusDebt fills in what InnoDB's status text says. A server without
// InnoDB has none.
func innodbStatusDebt(ctx context.Context, db *sql.DB, d *Debt) error {
	var engine, name, text string
	err := db.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &text)
	if errors.Is(err, sql.ErrNoRows) || isUnknown(err) {
		return nil
	}
	if err != nil {
		return err
	}
	number := func(r *regexp.Regexp) *uint64 {
		if m := r.FindStringSubmatch(text); m != nil {
			if v, err := strconv.ParseUint(m[1], 10, 64); err == nil {
				return &v
			}
		}
		return nil
	}
	if now, then := number(logSequence), number(lastCheckpoint); now != nil && then != nil && *now >= *then && d.CheckpointAge == nil {
		age := *now - *then
		d.CheckpointAge = &age
	}
	if d.PurgeHistory == nil {
		d.PurgeHistory = number(historyLength)
	}
	return nil
}

// rocksdbDebt returns how many flushes and compactions RocksDB has still to do, or
// nil without RocksDB. The active memtables are not among them: they are never
// empty, since RocksDB itself writes to one, and Drain has them flushed.
func rocksdbDebt(ctx context.Context, db *sql.DB) (*uint64, error) {
	rows, err := pairs(ctx, db, "SELECT stat_type, SUM(value) FROM information_schema.rocksdb_cfstats WHERE stat_type IN ('COMPACTION_PENDING', 'MEM_TABLE_FLUSH_PENDING', 'NUM_IMMUTABLE_MEM_TABLE') GROUP BY stat_type")
	if isUnknown(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var total uint64
	for _, r := range rows {
		v, _ := strconv.ParseFloat(r.Value, 64)
		total += uint64(v)
	}
	return &total, nil
}

// isUnknown reports whether a server does not know a table, engine or variable.
func isUnknown(err error) bool {
	var e *driver.MySQLError
	// ER_NO_SUCH_TABLE, ER_UNKNOWN_TABLE, ER_UNKNOWN_STORAGE_ENGINE, ER_UNKNOWN_SYSTEM_VARIABLE
	return errors.As(err, &e) && slices.Contains([]uint16{1146, 1109, 1286, 1193}, e.Number)
}
