package executor

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
)

// statuses returns the status of each recorded attempt, in their order, and of
// its phases.
func (h *harness) statuses() []string {
	h.t.Helper()
	attempts, err := h.store.Results(h.t.Context(), "experiment", store.Selection{All: true})
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for _, a := range attempts {
		text := string(a.Cell) + " " + string(a.Status)
		for _, p := range a.Phases {
			text += " " + p.Block + "=" + string(p.Status)
		}
		all = append(all, strings.TrimSpace(text))
	}
	return all
}

// check compares what was written down, and what was recorded.
func (h *harness) check(log, statuses []string) {
	h.t.Helper()
	if diff := cmp.Diff(log, h.log); diff != "" {
		h.t.Errorf("done (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(statuses, h.statuses()); diff != "" {
		h.t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// inBubble runs a test with fake time.
func inBubble(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.finish = make(chan struct{})
		defer h.close()
		test(t, h)
	})
}

const oneServer = `
experiment { name = "experiment" }
defaults { server = server.one }
`

func phase(name string, lines ...string) string {
	return "phase \"" + name + "\" {\n" + strings.Join(lines, "\n") + "\n}\n"
}

func do(what string) string { return "workload \"fake\" { do = \"" + what + "\" }" }

func TestOrderOfARun(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		out := h.run(t.Context(), oneServer+
			phase("load", do("load"))+
			phase("query", do("query"), "iterations = 2"))
		h.check([]string{
			"copy template to run", "start one", "load 1", "query 1", "query 2", "stop", "remove run",
		}, []string{" ok load=ok query=ok"[1:]})
		if out.Done != 1 || out.Left != 0 || len(out.Failed) != 0 {
			t.Errorf("outcome: %+v", out)
		}
		if again := h.run(t.Context(), oneServer+phase("load", do("load"))+phase("query", do("query"), "iterations = 2")); again.Done != 0 {
			t.Errorf("a finished run is executed again: %q", h.log)
		}
	})
}

func TestRestartAndCaches(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), oneServer+
			phase("load", do("load"))+
			phase("cold", do("cold"), `restart = true`, `cache = "cold"`)+
			phase("warm", do("warm"), `restart = true`, `cache = "warm"`)+
			phase("again", do("again"), `restart = true`))
		h.check([]string{
			"copy template to run", "start one", "load 1",
			"stop", "evict", "start one", "cold 1",
			"stop", "warm", "start one", "warm 1",
			"stop", "start one", "again 1", "stop", "remove run",
		}, []string{"ok load=ok cold=ok warm=ok again=ok"})
	})
}

const twoLevels = `
experiment { name = "experiment" }
defaults { server = server.one }
axis "a" {
  level "x" { params = { what = "X" } }
  level "y" { params = { what = "Y" } }
}
`

const work = `workload "fake" { do = param.what }`

func TestSnapshotIsMadeOnceAndEveryRunGoesOnFromACopy(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), twoLevels+
			phase("load", do("load"), "snapshot = true")+
			phase("query", work))
		h.check([]string{
			"copy template to run", "start one", "load 1", "stop", "copy run to snapshot", "remove run",
			"copy snapshot to run", "start one", "X 1", "stop", "remove run",
			"copy snapshot to run", "start one", "Y 1", "stop", "remove run",
			"remove snapshot",
		}, []string{"a=x ok load=ok query=ok", "a=y ok load=ok query=ok"})
	})
}

func TestFailingRunDoesNotStopThePlan(t *testing.T) {
	for what, want := range map[string]struct {
		status matrix.Status
		log    []string
		text   string
	}{
		"fail":  {matrix.Failed, []string{"fail 1", "stop"}, "error 1146"},
		"crash": {matrix.Crashed, []string{"crash 1", "stop"}, "ended by signal 11"},
		"idle":  {matrix.Failed, []string{"idle 1", "stop"}, "did no work"},
		// PostgreSQL's postmaster survives what its children die of.
		"restart": {matrix.Crashed, []string{"restart 1", "stop"}, "started again: server process was terminated"},
		"hang":    {matrix.Hung, []string{"hang 1", "kill"}, "neither the workload nor the server moved"},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				out := h.run(t.Context(), strings.Replace(twoLevels, `"X"`, `"`+what+`"`, 1)+phase("query", work)+phase("more", do("more")))
				h.check(append(append([]string{"copy template to run", "start one"}, want.log...),
					"remove run", "copy template to run", "start one", "Y 1", "more 1", "stop", "remove run"),
					[]string{"a=x " + string(want.status) + " query=" + string(want.status), "a=y ok query=ok more=ok"})
				if len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Message, want.text) || out.Done != 1 {
					t.Errorf("outcome: %+v", out)
				}
			})
		})
	}
}

