package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dbmatrix/executor"
	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload/program"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// hugePlan is the number of runs above which run asks.
const hugePlan = 10000

// runOptions are the flags of run.
type runOptions struct {
	experimentOptions
	selection         executor.Selection
	statuses          []string
	anyHost           bool
	smoke             bool
	yes               bool
	acceptEnvironment bool
	keep              bool
}

// newRunCommand executes the plan.
func newRunCommand(s *streams) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run PATH",
		Short: "Run what the plan says is left",
		Long: `Executes the runs of the plan that are new, stale, interrupted, or to have more
iterations; failed ones only when --status names them. What was measured before
is kept, and a matrix that was interrupted goes on where it was.

The first Ctrl-C finishes the current iteration, the second stops the server and
leaves, the third leaves at once. SIGTERM is the first and, 10 s later, the
second.` + exitStatus(exitFailedRuns, exitUsage, exitEnvironment, exitInternal, exitInterrupted),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runPlan(c.Context(), s, &o, args[0])
		},
	}
	o.addFlags(c.Flags())
	f := c.Flags()
	f.StringArrayVar(&o.selection.Cells, "cell", nil, "run only cells whose key matches `GLOB`, or has these parts, as in io=direct; may be repeated")
	f.StringSliceVar(&o.statuses, "status", nil, "run only runs of these statuses of the plan: `LIST`, such as failed,hung")
	f.StringVar(&o.selection.Until, "until", "", "end each run after `PHASE`")
	f.BoolVar(&o.selection.Fresh, "fresh", false, "make new attempts for all, from the beginning; nothing is removed")
	f.BoolVar(&o.smoke, "smoke", false, "begin with one run of each distinct path, in full, so that a mistake shows early")
	f.BoolVar(&o.anyHost, "any-host", false, "let results of other hosts count")
	f.BoolVar(&o.yes, "yes", false, fmt.Sprintf("do not ask before more than %d runs", hugePlan))
	f.BoolVar(&o.acceptEnvironment, "accept-environment", false, "go on although kernel, governor, mount options or memory changed")
	f.BoolVar(&o.keep, "keep", false, "keep the data directory of each run")
	completes(c, "cell", cellsOfPath(&o.experimentOptions))
	return c
}

// runPlan executes what is left of the experiment at path.
func runPlan(ctx context.Context, s *streams, o *runOptions, path string) error {
	if err := o.parseStatuses(); err != nil {
		return err
	}
	exp, cells, err := o.check(ctx, s, path)
	if err != nil {
		return err
	}
	o.namePatterns(cells)
	if err := updateRecord(ctx, exp); err != nil {
		return err
	}
	p, err := plan(ctx, exp, cells, matrix.PlanOptions{AnyHost: o.anyHost, Fresh: o.selection.Fresh})
	if err != nil {
		return err
	}
	pending, err := o.selection.Pending(p)
	if err != nil {
		return exit(exitUsage, err)
	}
	if len(pending) == 0 {
		sayDone(s, p)
		return errors.Join(o.tidy(ctx, s, p), recordNames(ctx, p))
	}
	if err := o.ask(s, len(pending)); err != nil {
		return err
	}
	if o.smoke {
		smokeFirst(p, pending)
	}
	record, err := writeRecord(ctx, exp)
	if err != nil {
		return err
	}
	out, err := o.execute(ctx, s, p, pending, record)
	err = judgeRun(s, path, o.rest(p, pending), out, err)
	if out.Interrupted {
		err = errors.Join(err, o.sayRebuilt(ctx, s, exp, cells))
	}
	if cerr := record.Close(); cerr != nil && err == nil {
		err = exit(exitEnvironment, fmt.Errorf("closing %s: %w", record.Path(), cerr))
	}
	return errors.Join(err, giveBack(ctx, exp))
}

// namePatterns puts keys in the place of names that the output has for cells, and of
// parts of keys, which name all cells that have them, as show takes them.
func (o *runOptions) namePatterns(cells []*matrix.Cell) {
	var patterns []string
	for _, pattern := range o.selection.Cells {
		switch {
		case pattern == cellName(""):
			patterns = append(patterns, "")
		case slices.ContainsFunc(cells, func(c *matrix.Cell) bool { return string(c.Key) == pattern }):
			patterns = append(patterns, literal(pattern))
		default:
			named := cellsWith(cells, pattern)
			if len(named) == 0 {
				patterns = append(patterns, pattern)
			}
			for _, c := range named {
				patterns = append(patterns, literal(string(c.Key)))
			}
		}
	}
	o.selection.Cells = patterns
}

