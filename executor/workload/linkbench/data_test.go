package linkbench

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// holdData holds the loaded data to the specification, by SQL.
func holdData(t *testing.T, conn *client.Conn, c *config, loaded workload.Result) {
	checkRows(t, conn, c, loaded)
	checkRanges(t, conn)
	checkDegrees(t, conn, c)
	checkPayloads(t, conn, c)
	checkDefinitions(t, conn, c)
}

// checkRows checks how many rows there are.
func checkRows(t *testing.T, conn *client.Conn, c *config, loaded workload.Result) {
	links, counts := c.graph(c.degrees()).totals()
	byIndex := words(conn).byIndex(linkIndex)
	for _, test := range []struct {
		query, metric string
		want          int64
	}{
		{"SELECT COUNT(*) FROM linkdb0.linktable", "links_inserted", links},
		{"SELECT COUNT(*) FROM linkdb0.linktable" + byIndex, "rows_inserted", links},
		{"SELECT SUM(count) FROM linkdb0.counttable", "rows_inserted", links},
		{"SELECT COUNT(*) FROM linkdb0.counttable", "counts_inserted", counts},
		{"SELECT COUNT(*) FROM linkdb0.nodetable", "nodes_inserted", c.nodes},
		{"SELECT MAX(id) FROM linkdb0.nodetable", "nodes_inserted", c.nodes},
		{"SELECT MIN(id) + COUNT(*) - 1 FROM linkdb0.nodetable", "nodes_inserted", c.nodes},
	} {
		if got := number(t, conn, test.query); got != float64(test.want) {
			t.Errorf("%s: %v, want %d", test.query, got, test.want)
		}
		if got := workloadtest.Metric(t, loaded, test.metric); got != float64(test.want) {
			t.Errorf("%s is %v, want %d", test.metric, got, test.want)
		}
	}
}

func words(conn *client.Conn) *statements {
	flavour := "mysql"
	if conn.Postgres() {
		flavour = "postgres"
	}
	s := newStatements(flavour)
	return &s
}

// checkRanges looks for rows that are not as they must be.
func checkRanges(t *testing.T, conn *client.Conn) {
	now := time.Now()
	for _, from := range []string{
		"linkdb0.linktable WHERE visibility <> 1 OR version <> 0 OR id2 < id1 OR LENGTH(data) > 254",
		"linkdb0.linktable WHERE link_type NOT IN (123456789, 123456790)",
		// 50 days are a little more than 2^32 ms.
		fmt.Sprintf("linkdb0.linktable WHERE time > %d OR time < %d", now.UnixMilli(), now.Add(-50*24*time.Hour).UnixMilli()),
		"linkdb0.nodetable WHERE type <> 2048 OR version <> 1 OR LENGTH(data) >= 1048576",
		fmt.Sprintf("linkdb0.nodetable WHERE time NOT BETWEEN %d AND %d", now.Add(-time.Hour).Unix(), now.Unix()),
		"linkdb0.counttable WHERE version <> 0 OR count = 0",
		"linkdb0.counttable AS c WHERE time <> (SELECT MAX(time) FROM linkdb0.linktable AS l WHERE l.id1 = c.id AND l.link_type = c.link_type)",
		"linkdb0.counttable AS c WHERE count <> (SELECT COUNT(*) FROM linkdb0.linktable AS l WHERE l.id1 = c.id AND l.link_type = c.link_type)",
		// The other ends of a list follow on each other from its node on.
		"(SELECT id1, MIN(id2) AS low, MAX(id2) AS high, COUNT(*) AS n FROM linkdb0.linktable GROUP BY id1, link_type) AS l" +
			" WHERE low <> id1 OR high <> id1 + n - 1",
	} {
		if n := number(t, conn, "SELECT COUNT(*) FROM "+from); n != 0 {
			t.Errorf("%v rows of %s", n, from)
		}
	}
	days := number(t, conn, "SELECT (MAX(time) - MIN(time)) / 86400000.0 FROM linkdb0.linktable")
	approx(t, "the days that the times of links span", days, 49.7, 0.5)
}