// Data that does not fit into the page cache is not warm.
func TestWarmCacheThatIsNot(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.notWarm = 5e9
		h.run(t.Context(), oneServer+phase("query", do("query"), `cache = "warm"`))
		attempts, err := h.store.Results(t.Context(), "experiment", store.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		whole := attempts[0].Phases[0].Iteration(0)
		if whole == nil || len(whole.Flags) != 1 || !strings.Contains(whole.Flags[0].Detail, "5000 MB") {
			t.Errorf("flags: %+v", whole)
		}
	})
}

// Lines of the log that matter are events, a metric and a flag of the iteration.
func TestLogLinesAreRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), oneServer+phase("query", do("long wait"), "iterations = 2"))
		if diff := cmp.Diff([]string{"ok long_wait", "ok long_wait"}, h.iterations("query")); diff != "" {
			t.Errorf("iterations (-want +got):\n%s", diff)
		}
		if events := h.recordedEvents("log_long_wait"); len(events) != 2 {
			t.Errorf("events: %q", events)
		}
		attempts, err := h.store.Results(t.Context(), "experiment", store.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := attempts[0].Phases[0].Iteration(1).Metrics.Get("log_warnings"); m.Value != 1 {
			t.Errorf("log_warnings = %v", m)
		}
	})
}

func TestTimeout(t *testing.T) {
	for what, log := range map[string][]string{
		"forever": {"forever 1", "kill"},
		"deaf":    {"deaf 1", "kill"}, // whoever does not heed the end loses the server
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				began := time.Now()
				h.run(t.Context(), oneServer+phase("query", do(what), `timeout = "1m"`))
				h.check(append(append([]string{"copy template to run", "start one"}, log...), "remove run"), []string{"timeout query=timeout"})
				if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestServerThatDoesNotStart(t *testing.T) {
	const definition = `
experiment { name = "experiment" }
axis "build" {
  level "one" { server = server.one }
  level "two" { server = server.two }
}
axis "b" { levels = ["x", "y"] }
`
	inBubble(t, func(t *testing.T, h *harness) {
		h.startError = func(l *server.Launch) error {
			if l.Settings.Server.Name == "one" {
				return &server.StartError{Server: "one", Doing: "starting", Cause: "no such library"}
			}
			return nil
		}
		out := h.run(t.Context(), definition+phase("query", `workload "fake" { do = axis.b }`))
		want := []string{"build=one,b=x failed query=failed", "build=one,b=y skipped", "build=two,b=x ok query=ok", "build=two,b=y ok query=ok"}
		if diff := cmp.Diff(want, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		if len(out.Failed) != 2 || out.Stopped != nil {
			t.Errorf("outcome: %+v", out)
		}
	})
}

// What the server was started with, and what it said, outlives its directory.
func TestServerThatDoesNotStartIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.startError = func(l *server.Launch) error {
			log, file := l.Layout.Dir+"/error.1.log", l.Layout.Dir+"/my.cnf"
			if err := errors.Join(os.WriteFile(log, []byte("why"), 0o600), os.WriteFile(file, []byte("what"), 0o600)); err != nil {
				return err
			}
			return &server.StartError{Server: "one", Doing: "starting", Cause: "why", LogPath: log, OptionFile: file}
		}
		h.run(t.Context(), oneServer+phase("query", do("work")))
		for name, want := range map[string]string{"error.log": "why", "my.cnf": "what"} {
			var got string
			_ = filepath.WalkDir(filepath.Join(h.dir, "artifacts"), func(path string, _ fs.DirEntry, _ error) error {
				if filepath.Base(path) == name {
					b, err := os.ReadFile(path)
					got = string(b)
					return err
				}
				return nil
			})
			if got != want {
				t.Errorf("%s holds %q, want %q", name, got, want)
			}
		}
	})
}

