package reliability

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A runName is a run: a cell and a replicate.
type runName struct {
	cell      string
	replicate string
}

// structures returns what each run's result is made of, apart from the numbers
// themselves: phases, iterations, and which rows of which names hang on them.
// A phase that was taken over with a snapshot is as it was measured.
func (h *host) structures() map[runName]string {
	h.t.Helper()
	db := h.record()
	if db == nil {
		h.t.Fatal("there is no record")
	}
	defer db.Close()
	found := map[runName]string{}
	for _, line := range rows(h.t, db, `SELECT cell, replicate, attempt_id FROM run_attempt WHERE counts`) {
		f := strings.Fields(line)
		found[runName{f[0], f[1]}] = h.structure(db, f[2])
	}
	return found
}

// structureQueries tell of one phase, ?1, in the words of the record. Readings
// are counted as series: how many there are depends on how long a phase took, to
// the interval; and a workload that is done within one has no rates of intervals.
var structureQueries = []struct{ what, query string }{
	{"iteration", `SELECT number, status FROM iteration WHERE phase_id = ?1 ORDER BY number`},
	{"metric", `SELECT i.number, n.name, n.unit
		FROM iteration i JOIN metric m ON m.iteration_id = i.id JOIN metric_name n ON n.id = m.metric_name_id
		WHERE i.phase_id = ?1 ORDER BY i.number, n.name, n.unit`},
	{"work", `SELECT i.number, n.name, m.value
		FROM iteration i JOIN metric m ON m.iteration_id = i.id JOIN metric_name n ON n.id = m.metric_name_id
		WHERE i.phase_id = ?1 AND n.name IN ('rows_inserted', 'rows_read', 'queries') ORDER BY i.number, n.name`},
	{"series", `SELECT i.number, n.name, s.instance
		FROM iteration i JOIN series s ON s.iteration_id = i.id JOIN metric_name n ON n.id = s.metric_name_id
		WHERE i.phase_id = ?1 AND s.instance = '' AND n.name NOT IN ('ips', 'qps', 'tps') AND n.name NOT LIKE 'lat%'
		  AND EXISTS (SELECT 1 FROM reading WHERE series_id = s.id) ORDER BY i.number, n.name, s.instance`},
	{"histogram", `SELECT i.number, h.operation FROM iteration i JOIN histogram h ON h.iteration_id = i.id
		WHERE i.phase_id = ?1 ORDER BY i.number, h.operation`},
	{"query plan", `SELECT i.number, q.query FROM iteration i JOIN query_plan q ON q.iteration_id = i.id
		WHERE i.phase_id = ?1 ORDER BY i.number, q.query`},
	{"option", `SELECT name, verdict FROM option WHERE phase_id = ?1 ORDER BY name`},
	{"variables", `SELECT count(*) FROM variable WHERE phase_id = ?1`},
}

// structure tells of one attempt.
func (h *host) structure(db *sql.DB, attempt string) string {
	h.t.Helper()
	var b strings.Builder
	for _, line := range rows(h.t, db, `SELECT coalesce(taken_from, id), ordinal, block, name, workload, planned, finished, status
		FROM phase WHERE attempt_id = ? ORDER BY ordinal`, attempt) {
		id, phase, _ := strings.Cut(line, " ")
		fmt.Fprintf(&b, "phase %s\n", phase)
		for _, q := range structureQueries {
			for _, row := range rows(h.t, db, q.query, id) {
				fmt.Fprintf(&b, "  %s %s\n", q.what, row)
			}
		}
		h.artifacts(&b, db, id)
	}
	return b.String()
}

// artifacts tells of the files of a phase, and checks that they are there. What a
// server says of its state after the measured window is missing where it was
// killed right then.
func (h *host) artifacts(b *strings.Builder, db *sql.DB, phase string) {
	h.t.Helper()
	for _, line := range rows(h.t, db, `SELECT a.bytes, a.kind, a.path FROM artifact a JOIN phase p ON p.attempt_id = a.attempt_id
		WHERE p.id = ? AND a.kind != 'server state' AND a.path LIKE '%/' || p.block || '/%' ORDER BY a.path`, phase) {
		size, rest, _ := strings.Cut(line, " ")
		at := strings.LastIndex(rest, " ")
		fmt.Fprintf(b, "  artifact %s %s\n", rest[:at], filepath.Base(rest[at+1:]))
		info, err := os.Stat(filepath.Join(h.experiment, rest[at+1:]))
		if err != nil || fmt.Sprint(info.Size()) != size {
			h.t.Errorf("artifact %s: the record says %s bytes, and it is %v (%v)", rest[at+1:], size, info, err)
		}
	}
}
