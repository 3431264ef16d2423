package linkbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// chunkSize is how many ids a loader takes at a time.
const chunkSize = 2048

// Operations of the load. The rows inserted, by which columns such as ips count,
// are links.
var (
	loadLinks  = workload.Operation{Name: "load_links_bulk", Calls: "inserts", Items: "rows_inserted", Rate: "ips"}
	loadCounts = workload.Operation{Name: "load_counts_bulk", Items: "counts_inserted"}
	loadNodes  = workload.Operation{Name: "load_node_bulk", Items: "nodes_inserted"}
)

// load makes the tables and fills them.
func (b *benchmark) load(ctx context.Context, t workload.Target, r *workload.Recorder, g *graph) error {
	err := client.Session(ctx, t, "", func(conn *client.Conn) error { return b.createTables(conn, t, r) })
	if err != nil {
		return err
	}
	conns, err := client.OpenAll(ctx, t, "", b.loaders+1)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	err = client.Attend(ctx, conns[0], func(*client.Conn) error { return b.prepareLoad(conns) })
	if err != nil {
		return err
	}
	total, _ := g.totals()
	r.Expect(loadLinks.Name, total, 0)
	r.Fact("rows_inserted", "links; nodes_inserted and counts_inserted are counted apart")
	l := b.newLoad(t, r, g, conns)
	if err := client.Run(ctx, r.Begin, r.End, l.workers(conns)); err != nil {
		return err
	}
	if err := l.record(r); err != nil {
		return err
	}
	return client.Session(ctx, t, "", func(conn *client.Conn) error {
		return workload.Join(vacuum(conn), l.countRows(conn))
	})
}

// vacuum lets PostgreSQL take the statistics by which it chooses plans, and note
// which pages an index can be read without. Else the plans of the requests would
// depend on when its autovacuum comes by: InnoDB and MyRocks take their statistics
// while rows come in.
func vacuum(conn *client.Conn) error {
	if !conn.Postgres() {
		return nil
	}
	return conn.DDL("VACUUM (ANALYZE) " + inLinks + ", " + inCounts + ", " + inNodes)
}

func (b *benchmark) prepareLoad(conns []*client.Conn) error {
	if conns[0].Postgres() {
		return nil
	}
	var more []string
	if b.withoutBinlog {
		more = append(more, "SET SESSION sql_log_bin = 0")
	}
	if b.original {
		more = append(more, "SET SESSION autocommit = 0")
	}
	for _, conn := range conns {
		if err := prepareSession(conn, more...); err != nil {
			return err
		}
	}
	return nil
}

// createTables makes the tables anew and checks that they are what was asked
// for.
func (b *benchmark) createTables(conn *client.Conn, t workload.Target, r *workload.Recorder) error {
	statements := []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database + " CHARACTER SET latin1"}
	if conn.Postgres() {
		statements = []string{"DROP SCHEMA IF EXISTS " + database + " CASCADE", "CREATE SCHEMA " + database}
	}
	for _, statement := range statements {
		if err := conn.DDL(statement); err != nil {
			return err
		}
	}
	var shown strings.Builder
	for _, table := range b.table.tables() {
		for _, statement := range b.table.create(table, t.Flavour, !b.lateIndex) {
			if err := conn.DDL(statement); err != nil {
				return err
			}
		}
		made, err := b.table.check(conn, table, t.Flavour, !b.lateIndex)
		if err != nil {
			return err
		}
		shown.WriteString(made.Definition + "\n")
	}
	return r.WriteArtifact("tables.sql", shown.String())
}

// A loading is the load of one graph by several clients.
type loading struct {
	config  *config
	words   statements
	graph   *graph
	seed    int64
	chunks  atomic.Int64 // not yet taken; the last one is taken first
	loaders []*loader
	nodes   *nodeLoader
	times   []*times
}