// literal returns the pattern that matches a key alone.
func literal(key string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(key)
}

// tidy deals with what a runner that was killed after its last result has left.
func (o *runOptions) tidy(ctx context.Context, s *streams, p *matrix.Plan) error {
	record, err := openRecord(ctx, p.Experiment)
	if err != nil || record == nil {
		return err
	}
	if err := record.Close(); err != nil {
		return exit(exitEnvironment, err)
	}
	if record, err = writeRecord(ctx, p.Experiment); err != nil {
		return err
	}
	display := newDisplay(s, p, nil)
	err = executor.Tidy(ctx, p, executor.Deps{Store: record, Facts: definitionFacts(p.Experiment)},
		executor.Options{Report: display.event, AcceptEnvironment: o.acceptEnvironment})
	display.close()
	var locked *server.LockedError
	if errors.As(err, &locked) {
		err = nil // whoever works on it tidies up, or the next run
	}
	if err = errors.Join(err, record.Close()); err != nil {
		return exit(exitEnvironment, err)
	}
	return nil
}

// recordNames records the plan although nothing is left of it to execute, so that
// its results go by the names that the cells have now.
func recordNames(ctx context.Context, p *matrix.Plan) error {
	if !slices.ContainsFunc(p.Runs, func(r *matrix.Run) bool { return r.Attempt != 0 }) {
		return nil
	}
	record, err := writeRecord(ctx, p.Experiment)
	if err != nil {
		return err
	}
	_, err = record.RecordPlan(ctx, p)
	if err = errors.Join(err, record.Close()); err != nil {
		return exit(exitEnvironment, fmt.Errorf("recording the plan in %s: %w", record.Path(), err))
	}
	return giveBack(ctx, p.Experiment)
}

// parseStatuses judges --status.
func (o *runOptions) parseStatuses() error {
	known := append([]matrix.Status{matrix.Skipped}, statusOrder...)
	for _, name := range o.statuses {
		st := matrix.Status(name)
		if st == "failure" || !slices.Contains(known, st) || st == matrix.Gone {
			return exit(exitUsage, fmt.Errorf("--status %q: the plan has the statuses %s", name, statusNames()))
		}
		o.selection.Statuses = append(o.selection.Statuses, st)
	}
	return nil
}

// statusNames lists the statuses that --status takes.
func statusNames() string {
	var names []string
	for _, st := range statusOrder {
		if st != matrix.Gone {
			names = append(names, string(st))
		}
	}
	return strings.Join(names, ", ")
}

// ask asks before a huge number of runs.
func (o *runOptions) ask(s *streams, runs int) error {
	if runs <= hugePlan || o.yes {
		return nil
	}
	if !isTerminal(s.in) {
		return exit(exitUsage, fmt.Errorf("%d runs are to be executed; say --yes if that is meant", runs))
	}
	ok, err := askYes(s, fmt.Sprintf("%d runs are to be executed. Go on?", runs))
	if err != nil {
		return err
	}
	if !ok {
		return silent(exitUsage)
	}
	return nil
}

