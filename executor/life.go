package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// begin makes sure that a phase has a data directory and a server with the
// phase's options, just started where the phase wants it so.
func (a *attempt) begin(ctx context.Context, p *matrix.Phase, id store.PhaseID) error {
	if a.layout.Dir == "" {
		if err := a.checkSpace(p); err != nil {
			return err
		}
		if err := a.makeUntilFinish(ctx, p); err != nil {
			return err
		}
	}
	if err := a.setUpRun(ctx, p); err != nil {
		return err
	}
	if a.subject != nil && (p.Restart || p.Cache != matrix.CacheAsIs && p.Cache != "") {
		if err := a.stop(ctx); err != nil {
			return err
		}
	}
	_, setup := a.commandsOf(p, setupOf)
	_, teardown := a.commandsOf(p, teardownOf)
	if err := a.setUp(ctx, p.Block, p.Settings, setup, teardown); err != nil {
		return err
	}
	if a.subject != nil {
		return nil
	}
	if err := a.prepareCache(ctx, p); err != nil {
		return err
	}
	return a.start(ctx, p, id)
}

// setUpRun runs the setup commands of the run as a whole, once.
func (a *attempt) setUpRun(ctx context.Context, p *matrix.Phase) error {
	if a.isUp {
		return nil
	}
	a.isUp = true
	setup, _ := a.commandsOf(p, setupOf)
	teardown, _ := a.commandsOf(p, teardownOf)
	err := a.setUp(ctx, "", p.Settings, setup, teardown)
	a.shared = len(a.setups)
	return err
}

// makeUntilFinish makes the data directory, but gives up where the caller asks
// for an end: there is no iteration under way to wait for.
func (a *attempt) makeUntilFinish(ctx context.Context, p *matrix.Phase) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-a.opts.Finish:
			cancel(errFinished)
		case <-ctx.Done():
		}
	}()
	err := a.makeDirectory(ctx, p)
	if err != nil && errors.Is(context.Cause(ctx), errFinished) {
		return errFinished
	}
	return err
}

// checkSpace compares the free space with what the run took before, or with what
// its workloads say that they will take.
func (a *attempt) checkSpace(p *matrix.Phase) error {
	largest := slices.MaxFunc(a.phases, func(a, b matrix.RunPhase) int { return cmp.Compare(a.Bytes, b.Bytes) })
	dir := dataStorage(a.plan.Experiment.DataDir, p.Settings)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the storage of data: %w", err)
	}
	free, err := a.machine.free(dir)
	if err != nil {
		return err
	}
	if free < largest.Bytes {
		return failed("no space on %s: %d MB are free, and %s", dir, free/1e6, needText(largest))
	}
	return nil
}

// needText says how much disk a phase needs, and how that is known.
func needText(rp matrix.RunPhase) string {
	if rp.Basis == matrix.FromHistory {
		return fmt.Sprintf("after %s a run of this kind took %d MB", rp.Phase.Block, rp.Bytes/1e6)
	}
	return fmt.Sprintf("%s is estimated to take %d MB, by the arguments of its workload", rp.Phase.Block, rp.Bytes/1e6)
}

// dataStorage returns the directory of the storage that holds the data.
func dataStorage(dataDir string, s *matrix.Settings) string {
	if st, ok := s.Storage["data"]; ok && st.Dir != "" {
		return st.Dir
	}
	return dataDir
}

// prepareCache treats the page cache as the phase wants it. No server runs.
func (a *attempt) prepareCache(ctx context.Context, p *matrix.Phase) error {
	switch p.Cache {
	case matrix.CacheCold:
		left, err := a.machine.evict(a.layout)
		if err != nil {
			return err
		}
		if left > 0 {
			return failed("cache = \"cold\": %d bytes of the data stay in the page cache; something else has the files open", left)
		}
	case matrix.CacheWarm:
		missing, err := a.machine.warm(ctx, a.layout)
		if err != nil {
			return err
		}
		if missing > 0 {
			a.doubts = append(a.doubts, matrix.Flag{Name: "cache", Detail: fmt.Sprintf(
				"cache = \"warm\": %d MB of the data were not in the page cache after they had been read: they do not fit", missing/1e6)})
		}
	}
	return nil
}

