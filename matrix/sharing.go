package matrix

import "fmt"

// A stateKey names a state that a run can go on from: the snapshot of a phase,
// of one replicate or (0) of all.
type stateKey struct {
	fingerprint Fingerprint
	replicate   int
}

// stateOf returns the key of the snapshot that a phase keeps.
func stateOf(r *Run, i int) stateKey {
	k := stateKey{r.Phases[i].Fingerprint, r.Replicate}
	if r.Phases[i].Phase.Snapshot.ShareReplicates {
		k.replicate = 0
	}
	return k
}

// share goes through the runs in their order and says which phases each takes
// from a snapshot: one that is there, or one that an earlier run will leave.
func (p *planner) share(kept []Snapshot) {
	made := map[stateKey]int{} // position of the run that makes it; 0: it is there
	if !p.options.Fresh {
		for _, s := range kept {
			made[stateKey{s.Fingerprint, s.Replicate}] = 0
			if _, ok := made[stateKey{s.Fingerprint, 0}]; !ok {
				made[stateKey{s.Fingerprint, 0}] = 0
			}
		}
	}
	sharers := p.sharers()
	s := &p.plan.Summary
	for _, r := range p.plan.Runs {
		for i := range r.Phases {
			if r.Phases[i].Phase.Snapshot == nil || r.Phases[i].Fingerprint == "" {
				continue
			}
			if cells := sharers[stateOf(r, i)]; len(cells) > 1 {
				r.Phases[i].SharedWith = cells
			}
		}
		if r.Status == Done {
			continue
		}
		start := r.goOn(made)
		s.PhasesToRun += len(r.Phases) - start
		s.PhasesWithoutSharing += len(r.Phases)
		for i := start; i < len(r.Phases); i++ {
			if r.Phases[i].Phase.Snapshot != nil && r.Phases[i].Fingerprint != "" {
				if _, ok := made[stateOf(r, i)]; !ok {
					made[stateOf(r, i)] = r.Position
				}
			}
		}
	}
}

// sharers lists, for each snapshot, the cells that go on from it.
func (p *planner) sharers() map[stateKey][]CellKey {
	type sharer struct {
		stateKey
		cell CellKey
	}
	cells := map[stateKey][]CellKey{}
	seen := map[sharer]bool{} // of snapshots that serve all replicates
	for _, r := range p.plan.Runs {
		for i := range r.Phases {
			if r.Phases[i].Phase.Snapshot == nil || r.Phases[i].Fingerprint == "" {
				continue
			}
			k := stateOf(r, i)
			if k.replicate == 0 {
				if seen[sharer{k, r.Cell.Key}] {
					continue
				}
				seen[sharer{k, r.Cell.Key}] = true
			}
			cells[k] = append(cells[k], r.Cell.Key)
		}
	}
	return cells
}

// goOn finds the last phase whose state the run can go on from, and says of the
// phases up to it where they come from. It returns the index of the first phase
// that the run executes. Phases that are recorded, but whose state is gone, are
// executed again.
func (r *Run) goOn(made map[stateKey]int) int {
	for i := range r.Phases {
		if r.Phases[i].Continues {
			return i
		}
	}
	start := 0
	for i := len(r.Phases) - 2; i >= 0; i-- {
		if r.Phases[i].Phase.Snapshot == nil || r.Phases[i].Fingerprint == "" {
			continue
		}
		maker, ok := made[stateOf(r, i)]
		if !ok {
			continue
		}
		for j := 0; j <= i; j++ {
			p := &r.Phases[j]
			if maker == 0 {
				p.Status, p.Reason = Done, "its snapshot is kept"
			} else {
				p.Status, p.Reason = New, fmt.Sprintf("measured by run %d, which leaves its snapshot", maker)
				p.From = maker
			}
		}
		start = i + 1
		break
	}
	for i := start; i < len(r.Phases); i++ {
		if r.Phases[i].Status == Done {
			r.Phases[i].Status = Rebuild
			r.Phases[i].Reason = "recorded, but its state is needed and gone"
		}
	}
	return start
}