func TestTooManyFailuresInARow(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := `
experiment {
  name                     = "experiment"
  max_consecutive_failures = 2
}
defaults { server = server.one }
axis "n" { levels = ["1", "2", "3", "4"] }
`
		out := h.run(t.Context(), definition+phase("query", `workload "fake" { do = "fail" }`, `warmup = "${axis.n}s"`))
		if out.Stopped == nil || len(out.Failed) != 2 || out.Left != 2 {
			t.Errorf("outcome: %+v", out)
		}
	})
}

func TestFinishEndsAfterTheIteration(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := oneServer + phase("query", do("finish"), "iterations = 3") + phase("more", do("more"))
		out := h.run(t.Context(), definition)
		h.check([]string{"copy template to run", "start one", "finish 1", "stop", "remove run"}, []string{"interrupted query=interrupted"})
		if !out.Interrupted || out.Left != 1 || len(out.Failed) != 0 {
			t.Errorf("outcome: %+v", out)
		}
		if plan := h.plan(definition); plan.Runs[0].Status != matrix.Interrupted {
			t.Errorf("the plan says %s (%s)", plan.Runs[0].Status, plan.Runs[0].Reason)
		}
	})
}

func TestFinishOfTheLastIterationCompletesTheRun(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		out := h.run(t.Context(), oneServer+phase("query", do("finish")))
		h.check([]string{"copy template to run", "start one", "finish 1", "stop", "remove run"}, []string{"ok query=ok"})
		if out.Interrupted || out.Done != 1 {
			t.Errorf("outcome: %+v", out)
		}
	})
}

func TestCancelStopsTheServerAndLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(ErrInterrupted) })
		out := h.run(ctx, twoLevels+phase("query", work))
		h.check([]string{"copy template to run", "start one", "X 1", "stop", "remove run"}, []string{"a=x interrupted query=interrupted"})
		if !out.Interrupted || out.Left != 2 {
			t.Errorf("outcome: %+v", out)
		}
	})
}

func TestSetupIsUndone(t *testing.T) {
	for _, what := range []string{"work", "fail"} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				h.run(t.Context(), `
experiment { name = "experiment" }
defaults {
  server   = server.one
  setup    = [["true", "run"]]
  teardown = [["true", "undo run"]]
}
`+phase("load", do("load"))+phase("query", do(what), `setup = [["true", "phase"]]`, `teardown = [["true", "undo phase"]]`, "restart = true"))
				h.check([]string{
					"copy template to run", "command true run", "start one", "load 1",
					"stop", "command true phase", "start one", what + " 1", "command true undo phase", "stop",
					"command true undo run", "remove run",
				}, []string{map[string]string{"work": "ok load=ok query=ok", "fail": "failed load=ok query=failed"}[what]})
				open, err := h.store.OpenSetups(t.Context(), 1)
				if err != nil || len(open) != 0 {
					t.Errorf("still set up: %v, %v", open, err)
				}
			})
		})
	}
}

