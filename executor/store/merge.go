package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// A Merged says what a merge did.
type Merged struct {
	Attempts int // that were added
	Known    int // that the record had already
}

// Merge adds what the record at path has to this one, in one transaction: each
// experiment and host keeps its own results. An attempt that is here already,
// from an earlier merge or because one record began as a copy of the other, is
// not added again; what was said of it since (withdrawn, accepted) is. Ids become
// new ones. Where both records have attempts of one run, these are numbered by
// when they began.
//
// Paths of artifacts get the prefix "hosts/HOST/", since both records call their
// folders alike; the files stay where they are. Setups that are still to be undone
// stay with the record whose host can undo them. Of two imports of one name the one
// that is here stays.
//
// A record of an older version is migrated in a copy; a newer or damaged one, and
// one with attempts under way, is refused.
func (s *Store) Merge(ctx context.Context, path string) (Merged, error) {
	m, err := s.merge(ctx, path)
	if err != nil {
		return Merged{}, fmt.Errorf("merging %s: %w", path, err)
	}
	return m, nil
}

func (s *Store) merge(ctx context.Context, path string) (Merged, error) {
	abs, err := absolute(path)
	if err != nil {
		return Merged{}, err
	}
	if err := s.refuseItself(abs); err != nil {
		return Merged{}, err
	}
	// A log that has something in it is the other record's, and stays.
	if _, err := os.Lstat(abs + "-wal"); errors.Is(err, fs.ErrNotExist) {
		if tidy := tidyLog(abs); tidy != nil {
			defer tidy()
		}
	}
	abs, done, err := presentVersion(ctx, abs)
	if err != nil {
		return Merged{}, err
	}
	defer done()
	if s.writer == nil {
		return Merged{}, errors.New("the results are open for reading only")
	}
	// The writer has one connection, so that the database stays attached for
	// the transaction.
	u := url.URL{Path: abs}
	if _, err := s.writer.ExecContext(ctx, "ATTACH DATABASE ? AS other", "file:"+u.EscapedPath()+"?mode=ro"); err != nil {
		return Merged{}, err
	}
	var m Merged
	err = s.begin(ctx, "another record", func(t *tx) error {
		var err error
		m, err = mergeOther(t)
		return err
	})
	_, detachErr := s.writer.ExecContext(context.WithoutCancel(ctx), "DETACH DATABASE other")
	return m, errors.Join(err, detachErr)
}

// refuseItself returns an error where a file is this record.
func (s *Store) refuseItself(abs string) error {
	other, err := os.Stat(abs)
	if err != nil {
		return err
	}
	mine, err := os.Stat(s.path)
	if err == nil && os.SameFile(mine, other) {
		return errors.New("it is the record that it is to be merged into")
	}
	return nil
}

// presentVersion checks a record and returns the path of one that has the present
// version: the record itself, or a migrated copy of an older one, which done
// removes.
func presentVersion(ctx context.Context, abs string) (present string, done func(), err error) {
	version, err := identify(ctx, abs, reading)
	if err != nil {
		return "", nil, err
	}
	steps, err := migrationSteps(migrations)
	if err != nil {
		return "", nil, err
	}
	switch {
	case version > len(steps):
		return "", nil, newerError(version, len(steps))
	case version == 0:
		return "", nil, errors.New("it is empty")
	}
	if err := checkAll(ctx, abs); err != nil {
		return "", nil, err
	}
	if version == len(steps) {
		return abs, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "dbmatrix-merge-")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	present = filepath.Join(dir, "results.db")
	if err = copyTo(ctx, abs, present); err == nil {
		err = migrate(ctx, present, steps)
	}
	if err != nil {
		done()
		return "", nil, fmt.Errorf("migrating a copy of it in %s ($TMPDIR names another place): %w", dir, err)
	}
	return present, done, nil
}

// checkAll looks for damage in a database of any size.
func checkAll(ctx context.Context, abs string) error { return check(ctx, abs, 0) }