func (b *benchmark) newLoad(t workload.Target, r *workload.Recorder, g *graph, conns []*client.Conn) *loading {
	l := &loading{config: &b.config, words: newStatements(t.Flavour), graph: g, seed: t.Seed}
	l.chunks.Store((g.nodes + chunkSize - 1) / chunkSize)
	ofNodes, ofLinks, ofCounts := newTimes(loadNodes.Name, false), newTimes(loadLinks.Name, false), newTimes(loadCounts.Name, false)
	l.times = []*times{ofNodes, ofLinks, ofCounts}
	newBatch := func(n int, o workload.Operation, all *times, statement bulk) *batch {
		return &batch{
			conn: conns[n], recorder: r, track: r.Track(o, n+1), tally: tally{times: all}, policy: client.NewPolicy(r, b.allowed),
			bulk: statement, commit: b.original && !l.words.postgres,
		}
	}
	ofLink, ofCount := l.words.insertLinks, l.words.insertCounts
	if b.original {
		ofLink, ofCount = l.words.loadLinks, l.words.replaceCounts
	}
	for n := range b.loaders {
		l.loaders = append(l.loaders, &loader{
			loading: l,
			links:   newBatch(n, loadLinks, ofLinks, ofLink),
			counts:  newBatch(n, loadCounts, ofCounts, ofCount),
			data:    linkPayload(b.linkSize, b.bugCompat).generator(newRandom(l.seed, streamMotifs, 0)),
		})
	}
	l.nodes = &nodeLoader{loading: l, batch: newBatch(b.loaders, loadNodes, ofNodes, l.words.insertNodes)}
	return l
}

func (l *loading) workers(conns []*client.Conn) []client.Worker {
	workers := []client.Worker{{Conn: conns[len(l.loaders)], Work: l.nodes.load}}
	for n, loader := range l.loaders {
		workers = append(workers, client.Worker{Conn: conns[n], Work: loader.load})
	}
	return workers
}

// record records what the tracks do not, and checks that all was loaded.
func (l *loading) record(r *workload.Recorder) error {
	for _, t := range l.times {
		t.record(r)
	}
	links, counts, nodes := l.inserted()
	r.Metric("links_inserted", workload.UnitCount, float64(links))
	if err := r.WriteArtifact("statistics.csv", statistics(l.times)); err != nil {
		return err
	}
	if len(l.config.allowed) > 0 { // rows may have been left out
		return nil
	}
	allLinks, allCounts := l.graph.totals()
	if links != allLinks || counts != allCounts || nodes != l.graph.nodes {
		return fmt.Errorf("%d links, %d counts and %d nodes were inserted; the graph has %d, %d and %d",
			links, counts, nodes, allLinks, allCounts, l.graph.nodes)
	}
	return nil
}

func (l *loading) inserted() (links, counts, nodes int64) {
	for _, loader := range l.loaders {
		links += loader.links.inserted
		counts += loader.counts.inserted
	}
	return links, counts, l.nodes.batch.inserted
}

// countRows checks that the tables have the rows that were inserted, and that
// nodes have the ids that links start from.
func (l *loading) countRows(conn *client.Conn) error {
	if !l.config.verify {
		return nil
	}
	links, counts, nodes := l.inserted()
	var faults []error
	for _, table := range []struct {
		name string
		want int64
	}{{inLinks, links}, {inCounts, counts}, {inNodes, nodes}} {
		got, err := conn.Int("SELECT COUNT(*) FROM " + table.name + l.words.byIndex("PRIMARY"))
		if err != nil {
			return err
		}
		if got != table.want {
			faults = append(faults, fmt.Errorf("table %s has %d rows after %d were inserted", table.name, got, table.want))
		}
	}
	greatest, err := conn.Int("SELECT MAX(id) FROM " + inNodes)
	if err != nil {
		return err
	}
	if greatest != nodes {
		faults = append(faults, fmt.Errorf("the greatest id of a node is %d, not %d: auto_increment_increment must be 1", greatest, nodes))
	}
	return workload.Join(faults...)
}

// A loader loads links and counts, chunk by chunk.
type loader struct {
	*loading
	links, counts *batch
	data          *generator
}

func (l *loader) load(gate *client.Gate) error {
	defer func() {
		l.links.finish()
		l.counts.finish()
	}()
	for {
		chunk := l.chunks.Add(-1)
		if chunk < 0 || gate.Stopped() {
			break
		}
		if err := l.loadChunk(gate, chunk); err != nil {
			return err
		}
	}
	return workload.Join(l.links.flush(gate), l.counts.flush(gate))
}