func TestLevelsThatEndWithTheSameValue(t *testing.T) {
	const definition = `
experiment { name = "experiment" }
defaults { server = server.one }
axis "chunk" {
  level "small" {
    my_cnf   = { innodb_buffer_pool_size = "100M" }
    adjusted = ["innodb_buffer_pool_size"]
  }
  level "large" {
    my_cnf   = { innodb_buffer_pool_size = "120M" }
    adjusted = ["innodb_buffer_pool_size"]
  }
}
`
	inBubble(t, func(t *testing.T, h *harness) {
		h.inForce = func(s *matrix.Settings) []server.InForce {
			o := *s.Option("innodb_buffer_pool_size")
			return []server.InForce{{Option: o, Asked: o.Value.Text, Got: "134217728", Verdict: server.Adjusted, Granule: true}}
		}
		out := h.run(t.Context(), definition+phase("query", do("query")))
		if len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Message, `axis "chunk"`) {
			t.Errorf("outcome: %+v", out)
		}
		if diff := cmp.Diff([]string{"chunk=small ok query=ok", "chunk=large failed query=failed"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		// A later process knows what the first level ended with.
		h.options.Selection.Statuses = []matrix.Status{matrix.Failed}
		if out := h.run(t.Context(), definition+phase("query", do("query"))); len(out.Failed) != 1 {
			t.Errorf("the second time: %+v", out)
		}
	})
}

func TestContradictedOptionFailsItsCell(t *testing.T) {
	const definition = `
experiment { name = "experiment" }
defaults { server = server.one }
axis "cache" {
  level "a" { my_cnf = { table_open_cache = 1 } }
  level "b" { my_cnf = { table_open_cache = 2000 } }
}
`
	inBubble(t, func(t *testing.T, h *harness) {
		h.inForce = func(s *matrix.Settings) []server.InForce {
			o := *s.Option("table_open_cache")
			v := server.InForce{Option: o, Asked: o.Value.Text, Got: o.Value.Text, Verdict: server.Verified}
			if v.Asked == "1" {
				v.Got, v.Verdict = "10", server.Contradicted
			}
			return []server.InForce{v}
		}
		out := h.run(t.Context(), definition+phase("query", do("query")))
		if diff := cmp.Diff([]string{"cache=a failed query=failed", "cache=b ok query=ok"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		if len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Message, "table_open_cache") {
			t.Errorf("outcome: %+v", out)
		}
	})
}

// twoCells are two cells of one build that need the same template.
const twoCells = `
experiment { name = "experiment" }
defaults { server = server.one }
axis "n" { levels = ["1", "2"] }
`

// The host's faults stop the plan at once, and the run under way is taken up by
// the next execution.
func TestHostFaults(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*harness)
		want  string
	}{
		"disk full while it works": {func(h *harness) {
			h.startError = func(*server.Launch) error { h.full = true; return nil }
		}, "disk full on "},
		"disk read-only while it works": {func(h *harness) {
			h.startError = func(*server.Launch) error { h.readOnly = true; return nil }
		}, "data has become read-only"},
		"disk full at the start": {func(h *harness) {
			h.startError = func(*server.Launch) error {
				h.full = true
				return &server.StartError{Server: "one", Doing: "starting", Cause: "errno 28"}
			}
		}, "data: 3 MB left; free some space"},
		"a folder of another user's": {func(h *harness) {
			h.initError = &fs.PathError{Op: "mkdir", Path: h.dir + "/artifacts/x", Err: syscall.EACCES}
		}, "artifacts/x: permission denied; make it writable for this user"},
		"disk full at the initialisation": {func(h *harness) {
			h.initError = &fs.PathError{Op: "write", Path: h.dir + "/data/x", Err: syscall.ENOSPC}
		}, "disk full on "},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				test.spoil(h)
				definition := twoCells + phase("query", do("work"), `warmup = "${axis.n}s"`)
				out := h.run(t.Context(), definition)
				var env *EnvironmentError
				if !errors.As(out.Stopped, &env) || !strings.Contains(out.Stopped.Error(), test.want) {
					t.Errorf("stopped with %v, want %q", out.Stopped, test.want)
				}
				if !slices.ContainsFunc(h.events, func(ev Event) bool { return strings.HasPrefix(ev.Message, "what the run showed: ") }) {
					t.Error("the evidence is not told")
				}
				if len(out.Failed) != 0 || out.Left != 2 {
					t.Errorf("outcome: %+v", out)
				}
				if got := h.statuses(); len(got) != 1 || !strings.Contains(got[0], "n=1 interrupted") || strings.Contains(got[0], "crashed") {
					t.Errorf("recorded: %v", got)
				}
				h.full, h.readOnly, h.lost, h.startError, h.initError = false, false, false, nil, nil
				if out := h.run(t.Context(), definition); out.Done != 2 {
					t.Errorf("the next execution: %+v", out)
				}
			})
		})
	}
}