// start starts the server for a phase and checks what it made of its options.
func (a *attempt) start(ctx context.Context, p *matrix.Phase, id store.PhaseID) error {
	a.started = p
	if p.Settings.Server == nil {
		a.subject = bare{}
		return nil
	}
	port, err := a.port(ctx)
	if err != nil {
		return err
	}
	if err := a.sameBuild(p, nil); err != nil {
		return err
	}
	a.crash.at(crashServerStarted)
	s, err := a.machine.start(ctx, server.Launch{Guardian: a.machine.guardian, Settings: p.Settings, Layout: a.layout, Port: port})
	if err != nil {
		return a.sameBuild(p, a.keepStartLog(p, err))
	}
	a.subject = s
	if err := a.sameBuild(p, nil); err != nil {
		return err
	}
	setScore(s.PID(), serverScore)
	a.crash.at(crashServerReady)
	a.script.server(p.Settings.Server.Prefix, s.PID())
	a.step("%s is ready after %s", p.Settings.Server.Name, s.StartTook().Round(time.Millisecond))
	return a.checkOptions(ctx, p, id)
}

// keepStartLog keeps the log and the option file of a server that did not start,
// whose directory is removed soon.
func (a *attempt) keepStartLog(p *matrix.Phase, err error) error {
	var start *server.StartError
	if !errors.As(err, &start) || start.LogPath == "" {
		return err
	}
	dir, derr := a.artifacts(p)
	if derr != nil {
		return errors.Join(err, derr)
	}
	var rows []store.Artifact
	to, derr := copyArtifact(dir, "error.log", start.LogPath)
	if derr == nil {
		start.LogPath = to
		rows = append(rows, a.artifactRow("error log", to))
	}
	if start.OptionFile != "" {
		to, oerr := copyArtifact(dir, filepath.Base(start.OptionFile), start.OptionFile)
		if oerr == nil {
			rows = append(rows, a.artifactRow("option file", to))
		}
		derr = errors.Join(derr, oerr)
	}
	return errors.Join(err, derr, a.deps.Store.AddArtifacts(context.Background(), a.id, rows))
}

// checkOptions records what became of each option, and fails where one that is
// varied is not what was asked.
func (a *attempt) checkOptions(ctx context.Context, p *matrix.Phase, id store.PhaseID) error {
	verdicts, err := a.subject.InForce(ctx)
	if err != nil {
		return fmt.Errorf("asking %s for its options: %w", p.Settings.Server.Name, err)
	}
	if err := a.deps.Store.AddOptions(ctx, id, recordOptions(verdicts)); err != nil {
		return a.recordError("recording options", err)
	}
	facts, err := a.subject.Facts(ctx)
	if err != nil {
		return fmt.Errorf("asking %s for its variables: %w", p.Settings.Server.Name, err)
	}
	variables := make([]store.Fact, len(facts.Variables))
	for i, v := range facts.Variables {
		variables[i] = store.Fact(v)
	}
	if err := a.deps.Store.AddVariables(ctx, id, variables); err != nil {
		return a.recordError("recording variables", err)
	}
	faults := server.Faults(p.Settings, verdicts)
	if len(faults) == 0 {
		faults = a.inForce.judge(p.Settings.Server.Name, verdicts)
	}
	if len(faults) > 0 {
		return &failure{status: matrix.Failed, err: errors.New(faults[0]), details: faults[1:]}
	}
	return nil
}

