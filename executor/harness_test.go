package executor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"

	"github.com/zclconf/go-cty/cty"
)

// A harness is an experiment on a machine whose servers and workloads are fakes
// that write down what is done to them.
type harness struct {
	t     *testing.T
	dir   string
	store *store.Store

	mu     sync.Mutex
	log    []string
	events []Event
	server *fakeServer // that runs now, or ran last

	// startError, where not nil, is asked before each start.
	startError func(p *server.Launch) error
	inForce    func(s *matrix.Settings) []server.InForce
	finish     chan struct{}
	ended      bool            // a workload has closed it
	cut        func()          // what a second interrupt does
	made       map[string]bool // directories that are there
	full       bool            // the disk is
	readOnly   bool            // the disk is
	asleep     []matrix.Flag   // that samplers raise
	survives   bool            // servers survive SIGKILL
	lost       bool            // the guardian is
	guardError error           // of commands
	owned      bool            // directories have owner files
	notWarm    int64           // bytes that stay out of the page cache
	renewError error           // of starting another guardian
	initError  error           // of making a template
	initTakes  time.Duration   // to make one; an end is asked for as it begins
	options    Options
}

// newHarness returns a harness with an empty record.
func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{t: t, dir: t.TempDir(), finish: make(chan struct{}), made: map[string]bool{}}
	var err error
	if h.store, err = store.Open(t.Context(), filepath.Join(h.dir, "results.db")); err != nil {
		t.Fatal(err)
	}
	return h
}

