package executor

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dbmatrix/executor/store"
)

// A stateQuery is a question about the inside of a server whose answer is kept as
// an artifact.
type stateQuery struct{ file, query string }

// stateQueries are asked at the end of each phase, by flavour. What a build does
// not have, such as MyRocks, has no file.
var stateQueries = map[string][]stateQuery{
	"mysql":   mysqlState,
	"mariadb": mysqlState,
	"postgres": {
		{"pg-database", "SELECT d.*, pg_database_size(datid) AS bytes FROM pg_stat_database d WHERE datid <> 0 ORDER BY datname"},
		{"pg-tablespace", "SELECT spcname, pg_tablespace_size(oid) AS bytes FROM pg_tablespace ORDER BY spcname"},
		{"pg-slru", "SELECT * FROM pg_stat_slru ORDER BY name"},
	},
}

var mysqlState = []stateQuery{
	{"innodb-status", "SHOW ENGINE INNODB STATUS"},
	{"rocksdb-status", "SHOW ENGINE ROCKSDB STATUS"},
	{"innodb-metrics", "SELECT * FROM information_schema.innodb_metrics ORDER BY 1"},
	{"rocksdb-cfstats", "SELECT * FROM information_schema.rocksdb_cfstats ORDER BY 1, 2"},
	{"tables", `SELECT table_schema, table_name, engine, row_format, table_rows, avg_row_length, data_length, index_length, data_free, create_options
		FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys') ORDER BY 1, 2`},
	{"file-io", `SELECT event_name, count_read, sum_number_of_bytes_read, sum_timer_read, count_write, sum_number_of_bytes_write, sum_timer_write, count_misc, sum_timer_misc
		FROM performance_schema.file_summary_by_event_name WHERE count_star > 0 ORDER BY 1`},
	{"waits", `SELECT event_name, count_star, sum_timer_wait, max_timer_wait
		FROM performance_schema.events_waits_summary_global_by_event_name WHERE count_star > 0 ORDER BY 1`},
}

// serverState keeps what the server says of its inside at the end of a phase: the
// status texts of its engines, and dumps of its information and performance
// schemas. A question that it has no answer to is left out.
func (ph *phaseRun) serverState(ctx context.Context) []store.Artifact {
	db := ph.subject.DB()
	if db == nil || ph.dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statusBound) // for all of them: the server may hang
	defer cancel()
	var kept []store.Artifact
	for _, q := range stateQueries[ph.subject.Address().Flavour] {
		text, err := answer(ctx, db, q.query)
		if err != nil || text == "" {
			continue
		}
		path := filepath.Join(ph.dir, "state-"+q.file+".txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			ph.event(Event{Kind: Notice, Run: ph.run, Message: err.Error()})
			return kept
		}
		kept = append(kept, ph.artifactRow("server state", path))
	}
	return kept
}

// answer returns the rows of a query: tabs between the columns, a line of their
// names first. A text of several lines stands as it is, which is how the engines
// write theirs. It is empty where there are no rows.
func answer(ctx context.Context, db *sql.DB, query string) (string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return "", err
	}
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	var b strings.Builder
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		if b.Len() == 0 {
			fmt.Fprintln(&b, strings.Join(names, "\t"))
		}
		for i, v := range values {
			if i > 0 {
				b.WriteByte('\t')
			}
			if v.Valid {
				b.WriteString(v.String)
			} else {
				b.WriteString("NULL")
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), rows.Err()
}
