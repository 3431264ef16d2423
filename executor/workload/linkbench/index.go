package linkbench

import (
	"context"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// makeIndex makes the secondary index of links.
func (b *benchmark) makeIndex(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	links := b.table.tables()[0]
	return client.Session(ctx, t, database, func(conn *client.Conn) error {
		r.Begin()
		for _, i := range links.indexes {
			if err := conn.DDL(b.table.createIndex(links, i)); err != nil {
				return err
			}
		}
		r.End()
		if err := b.table.check(conn, links, true); err != nil {
			return err
		}
		n, err := conn.Int("SELECT COUNT(*) FROM " + inLinks + " FORCE INDEX (" + linkIndex + ")")
		if err != nil {
			return err
		}
		r.Metric("rows_indexed", workload.UnitCount, float64(n))
		return nil
	})
}