// checkDegrees holds the numbers of links to the mean and the percentiles of the
// profile's distribution.
func checkDegrees(t *testing.T, conn *client.Conn, c *config) {
	g := c.graph(c.degrees())
	inAll := func(total int64) (links int64) {
		for typ := range g.types {
			links += g.share(min(total, g.most), g.types, typ)
		}
		return links
	}
	percentiles := map[float64]int64{0.5: 1, 0.75: 1, 0.9: 2, 0.95: 4, 0.99: 25, 0.999: 300}
	if c.nodeSize == 128 { // 2011
		percentiles = map[float64]int64{0.5: 1, 0.75: 1, 0.9: 3, 0.95: 5, 0.99: 16, 0.999: 264}
	}
	for share, published := range percentiles {
		rank := int64((1 - share) * float64(c.nodes))
		got := number(t, conn, fmt.Sprintf("SELECT COALESCE((SELECT SUM(count) AS n FROM linkdb0.counttable GROUP BY id ORDER BY n DESC LIMIT 1 OFFSET %d), 0)", rank))
		want := float64(inAll(published))
		tolerance := 0.0
		if share > 0.99 { // thinned
			tolerance = 0.25 * want
		}
		approx(t, fmt.Sprintf("of the links of a node, the share %v", share), got, want, tolerance)
	}
	links, _ := g.totals()
	mean := number(t, conn, "SELECT SUM(count) FROM linkdb0.counttable") / float64(c.nodes)
	approx(t, "the mean of the links of a node", mean, float64(links)/float64(c.nodes), 1e-9)
	for _, id := range []int64{1, 2, c.nodes / 2, c.nodes, 1 + g.shuffler.permute(0), 1 + g.shuffler.permute(1)} {
		for typ := range g.types {
			got := number(t, conn, fmt.Sprintf("SELECT COUNT(*) FROM linkdb0.linktable WHERE id1 = %d AND link_type = %d", id, firstLinkType+typ))
			if want := g.links(id, typ); got != float64(want) {
				t.Errorf("the node %d has %v links of type %d, want %d", id, got, typ, want)
			}
		}
	}
}

// checkPayloads holds sizes and compressibility of the data to the
// specification.
func checkPayloads(t *testing.T, conn *client.Conn, c *config) {
	for _, test := range []struct {
		table     string
		payload   payload
		tolerance float64 // of the mean
	}{
		{"linktable", linkPayload(c.linkSize, c.bugCompat), 0.05},
		{"nodetable", nodePayload(c.nodeSize), 0.1},
	} {
		const most = 30000 // rows
		all, rows := dataOf(t, conn, fmt.Sprintf("linkdb0.%s LIMIT %d", test.table, most))
		for _, b := range []byte{test.payload.low - 1, test.payload.high + 1} {
			if bytes.IndexByte(all, b) >= 0 {
				t.Errorf("%s: there is a byte %d", test.table, b)
			}
		}
		for b := int(test.payload.low); b <= int(test.payload.high); b++ {
			if bytes.IndexByte(all, byte(b)) < 0 {
				t.Errorf("%s: there is no byte %d", test.table, b)
			}
		}
		// The sizes and the ratio of data that a generator makes are held to
		// the specification in TestPayloads.
		random := rand.New(rand.NewPCG(1, 2))
		g := test.payload.generator(random)
		var like []byte
		n := 0
		for ; n < most; n++ {
			like = append(like, g.next(random)...)
		}
		mean := float64(len(like)) / float64(n)
		approx(t, test.table+": the mean of the data", float64(len(all))/float64(rows), mean, test.tolerance*mean)
		approx(t, test.table+": the ratio", zlibRatio(t, all, 16<<10), zlibRatio(t, like, 16<<10), 0.03)
	}
}

// dataOf returns the data of some rows, one after the other.
func dataOf(t *testing.T, conn *client.Conn, from string) (data []byte, rows int) {
	t.Helper()
	column := "HEX(data)"
	if conn.Postgres() {
		column = "ENCODE(data, 'hex')"
	}
	_, all, err := conn.Rows("SELECT " + column + " FROM " + from)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all {
		if data, err = hex.AppendDecode(data, []byte(row[0])); err != nil {
			t.Fatal(err)
		}
	}
	return data, len(all)
}