// A window in which the machine slept is no result: the run is invalid, with how long
// it slept.
func TestMachineThatSlept(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.asleep = []matrix.Flag{{Name: "suspended", Detail: "the machine slept for 7s"}}
		out := h.run(t.Context(), oneServer+phase("query", do("work")))
		if len(out.Failed) != 1 || out.Failed[0].Status != matrix.Invalid || out.Failed[0].Message != "the machine slept for 7s in the measured window" {
			t.Errorf("outcome: %+v", out)
		}
		if diff := cmp.Diff([]string{"invalid query=invalid"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		h.asleep, h.options.Selection.Statuses = nil, []matrix.Status{matrix.Invalid}
		if out := h.run(t.Context(), oneServer+phase("query", do("work"))); out.Done != 1 {
			t.Errorf("the next execution: %+v", out)
		}
	})
}

// A run whose guardian is killed fails; the others have a new one.
func TestGuardianKilled(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		starts := 0
		h.startError = func(*server.Launch) error {
			if starts++; starts == 1 {
				h.lost = true
				return &server.StartError{Server: "one", Doing: "starting", Cause: "it ended with signal 9 (killed)"}
			}
			return nil
		}
		out := h.run(t.Context(), twoCells+phase("query", do("work"), `warmup = "${axis.n}s"`))
		if diff := cmp.Diff([]string{"n=1 failed query=failed", "n=2 ok query=ok"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		if out.Stopped != nil || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Message, "guardian process") {
			t.Errorf("outcome: %+v", out)
		}
		if evidence := strings.Join(out.Failed[0].Details, "\n"); !strings.Contains(evidence, "signal 9") {
			t.Errorf("the evidence: %q", evidence)
		}
		if !slices.Contains(h.log, "renew") {
			t.Errorf("no new guardian: %q", h.log)
		}
	})
}

// Without a guardian nothing is started.
func TestGuardianThatCannotBeReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.renewError = errors.New("too many processes")
		h.startError = func(*server.Launch) error {
			h.lost = true
			return errors.New("the guardian process is gone")
		}
		definition := twoCells + phase("query", do("work"), `warmup = "${axis.n}s"`)
		out := h.run(t.Context(), definition)
		var env *EnvironmentError
		if !errors.As(out.Stopped, &env) || !strings.Contains(out.Stopped.Error(), "too many processes") {
			t.Errorf("stopped with %v", out.Stopped)
		}
		if diff := cmp.Diff([]string{"n=1 interrupted query=interrupted"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		h.renewError, h.startError, h.lost = nil, nil, false
		if out := h.run(t.Context(), definition); out.Done != 2 {
			t.Errorf("the next execution: %+v", out)
		}
	})
}

// A run that cannot be recorded did not fail.
func TestResultsDiskFull(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	plan := h.plan(oneServer + phase("query", do("work")))
	e := &executor{plan: plan, machine: h.machine(), deps: Deps{Store: h.store}}
	f := e.blameHost(judge(e.recordError("beginning an attempt", store.ErrDiskFull)), plan.Runs[0].Phases[0].Phase.Settings)
	var env *EnvironmentError
	if f.status != matrix.Interrupted || !errors.As(f.host, &env) || !strings.Contains(f.Error(), "results.db is full") {
		t.Errorf("got %+v", f)
	}
}

// A record that takes no more as a phase begins, or as its directory's facts are
// recorded, leaves a run that the next execution takes up.
func TestRecordFullAroundPhases(t *testing.T) {
	for name, table := range map[string]string{"beginning a phase": "phase", "recording facts": "fact"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				h.alter("CREATE TRIGGER full BEFORE INSERT ON " + table + " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
				definition := twoCells + phase("query", do("work"), `warmup = "${axis.n}s"`)
				out := h.run(t.Context(), definition)
				var env *EnvironmentError
				if !errors.As(out.Stopped, &env) || len(out.Failed) != 0 || out.Left != 2 {
					t.Errorf("outcome: %+v", out)
				}
				if got := h.statuses(); len(got) != 1 || !strings.HasPrefix(got[0], "n=1 interrupted") {
					t.Errorf("recorded: %q", got)
				}
				h.alter("DROP TRIGGER full")
				if out := h.run(t.Context(), definition); out.Done != 2 {
					t.Errorf("the next execution: %+v", out)
				}
			})
		})
	}
}

