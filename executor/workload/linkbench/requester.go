package linkbench

import (
	"errors"
	"fmt"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

var requestOperation = workload.Operation{Name: "request", Calls: "queries", Rate: "qps"}

// A requester is one client of the mix.
type requester struct {
	maker    *maker
	store    store
	writes   *client.Conn
	recorder *workload.Recorder
	track    *workload.Track
	policy   *client.Policy
	tallies  [operations]tally
	request  request

	rate   float64       // requests a second; 0 is no limit
	most   int64         // requests; 0 is no limit
	length time.Duration // 0 is no limit

	done, due    int64         // requests that ended, and that should have
	lastDue      time.Duration // since Begin
	retries      int64
	mostTries    int
	toUpdate     int64 // links that were to be added and were there
	toInsert     int64 // links that were to be updated and were not there
	found, asked int64 // links of multigets
	listRows     int64
	sizes        sizes
	older        int64 // lists that went on where another had ended
}

// run sends requests until the time is over or there were enough.
func (q *requester) run(gate *client.Gate) error {
	defer q.finish()
	for q.most == 0 || q.done < q.most {
		if gate.Stopped() || q.length > 0 && q.recorder.Elapsed() >= q.length {
			return nil
		}
		if q.rate > 0 {
			q.lastDue += time.Duration(q.maker.random.ExpFloat64() / q.rate * float64(time.Second))
			if q.length > 0 && q.lastDue >= q.length {
				return nil
			}
			q.due++
			gate.Sleep(q.lastDue - q.recorder.Elapsed())
		}
		if err := q.one(gate); err != nil {
			return err
		}
	}
	return nil
}

// one makes and sends one request.
func (q *requester) one(gate *client.Gate) error {
	r := &q.request
	q.maker.next(r)
	intended := q.lastDue
	if q.rate == 0 {
		intended = q.recorder.Elapsed()
	}
	ok, err := q.send(gate, r)
	if err != nil {
		return fmt.Errorf("%s of node %d: %w", r.op.name(), r.id, err)
	}
	if !ok {
		return nil
	}
	end := q.recorder.Elapsed()
	q.track.Done(1, intended, end)
	q.tallies[r.op].add(end - intended)
	q.done++
	q.note(r)
	return nil
}

// note takes note of what came back.
func (q *requester) note(r *request) {
	switch r.op {
	case multigetLink:
		q.asked += int64(len(r.ids))
		q.found += r.rows
	case getLinksList:
		q.listRows += r.rows
		q.sizes[min(r.rows, listLimit)]++
		if r.skip > 0 {
			q.older++
		}
		q.maker.lists.read(r, q.maker.random)
	}
}

// maxTurns is how often a link that others add and remove meanwhile is tried in
// the other way.
const maxTurns = 1000

// send sends a request, again where the server rolled it back. It reports false
// where it failed in a way that the phase allows, or the run was stopped.
func (q *requester) send(gate *client.Gate, r *request) (bool, error) {
	for try, turns := 1, 0; !gate.Stopped(); {
		err := q.store.do(r)
		if turned := q.turn(r, err); turned && turns < maxTurns {
			turns++
			if err := backOff(gate, q.writes, 1); err != nil {
				return false, err
			}
			continue
		}
		verdict, err := q.policy.Judge(err, try)
		switch verdict {
		case client.Done:
			return true, nil
		case client.Skip:
			return false, backOff(gate, q.writes, 1)
		case client.Fail:
			return false, err
		}
		if err := backOff(gate, q.writes, try); err != nil {
			return false, err
		}
		try++
		q.retries++
		q.mostTries = max(q.mostTries, try)
	}
	return false, nil
}

// turn makes an insert of a link that exists an update, and the other way round.
func (q *requester) turn(r *request, err error) bool {
	switch {
	case errors.Is(err, errExists):
		r.insert = false
		q.toUpdate++
	case errors.Is(err, errMissing):
		r.insert = true
		q.toInsert++
	default:
		return false
	}
	return true
}

func (q *requester) finish() {
	q.track.Finish(q.recorder.Elapsed())
	for i := range q.tallies {
		q.tallies[i].flush()
	}
	if q.length > 0 && q.lastDue < q.length {
		// What would have been due in the rest of the time.
		q.due += int64(q.rate * (q.length - q.lastDue).Seconds())
	}
}