// checkDefinitions checks indexes and partitions as the server's catalogue has
// them.
func checkDefinitions(t *testing.T, conn *client.Conn, c *config) {
	partitions := "SELECT COUNT(*) FROM information_schema.partitions WHERE table_schema = 'linkdb0' AND partition_name IS NOT NULL"
	indexes := "SELECT table_name, GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ') FROM information_schema.statistics" +
		" WHERE table_schema = 'linkdb0' GROUP BY table_name, index_name ORDER BY 1, 2"
	if conn.Postgres() {
		partitions = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'linkdb0'::regnamespace AND relispartition AND relkind = 'r'"
		indexes = `SELECT tablename, SUBSTRING(indexdef, '\((.*)\)') FROM pg_indexes` +
			` WHERE schemaname = 'linkdb0' AND tablename IN ('linktable', 'counttable', 'nodetable') ORDER BY 1, 2`
	}
	if got := number(t, conn, partitions); got != float64(3*c.table.partitions) {
		t.Errorf("%v partitions of three tables, want %d", got, 3*c.table.partitions)
	}
	_, rows, err := conn.Rows(indexes)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, strings.ReplaceAll(strings.Join(row, ": "), `"`, ""))
	}
	want := []string{
		"counttable: id, link_type",
		"linktable: id1, link_type, visibility, time, id2, version, data",
		"linktable: link_type, id1, id2",
		"nodetable: id",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("indexes (-want +got):\n%s", diff)
	}
}

// checkMix holds the shares of the operations to the mix.
func checkMix(t *testing.T, c *config, queried workload.Result) {
	all := workloadtest.Metric(t, queried, "transactions")
	if all == 0 || all != workloadtest.Metric(t, queried, "queries") {
		t.Fatalf("%v transactions, %v queries", all, workloadtest.Metric(t, queried, "queries"))
	}
	var counts [operations]float64
	sum := 0.0
	for o := range operations {
		got := workloadtest.Metric(t, queried, "requests_"+o.name())
		want := c.mix[o] / 100 * all
		counts[o] = got
		sum += got
		if want < 10 {
			continue
		}
		for _, statistic := range []string{"p50", "p95", "p99", "p99_upper", "mean", "max"} {
			if workloadtest.Metric(t, queried, "lat_"+o.name()+"_"+statistic) <= 0 {
				t.Errorf("%s: %s is 0", o.name(), statistic)
			}
		}
		p95, upper := workloadtest.Metric(t, queried, "lat_"+o.name()+"_p95"), workloadtest.Metric(t, queried, "lat_"+o.name()+"_p99_upper")
		if got >= 100 && p95 > 1.01*upper {
			t.Errorf("%s: p95 is %v, and the upper bound of the bucket of p99 %v", o.name(), p95, upper)
		}
	}
	if sum != all {
		t.Errorf("%v requests by operation, %v in all", sum, all)
	}
	square := mixSquare(&c.mix, counts)
	t.Logf("%v requests, chi-square of the mix %.2f", all, square)
	if square > mixCritical {
		t.Errorf("chi-square of the mix is %.2f, want %v at most", square, mixCritical)
	}
	// The medians are those of nodes with few links; the greatest is the first one's.
	if c.mix[getLinksList]/100*all > 1000 {
		last := 0.0
		for _, statistic := range []string{"p50", "p75", "p95", "p99", "max"} {
			got := workloadtest.Metric(t, queried, "list_rows_"+statistic)
			if got < last {
				t.Errorf("the %s of the lengths of lists is %v, below the %v before", statistic, got, last)
			}
			last = got
		}
		if mean := workloadtest.Metric(t, queried, "list_rows") / counts[getLinksList]; last < 2*mean {
			t.Errorf("the longest list has %v links, the mean is %v", last, mean)
		}
	}
	if n := workloadtest.Metric(t, queried, "errors"); n != 0 {
		t.Errorf("%v errors", n)
	}
	// Half of them exist, but for a node with one link these are the same.
	found := workloadtest.Metric(t, queried, "links_found") / workloadtest.Metric(t, queried, "links_asked")
	if found < 0.15 || found > 0.5 {
		t.Errorf("multigets found %v of the links, want a quarter or more", found)
	}
	// PostgreSQL chooses: in small tables it also takes the primary key and sorts.
	if text := queried.Plans[3].Text; len(queried.Plans) != 5 || !strings.Contains(text, linkIndex) && !strings.Contains(text, "Index Cond: ((id1 = 1) AND (link_type = ") &&
		!strings.Contains(text, "Index Cond: ((link_type = 123456789) AND (id1 = 1)") {
		t.Errorf("the plans are %v", queried.Plans)
	}
}