// stop stops the server, if one runs. One that is not clean is told of.
func (a *attempt) stop(ctx context.Context) error {
	if a.subject == nil {
		return nil
	}
	s := a.subject
	a.subject = nil
	if a.machine.lost() {
		defer a.keepErrorLog(s)
		return a.awaitLost(s)
	}
	a.crash.at(crashStopping)
	stopped, err := s.Stop(ctx)
	a.keepErrorLog(s)
	if err != nil {
		return fmt.Errorf("stopping the server: %w", err)
	}
	return a.judgeStop(stopped)
}

// judgeStop tells of a stop that was not clean.
func (a *attempt) judgeStop(s server.Stopped) error {
	if !s.Clean {
		a.event(Event{Kind: Notice, Run: a.run, Message: "the server did not stop cleanly: " + s.Why})
		return nil
	}
	a.step("the server stopped in %s", s.Took.Round(time.Millisecond))
	return nil
}

// kill ends a server that does not answer any more.
func (a *attempt) kill(ctx context.Context) error {
	if a.subject == nil {
		return nil
	}
	s := a.subject
	a.subject = nil
	if a.machine.lost() {
		defer a.keepErrorLog(s)
		return a.awaitLost(s)
	}
	stopped, err := s.Kill(ctx)
	a.keepErrorLog(s)
	if err != nil {
		return fmt.Errorf("killing the server: %w", err)
	}
	a.step("the server ended %s after it was killed", stopped.Took.Round(time.Millisecond))
	return nil
}

// setUp runs setup commands. What undoes them is on record before they run.
// phase is "" for those of the run as a whole.
func (a *attempt) setUp(ctx context.Context, phase string, s *matrix.Settings, setup, teardown [][]string) error {
	if len(setup) == 0 && len(teardown) == 0 {
		return nil
	}
	setup, teardown = a.places().fillAll(setup), a.places().fillAll(teardown)
	env := a.env(s)
	id, err := a.deps.Store.BeginSetup(ctx, store.Setup{
		Attempt: a.id, Phase: phase, Dir: a.plan.Experiment.Dir, Env: maskEnv(env), Teardown: teardown,
	})
	if err != nil {
		return a.recordError("recording a setup", err)
	}
	a.setups = append(a.setups, id)
	a.crash.at(crashSetupRecorded)
	for _, c := range setup {
		a.script.command(c)
	}
	bound := commandBound
	for _, rp := range a.phases {
		if phase == "" || phase == rp.Phase.Block {
			bound = max(bound, rp.Phase.Timeout)
		}
	}
	for _, c := range setup {
		c := command{args: c, dir: a.plan.Experiment.Dir, env: env, bound: bound, stalled: a.commandStalls(a.id, a.run.Cell.Key, a.run.Replicate)}
		if err := c.run(ctx, a.machine.setUp); err != nil {
			return fmt.Errorf("setting up: %w", err)
		}
	}
	a.crash.at(crashSetupDone)
	return nil
}

// commandsOf returns the setup or teardown commands that all phases of the run
// have, which are the run's, and those that phase p has beside them.
func (a *attempt) commandsOf(p *matrix.Phase, of func(*matrix.Settings) [][]string) (run, own [][]string) {
	run = of(a.phases[0].Phase.Settings)
	for _, other := range a.phases[1:] {
		run, _ = split(run, of(other.Phase.Settings))
	}
	_, own = split(of(p.Settings), run)
	return run, own
}

func setupOf(s *matrix.Settings) [][]string    { return s.Setup }
func teardownOf(s *matrix.Settings) [][]string { return s.Teardown }

// split tells the commands that are also in others, each as often as it is
// there, from those that are not.
func split(commands, others [][]string) (shared, rest [][]string) {
	left := slices.Clone(others)
	for _, c := range commands {
		i := slices.IndexFunc(left, func(o []string) bool { return slices.Equal(c, o) })
		if i < 0 {
			rest = append(rest, c)
			continue
		}
		left = slices.Delete(left, i, i+1)
		shared = append(shared, c)
	}
	return shared, rest
}

