package linkbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// checkChunk is how many ids are checked at a time: the server keeps the counts of
// their links in a temporary table.
const checkChunk = 10000

// shownFaults is how many wrong counts an error tells of.
const shownFaults = 10

// checkCounts compares the counts with the visible links, both ways.
func (b *benchmark) checkCounts(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	return client.Session(ctx, t, "", func(conn *client.Conn) error {
		chunk, err := chunkOf(conn)
		if err != nil {
			return err
		}
		r.Expect("id", b.nodes, 0)
		r.Begin()
		var wrong []string
		for first := int64(0); first <= b.nodes && len(wrong) == 0; first += chunk {
			where := func(column string) string {
				if first+chunk > b.nodes { // the last one has whatever else there is
					return fmt.Sprintf("%s >= %d", column, first)
				}
				return fmt.Sprintf("%s >= %d AND %s < %d", column, first, column, first+chunk)
			}
			if wrong, err = wrongCounts(conn, where); err != nil {
				return err
			}
			r.Advance(chunk)
		}
		r.End()
		if len(wrong) > 0 {
			return errors.New("the counts are not those of the links: " + strings.Join(wrong, "; "))
		}
		return checkFilled(conn, r)
	})
}

// checkFilled finds empty tables, of which all counts are right.
func checkFilled(conn *client.Conn, r *workload.Recorder) error {
	n, err := conn.Int("SELECT COUNT(*) FROM " + inCounts)
	if err != nil {
		return err
	}
	r.Metric("counts_checked", workload.UnitCount, float64(n))
	if n == 0 {
		return errors.New("there are no counts: nothing was loaded")
	}
	return nil
}

// chunkOf returns how many ids to check at a time: all of them where links have
// no index by id, since each chunk would read the whole table.
func chunkOf(conn *client.Conn) (int64, error) {
	indexed, err := hasLinkIndex(conn)
	if err != nil {
		return 0, err
	}
	if !indexed {
		return maxNodes + 1, nil
	}
	return checkChunk, nil
}

// hasLinkIndex reports whether links have their secondary index.
func hasLinkIndex(conn *client.Conn) (bool, error) {
	query := "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = '" + database + "' AND index_name = '" + linkIndex + "'"
	if conn.Postgres() {
		query = "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = '" + database + "' AND indexname = '" + linkIndex + "'"
	}
	n, err := conn.Int(query)
	return n > 0, err
}

// wrongCounts returns the first counts that are wrong, of the ids of a condition.
func wrongCounts(conn *client.Conn, where func(column string) string) ([]string, error) {
	grouped := "(SELECT id1, link_type, COUNT(*) AS n FROM " + inLinks +
		" WHERE " + where("id1") + " AND visibility = 1 GROUP BY id1, link_type) AS l"
	const same = " ON l.id1 = c.id AND l.link_type = c.link_type"
	statement := fmt.Sprintf("SELECT c.id, c.link_type, c.count, COALESCE(l.n, 0) FROM "+inCounts+" AS c LEFT JOIN "+grouped+same+
		" WHERE "+where("c.id")+" AND c.count <> COALESCE(l.n, 0)"+
		" UNION ALL SELECT l.id1, l.link_type, 0, l.n FROM "+grouped+" LEFT JOIN "+inCounts+" AS c"+same+
		" WHERE c.id IS NULL LIMIT %d", shownFaults)
	_, rows, err := conn.Rows(statement)
	if err != nil {
		return nil, fmt.Errorf("comparing counts and links: %w", err)
	}
	var wrong []string
	for _, row := range rows {
		wrong = append(wrong, fmt.Sprintf("node %s, type %s: the count is %s, and there are %s visible links", row[0], row[1], row[2], row[3]))
	}
	return wrong, nil
}
