package server

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Bounds of a stop: a dirty buffer pool takes long to write, so a server may
// take its time as long as something moves.
const (
	stopStill  = 10 * time.Minute
	stopTotal  = 30 * time.Minute
	stopPoll   = 20 * time.Millisecond
	killedWait = time.Minute // after SIGKILL, for the kernel to be done
)

// Stopped is how a stop went.
type Stopped struct {
	Clean bool // the server ended by itself with exit code 0
	Exit  Exit
	Took  time.Duration
	Why   string // why it is not clean
}

// A SurvivedError says that the kernel does not let go of a server that was
// killed: threads of it wait for a device. Its disk space is not free, and its
// directory must be left alone.
type SurvivedError struct {
	Server string
	Dir    string        // of its layout
	After  time.Duration // of the wait for its end
	State  string        // of the process and its threads
}

// Error is one sentence with the way out.
func (e *SurvivedError) Error() string {
	return fmt.Sprintf("server %q was killed %s ago and the kernel still holds it: %s; its disk space stays in use until it ends, and nothing more is started on the filesystem of %s; a reboot may be needed, then: dbmatrix run",
		e.Server, e.After, e.State, e.Dir)
}

// Stop stops the server by its stop signal, and waits as long as something moves
// (CPU time, bytes written, log lines): ten minutes without movement or thirty
// minutes in all, then SIGKILL. When ctx ends, SIGKILL comes at once. The error
// is a *SurvivedError, or that of a guardian that is gone; how the server ended is
// in Stopped.
func (i *Instance) Stop(ctx context.Context) (Stopped, error) {
	i.db.Close()
	begin := time.Now()
	if err := i.process.Signal(i.flavour.stopSignal(), false); err != nil {
		return Stopped{}, fmt.Errorf("stopping server %q: %w", i.launch.Settings.Server.Name, err)
	}
	patience := newPatience(i.stopLimits)
	for {
		select {
		case <-i.Done():
			return i.stopped(time.Since(begin))
		case <-ctx.Done():
			return i.end(context.WithoutCancel(ctx), "its stop was broken off")
		case <-time.After(stopPoll):
		}
		m, _ := i.Movement() // a process that has ended shows in Done
		if why := patience.lost(m, time.Now()); why != "" {
			return i.end(context.WithoutCancel(ctx), "it did not stop: "+why)
		}
	}
}

// Kill ends the server by SIGKILL.
func (i *Instance) Kill(ctx context.Context) (Stopped, error) {
	i.db.Close()
	return i.end(ctx, "it was killed")
}

// end kills the server and waits until the kernel is done with it.
func (i *Instance) end(ctx context.Context, why string) (Stopped, error) {
	begin := time.Now()
	if err := i.process.Signal(syscall.SIGKILL, true); err != nil {
		return Stopped{}, err
	}
	select {
	case <-i.Done():
	case <-time.After(i.killWait):
		return Stopped{Why: why, Took: time.Since(begin)}, &SurvivedError{
			Server: i.launch.Settings.Server.Name, Dir: i.launch.Layout.Dir, After: i.killWait, State: i.process.ID.describe(),
		}
	case <-ctx.Done():
		return Stopped{Why: why}, ctx.Err()
	}
	awaitUnused(ctx, i.launch.Layout.Data()) // who still uses it is found by the next start
	s, err := i.stopped(time.Since(begin))
	if !s.Clean {
		s.Why = why + " (" + s.Exit.String() + ")"
	}
	return s, err
}

// unusedWait bounds the wait for a killed server's own children: PostgreSQL's see
// that their parent is gone, and end, within a second.
const unusedWait = 10 * time.Second

// awaitUnused waits until no process has a file of a directory open, and says
// which one still has.
func awaitUnused(ctx context.Context, dir string) error {
	for begin := time.Now(); ; {
		err := unused(dir)
		if err == nil || time.Since(begin) > unusedWait {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(stopPoll):
		}
	}
}

// awaitEnd waits for the end of a server of an earlier run, if it is on its way
// there: a process that was killed gives back its memory, then its files, and is
// gone after that.
func awaitEnd(ctx context.Context, id ProcessID, dir string) error {
	for begin := time.Now(); id.runs(); {
		if time.Since(begin) > unusedWait || !id.dying() && unused(dir) != nil || ctx.Err() != nil {
			return fmt.Errorf("%s is in use by a server of an earlier run: %s", dir, id.describe())
		}
		time.Sleep(stopPoll)
	}
	return nil
}

// stopped records the end of the server in the owner file.
func (i *Instance) stopped(took time.Duration) (Stopped, error) {
	s := Stopped{Exit: i.Exit(), Took: took}
	s.Clean = s.Exit.Code == 0 && s.Exit.Signal == 0
	if !s.Clean {
		s.Why = "it ended with " + s.Exit.String()
	}
	return s, i.launch.Layout.Update(func(o *Owner) { o.Clean, o.Process, o.Guardian = s.Clean, nil, nil })
}