// tearDown undoes what was set up last. Where that fails the plan ends, since the
// host is not what the other runs are to be measured on; the run itself is what
// its phases are.
func (a *attempt) tearDown(ctx context.Context) error {
	if err := a.replaceGuardian(ctx); err != nil {
		return err
	}
	id := a.setups[len(a.setups)-1]
	a.setups = a.setups[:len(a.setups)-1]
	open, err := a.deps.Store.OpenSetups(ctx, a.experiment)
	if err != nil {
		return a.recordError("reading what is set up", err)
	}
	for _, s := range open {
		if s.ID != id {
			continue
		}
		if err := a.undo(ctx, s); err != nil {
			a.notUndone = errors.Join(a.notUndone, err)
			a.event(Event{Kind: Notice, Run: a.run, Message: err.Error()})
		}
		return nil
	}
	return nil
}

// undo runs the teardown of a recorded setup.
func (e *executor) undo(ctx context.Context, s store.Setup) error {
	env, lost := e.unmaskEnv(s.Env)
	if len(lost) > 0 {
		e.event(Event{Kind: Notice, Message: fmt.Sprintf("the teardown of %s runs without %s: the definition does not have that value any more", cellName(s.Cell), strings.Join(lost, ", "))})
	}
	var failed error // one that fails does not keep the others from being run
	for _, args := range s.Teardown {
		c := command{args: args, dir: s.Dir, env: env, bound: commandBound, stalled: e.commandStalls(s.Attempt, s.Cell, s.Replicate)}
		failed = errors.Join(failed, c.run(ctx, e.machine.guard))
	}
	if failed != nil {
		return fmt.Errorf("tearing down: %w", failed)
	}
	if err := e.deps.Store.EndSetup(ctx, s.ID); err != nil {
		return e.recordError("recording a teardown", err)
	}
	return nil
}

// commandStalls returns what tells that a setup or teardown command of a run takes
// long.
func (e *executor) commandStalls(attempt store.AttemptID, cell matrix.CellKey, replicate int) func(string) {
	return func(text string) {
		text = fmt.Sprintf("%s, replicate %d: %s", cellName(cell), replicate, text)
		e.event(Event{Kind: Notice, Message: text})
		e.notifier.notify(notifyStall, text)
		err := e.deps.Store.AddEvents(context.Background(), store.Event{Experiment: e.experiment, Attempt: attempt, Kind: "stall", Message: text})
		if err != nil {
			e.event(Event{Kind: Notice, Message: err.Error()})
		}
	}
}

// undoByHand is the fault of a host on which a setup was not undone.
func undoByHand(cell matrix.CellKey, err error) error {
	return environmentError("the setup of %s is not undone: %w\nUndo it by hand, then go on with --accept-environment", cellName(cell), err)
}

// places returns what the braces of commands stand for now.
func (a *attempt) places() places {
	p := places{storage: dataStorage(a.plan.Experiment.DataDir, a.phases[0].Phase.Settings)}
	if a.layout.Dir != "" {
		p.dir = a.layout.Data()
	}
	if a.subject != nil {
		p.socket = a.subject.Address().Socket
	}
	return p
}

// env returns the environment of workload programs and of setup commands, beside
// that of dbmatrix itself.
func (a *attempt) env(s *matrix.Settings) []string {
	var env []string
	for _, v := range s.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	p := a.places()
	env = append(env, "DBMATRIX_TOKEN="+a.token, "DBMATRIX_DIR="+p.dir)
	if a.subject != nil && p.socket != "" {
		env = append(env, "DBMATRIX_SOCKET="+p.socket, "DBMATRIX_DSN="+a.subject.Address().DSN(""))
	}
	return env
}

// fileName returns a name of the definition as a safe file name.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name)
	if safe != name || strings.HasPrefix(name, ".") || name == "" {
		return "_" + safe + "-" + shortHash(name)
	}
	return safe
}
