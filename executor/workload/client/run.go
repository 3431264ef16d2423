package client

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"dbmatrix/executor/workload"
)

// A Worker is one client: a connection and what it does with it. Work runs on
// a goroutine of its own, whose thread waits with it for the server.
type Worker struct {
	Conn *Conn
	Also *Conn // a second connection that Work uses; nil is none
	Work func(*Gate) error
}

// conns returns the worker's connections.
func (w *Worker) conns() []*Conn {
	if w.Also == nil {
		return []*Conn{w.Conn}
	}
	return []*Conn{w.Conn, w.Also}
}

// A Gate tells a worker when to stop and lets it wait.
type Gate struct {
	stopped atomic.Bool
	done    chan struct{}
}

// Stopped reports whether the worker must end now, because another failed or
// the run was cancelled. Ask it once in every operation.
func (g *Gate) Stopped() bool { return g.stopped.Load() }

// Done returns a channel that is closed when the worker must end now, for one
// that waits for something else.
func (g *Gate) Done() <-chan struct{} { return g.done }

// Sleep waits for d, or until the run is stopped.
func (g *Gate) Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.done:
	}
}

// Run runs all workers from one start line and waits for the last of them. It
// calls begin when all stand ready, just before they start, and end
// when the last has finished, unless one failed.
//
// When a worker fails or ctx ends, the others are interrupted, and what their
// connections still run in the server is ended; Run then returns the first
// error, or the context's.
//
// While the workers run, GOMAXPROCS is at least twice their number: a thread
// that blocks in the kernel holds its scheduling slot for a while, and without
// a spare one the next worker would wait for that slot.
func Run(ctx context.Context, begin, end func(), workers []Worker) error {
	defer widen(len(workers))()
	r := run{gate: Gate{done: make(chan struct{})}, workers: workers}
	ready, start := sync.WaitGroup{}, make(chan struct{})
	ready.Add(len(workers))
	var finished sync.WaitGroup
	for i := range workers {
		finished.Go(func() {
			ready.Done()
			<-start
			if err := workers[i].Work(&r.gate); err != nil {
				if len(workers) > 1 {
					err = fmt.Errorf("connection %d: %w", i+1, err)
				}
				r.stop(err)
			}
		})
	}
	ready.Wait()
	unhook := context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
	defer unhook()
	begin()
	close(start)
	finished.Wait()
	if err := r.failure(); err != nil {
		return workload.Join(err, endOf(workers))
	}
	end()
	return nil
}

// widen raises GOMAXPROCS for n workers and returns what takes it back.
func widen(n int) func() {
	before := runtime.GOMAXPROCS(0)
	if wanted := 2 * n; wanted > before {
		runtime.GOMAXPROCS(wanted)
	}
	return func() { runtime.GOMAXPROCS(before) }
}

// A run is the state that its workers share.
type run struct {
	gate    Gate
	workers []Worker

	mu  sync.Mutex
	err error
}

// stop ends the run with an error; only the first one counts, since the others
// follow from it.
func (r *run) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.err = err
	r.gate.stopped.Store(true)
	close(r.gate.done)
	for _, w := range r.workers {
		for _, c := range w.conns() {
			c.Interrupt()
		}
	}
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Session opens a connection for one piece of work, which ends when ctx does, as
// that of a Worker.
func Session(ctx context.Context, t workload.Target, database string, work func(*Conn) error) error {
	conn, err := Open(ctx, t, database)
	if err != nil {
		return err
	}
	defer conn.Close()
	return Attend(ctx, conn, work)
}

// Attend is Session with a connection that is there already.
func Attend(ctx context.Context, conn *Conn, work func(*Conn) error) error {
	none := func() {}
	return Run(ctx, none, none, []Worker{{Conn: conn, Work: func(*Gate) error { return work(conn) }}})
}

// OpenAll opens n connections, or none.
func OpenAll(ctx context.Context, t workload.Target, database string, n int) ([]*Conn, error) {
	conns := make([]*Conn, 0, n)
	for range n {
		c, err := Open(ctx, t, database)
		if err != nil {
			CloseAll(conns)
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// CloseAll closes connections that are of no more use, also broken ones.
func CloseAll(conns []*Conn) {
	for _, c := range conns {
		_ = c.Close()
	}
}
