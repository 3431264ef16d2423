package linkbench

import (
	"testing"

	"dbmatrix/executor/workload/client"
)

// newTestLoader returns a loader whose batches are never sent.
func newTestLoader(tb testing.TB) *loader {
	c := mustDecode(tb, block{"step": "load", "profile": profileModern, "maxid1": 10000001})
	words := newStatements("mysql")
	l := &loading{config: &c, words: words, graph: c.graph(c.degrees()), seed: 1}
	return &loader{
		loading: l, links: &batch{bulk: words.insertLinks}, counts: &batch{bulk: words.insertCounts},
		data: linkPayload(c.linkSize, true).generator(newRandom(1, streamMotifs, 0)),
	}
}

// BenchmarkLinks makes the rows of links and counts.
func BenchmarkLinks(b *testing.B) {
	l := newTestLoader(b)
	random := newRandom(1, streamLinks, 0)
	rows := int64(0)
	for b.Loop() {
		for id := int64(1); id <= 100; id++ {
			if err := l.loadList(&client.Gate{}, random, id, 0); err != nil {
				b.Fatal(err)
			}
		}
		rows += l.links.rows
		l.links.rows, l.counts.rows = 0, 0
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/link")
}

// BenchmarkRequests makes requests.
func BenchmarkRequests(b *testing.B) {
	c := mustDecode(b, block{"step": "query", "profile": profileModern, "maxid1": 10000001})
	g := c.graph(c.degrees())
	m := newMaker(&c, g, newAccess(g.nodes, g.shuffler, true), newRandom(1, streamRequests, 0))
	var r request
	for b.Loop() {
		m.next(&r)
	}
}

// TestNoAllocation checks that neither rows nor requests cost an allocation each.
func TestNoAllocation(t *testing.T) {
	l := newTestLoader(t)
	random := newRandom(1, streamLinks, 0)
	gate := &client.Gate{}
	rows := func() {
		for id := int64(1); id <= 100; id++ {
			if err := l.loadList(gate, random, id, 0); err != nil {
				t.Fatal(err)
			}
		}
		l.links.rows, l.counts.rows = 0, 0
	}
	if n := testing.AllocsPerRun(10, rows); n > 0 {
		t.Errorf("100 lists of links cost %v allocations, want none", n)
	}
	c := mustDecode(t, block{"step": "query", "profile": profileModern, "maxid1": 100001})
	g := c.graph(c.degrees())
	m := newMaker(&c, g, newAccess(g.nodes, g.shuffler, true), newRandom(1, streamRequests, 0))
	var r request
	// The largest payload so far makes room for itself.
	if n := testing.AllocsPerRun(10000, func() { m.next(&r) }); n > 0.01 {
		t.Errorf("a request costs %v allocations, want none", n)
	}
}