// close closes the record; inside a bubble of fake time it must be called before
// the bubble ends.
func (h *harness) close() {
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

// note writes something down.
func (h *harness) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// plan makes a plan of a definition by what the harness has recorded.
func (h *harness) plan(definition string) *matrix.Plan {
	h.t.Helper()
	path := filepath.Join(h.dir, "experiment.hcl")
	if err := os.WriteFile(path, []byte(definition), 0o600); err != nil {
		h.t.Fatal(err)
	}
	dialects := server.Dialects()
	exp, files, diags := matrix.Load(h.t.Context(), matrix.LoadOptions{
		Path: path, Workloads: []matrix.WorkloadType{h.workload().WorkloadType},
		Dialects: []matrix.Dialect{dialects["mariadb"], dialects["mysql"]},
		Found:    []*matrix.Server{{Name: "one", Mysqld: "/one"}, {Name: "two", Mysqld: "/two"}},
		Probe: func(_ context.Context, s *matrix.Server) matrix.Build {
			return matrix.Build{Flavour: "mariadb", Version: "10.11.1", Content: s.Name}
		},
		Host: matrix.Host{ID: "host", CPUs: 2, Memory: 4},
	})
	if diags.HasErrors() {
		h.t.Fatalf("%v (%d files)", diags, len(files))
	}
	exp.DataDir = filepath.Join(h.dir, "data")
	cells, diags := exp.Expand()
	if diags.HasErrors() {
		h.t.Fatal(diags)
	}
	history, err := h.store.History(h.t.Context(), exp.Name, exp.Host.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := MarkKept(exp, &history); err != nil {
		h.t.Fatal(err)
	}
	plan, err := exp.MakePlan(cells, history, matrix.PlanOptions{Fresh: h.options.Selection.Fresh})
	if err != nil {
		h.t.Fatal(err)
	}
	return plan
}

// run executes what is left of a definition.
func (h *harness) run(ctx context.Context, definition string) Outcome {
	h.t.Helper()
	plan := h.plan(definition)
	opts := h.options
	opts.Finish, opts.AcceptEnvironment = h.finish, true
	opts.Report = func(ev Event) { h.events = append(h.events, ev) }
	e := &executor{
		plan: plan, opts: opts, crash: &crasher{}, machine: h.machine(),
		deps:   Deps{Store: h.store, Workloads: []workload.Type{h.workload()}},
		broken: map[string]string{}, inForce: newInForceTable(),
	}
	var err error
	if e.pending, err = opts.Selection.Pending(plan); err != nil {
		h.t.Fatal(err)
	}
	if len(e.pending) == 0 {
		return e.outcome
	}
	if err := e.execute(ctx); err != nil {
		h.t.Fatal(err)
	}
	return e.outcome
}

// recordedEvents returns the messages of the recorded events of a kind.
func (h *harness) recordedEvents(kind string) []string {
	h.t.Helper()
	attempts, err := h.store.Results(h.t.Context(), "experiment", store.Selection{All: true})
	if err != nil {
		h.t.Fatal(err)
	}
	var messages []string
	for _, a := range attempts {
		d, err := h.store.Detail(h.t.Context(), a.ID)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, ev := range d.Events {
			if ev.Kind == kind {
				messages = append(messages, ev.Message)
			}
		}
	}
	return messages
}

// command stands for a setup, teardown or workload program.
func (h *harness) command(_ context.Context, cmd *exec.Cmd) error {
	text := "command " + strings.Join(cmd.Args, " ")
	for _, v := range cmd.Env {
		if strings.HasPrefix(v, "API_TOKEN=") {
			text += " " + v
		}
	}
	h.note("%s", text)
	return h.guardError
}

// machine returns a machine of fakes.
func (h *harness) machine() *machine {
	return &machine{
		template: func(ctx context.Context, s *matrix.Settings) (server.Layout, error) {
			if h.initTakes > 0 {
				close(h.finish)
				select {
				case <-ctx.Done():
					return server.Layout{}, context.Cause(ctx)
				case <-time.After(h.initTakes):
				}
			}
			if h.initError != nil {
				h.note("init fails")
				key, err := server.InitKey(s)
				return server.Layout{}, errors.Join(err, &server.InitError{Server: s.Server.Name, Key: key, Err: h.initError})
			}
			return server.Layout{Dir: filepath.Join(h.dir, "template")}, nil
		},
		create: func(l server.Layout, _ server.Owner) error {
			h.note("create")
			return os.MkdirAll(l.Data(), 0o700)
		},
		copyTo: func(_ context.Context, from, to server.Layout, o server.Owner, _ server.CopyMode) (server.Copied, error) {
			source := "template"
			if strings.Contains(from.Dir, "snapshots") {
				source = "snapshot"
			} else if strings.Contains(from.Dir, "runs") {
				source = "run"
			}
			if source != "template" && !h.made[from.Dir] {
				return server.Copied{}, fmt.Errorf("%s is not there", from.Dir)
			}
			h.made[to.Dir] = true
			h.note("copy %s to %s", source, o.Kind)
			if h.owned {
				return server.Copied{Allocated: 100}, errors.Join(to.Create(o), os.MkdirAll(to.Data(), 0o700))
			}
			return server.Copied{Allocated: 100}, os.MkdirAll(to.Data(), 0o700)
		},
		layoutAt: func(dir string) (server.Layout, error) { return server.Layout{Dir: dir}, nil },
		update: func(l server.Layout, change func(*server.Owner)) error {
			if h.owned {
				return l.Update(change)
			}
			return nil
		},
		remove: func(l server.Layout) error {
			delete(h.made, l.Dir)
			h.note("remove %s", strings.TrimSuffix(filepath.Base(filepath.Dir(l.Dir)), "s"))
			return os.RemoveAll(l.Dir)
		},
		start: func(_ context.Context, l server.Launch) (subject, error) {
			if h.startError != nil {
				if err := h.startError(&l); err != nil {
					h.note("start fails")
					return nil, err
				}
			}
			h.note("start %s", l.Settings.Server.Name)
			h.server = &fakeServer{h: h, settings: l.Settings, done: make(chan struct{}), started: time.Now()}
			return h.server, nil
		},
		guard:   h.command,
		setUp:   h.command,
		sources: func(server.Layout, int) ([]sampler.Sampler, error) { return []sampler.Sampler{flagger(h.asleep)}, nil },
		usage:   func(context.Context, server.Layout) (sampler.Usage, error) { return sampler.Usage{}, nil },
		device:  func(dir string) (uint64, error) { return uint64(strings.Count(dir, "/other")), nil },
		free: func(string) (uint64, error) {
			if h.full {
				return 3e6, nil
			}
			return 1 << 40, nil
		},
		readOnly: func(string) bool { return h.readOnly },

		lost: func() bool { return h.lost },
		renew: func(context.Context) (*machine, error) {
			h.note("renew")
			if h.renewError != nil {
				return nil, h.renewError
			}
			h.lost = false
			return h.machine(), nil
		},
		facts: func(server.Layout) ([]sampler.Fact, error) { return nil, nil },
		evict: func(server.Layout) (int64, error) { h.note("evict"); return 0, nil },
		warm:  func(context.Context, server.Layout) (int64, error) { h.note("warm"); return h.notWarm, nil },
	}
}

// A flagger is a sampler that raises flags and reads nothing.
type flagger []matrix.Flag

func (flagger) Name() string                { return "flags" }
func (flagger) Begin(context.Context) error { return nil }
func (f flagger) End(context.Context) ([]sampler.Sample, []matrix.Flag, error) {
	return nil, f, nil
}
func (flagger) Read(context.Context, bool) ([]sampler.Sample, error) { return nil, nil }

// A fakeServer is a server that lives until it is stopped or crashes.
type fakeServer struct {
	h        *harness
	settings *matrix.Settings
	done     chan struct{}
	once     sync.Once
	crashed  atomic.Bool
	started  time.Time
	still    atomic.Bool // shows no sign of life
	logged   []server.LogEvent
	n        time.Duration
}

func (f *fakeServer) end() { f.once.Do(func() { close(f.done) }) }

func (f *fakeServer) crash() {
	f.crashed.Store(true)
	f.end()
}

func (f *fakeServer) Address() server.Address  { return server.Address{Flavour: "fake"} }
func (f *fakeServer) PID() int                 { return 0 }
func (f *fakeServer) DB() *sql.DB              { return nil }
func (f *fakeServer) OptionFile() string       { return "" }
func (f *fakeServer) ErrorLog() string         { return "" }
func (f *fakeServer) StartTook() time.Duration { return 0 }
func (f *fakeServer) Done() <-chan struct{}    { return f.done }
func (f *fakeServer) State() string            { return "pid 7 is in state S" }
func (f *fakeServer) Crash() string            { return "ended by signal 11" }
func (f *fakeServer) Exit() server.Exit        { return server.Exit{Code: -1, Signal: 11} }

func (f *fakeServer) Stop(context.Context) (server.Stopped, error) {
	f.h.note("stop")
	f.end()
	return server.Stopped{Clean: !f.crashed.Load(), Why: "it had crashed"}, nil
}

func (f *fakeServer) Kill(context.Context) (server.Stopped, error) {
	f.h.note("kill")
	f.end()
	if f.h.survives {
		return server.Stopped{}, &server.SurvivedError{Server: "one", Dir: filepath.Join(f.h.dir, "other", "runs", "x"), After: time.Minute, State: "pid 7 (mariadbd) is in state Z with 3 threads, 3 of them in state D"}
	}
	return server.Stopped{}, nil
}

func (f *fakeServer) InForce(context.Context) ([]server.InForce, error) {
	if f.h.inForce == nil {
		return nil, nil
	}
	return f.h.inForce(f.settings), nil
}

func (f *fakeServer) Facts(context.Context) (server.Facts, error) { return server.Facts{}, nil }
func (f *fakeServer) Debt(context.Context) (server.Debt, error) {
	dirty := max(0, 90-float64(time.Since(f.started)/time.Second))
	return server.Debt{DirtyPagesPct: &dirty}, nil
}
func (f *fakeServer) Drain(context.Context, *matrix.Settle) (func(context.Context) error, error) {
	f.h.note("drain")
	return func(context.Context) error { f.h.note("restore"); return nil }, nil
}
func (f *fakeServer) writeLog(ev server.LogEvent) {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	f.logged = append(f.logged, ev)
}

func (f *fakeServer) LogEvents() ([]server.LogEvent, error) {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	events := f.logged
	f.logged = nil
	return events, nil
}
func (f *fakeServer) Movement() (server.Movement, error) {
	if !f.still.Load() {
		f.n += time.Second
	}
	return server.Movement{CPU: f.n, State: "S"}, nil
}

// workload returns the type "fake": it does what its attribute says.
func (h *harness) workload() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name: "fake", Version: 1, Built: true, WarmUp: true,
			Attributes: []matrix.Attribute{{Name: "do", Type: cty.String, Default: cty.StringVal("work")}, {Name: "server", Type: cty.Bool, Default: cty.True}},
			Server:     func(a matrix.Args) bool { return a["server"].True() },
			Port:       func(a matrix.Args) bool { return a["do"].AsString() == "port" },
		},
		New: func(a matrix.Args) (workload.Workload, error) {
			return &fakeWorkload{h: h, do: a["do"].AsString()}, nil
		},
	}
}