// askYes asks a question on the terminal.
func askYes(s *streams, question string) (bool, error) {
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(s.in).ReadString('\n')
	if err != nil && line == "" {
		return false, exit(exitUsage, errors.New("no answer"))
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// sayDone says that nothing is to be executed, and why.
func sayDone(s *streams, p *matrix.Plan) {
	if s.quiet {
		return
	}
	fmt.Fprintf(s.err, "Nothing is left to do: %s\n", byStatus(p.Summary.ByStatus))
	for st := range p.Summary.ByStatus {
		if st.Failure() {
			fmt.Fprintln(s.err, "Failed runs are taken up with --status failed,timeout,hung,crashed,invalid")
			return
		}
	}
}

// execute runs the plan and shows its progress.
func (o *runOptions) execute(ctx context.Context, s *streams, p *matrix.Plan, pending []*matrix.Run, record *store.Store) (executor.Outcome, error) {
	ctx, signals, stop := watchSignals(ctx, s.out)
	defer stop()
	display := newDisplay(s, p, pending)
	defer display.close()
	return executor.Run(ctx, p, executor.Deps{
		Store:     record,
		Workloads: workloads(),
		Prober:    &server.Prober{Cache: probeCache()},
		Facts:     definitionFacts(p.Experiment),
		Check:     checker(record, p),
	}, executor.Options{
		Selection:         o.selection,
		Finish:            signals.finish,
		Report:            display.event,
		AcceptEnvironment: o.acceptEnvironment,
		Keep:              o.keep,
		CrashAt:           os.Getenv(executor.CrashVariable),
	})
}

// rest returns how many runs of the plan are to be executed still when the selected
// ones are done.
func (o *runOptions) rest(p *matrix.Plan, selected []*matrix.Run) int {
	rest := 0
	for _, r := range p.Runs {
		last := r.Phases[len(r.Phases)-1].Phase.Block
		if o.selection.Fresh && r.Attempt != 0 {
			continue // it has a result, or the next run says what it lacks
		}
		whole := slices.Contains(selected, r) && (o.selection.Until == "" || o.selection.Until == last)
		if !whole && r.Status != matrix.Done && !r.Status.Failure() {
			rest++
		}
	}
	return rest
}

// judgeRun prints the failures again, says how to go on, and returns the end of
// the command. rest is how many runs of the plan are not among the selected.
func judgeRun(s *streams, path string, rest int, out executor.Outcome, err error) error {
	var env *executor.EnvironmentError
	var usage *executor.UsageError
	switch {
	case errors.As(err, &env):
		return exit(exitEnvironment, err)
	case errors.As(err, &usage):
		return exit(exitUsage, err)
	case err != nil:
		return exit(exitInternal, err)
	}
	printFailures(s, path, out)
	if !s.quiet {
		fmt.Fprintf(s.err, "%d done, %d failed, %d left\n", out.Done, len(out.Failed), out.Left)
	}
	switch {
	case errors.As(out.Stopped, &env):
		return exit(exitEnvironment, out.Stopped)
	case out.Stopped != nil:
		return exit(exitFailedRuns, out.Stopped)
	case out.Interrupted:
		fmt.Fprintf(s.err, "Interrupted; dbmatrix run %s goes on with what is left\n", path)
		return silent(exitInterrupted)
	case len(out.Failed) > 0:
		return silent(exitFailedRuns)
	}
	switch {
	case s.quiet:
	case rest > 0:
		fmt.Fprintf(s.err, "%s of the plan left out or not finished, as was asked\nNext: dbmatrix run %s\n", count(rest, "run"), path)
	default:
		fmt.Fprintf(s.err, "Next: dbmatrix report %s\n", path)
	}
	return nil
}

// sayRebuilt says after an interruption which phases that are recorded the next
// execution begins again with.
func (o *runOptions) sayRebuilt(ctx context.Context, s *streams, exp *matrix.Experiment, cells []*matrix.Cell) error {
	p, err := plan(ctx, exp, cells, matrix.PlanOptions{AnyHost: o.anyHost})
	if err == nil {
		printLines(s.err, rebuilt(p))
	}
	return err
}

// printFailures prints each failed run with its evidence and the next step, once
// more: what was printed when it failed may be days of lines ago.
func printFailures(s *streams, path string, out executor.Outcome) {
	for _, f := range out.Failed {
		fmt.Fprintf(s.err, "\n%s\n", failureText(s, f.Run, f.Phase, f.Status, f.Message, f.Details))
		if f.Attempt > 0 {
			fmt.Fprintf(s.err, "  next: dbmatrix show %s, or %s\n", program.Quote([]string{path, cellName(f.Run.Cell.Key)}), again(path, f))
		}
	}
}

// again returns the command that takes up a failed run.
func again(path string, f executor.Failed) string {
	command := "dbmatrix run " + program.Quote([]string{path})
	if f.Stale {
		return command // its new inputs have not been measured
	}
	return command + " --status " + string(f.Status)
}

// failureText words a failed run: cell, phase, status, cause, evidence.
func failureText(s *streams, r *matrix.Run, phase string, st matrix.Status, message string, details []string) string {
	var b strings.Builder
	where := fmt.Sprintf("%s, replicate %d", cellName(r.Cell.Key), r.Replicate)
	if phase != "" {
		where += ", phase " + phase
	}
	status := string(st)
	if s.color {
		status = "\x1b[31m" + status + "\x1b[0m"
	}
	fmt.Fprintf(&b, "%s: %s: %s", where, status, message)
	for _, d := range details {
		b.WriteString("\n  " + d)
	}
	return b.String()
}

// smokeFirst moves one pending run of each distinct path to the front of the plan,
// and leaves all as they are: runs that differ in their servers, their workloads or
// the names of their options walk another path through servers and dbmatrix.
func smokeFirst(p *matrix.Plan, pending []*matrix.Run) {
	chosen, seen := map[*matrix.Run]bool{}, map[string]bool{}
	for _, r := range pending {
		if key := pathOf(r); !seen[key] {
			chosen[r], seen[key] = true, true
		}
	}
	var first, rest []*matrix.Run
	for _, r := range p.Runs {
		if chosen[r] {
			first = append(first, r)
		} else {
			rest = append(rest, r)
		}
	}
	p.Runs = append(first, rest...)
}

// pathOf names the path that a run walks.
func pathOf(r *matrix.Run) string {
	var b strings.Builder
	for _, p := range r.Phases {
		if s := p.Phase.Settings.Server; s != nil {
			b.WriteString(s.Name)
		}
		b.WriteString("|" + p.Phase.Block + "|" + p.Phase.Workload.Type)
		for _, o := range p.Phase.Settings.Options {
			b.WriteString("," + o.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// definitionFacts returns what is recorded of this program and of the definition:
// its commit, and whether it had changes.
func definitionFacts(exp *matrix.Experiment) []store.Fact {
	b := readBuildFacts()
	facts := []store.Fact{{Name: "dbmatrix.version", Value: strings.TrimSpace(b.version + " " + b.commit)}}
	commit, err := exec.Command("git", "-C", exp.Dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return facts // not under git, or no git here
	}
	facts = append(facts, store.Fact{Name: "definition.commit", Value: strings.TrimSpace(string(commit))})
	status, err := exec.Command("git", "-C", exp.Dir, "status", "--porcelain", "--", ".").Output()
	if err == nil {
		dirty := "no"
		if len(strings.TrimSpace(string(status))) > 0 {
			dirty = "yes"
		}
		facts = append(facts, store.Fact{Name: "definition.dirty", Value: dirty})
	}
	return facts
}

// giveBack gives what a run wrote beside the experiment to the user who called
// sudo, whose it is: the record, the artifacts that it names, and the folders that
// these lie in. What else is there keeps its owner.
func giveBack(ctx context.Context, exp *matrix.Experiment) error {
	uid, gid, ok := sudoUser()
	if !ok {
		return nil
	}
	paths, err := entries(exp.Dir, isRecordFile)
	if err != nil {
		return err
	}
	artifacts, err := artifactTree(ctx, exp)
	if err != nil {
		return err
	}
	for _, path := range append(paths, artifacts...) {
		// A link is changed itself, not followed.
		if err := os.Lchown(path, uid, gid); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return exit(exitEnvironment, fmt.Errorf("giving results back to the user: %w", err))
		}
	}
	return nil
}

// artifactTree returns the paths of the artifacts on record and of the folders
// that they lie in.
func artifactTree(ctx context.Context, exp *matrix.Experiment) ([]string, error) {
	record, err := openRecord(ctx, exp)
	if record == nil || err != nil {
		return nil, err
	}
	defer record.Close()
	artifacts, err := record.ArtifactPaths(ctx)
	if err != nil {
		return nil, exit(exitEnvironment, fmt.Errorf("reading which artifacts there are: %w", err))
	}
	seen := map[string]bool{".": true}
	var paths []string
	for _, path := range artifacts {
		for ; filepath.IsLocal(path) && !seen[path]; path = filepath.Dir(path) {
			seen[path] = true
			paths = append(paths, filepath.Join(exp.Dir, path))
		}
	}
	return paths, nil
}
