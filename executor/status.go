package executor

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// statusBound bounds a query for the server's counters.
const statusBound = 10 * time.Second

// hasStatus reports whether servers of a flavour have counters that samples can
// name.
func hasStatus(flavour string) bool { return flavour == "mysql" || flavour == "mariadb" }

// queryStatus returns the counters of a server of the MySQL family.
func queryStatus(ctx context.Context, db *sql.DB) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, statusBound)
	defer cancel()
	status := map[string]string{}
	return status, addCounters(ctx, db, status, "SHOW GLOBAL STATUS")
}

// addCounters adds the names and values that a query yields.
func addCounters(ctx context.Context, db *sql.DB, to map[string]string, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		to[name] = value.String
	}
	return rows.Err()
}

// statisticsViews are PostgreSQL's counters of the whole server, each with what
// tells its rows apart. Some came with later versions: checkpointer with 17, io
// with 16, wal with 14.
var statisticsViews = []struct{ view, row string }{
	{"pg_stat_bgwriter", "''"},
	{"pg_stat_checkpointer", "''"},
	{"pg_stat_wal", "''"},
	{"pg_stat_database", "coalesce(datname, 'shared') || '.'"},
	{"pg_stat_io", "backend_type || '.' || object || '.' || context || '.'"},
}

// queryStatistics returns the counters of a PostgreSQL server, as
// pg_stat_wal.wal_bytes and pg_stat_database.postgres.xact_commit.
func queryStatistics(ctx context.Context, db *sql.DB) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, statusBound)
	defer cancel()
	status := map[string]string{}
	for _, v := range statisticsViews {
		var there bool
		if err := db.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", v.view).Scan(&there); err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		query := fmt.Sprintf("SELECT '%[1]s.' || %[2]s || c.key, c.value FROM %[1]s s CROSS JOIN LATERAL jsonb_each_text(to_jsonb(s)) c", v.view, v.row)
		if err := addCounters(ctx, db, status, query); err != nil {
			return nil, err
		}
	}
	return status, nil
}

// readStatus reads the server's counters for the artifacts; nil where there are
// none or the server does not tell.
func (ph *phaseRun) readStatus(ctx context.Context) map[string]string {
	db := ph.subject.DB()
	if db == nil {
		return nil
	}
	query := queryStatus
	switch flavour := ph.subject.Address().Flavour; {
	case flavour == "postgres":
		query = queryStatistics
	case !hasStatus(flavour):
		return nil
	}
	status, err := query(ctx, db)
	if err != nil {
		return nil
	}
	return status
}

// statusAfter reads the counters again, where there were any before.
func (ph *phaseRun) statusAfter(ctx context.Context, before map[string]string) map[string]string {
	if before == nil || !ph.alive() {
		return nil
	}
	return ph.readStatus(ctx)
}

// writeCounters are the counters of written rows, by flavour: MariaDB has none of
// InnoDB's own any more and counts internal temporary tables apart, MySQL the
// other way round.
var writeCounters = map[string][]string{
	"mariadb": {"Handler_write", "Handler_update", "Handler_delete"},
	"mysql": {
		"Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted",
		"Rocksdb_rows_inserted", "Rocksdb_rows_updated", "Rocksdb_rows_deleted",
	},
}

// wrote returns a failure where a phase that says read_only has written rows.
func wrote(flavour string, before, after map[string]string) *failure {
	for _, name := range writeCounters[flavour] {
		x, xerr := strconv.ParseFloat(before[name], 64)
		y, yerr := strconv.ParseFloat(after[name], 64)
		if xerr == nil && yerr == nil && y > x {
			return failed("the phase says read_only, and %s grew by %.0f", name, y-x)
		}
	}
	return nil
}

// writeStatus writes the server's counters before and after an iteration as an
// artifact: name, before, after, difference.
func (ph *phaseRun) writeStatus(before, after map[string]string, number int) (store.Artifact, bool) {
	if before == nil || after == nil {
		return store.Artifact{}, false
	}
	var b strings.Builder
	b.WriteString("name\tbefore\tafter\tdifference\n")
	for _, name := range slices.Sorted(maps.Keys(after)) {
		difference := ""
		x, xerr := strconv.ParseFloat(before[name], 64)
		y, yerr := strconv.ParseFloat(after[name], 64)
		if xerr == nil && yerr == nil {
			difference = strconv.FormatFloat(y-x, 'f', -1, 64)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", name, before[name], after[name], difference)
	}
	path := filepath.Join(ph.dir, fmt.Sprintf("status-%d.tsv", number))
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		ph.event(Event{Kind: Notice, Run: ph.run, Message: err.Error()})
		return store.Artifact{}, false
	}
	return ph.artifactRow("status", path), true
}

// A statusSampler samples chosen counters of the server. What a counter means the
// server alone knows, so its readings are its values, not increases.
type statusSampler struct {
	db    *sql.DB
	names []string
}

var _ sampler.Sampler = (*statusSampler)(nil)

// Name returns "server status".
func (s *statusSampler) Name() string { return "server status" }

// Begin does nothing.
func (s *statusSampler) Begin(context.Context) error { return nil }

// End does nothing.
func (s *statusSampler) End(context.Context) ([]sampler.Sample, []matrix.Flag, error) {
	return nil, nil, nil
}

// Read returns the counters as status_<name>.
func (s *statusSampler) Read(ctx context.Context, _ bool) ([]sampler.Sample, error) {
	if s.db == nil {
		return nil, fmt.Errorf("there is no server to ask for %s", strings.Join(s.names, ", "))
	}
	status, err := queryStatus(ctx, s.db)
	if err != nil {
		return nil, err
	}
	var samples []sampler.Sample
	for _, name := range s.names {
		for have, value := range status {
			if !strings.EqualFold(have, name) {
				continue
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, fmt.Errorf("server status %s is %q, no number", have, value)
			}
			samples = append(samples, sampler.Sample{Metric: "status_" + strings.ToLower(have), Unit: "count", Kind: sampler.Gauge, Value: v})
		}
	}
	return samples, nil
}
