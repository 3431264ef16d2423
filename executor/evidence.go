package executor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// evidenceBound bounds the question to a server that may answer nothing any more.
const evidenceBound = 3 * time.Second

// evidenceText bounds what is kept of a statement.
const evidenceText = 200

// statementQueries ask a server of a flavour what it is working on: since how many
// seconds, in what state, at which statement.
var statementQueries = map[string]string{
	"mariadb":  familyStatements,
	"mysql":    familyStatements,
	"postgres": "SELECT extract(epoch FROM clock_timestamp() - query_start)::int, coalesce(wait_event, ''), query FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1 DESC",
}

const familyStatements = "SELECT time, coalesce(state, ''), info FROM information_schema.processlist WHERE info IS NOT NULL AND id <> connection_id() ORDER BY time DESC"

// evidence tells what is known of a server whose phase is ended for the time that
// it takes, while it can still be asked: the state of its process, and what it is
// working on.
func (ph *phaseRun) evidence() []string {
	if ph.p.Settings.Server == nil {
		return nil
	}
	lines := []string{"the server: " + ph.subject.State()}
	db, query := ph.subject.DB(), statementQueries[ph.subject.Address().Flavour]
	if db == nil || query == "" {
		return lines
	}
	ctx, cancel := context.WithTimeout(context.Background(), evidenceBound)
	defer cancel()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return append(lines, fmt.Sprintf("it does not answer within %s", evidenceBound))
	}
	defer rows.Close()
	for rows.Next() {
		var seconds int
		var state, statement string
		if rows.Scan(&seconds, &state, &statement) != nil {
			break
		}
		statement = strings.Join(strings.Fields(statement), " ")
		if len(statement) > evidenceText {
			statement = statement[:evidenceText] + " ..."
		}
		if state != "" {
			statement += " (" + state + ")"
		}
		lines = append(lines, fmt.Sprintf("it answers, and works for %d s on: %s", seconds, statement))
	}
	if len(lines) == 1 {
		lines = append(lines, "it answers, and works on no statement")
	}
	return lines
}
