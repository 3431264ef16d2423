package linkbench

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
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

// BenchmarkMix runs the mix of each client on each engine: what a request costs
// the client in CPU time and allocations. With -cpuprofile it tells for what.
func BenchmarkMix(b *testing.B) {
	for _, engine := range engines() {
		target := engine.start(b)
		for _, profile := range []string{profileModern, profileFB2011} {
			common := with(engine.block, block{"profile": profile, "maxid1": 20001, "loaders": 2})
			workloadtest.Do(b, Type(), target, with(common, block{"step": "load"}))
			w := benchmark{mustDecode(b, with(common, block{"step": "query", "requesters": 4, "seconds": 5}))}
			b.Run(engine.name+"/"+profile, func(b *testing.B) {
				for b.Loop() {
					var cpu time.Duration
					var allocations uint64
					r := workload.NewRecorder("", workload.Hooks{
						Begin: func(time.Time) { cpu, allocations = used(b) },
						End: func(time.Time) {
							cpuAfter, allocationsAfter := used(b)
							cpu, allocations = cpuAfter-cpu, allocationsAfter-allocations
						},
					})
					if err := w.Run(b.Context(), target, r); err != nil {
						b.Fatal(err)
					}
					requests := workloadtest.Metric(b, r.Result(), "transactions")
					b.ReportMetric(requests/float64(w.seconds), "requests/s")
					b.ReportMetric(float64(cpu.Microseconds())/requests, "client-us/request")
					b.ReportMetric(float64(allocations)/requests, "allocations/request")
				}
			})
		}
	}
}

// used returns the CPU time and the allocations of this process so far.
func used(b *testing.B) (cpu time.Duration, allocations uint64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), memory.Mallocs
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