// checkChanges checks that the tables have what the requests did.
func checkChanges(t *testing.T, conn *client.Conn, c *config, queried workload.Result) {
	metric := func(name string) float64 { return workloadtest.Metric(t, queried, name) }
	if got, want := number(t, conn, "SELECT MAX(id) FROM linkdb0.nodetable"), float64(c.nodes)+metric("requests_add_node"); got < want {
		t.Errorf("the greatest id of a node is %v, want %v or more", got, want)
	}
	gone := float64(c.nodes) + metric("requests_add_node") - number(t, conn, "SELECT COUNT(*) FROM linkdb0.nodetable")
	if gone > metric("requests_delete_node") || gone < 0.5*metric("requests_delete_node") {
		t.Errorf("%v nodes are gone after %v were deleted", gone, metric("requests_delete_node"))
	}
	hid := number(t, conn, "SELECT COUNT(*) FROM linkdb0.linktable WHERE visibility = 0")
	if all := metric("requests_delete_link"); hid > all || all > 20 && hid == 0 {
		t.Errorf("%v links are hidden after %v were deleted", hid, all)
	}
	if updated := number(t, conn, "SELECT COUNT(*) FROM linkdb0.nodetable WHERE version = 2"); updated == 0 {
		t.Error("no node was updated")
	}
	if added := number(t, conn, fmt.Sprintf("SELECT COUNT(*) FROM linkdb0.linktable WHERE time > %d", queried.Start.UnixMilli())); added == 0 {
		t.Error("no link was added or updated")
	}
	if !c.original && (metric("add_to_update") == 0 || metric("update_to_add") == 0) {
		t.Errorf("%v links were to be added and were there, %v to be updated and were not; want some",
			metric("add_to_update"), metric("update_to_add"))
	}
}

// checkAccess holds the share of link writes that the hottest hundredth of the
// nodes got to the Zipf distribution. The fork adds links to any other end, so that
// nearly each of those that the load did not make is a write of its own.
func checkAccess(t *testing.T, conn *client.Conn, c *config, queried workload.Result) {
	if c.original {
		return
	}
	g := c.graph(c.degrees())
	writes := &newAccess(g.nodes, g.shuffler, c.bugCompat).linkWrite
	hottest := map[int64]bool{}
	for rank := range g.nodes / 100 {
		hottest[1+writes.uncorrelated.shuffler.permute(rank)] = true
	}
	all, hot := 0.0, 0.0
	_, err := conn.Query(fmt.Sprintf("SELECT id1, id2, link_type FROM linkdb0.linktable WHERE time >= %d", queried.Start.UnixMilli()), func(row []driver.Value) error {
		var link [3]int64
		for i := range link {
			var err error
			if link[i], err = whole(row[i]); err != nil {
				return err
			}
		}
		id, other, typ := link[0], link[1], link[2]-firstLinkType
		if id > g.nodes || other >= id && other < id+g.links(id, typ) {
			return nil // it was there and has changed
		}
		all++
		if hottest[id] {
			hot++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Of the correlated choices a hundredth of the nodes, whichever, gets one.
	want := writes.share*shareOf(&writes.uncorrelated.zipf, int64(len(hottest))) + (1-writes.share)/100
	t.Logf("of %v links that were added, the hottest hundredth of the nodes got %.4f, expected %.4f", all, hot/all, want)
	approx(t, "the share of the hottest hundredth", hot/all, want, 0.01+2/math.Sqrt(all))
}
