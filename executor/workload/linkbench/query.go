package linkbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// query runs the mix.
func (b *benchmark) query(ctx context.Context, t workload.Target, r *workload.Recorder, g *graph) error {
	conns, err := client.OpenAll(ctx, t, "", 2*b.requesters)
	if err != nil {
		return err
	}
	defer client.CloseAll(conns)
	stores, err := b.connect(ctx, t, conns)
	if err != nil {
		return err
	}
	a := newAccess(g.nodes, g.shuffler, b.bugCompat)
	if t.Warmup > 0 {
		r.Stage(workload.WarmingUp)
		warm := b.newTeam(t, workload.NewRecorder("", workload.Hooks{}), g, a, conns, stores, 0)
		warm.limit(b.rate, 0, t.Warmup)
		if err := warm.run(ctx, conns); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
	}
	q := b.newTeam(t, r, g, a, conns, stores, t.Iteration)
	if b.requests > 0 {
		r.Expect(requestOperation.Name, b.requests*int64(b.requesters), 0)
		q.limit(b.rate, b.requests, 0)
	} else {
		length := time.Duration(b.seconds) * time.Second
		r.Expect(requestOperation.Name, 0, length)
		q.limit(b.rate, 0, length)
	}
	if err := q.run(ctx, conns); err != nil {
		return err
	}
	if err := q.record(r); err != nil {
		return err
	}
	err = client.Attend(ctx, conns[1], func(conn *client.Conn) error { return keepPlans(conn, r, newStatements(t.Flavour)) })
	if err != nil {
		return err
	}
	return q.judge(r)
}

// connect prepares the connections of all requesters: of each, one writes links
// (the original client: all) in transactions, and the next one does the rest.
func (b *benchmark) connect(ctx context.Context, t workload.Target, conns []*client.Conn) ([]store, error) {
	stores := make([]store, b.requesters)
	err := client.Attend(ctx, conns[0], func(conn *client.Conn) error {
		indexed, err := hasLinkIndex(conn)
		if err != nil {
			return err
		}
		if !indexed {
			return fmt.Errorf("links have no index %s: a phase with step = \"index\" makes it after a load with late_index", linkIndex)
		}
		for i := range stores {
			if stores[i], err = b.newStore(t, conns[2*i], conns[2*i+1]); err != nil {
				return err
			}
		}
		return nil
	})
	return stores, err
}

func (b *benchmark) newStore(t workload.Target, writes, reads *client.Conn) (store, error) {
	words := newStatements(t.Flavour)
	if !words.postgres {
		if err := workload.Join(prepareSession(writes, "SET SESSION autocommit = 0"), prepareSession(reads)); err != nil {
			return nil, err
		}
	}
	if b.original {
		return &textStore{statements: words, writes: writes, reads: reads}, nil
	}
	return newPreparedStore(writes, reads, &words)
}

// A team is all requesters of one pass.
type team struct {
	recorder   *workload.Recorder
	requesters []*requester
	times      [operations]*times
}

// newTeam makes the requesters of a pass, which has random numbers of its own.
func (b *benchmark) newTeam(t workload.Target, r *workload.Recorder, g *graph, a *access, conns []*client.Conn, stores []store, pass int) *team {
	all := &team{recorder: r}
	for o := range operations {
		all.times[o] = newTimes(o.name(), true)
	}
	for i := range b.requesters {
		q := &requester{
			maker:    newMaker(&b.config, g, a, newRandom(t.Seed, streamRequests, uint64(pass)<<32+uint64(i))),
			store:    stores[i],
			writes:   conns[2*i],
			recorder: r,
			track:    r.Track(requestOperation, i+1),
			policy:   client.NewPolicy(r, b.allowed),
		}
		for o := range q.tallies {
			q.tallies[o].times = all.times[o]
		}
		all.requesters = append(all.requesters, q)
	}
	return all
}

// limit sets each requester's rate, and when it ends.
func (t *team) limit(rate float64, most int64, length time.Duration) {
	for _, q := range t.requesters {
		q.rate, q.most, q.length = rate, most, length
	}
}

func (t *team) run(ctx context.Context, conns []*client.Conn) error {
	workers := make([]client.Worker, len(t.requesters))
	for i, q := range t.requesters {
		workers[i] = client.Worker{Conn: conns[2*i], Also: conns[2*i+1], Work: q.run}
	}
	return client.Run(ctx, t.recorder.Begin, t.recorder.End, workers)
}

// record records what the track of requests does not.
func (t *team) record(r *workload.Recorder) error {
	var mostTries int
	var all sizes
	for _, name := range []string{"transactions", "retries", "add_to_update", "update_to_add", "links_asked", "links_found", "list_rows", "older_lists"} {
		r.Count(name, 0)
	}
	for _, q := range t.requesters {
		r.Count("transactions", q.done)
		r.Count("retries", q.retries)
		r.Count("add_to_update", q.toUpdate)
		r.Count("update_to_add", q.toInsert)
		r.Count("links_asked", q.asked)
		r.Count("links_found", q.found)
		r.Count("list_rows", q.listRows)
		r.Count("older_lists", q.older)
		mostTries = max(mostTries, q.mostTries)
		all.merge(&q.sizes)
	}
	all.record(r)
	r.Metric("most_tries", workload.UnitCount, float64(mostTries))
	for _, one := range t.times {
		one.record(r)
	}
	// A transaction of this benchmark is a request.
	for _, m := range r.Result().Metrics {
		if p, ok := strings.CutPrefix(m.Name, "qps_"); ok {
			r.Metric("tps_"+p, m.Unit, m.Value)
		}
	}
	return r.WriteArtifact("statistics.csv", statistics(t.times[:]))
}

// judge finds a phase without work, and one that missed its rate.
func (t *team) judge(r *workload.Recorder) error {
	var done, due int64
	var last time.Duration
	for _, q := range t.requesters {
		done += q.done
		due += q.due
		last = max(last, q.lastDue, q.length)
	}
	if done == 0 {
		return errors.New("no request was done: a phase that did no work has no result")
	}
	rate := t.requesters[0].rate
	if rate == 0 {
		return nil
	}
	result := r.Result()
	achieved := float64(done) / result.End.Sub(result.Start).Seconds()
	r.Metric("target_rate", workload.UnitRate, rate*float64(len(t.requesters)))
	r.Metric("achieved_rate", workload.UnitRate, achieved)
	// The times are random: what was due is not quite the rate.
	if asked := float64(due) / last.Seconds(); achieved < workload.SLAShare*asked {
		return &workload.SLAError{Target: asked, Achieved: achieved, What: "requests"}
	}
	return nil
}

// keepPlans keeps the server's plan of each query, and that of the update of a
// link: MyRocks of MariaDB 10.11 reads the secondary index for it in small
// tables, and locks what it reads.
func keepPlans(conn *client.Conn, r *workload.Recorder, s statements) error {
	for _, q := range []struct {
		op        operation
		statement string
	}{
		{getNode, string(fill(nil, s.getNode, 1))},
		{countLink, string(fill(nil, s.countLink, 1, firstLinkType))},
		{multigetLink, string(appendIDs(fill(nil, s.multiget, 1, firstLinkType), []int64{1, 2, 3}))},
		{getLinksList, string(fill(nil, s.linksList, 1, firstLinkType, 0, math.MaxInt64, listLimit, 0))},
		{updateLink, string(s.bind(nil, s.changeLink, []int64{visible}, nil, 0, 0, 1, 1, firstLinkType))},
	} {
		plan, err := conn.Explain(q.statement)
		if err != nil {
			return err
		}
		r.Plan(q.op.name(), plan)
	}
	return nil
}