type fakeWorkload struct {
	h  *harness
	do string
}

// Run works for ten seconds, or does what it is told.
func (w *fakeWorkload) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	w.h.note("%s %d", w.do, t.Iteration)
	r.Begin()
	defer r.End()
	switch w.do {
	case "fail":
		return errors.New("error 1146: no such table")
	case "crash":
		w.h.server.crash()
		<-ctx.Done()
		return ctx.Err()
	case "forever":
		<-ctx.Done()
		return ctx.Err()
	case "hang":
		w.h.server.still.Store(true)
		<-ctx.Done()
		return ctx.Err()
	case "deaf": // heeds nothing but the end of its server
		<-w.h.server.done
		return errors.New("lost connection")
	case "restart":
		w.h.server.writeLog(server.LogEvent{Class: "crash", Line: "server process was terminated by signal 9"})
		return errors.New("lost connection")
	case "told to stop":
		w.h.server.writeLog(server.LogEvent{Class: "shutdown", Line: "received smart shutdown request"})
	case "told afterwards":
		go func() {
			time.Sleep(12 * time.Second)
			w.h.server.writeLog(server.LogEvent{Class: "shutdown", Line: "received smart shutdown request"})
		}()
	case "long wait":
		w.h.server.writeLog(server.LogEvent{Class: "long_wait", Line: "a long semaphore wait"})
	case "idle":
		r.Count("queries", 0)
		return nil
	case "fill second":
		if t.Iteration == 2 && !w.h.ended {
			w.h.ended, w.h.full = true, true
		}
	case "finish":
		close(w.h.finish)
	case "finish second", "cut first", "cut third":
		if at := map[string]int{"finish second": 2, "cut first": 1, "cut third": 3}[w.do]; t.Iteration == at && !w.h.ended {
			w.h.ended = true
			close(w.h.finish)
			if strings.HasPrefix(w.do, "cut") {
				w.h.cut()
			}
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
	}
	r.Count("queries", 10)
	return nil
}