// copyTo copies a database.
func copyTo(ctx context.Context, abs, to string) error {
	db, err := connect(abs, reading, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// mergeOther copies the rows of the attached database "other".
func mergeOther(t *tx) (Merged, error) {
	var m Merged
	if err := refuseRunning(t); err != nil {
		return m, err
	}
	for _, step := range mergeSteps() {
		if _, err := t.ExecContext(t.ctx, step.sql); err != nil {
			return m, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	err := t.QueryRowContext(t.ctx, `SELECT count(*) FILTER (WHERE added), count(*) FILTER (WHERE NOT added) FROM temp.to_attempt`).Scan(&m.Attempts, &m.Known)
	if err != nil {
		return m, err
	}
	for _, table := range mergeMaps() {
		if _, err := t.ExecContext(t.ctx, "DROP TABLE temp."+table); err != nil {
			return m, err
		}
	}
	return m, t.each("PRAGMA main.foreign_key_check", nil, func(*sql.Rows) error {
		return errors.New("rows would refer to others that are not there")
	})
}

// refuseRunning returns an error where attempts are under way in one of the two
// records: they would be merged without their end.
func refuseRunning(t *tx) error {
	for _, r := range []struct{ schema, what string }{{"other", "it"}, {"main", "the record that it is to be merged into"}} {
		var n int
		if err := t.QueryRowContext(t.ctx, "SELECT count(*) FROM "+r.schema+".attempt WHERE status = 'running'").Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%s has %d attempts under way: wait for their end; those of a runner that was killed end when the next one begins", r.what, n)
		}
	}
	return nil
}

// mergeMaps are the temporary tables that lead from ids of the other record to
// ids of this one.
func mergeMaps() []string {
	return []string{
		"to_experiment", "to_fingerprint", "to_setting", "to_metric", "to_cell", "to_run", "to_runner", "to_epoch",
		"to_attempt", "to_phase", "to_iteration", "to_series", "renumbered",
		"to_import", "to_import_row",
	}
}

// A mergeStep is one statement of a merge.
type mergeStep struct{ what, sql string }

// mergeSteps returns the statements of a merge in their order. Rows with a name of
// their own are looked up by it; rows of attempts that are new get the ids behind
// the last one of their table.
func mergeSteps() []mergeStep {
	return []mergeStep{
		{"experiments", `CREATE TEMP TABLE to_experiment AS
			SELECT o.id AS old, NULL AS id, NOT EXISTS (SELECT 1 FROM main.experiment e WHERE e.name = o.name AND e.host = o.host) AS added
			FROM other.experiment o`},
		{"experiments", `INSERT INTO main.experiment (name, host, title, description, source, seed, planned_ns)
			SELECT name, host, title, description, source, seed, planned_ns FROM other.experiment WHERE true ON CONFLICT DO NOTHING`},
		{"experiments", `UPDATE temp.to_experiment SET id = (SELECT e.id FROM main.experiment e
			JOIN other.experiment o ON o.name = e.name AND o.host = e.host WHERE o.id = old)`},
		{"fingerprints", `INSERT INTO main.fingerprint (hash) SELECT hash FROM other.fingerprint WHERE true ORDER BY id ON CONFLICT DO NOTHING`},
		{"fingerprints", `CREATE TEMP TABLE to_fingerprint AS SELECT o.id AS old, m.id FROM other.fingerprint o JOIN main.fingerprint m USING (hash)`},
		{"texts", `INSERT INTO main.setting (name, value) SELECT name, value FROM other.setting WHERE true ORDER BY id ON CONFLICT DO NOTHING`},
		{"texts", `CREATE TEMP TABLE to_setting AS SELECT o.id AS old, m.id FROM other.setting o JOIN main.setting m USING (name, value)`},
		{"metrics", `INSERT INTO main.metric_name (name, unit) SELECT name, unit FROM other.metric_name WHERE true ORDER BY id ON CONFLICT DO NOTHING`},
		{"metrics", `CREATE TEMP TABLE to_metric AS SELECT o.id AS old, m.id FROM other.metric_name o JOIN main.metric_name m USING (name, unit)`},
		{"indexes", `CREATE UNIQUE INDEX temp.fingerprint_old ON to_fingerprint (old)`},
		{"indexes", `CREATE UNIQUE INDEX temp.setting_old ON to_setting (old)`},
		{"indexes", `CREATE UNIQUE INDEX temp.metric_old ON to_metric (old)`},

		// The place in the plan is that of the plan recorded last, which is
		// this record's where it knows the experiment.
		{"cells", `INSERT INTO main.cell (experiment_id, key, matrix, position, fingerprint_id)
			SELECT e.id, o.key, o.matrix, CASE WHEN e.added THEN o.position END, CASE WHEN e.added THEN f.id END
			FROM other.cell o JOIN temp.to_experiment e ON e.old = o.experiment_id LEFT JOIN temp.to_fingerprint f ON f.old = o.fingerprint_id
			WHERE true ORDER BY o.id ON CONFLICT DO NOTHING`},
		{"cells", `CREATE TEMP TABLE to_cell AS SELECT o.id AS old, m.id, e.added FROM other.cell o
			JOIN temp.to_experiment e ON e.old = o.experiment_id JOIN main.cell m ON m.experiment_id = e.id AND m.key = o.key`},
		{"levels", `INSERT INTO main.cell_level (cell_id, axis, level, label, ordinal, position)
			SELECT c.id, o.axis, o.level, o.label, o.ordinal, o.position FROM other.cell_level o
			JOIN temp.to_cell c ON c.old = o.cell_id WHERE true ON CONFLICT DO NOTHING`},
		{"runs", `INSERT INTO main.run (cell_id, replicate, position)
			SELECT c.id, o.replicate, CASE WHEN c.added THEN o.position END FROM other.run o
			JOIN temp.to_cell c ON c.old = o.cell_id WHERE true ORDER BY o.id ON CONFLICT DO NOTHING`},
		{"runs", `CREATE TEMP TABLE to_run AS SELECT o.id AS old, m.id, x.id AS experiment FROM other.run o JOIN other.cell oc ON oc.id = o.cell_id
			JOIN temp.to_experiment x ON x.old = oc.experiment_id
			JOIN temp.to_cell c ON c.old = o.cell_id JOIN main.run m ON m.cell_id = c.id AND m.replicate = o.replicate`},

		// An attempt is known by its host and the nanosecond in which it began.
		{"attempts", `CREATE TEMP TABLE to_attempt AS
			SELECT o.id AS old, m.id, m.id IS NULL AS added, r.id AS run FROM other.attempt o JOIN temp.to_run r ON r.old = o.run_id
			LEFT JOIN (SELECT a.id, a.began_ns, c.experiment_id FROM main.attempt a JOIN main.run mr ON mr.id = a.run_id JOIN main.cell c ON c.id = mr.cell_id) m
				ON m.began_ns = o.began_ns AND m.experiment_id = r.experiment`},
		{"attempts", `CREATE UNIQUE INDEX temp.attempt_old ON to_attempt (old)`},
		{"attempts", `UPDATE temp.to_attempt SET id = old + (SELECT coalesce(max(id), 0) FROM main.attempt) WHERE added`},
		{"attempts", `CREATE TEMP TABLE renumbered AS SELECT DISTINCT run FROM temp.to_attempt
			WHERE added AND run IN (SELECT run_id FROM main.attempt)`},

		{"runners", `CREATE TEMP TABLE to_runner AS SELECT o.id AS old, m.id, m.id IS NULL AS added, e.id AS experiment FROM other.runner o
			JOIN temp.to_experiment e ON e.old = o.experiment_id
			LEFT JOIN main.runner m ON m.experiment_id = e.id AND m.boot_id = o.boot_id AND m.pid = o.pid AND m.start_ticks = o.start_ticks AND m.began_ns = o.began_ns`},
		{"runners", `UPDATE temp.to_runner SET id = old + (SELECT coalesce(max(id), 0) FROM main.runner) WHERE added`},
		{"runners", `INSERT INTO main.runner (id, experiment_id, version, command, pid, start_ticks, boot_id, began_ns, ended_ns)
			SELECT r.id, r.experiment, o.version, o.command, o.pid, o.start_ticks, o.boot_id, o.began_ns, coalesce(o.ended_ns, o.began_ns)
			FROM other.runner o JOIN temp.to_runner r ON r.old = o.id WHERE r.added`},
		{"epochs", `CREATE TEMP TABLE to_epoch AS SELECT o.id AS old, m.id, m.id IS NULL AS added, e.id AS experiment FROM other.epoch o
			JOIN temp.to_experiment e ON e.old = o.experiment_id
			LEFT JOIN main.epoch m ON m.experiment_id = e.id AND m.boot_id = o.boot_id AND m.began_ns = o.began_ns`},
		{"epochs", `UPDATE temp.to_epoch SET id = old + (SELECT coalesce(max(id), 0) FROM main.epoch) WHERE added`},
		{"epochs", `INSERT INTO main.epoch (id, experiment_id, boot_id, reason, began_ns)
			SELECT p.id, p.experiment, o.boot_id, o.reason, o.began_ns FROM other.epoch o JOIN temp.to_epoch p ON p.old = o.id WHERE p.added`},
		{"epochs", `INSERT INTO main.epoch_fact (epoch_id, ordinal, setting_id)
			SELECT p.id, o.ordinal, s.id FROM other.epoch_fact o JOIN temp.to_epoch p ON p.old = o.epoch_id
			JOIN temp.to_setting s ON s.old = o.setting_id WHERE p.added`},

		// Numbers are made anew below, where they would meet those of this
		// record; until then they lie beyond any that a run can have.
		{"attempts", `INSERT INTO main.attempt (id, run_id, number, runner_id, epoch_id, fingerprint_id, phases, status, message, began_ns, ended_ns)
			SELECT a.id, a.run, o.number + CASE WHEN a.run IN (SELECT run FROM temp.renumbered) THEN 1000000000 ELSE 0 END,
				r.id, p.id, f.id, o.phases, o.status, o.message, o.began_ns, o.ended_ns
			FROM other.attempt o JOIN temp.to_attempt a ON a.old = o.id JOIN temp.to_runner r ON r.old = o.runner_id
			LEFT JOIN temp.to_epoch p ON p.old = o.epoch_id LEFT JOIN temp.to_fingerprint f ON f.old = o.fingerprint_id WHERE a.added`},
		{"attempts", `UPDATE main.attempt SET number = number + 2000000000 WHERE run_id IN (SELECT run FROM temp.renumbered)`},
		{"attempts", `UPDATE main.attempt SET number = n.number
			FROM (SELECT id, row_number() OVER (PARTITION BY run_id ORDER BY began_ns, number) AS number
				FROM main.attempt WHERE run_id IN (SELECT run FROM temp.renumbered)) n
			WHERE main.attempt.id = n.id`},
		{"withdrawals", `INSERT INTO main.withdrawal (attempt_id, reason, by, at_ns)
			SELECT a.id, o.reason, o.by, o.at_ns FROM other.withdrawal o JOIN temp.to_attempt a ON a.old = o.attempt_id WHERE true ON CONFLICT DO NOTHING`},
		{"acceptances", `INSERT INTO main.acceptance (attempt_id, fingerprint_id, reason, by, at_ns)
			SELECT a.id, f.id, o.reason, o.by, o.at_ns FROM other.acceptance o JOIN temp.to_attempt a ON a.old = o.attempt_id
			JOIN temp.to_fingerprint f ON f.old = o.fingerprint_id WHERE true ON CONFLICT DO NOTHING`},
		{"facts", `INSERT INTO main.fact (attempt_id, setting_id)
			SELECT a.id, s.id FROM other.fact o JOIN temp.to_attempt a ON a.old = o.attempt_id JOIN temp.to_setting s ON s.old = o.setting_id WHERE a.added`},
		{"inputs", `INSERT INTO main.input (fingerprint_id, setting_id)
			SELECT f.id, s.id FROM other.input o JOIN temp.to_fingerprint f ON f.old = o.fingerprint_id
			JOIN temp.to_setting s ON s.old = o.setting_id WHERE true ON CONFLICT DO NOTHING`},

		{"phases", `CREATE TEMP TABLE to_phase AS
			SELECT o.id AS old, CASE WHEN a.added THEN o.id + (SELECT coalesce(max(id), 0) FROM main.phase) ELSE m.id END AS id, a.added, a.id AS attempt
			FROM other.phase o JOIN temp.to_attempt a ON a.old = o.attempt_id
			LEFT JOIN main.phase m ON NOT a.added AND m.attempt_id = a.id AND m.ordinal = o.ordinal`},
		{"phases", `CREATE UNIQUE INDEX temp.phase_old ON to_phase (old)`},
		{"phases", `INSERT INTO main.phase (id, attempt_id, ordinal, block, name, workload, workload_version, fingerprint_id, planned, finished,
				stage, status, message, began_ns, ended_ns, seconds, settle_seconds, bytes)
			SELECT p.id, p.attempt, o.ordinal, o.block, o.name, o.workload, o.workload_version, f.id, o.planned, o.finished,
				o.stage, o.status, o.message, o.began_ns, o.ended_ns, o.seconds, o.settle_seconds, o.bytes
			FROM other.phase o JOIN temp.to_phase p ON p.old = o.id LEFT JOIN temp.to_fingerprint f ON f.old = o.fingerprint_id WHERE p.added`},
		{"phases taken over", `UPDATE main.phase SET taken_from = o.measured FROM
			(SELECT p.id, q.id AS measured FROM other.phase op JOIN temp.to_phase p ON p.old = op.id JOIN temp.to_phase q ON q.old = op.taken_from WHERE p.added) o
			WHERE main.phase.id = o.id`},
		{"options", `INSERT INTO main.option (phase_id, name, asked, in_force, verdict, granule, varied, origin, detail)
			SELECT p.id, o.name, o.asked, o.in_force, o.verdict, o.granule, o.varied, o.origin, o.detail
			FROM other.option o JOIN temp.to_phase p ON p.old = o.phase_id WHERE p.added`},
		{"variables", `INSERT INTO main.variable (phase_id, setting_id)
			SELECT p.id, s.id FROM other.variable o JOIN temp.to_phase p ON p.old = o.phase_id JOIN temp.to_setting s ON s.old = o.setting_id WHERE p.added`},

		{"iterations", `CREATE TEMP TABLE to_iteration AS
			SELECT o.id AS old, o.id + (SELECT coalesce(max(id), 0) FROM main.iteration) AS id, p.id AS phase
			FROM other.iteration o JOIN temp.to_phase p ON p.old = o.phase_id WHERE p.added`},
		{"iterations", `CREATE UNIQUE INDEX temp.iteration_old ON to_iteration (old)`},
		{"iterations", `INSERT INTO main.iteration (id, phase_id, number, status, message, began_ns, ended_ns)
			SELECT i.id, i.phase, o.number, o.status, o.message, o.began_ns, o.ended_ns
			FROM other.iteration o JOIN temp.to_iteration i ON i.old = o.id`},
		{"flags", `INSERT INTO main.flag (iteration_id, name, detail)
			SELECT i.id, o.name, o.detail FROM other.flag o JOIN temp.to_iteration i ON i.old = o.iteration_id`},
		{"metrics", `INSERT INTO main.metric (iteration_id, metric_name_id, value)
			SELECT i.id, n.id, o.value FROM other.metric o JOIN temp.to_iteration i ON i.old = o.iteration_id JOIN temp.to_metric n ON n.old = o.metric_name_id`},
		{"response times", `INSERT INTO main.histogram (iteration_id, operation, count, encoded)
			SELECT i.id, o.operation, o.count, o.encoded FROM other.histogram o JOIN temp.to_iteration i ON i.old = o.iteration_id`},
		{"query plans", `INSERT INTO main.query_plan (iteration_id, query, plan)
			SELECT i.id, o.query, o.plan FROM other.query_plan o JOIN temp.to_iteration i ON i.old = o.iteration_id`},
		{"series", `CREATE TEMP TABLE to_series AS
			SELECT o.id AS old, o.id + (SELECT coalesce(max(id), 0) FROM main.series) AS id, i.id AS iteration, n.id AS metric, o.instance
			FROM other.series o JOIN temp.to_iteration i ON i.old = o.iteration_id JOIN temp.to_metric n ON n.old = o.metric_name_id`},
		{"series", `CREATE UNIQUE INDEX temp.series_old ON to_series (old)`},
		{"series", `INSERT INTO main.series (id, iteration_id, metric_name_id, instance) SELECT id, iteration, metric, instance FROM temp.to_series ORDER BY id`},
		{"readings", `INSERT INTO main.reading (series_id, at_ms, value)
			SELECT s.id, o.at_ms, o.value FROM other.reading o JOIN temp.to_series s ON s.old = o.series_id`},

		{"events", `INSERT INTO main.event (experiment_id, attempt_id, phase_id, iteration, at_ns, kind, message, detail)
			SELECT e.id, a.id, p.id, o.iteration, o.at_ns, o.kind, o.message, o.detail
			FROM other.event o JOIN temp.to_experiment e ON e.old = o.experiment_id
			LEFT JOIN temp.to_attempt a ON a.old = o.attempt_id LEFT JOIN temp.to_phase p ON p.old = o.phase_id
			WHERE NOT EXISTS (SELECT 1 FROM main.event m WHERE m.attempt_id IS a.id AND m.experiment_id = e.id
				AND m.at_ns = o.at_ns AND m.kind = o.kind AND m.message = o.message)
			ORDER BY o.id`},
		{"artifacts", `INSERT INTO main.artifact (attempt_id, phase_id, kind, path, bytes)
			SELECT a.id, p.id, o.kind, CASE WHEN o.path LIKE 'hosts/%' THEN o.path ELSE 'hosts/' || e.host || '/' || o.path END, o.bytes
			FROM other.artifact o JOIN temp.to_attempt a ON a.old = o.attempt_id
			JOIN main.run r ON r.id = a.run JOIN main.cell c ON c.id = r.cell_id JOIN main.experiment e ON e.id = c.experiment_id
			LEFT JOIN temp.to_phase p ON p.old = o.phase_id WHERE a.added ORDER BY o.id`},
		{"snapshots", `INSERT INTO main.snapshot (experiment_id, fingerprint_id, replicate, attempt_id, path, bytes, made_ns, removed_ns)
			SELECT e.id, f.id, o.replicate, a.id, o.path, o.bytes, o.made_ns, o.removed_ns FROM other.snapshot o
			JOIN temp.to_experiment e ON e.old = o.experiment_id JOIN temp.to_fingerprint f ON f.old = o.fingerprint_id
			JOIN temp.to_attempt a ON a.old = o.attempt_id WHERE a.added ORDER BY o.id`},
		{"setups", `INSERT INTO main.setup (attempt_id, phase, dir, env, teardown, began_ns, undone_ns)
			SELECT a.id, o.phase, o.dir, o.env, o.teardown, o.began_ns, o.undone_ns FROM other.setup o
			JOIN temp.to_attempt a ON a.old = o.attempt_id WHERE a.added AND o.undone_ns IS NOT NULL ORDER BY o.id`},

		// Of two imports of one name the one that is here stays.
		{"imports", `CREATE TEMP TABLE to_import AS SELECT o.id AS old, o.id + (SELECT coalesce(max(id), 0) FROM main.import) AS id FROM other.import o
			WHERE NOT EXISTS (SELECT 1 FROM main.import m WHERE m.experiment = o.experiment AND m.name = o.name)`},
		{"imports", `INSERT INTO main.import (id, experiment, name, file, at_ns)
			SELECT i.id, o.experiment, o.name, o.file, o.at_ns FROM other.import o JOIN temp.to_import i ON i.old = o.id`},
		{"imports", `CREATE TEMP TABLE to_import_row AS SELECT o.id AS old, o.id + (SELECT coalesce(max(id), 0) FROM main.import_row) AS id, i.id AS import
			FROM other.import_row o JOIN temp.to_import i ON i.old = o.import_id`},
		{"imports", `CREATE UNIQUE INDEX temp.import_row_old ON to_import_row (old)`},
		{"imports", `INSERT INTO main.import_row (id, import_id, cell, matrix, phase, iteration, replicate, status)
			SELECT r.id, r.import, o.cell, o.matrix, o.phase, o.iteration, o.replicate, o.status
			FROM other.import_row o JOIN temp.to_import_row r ON r.old = o.id`},
		{"imports", `INSERT INTO main.import_level (row_id, axis, level)
			SELECT r.id, o.axis, o.level FROM other.import_level o JOIN temp.to_import_row r ON r.old = o.row_id`},
		{"imports", `INSERT INTO main.import_value (row_id, token, text, number)
			SELECT r.id, o.token, o.text, o.number FROM other.import_value o JOIN temp.to_import_row r ON r.old = o.row_id`},
	}
}