// alter changes the record behind the store's back.
func (h *harness) alter(statement string) {
	h.t.Helper()
	db, err := sql.Open("sqlite3", h.store.Path())
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(h.t.Context(), statement); err != nil {
		h.t.Fatal(err)
	}
}

// A record on a filesystem that has become read-only stops the plan.
func TestResultsThatCannotBeWritten(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	plan := h.plan(oneServer + phase("query", do("work")))
	e := &executor{plan: plan, machine: h.machine(), deps: Deps{Store: h.store}}
	f := e.blameHost(judge(e.recordError("recording iteration 1", store.ErrUnwritable)), plan.Runs[0].Phases[0].Phase.Settings)
	var env *EnvironmentError
	if f.status != matrix.Interrupted || !errors.As(f.host, &env) || !strings.Contains(f.Error(), "results.db cannot be written") {
		t.Errorf("got %+v", f)
	}
}

// A template that cannot be made is not tried again for each cell.
func TestBuildThatDoesNotInitialise(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.initError = errors.New("it was not done within 10m0s")
		out := h.run(t.Context(), twoCells+phase("query", do("work"), `warmup = "${axis.n}s"`))
		want := []string{"n=1 failed query=failed", "n=2 skipped"}
		if diff := cmp.Diff(want, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		if len(out.Failed) != 2 || !strings.Contains(out.Failed[1].Message, "could not initialise") {
			t.Errorf("outcome: %+v", out)
		}
	})
}

// While a data directory is made, an end that is asked for comes at once.
func TestFinishEndsTheInitialisation(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.initTakes = time.Hour
		began := time.Now()
		out := h.run(t.Context(), oneServer+phase("query", do("work")))
		if took := time.Since(began); !out.Interrupted || len(out.Failed) != 0 || took > time.Minute {
			t.Errorf("outcome after %s: %+v", took, out)
		}
	})
}

func TestCellWithoutServer(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), `experiment { name = "experiment" }`+"\n"+phase("io", "workload \"fake\" {\ndo = \"io\"\nserver = false\n}"))
		h.check([]string{"create", "io 1", "remove run"}, []string{"ok io=ok"})
	})
}

func TestUntilEndsEachRunEarly(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := oneServer + phase("load", do("load")) + phase("query", do("query"))
		h.options.Selection.Until = "load"
		h.run(t.Context(), definition)
		h.check([]string{"copy template to run", "start one", "load 1", "stop", "remove run"}, []string{"ok load=ok"})
		h.options.Selection.Until = ""
		h.run(t.Context(), definition)
		if got := h.log[len(h.log)-3:]; !cmp.Equal(got, []string{"query 1", "stop", "remove run"}) {
			t.Errorf("then %q", got)
		}
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		err  error
		want matrix.Status
	}{
		{errors.New("x"), matrix.Failed},
		{ErrInterrupted, matrix.Interrupted},
		{context.Canceled, matrix.Interrupted},
		{&failure{status: matrix.Hung, err: errors.New("x")}, matrix.Hung},
		{errors.Join(errors.New("a"), &failure{status: matrix.Crashed, err: errors.New("x")}), matrix.Crashed},
	} {
		if got := judge(c.err).status; got != c.want {
			t.Errorf("judge(%v) = %s, want %s", c.err, got, c.want)
		}
	}
}

