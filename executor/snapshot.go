package executor

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// A snapshotKey names a state of data: what was done to it, and in which
// replicate (0: in any).
type snapshotKey struct {
	fingerprint matrix.Fingerprint
	replicate   int
}

// keyOf returns the key of the snapshot after a run's phase.
func keyOf(run *matrix.Run, p matrix.RunPhase) snapshotKey {
	k := snapshotKey{p.Fingerprint, run.Replicate}
	if p.Phase.Snapshot != nil && p.Phase.Snapshot.ShareReplicates {
		k.replicate = 0
	}
	return k
}

// A keptSnapshot is a snapshot that is there.
type keptSnapshot struct {
	store.Snapshot
	fresh bool // made by this process
}

// A snapshotCollection knows the snapshots that are there and how many
// runs can still use each.
type snapshotCollection struct {
	there map[snapshotKey]keptSnapshot
	users map[snapshotKey]int
}

// newSnapshotCollection returns the collection of recorded snapshots. All runs of
// the plan that are not done can use them: those that failed too, whose load may
// have taken longer than what failed.
func newSnapshotCollection(known []store.Snapshot, plan *matrix.Plan) *snapshotCollection {
	c := &snapshotCollection{there: map[snapshotKey]keptSnapshot{}, users: map[snapshotKey]int{}}
	for _, s := range known {
		c.there[snapshotKey{s.Fingerprint, s.Replicate}] = keptSnapshot{Snapshot: s}
	}
	for _, run := range plan.Runs {
		if run.Status == matrix.Done {
			continue
		}
		for _, p := range run.Phases {
			if p.Phase.Snapshot != nil {
				c.users[keyOf(run, p)]++
			}
		}
	}
	return c
}

// find returns the snapshot after a run's phase.
func (c *snapshotCollection) find(run *matrix.Run, p matrix.RunPhase) (keptSnapshot, bool) {
	if p.Phase.Snapshot == nil || p.Fingerprint == "" {
		return keptSnapshot{}, false
	}
	s, ok := c.there[keyOf(run, p)]
	return s, ok
}

// total returns the bytes that all snapshots take.
func (c *snapshotCollection) total() uint64 {
	var n uint64
	for _, s := range c.there {
		n += uint64(s.Bytes)
	}
	return n
}

// release says that a run is done, and removes the snapshots that no run needs
// any more.
func (c *snapshotCollection) release(ctx context.Context, e *executor, run *matrix.Run) {
	for _, p := range run.Phases {
		if p.Phase.Snapshot != nil {
			c.users[keyOf(run, p)]--
		}
	}
	c.evictUnused(ctx, e)
}

// evictUnused removes the snapshots that no run needs.
func (c *snapshotCollection) evictUnused(ctx context.Context, e *executor) {
	for k := range c.there {
		if c.users[k] > 0 {
			continue
		}
		if err := c.evict(ctx, e, k); err != nil {
			e.event(Event{Kind: Notice, Message: err.Error()})
		}
	}
}

// evict removes a snapshot, from the record first: one without a record is
// removed at the next start, one without files would be missed when it is needed.
func (c *snapshotCollection) evict(ctx context.Context, e *executor, k snapshotKey) error {
	s := c.there[k]
	delete(c.there, k)
	if err := e.deps.Store.RemoveSnapshot(ctx, s.Path); err != nil {
		return fmt.Errorf("recording that the snapshot %s goes: %w", s.Path, err)
	}
	e.crash.at(crashSnapshotForgotten)
	l, err := e.machine.layoutAt(s.Path)
	if err == nil {
		err = e.machine.remove(l)
	}
	if err != nil {
		return fmt.Errorf("removing the snapshot %s: %w", s.Path, err)
	}
	return nil
}

// snapshotLayout returns where the snapshot after a phase lies: on the storage of
// its run.
func (e *executor) snapshotLayout(k snapshotKey, p *matrix.Phase) (server.Layout, error) {
	fp := string(k.fingerprint)
	name := fp[:min(len(fp), 32)] + "-r" + strconv.Itoa(k.replicate)
	return server.NewLayout(e.plan.Experiment.DataDir, server.KindSnapshot, name, p.Settings)
}

// keepSnapshot copies the directory of a stopped server. The copy gets its name
// once it is complete, verified and on disk, and is recorded after that.
func (a *attempt) keepSnapshot(ctx context.Context, p matrix.RunPhase) error {
	k := keyOf(a.run, p)
	to, err := a.snapshotLayout(k, p.Phase)
	if err != nil {
		return err
	}
	if _, ok := a.snapshots.there[k]; ok {
		// Another attempt's state of the same kind; this one's replaces it.
		if err := a.snapshots.evict(ctx, a.executor, k); err != nil {
			return err
		}
	}
	owner := a.owner(server.KindSnapshot)
	owner.Phase, owner.Fingerprint, owner.Clean = p.Phase.Block, p.Fingerprint, true
	copied, err := a.machine.copyTo(ctx, a.layout, to, owner, server.CopyBytes)
	if err != nil {
		return fmt.Errorf("keeping the data after %s: %w", p.Phase.Block, err)
	}
	a.crash.at(crashSnapshotRenamed)
	s := store.Snapshot{
		Experiment: a.experiment, Fingerprint: p.Fingerprint, Replicate: k.replicate,
		Attempt: a.id, Path: to.Dir, Bytes: int64(copied.Allocated),
	}
	if err := a.deps.Store.AddSnapshot(ctx, s); err != nil {
		return a.recordError("recording a snapshot", err)
	}
	a.crash.at(crashSnapshotRecorded)
	a.snapshots.there[k] = keptSnapshot{Snapshot: s, fresh: true}
	a.step("kept the data after %s: %d files, %d MB, in %s", p.Phase.Block, copied.Files, copied.Allocated/1e6, copied.Duration.Round(time.Millisecond))
	return nil
}

// dropOverBudget removes the snapshot that this attempt has made and copied, where
// all snapshots together take more than they may. Others that need it load again.
func (a *attempt) dropOverBudget(ctx context.Context) error {
	if a.source == nil || a.source.Attempt != a.id {
		return nil
	}
	policy := a.snapshotPolicy()
	if policy == nil || policy.Budget == 0 || a.snapshots.total() <= policy.Budget {
		return nil
	}
	a.event(Event{Kind: Notice, Run: a.run, Message: fmt.Sprintf(
		"the snapshot is not kept for others: all of them take %d bytes, %d are allowed", a.snapshots.total(), policy.Budget)})
	return a.snapshots.evict(ctx, a.executor, snapshotKey{a.source.Fingerprint, a.source.Replicate})
}

// resumePoint returns how many phases of a run need not be executed because a
// snapshot holds the state after them, and that snapshot. With fresh, only
// snapshots of this process count; likewise beyond a phase that is to have more
// iterations than were recorded.
func (e *executor) resumePoint(run *matrix.Run, phases []matrix.RunPhase) (int, *keptSnapshot) {
	more := len(phases)
	for i, p := range phases {
		if p.Status == matrix.TopUp {
			more = i
			break
		}
	}
	for i := len(phases) - 1; i >= 0; i-- {
		s, ok := e.snapshots.find(run, phases[i])
		if ok && (s.fresh || i < more && !e.opts.Selection.Fresh) {
			return i + 1, &s
		}
	}
	return 0, nil
}
