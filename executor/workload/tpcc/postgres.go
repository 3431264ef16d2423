package tpcc

import (
	"fmt"
	"regexp"
	"strings"

	"dbmatrix/executor/workload/client"
)

// postgres is the flavour that the program speaks to by its driver of that name.
const postgres = "postgres"

// createPostgresTable returns the statements that make a table and its
// partitions. The program makes the secondary indexes itself, before it loads,
// and ends where they are there already.
func (c *config) createPostgresTable(t *table) []string {
	parts := make([]string, len(t.columns))
	for i, column := range t.columns {
		parts[i] = strings.ReplaceAll(column, "DATETIME", "TIMESTAMP")
	}
	if t.primary != "" {
		parts = append(parts, "PRIMARY KEY ("+t.primary+")")
	}
	statement := "CREATE TABLE " + t.name + " (" + strings.Join(parts, ", ") + ")"
	if !c.partitioned(t) {
		return []string{statement}
	}
	kind, _, _ := strings.Cut(c.partitioning, "_")
	statements := []string{fmt.Sprintf("%s PARTITION BY %s (%s)", statement, strings.ToUpper(kind), t.warehouse)}
	for i := range c.partitions {
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s_p%d PARTITION OF %s FOR VALUES %s", t.name, i, t.name, c.postgresBounds(i)))
	}
	return statements
}

// postgresBounds says which warehouses the i-th partition holds. Those of a hash
// are spread by the server's own function, not by their remainder.
func (c *config) postgresBounds(i int64) string {
	switch c.partitioning {
	case "hash":
		return fmt.Sprintf("WITH (MODULUS %d, REMAINDER %d)", c.partitions, i)
	case "range":
		return fmt.Sprintf("FROM (%d) TO (%d)", c.rangeStart(i), c.rangeStart(i+1))
	default:
		return "IN (" + c.listed(i) + ")"
	}
}

// checkPostgresTable reads back what the server made.
func (c *config) checkPostgresTable(conn *client.Conn, t *table) error {
	return c.checkPartitions(conn, t, "SELECT COUNT(*) FROM pg_inherits WHERE inhparent = '"+t.name+"'::regclass")
}

// tidy does after a load what pgbench does after its own: the server would do it
// at some time during the runs.
func tidy(conn *client.Conn) error {
	if !conn.Postgres() {
		return nil
	}
	_, err := conn.Exec("VACUUM ANALYZE")
	return err
}

// postgresError is what the program says of an error of PostgreSQL: its driver
// tells no more than the words.
var postgresError = regexp.MustCompile(`pq: (.+)$`)

// inTheWay are the words that say another client was in the way, or that are said
// of that, and what counts them.
var inTheWay = []struct {
	words   string
	counter func(*report) *int64
}{
	{"deadlock detected", func(r *report) *int64 { return &r.deadlocks }},
	{"canceling statement due to lock timeout", func(r *report) *int64 { return &r.lockWaits }},
	{"could not serialize access due to ", func(r *report) *int64 { return &r.conflicts }},

	// The statement before this one has failed while its rows were read, and the
	// program has lost its reason.
	{"current transaction is aborted", func(r *report) *int64 { return &r.unnamed }},
}

// judgeWords counts an error of PostgreSQL, or finds that it may not be.
func (r *report) judgeWords(words, text string) {
	for _, known := range inTheWay {
		if strings.HasPrefix(words, known.words) {
			*known.counter(r)++
			return
		}
	}
	r.fault(text)
}