func TestSettle(t *testing.T) {
	for name, c := range map[string]struct {
		settle string
		took   time.Duration
		flag   string
	}{
		"reached":     {"settle {\ndirty_pages_pct = 60\nmax_wait = \"5m\"\n}", 30 * time.Second, ""},
		"not in time": {"settle {\ndirty_pages_pct = 1\nmax_wait = \"10s\"\n}", 10 * time.Second, "did not settle within 10s"},
		"pause":       {"settle { pause = \"7s\" }", 7 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				h.run(t.Context(), oneServer+phase("load", do("load"), c.settle))
				h.check([]string{"copy template to run", "start one", "load 1", "drain", "restore", "stop", "remove run"}, []string{"ok load=ok"})
				attempts, err := h.store.Results(t.Context(), "experiment", store.Selection{})
				if err != nil {
					t.Fatal(err)
				}
				p := attempts[0].Phases[0]
				// The load itself takes ten seconds of the fake server's dirty pages.
				if got := time.Duration(p.SettleSeconds * float64(time.Second)); got > c.took || got < c.took-10*time.Second {
					t.Errorf("settled for %s, want at most %s", got, c.took)
				}
				var flags string
				for _, it := range p.Iterations {
					for _, f := range it.Flags {
						flags += f.Detail
					}
				}
				if c.flag == "" && flags != "" || !strings.Contains(flags, c.flag) {
					t.Errorf("flags: %q", flags)
				}
			})
		})
	}
}

func TestSnapshotOverBudgetServesItsMakerAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), twoLevels+
			phase("load", do("load"), "snapshot { budget = \"50\" }")+
			phase("query", work))
		h.check([]string{
			"copy template to run", "start one", "load 1", "stop", "copy run to snapshot", "remove run",
			"copy snapshot to run", "remove snapshot", "start one", "X 1", "stop", "remove run",
			"copy template to run", "start one", "load 1", "stop", "copy run to snapshot", "remove run",
			"copy snapshot to run", "remove snapshot", "start one", "Y 1", "stop", "remove run",
		}, []string{"a=x ok load=ok query=ok", "a=y ok load=ok query=ok"})
	})
}

func TestRunGoesOnAtTheSnapshotOfAnInterruptedAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := oneServer + phase("load", do("load"), "snapshot = true") + phase("query", do("query"), "iterations = 3")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(25*time.Second, func() { cancel(ErrInterrupted) })
		h.run(ctx, definition)
		first := len(h.log)
		h.run(t.Context(), definition)
		if diff := cmp.Diff([]string{"copy snapshot to run", "start one", "query 1", "query 2", "query 3", "stop", "remove run", "remove snapshot"}, h.log[first:]); diff != "" {
			t.Errorf("the second time (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"interrupted load=ok query=interrupted", "ok load=ok query=ok"}, h.statuses()); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

func TestFreshTakesNothingOver(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := oneServer + phase("load", do("load"), "snapshot = true") + phase("query", do("query"))
		h.run(t.Context(), definition)
		first := len(h.log)
		h.options.Selection.Fresh = true
		out := h.run(t.Context(), definition)
		if out.Done != 1 || !cmp.Equal(h.log[first:], h.log[:first]) {
			t.Errorf("%+v, %q", out, h.log[first:])
		}
	})
}

// TestSurvivor tests a server that does not end when it is killed: its directory is
// left alone, cells on its filesystem are skipped, and those elsewhere go on.
func TestSurvivor(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.survives = true
		out := h.run(t.Context(), `
			experiment { name = "experiment" }
			storage "other" { dir = "`+filepath.Join(h.dir, "other")+`" }
			defaults { server = server.one }
			axis "a" {
			  level "hangs" {
			    params  = { do = "hang" }
			    storage = storage.other
			  }
			  level "there" {
			    params  = { do = "there" }
			    storage = storage.other
			  }
			  level "elsewhere" { params = { do = "elsewhere" } }
			}
			phase "p" {
			  workload "fake" { do = param.do }
			}`)
		h.check([]string{
			"copy template to run", "start one", "hang 1", "kill",
			"copy template to run", "start one", "elsewhere 1", "stop", "remove run",
		}, []string{"a=hangs hung p=hung", "a=there skipped", "a=elsewhere ok p=ok"})
		if len(out.Failed) != 2 || !strings.Contains(out.Failed[0].Message, "the kernel still holds it: pid 7") || !strings.Contains(out.Failed[0].Details[0], "first: neither the workload") {
			t.Errorf("failed: %+v", out.Failed)
		}
		var env *EnvironmentError
		if !errors.As(out.Stopped, &env) {
			t.Errorf("stopped by %v", out.Stopped)
		}
	})
}