func (l *loader) loadChunk(gate *client.Gate, chunk int64) error {
	random := newRandom(l.seed, streamLinks, uint64(chunk))
	first := chunk*chunkSize + 1
	for id := first; id < first+chunkSize && id <= l.graph.nodes; id++ {
		for typ := range l.graph.types {
			if err := l.loadList(gate, random, id, typ); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadList loads the links of a node of one type, and their count. A run that
// was stopped loads nothing.
func (l *loader) loadList(gate *client.Gate, random *rand.Rand, id, typ int64) error {
	n := l.graph.links(id, typ)
	if n == 0 || gate.Stopped() {
		return nil
	}
	now := time.Now().UnixMilli()
	newest := int64(0)
	for i := range n {
		at := linkTime(random, now)
		newest = max(newest, at)
		b := l.links.open()
		b = fill(b, "(?,?,?,?,", id, id+i, firstLinkType+typ, visible)
		b = l.words.literal(b, l.data.next(random))
		l.links.close(fill(b, ",?,?)", 0, at))
		if l.links.rows == batchRows {
			if err := l.links.flush(gate); err != nil || gate.Stopped() {
				return err
			}
		}
	}
	l.counts.close(fill(l.counts.open(), "(?,?,?,?,?)", id, firstLinkType+typ, n, newest, 0))
	if l.counts.rows == batchRows {
		return l.counts.flush(gate)
	}
	return nil
}

// linkTime returns a time of the last 49.7 days, which are 2^32 ms.
func linkTime(random *rand.Rand, now int64) int64 {
	return now - 1 - int64(random.Uint32())
}

// A nodeLoader loads all nodes, in the order of their ids, which the server
// assigns.
type nodeLoader struct {
	*loading
	batch *batch
}

const (
	batchRows  = 1024
	batchBytes = 2048 << 10 // of nodes
	nodeWeight = 24         // bytes that a node counts beside its data
)

func (l *nodeLoader) load(gate *client.Gate) error {
	defer l.batch.finish()
	data := nodePayload(l.config.nodeSize).generator(newRandom(l.seed, streamMotifs, 1))
	random := newRandom(l.seed, streamNodes, 0)
	weight := 0
	for range l.graph.nodes {
		d := data.next(random)
		weight += len(d) + nodeWeight
		b := fill(l.batch.open(), "(?,?,?,", nodeType, newVersion, time.Now().Unix())
		l.batch.close(append(l.words.literal(b, d), ')'))
		if l.batch.rows == batchRows || weight >= batchBytes {
			weight = 0
			if err := l.batch.flush(gate); err != nil || gate.Stopped() {
				return err
			}
		}
	}
	return l.batch.flush(gate)
}

// A batch is an INSERT of many rows that is sent when it is full.
type batch struct {
	bulk
	conn      *client.Conn
	recorder  *workload.Recorder
	track     *workload.Track
	tally     tally
	policy    *client.Policy
	commit    bool // after each statement
	statement []byte
	rows      int64
	inserted  int64 // in all
}

// open returns the statement, ready for the next row; close takes it back.
func (b *batch) open() []byte {
	if b.rows == 0 {
		return append(b.statement[:0], b.head...)
	}
	return append(b.statement, ',')
}

func (b *batch) close(statement []byte) {
	b.statement = statement
	b.rows++
}

// flush sends the rows, again where the server rolled them back. A run that was
// stopped sends nothing.
func (b *batch) flush(gate *client.Gate) error {
	if b.rows == 0 || gate.Stopped() {
		return nil
	}
	b.statement = append(b.statement, b.tail...)
	started := b.recorder.Elapsed()
	for try := 1; ; try++ {
		affected, err := b.send()
		verdict, err := b.policy.Judge(err, try)
		switch verdict {
		case client.Done:
			if affected != b.rows {
				return fmt.Errorf("%s...: %d rows sent, %d inserted", b.head, b.rows, affected)
			}
			ended := b.recorder.Elapsed()
			b.track.Done(b.rows, started, ended)
			b.tally.add(ended - started)
			b.inserted += b.rows
			b.rows = 0
			return nil
		case client.Skip:
			b.rows = 0
			return nil
		case client.Fail:
			return fmt.Errorf("%s...: %w", b.head, err)
		}
		if err := backOff(gate, b.conn, try); err != nil {
			return err
		}
	}
}

func (b *batch) send() (int64, error) {
	affected, err := b.conn.ExecBytes(b.statement)
	if err == nil && b.commit {
		_, err = b.conn.Exec("COMMIT")
	}
	return affected, err
}

func (b *batch) finish() {
	b.track.Finish(b.recorder.Elapsed())
	b.tally.flush()
}

// retryPause is by how much the pause before a statement is sent again grows
// with each try; the first one is without a pause.
const retryPause = 20 * time.Millisecond

// backOff makes a connection ready to send a transaction again that the server
// rolled back, or a part of it.
func backOff(gate *client.Gate, conn *client.Conn, try int) error {
	if _, err := conn.Exec("ROLLBACK"); err != nil {
		return fmt.Errorf("rolling back: %w", err)
	}
	gate.Sleep(time.Duration(try-1) * retryPause)
	return nil
}
