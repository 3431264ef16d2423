-- Version 2 of the record: the views know what a cell is called now, what was
-- withdrawn and what the plan recorded last no longer has.

DROP VIEW throughput;
DROP VIEW result;
DROP VIEW run_attempt;

-- Attempts by the run they belong to. stale is 1 where the plan recorded last
-- wants other inputs and nobody accepted the difference. counts is 1 on the one
-- whose results stand: of those that are complete the newest that is not stale,
-- else the newest, unless it was withdrawn. So what was withdrawn does not bring
-- an older result back. planned is 1 where the plan recorded last has the run.
CREATE VIEW run_attempt AS
SELECT e.name AS experiment, e.host, c.key AS cell, r.replicate,
       a.number AS attempt, a.status, a.message, a.began_ns, a.ended_ns,
       w.reason AS withdrawn,
       a.status IN ('ok', 'sla_missed') AND w.attempt_id IS NULL AND NOT EXISTS (
         SELECT 1 FROM attempt n
         WHERE n.run_id = a.run_id AND n.id <> a.id AND n.status IN ('ok', 'sla_missed')
           AND (c.fingerprint_id IS NULL OR c.fingerprint_id IS n.fingerprint_id OR EXISTS (
                  SELECT 1 FROM acceptance ac WHERE ac.attempt_id = n.id AND ac.fingerprint_id = c.fingerprint_id), n.number)
             > (c.fingerprint_id IS NULL OR c.fingerprint_id IS a.fingerprint_id OR EXISTS (
                  SELECT 1 FROM acceptance ac WHERE ac.attempt_id = a.id AND ac.fingerprint_id = c.fingerprint_id), a.number)
       ) AS counts,
       c.fingerprint_id IS NOT NULL AND c.fingerprint_id IS NOT a.fingerprint_id AND NOT EXISTS (
         SELECT 1 FROM acceptance ac
         WHERE ac.attempt_id = a.id AND ac.fingerprint_id = c.fingerprint_id
       ) AS stale,
       r.position IS NOT NULL AS planned,
       a.id AS attempt_id, r.id AS run_id, c.id AS cell_id
FROM attempt a
JOIN run r ON r.id = a.run_id
JOIN cell c ON c.id = r.cell_id
JOIN experiment e ON e.id = c.experiment_id
LEFT JOIN withdrawal w ON w.attempt_id = a.id;

-- Every metric of the attempts that count, of runs of the plan recorded last, one
-- a row. A phase that was taken over with a snapshot shows what was measured when
-- the snapshot was made, and shared = 1: the same measurement stands in several
-- cells.
CREATE VIEW result AS
SELECT ra.experiment, ra.host, ra.cell, ra.replicate, ra.attempt,
       p.name AS phase, i.number AS iteration, i.status, ra.stale,
       p.taken_from IS NOT NULL AS shared,
       n.name AS metric, m.value, n.unit
FROM run_attempt ra
JOIN phase p ON p.attempt_id = ra.attempt_id
JOIN iteration i ON i.phase_id = coalesce(p.taken_from, p.id)
JOIN metric m ON m.iteration_id = i.id
JOIN metric_name n ON n.id = m.metric_name_id
WHERE ra.planned AND ra.counts;

-- Rates per second of each iteration: inserts, queries, transactions.
CREATE VIEW throughput AS
SELECT experiment, host, cell, replicate, attempt, phase, iteration, status, stale, shared,
       max(value) FILTER (WHERE metric = 'secs') AS secs,
       max(value) FILTER (WHERE metric = 'rows_inserted') / max(value) FILTER (WHERE metric = 'secs') AS ips,
       max(value) FILTER (WHERE metric = 'queries')       / max(value) FILTER (WHERE metric = 'secs') AS qps,
       max(value) FILTER (WHERE metric = 'transactions')  / max(value) FILTER (WHERE metric = 'secs') AS tps
FROM result
WHERE iteration > 0
GROUP BY experiment, host, cell, replicate, attempt, phase, iteration;
