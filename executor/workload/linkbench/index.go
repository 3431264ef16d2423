package linkbench

import (
	"context"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// makeIndex makes the secondary index of links.
func (b *benchmark) makeIndex(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	links := b.table.tables()[0]
	words := newStatements(t.Flavour)
	return client.Session(ctx, t, "", func(conn *client.Conn) error {
		r.Begin()
		for _, i := range links.indexes {
			if err := conn.DDL(b.table.createIndex(links, i)); err != nil {
				return err
			}
		}
		r.End()
		if _, err := b.table.check(conn, links, t.Flavour, true); err != nil {
			return err
		}
		n, err := conn.Int("SELECT COUNT(*) FROM " + inLinks + words.byIndex(linkIndex))
		if err != nil {
			return err
		}
		r.Metric("rows_indexed", workload.UnitCount, float64(n))
		return nil
	})
}
