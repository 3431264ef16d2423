package reliability

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chaosExperiment has what a fault can leave half done: servers of two families,
// shared snapshots, setups to be undone, programs of workloads, several phases and
// iterations.
const chaosExperiment = `
experiment { replicates = REPLICATES }
defaults {
  setup    = [["sh", "-c", "touch set-up"]]
  teardown = [["sh", "-c", "rm -f set-up"]]
}
axis "server" {
  level "mariadb" {
    server = server.mariadb
    my_cnf = { innodb_log_file_size = "8M", innodb_buffer_pool_size = "24M" }
  }
  level "postgres" { server = server.postgres }
}
axis "n" {
  levels = [1, 2]
  params = { n = level }
}
phase "load" {
  when     = build.flavour == "mariadb"
  snapshot = true
  workload "insert_benchmark" {
    step   = "load"
    tables = 1
    rows   = 2000
  }
}
phase "query" {
  when       = build.flavour == "mariadb"
  iterations = 2
  workload "sql" { statements = ["select count(*) * ${param.n} from ib.pi1", "select sleep(0.2)"] }
}
phase "init" {
  when     = build.flavour == "postgres"
  snapshot = true
  workload "pgbench" { step = "init" }
}
phase "run" {
  when = build.flavour == "postgres"
  workload "pgbench" {
    step    = "run"
    clients = param.n
    seconds = 1
  }
}
table "query" {
  phase   = "query"
  columns = ["secs"]
  only    = build.flavour == "mariadb"
}
`

// The kills that a test makes: DBMATRIX_KILLS of them, from the seed
// DBMATRIX_SEED.
const (
	killsVariable = "DBMATRIX_KILLS"
	seedVariable  = "DBMATRIX_SEED"
	killsDefault  = 6
)

// Sizes of the filesystems. That of the data holds a template, a snapshot and a
// run of both servers, that of the results its ballast file three times.
const (
	dataDisk    = 1 << 30
	resultsDisk = 256 << 20
)

// Of so many disturbances one is a full disk, and after so many full disks one
// stays full for the next runner too.
const (
	oneIsADisk   = 12
	oneStaysFull = 3
)

// A matrix is disturbed so often while it runs, on average; but the time between
// two disturbances has bounds.
const (
	disturbances = 12
	least        = 800 * time.Millisecond
	most         = 3 * time.Second
)

// A chaos is a matrix that is disturbed again and again.
type chaos struct {
	*host
	random     *rand.Rand
	most       int           // kills
	pace       time.Duration // from one disturbance to the next, on average
	replicates int
	disks      []*disk
	full       *disk // at the moment
	foreign    *foreign

	kills     map[kill]int
	fulls     int
	runners   int
	exits     map[string]int
	cleanings int
}

// TestChaos kills dbmatrix, its guardian, its servers and its clients at random
// moments, fills the disks of the data and of the results, and runs again each
// time. At the end the record must be that of a matrix that nothing happened to.
func TestChaos(t *testing.T) {
	start := time.Now()
	c := newChaos(t)
	want := c.undisturbed()
	c.layTraps()
	c.most = number(t, killsVariable, killsDefault)
	for c.killed() < c.most {
		c.round()
	}
	c.finish()
	c.compare(want)
	c.foreign.intact()
	c.nothingSurvives(c.foreign.pids()...)
	c.report(time.Since(start))
}

// newChaos makes the host, with disks of its own.
func newChaos(t *testing.T) *chaos {
	seed := uint64(number(t, seedVariable, int(time.Now().UnixNano()%1e9)))
	t.Logf("%s=%d", seedVariable, seed)
	c := &chaos{host: newHost(t), random: rand.New(rand.NewPCG(seed, 0)), kills: map[kill]int{}, exits: map[string]int{}}
	data, results := c.mountDisk("disk-data", dataDisk), c.mountDisk("disk-results", resultsDisk)
	c.disks = []*disk{data, results}
	c.data, c.experiment = filepath.Join(data.at, "data"), filepath.Join(results.at, "e")
	c.machine("", "mariadb", "postgres")
	c.grow()
	return c
}

// layTraps puts what is not ours where a careless hand would find it.
func (c *chaos) layTraps() {
	c.t.Helper()
	c.foreign = newForeign(c.t)
	for _, path := range []string{
		"runs/theirs/data/ibdata1", "runs/theirs.tmp-0a1b2c3d/data/ibdata1", "templates/theirs/data/ibdata1",
		"snapshots/theirs.trash-0a1b2c3d/data/ibdata1", "notes.txt",
	} {
		c.foreign.file(filepath.Join(c.data, path))
	}
	for _, path := range []string{"results.db.old", "artifacts/notes.txt", "notes.txt"} {
		c.foreign.file(filepath.Join(c.experiment, path))
	}
	run := filepath.Join(c.data, "runs", "theirs")
	c.foreign.decoy(filepath.Join(c.dir, "decoy"), "mariadbd", "--defaults-file="+run+"/my.cnf", "--datadir="+run+"/data")
}

// number returns a number of the environment.
func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s is no number", variable, text)
	}
	return n
}

// undisturbed runs the experiment once where nothing happens to it, and returns
// the structure of each cell's result.
func (c *chaos) undisturbed() map[string]string {
	c.t.Helper()
	quiet := *c.host
	quiet.experiment, quiet.data = filepath.Join(c.dir, "undisturbed", "e"), filepath.Join(c.dir, "undisturbed", "data")
	quiet.env = append(slices.Clone(c.env), "DBMATRIX_MACHINE="+filepath.Join(c.dir, "undisturbed", "machine.hcl"))
	text := strings.Replace(read(c.t, filepath.Join(c.dir, "machine.hcl")), c.data, quiet.data, 1)
	write(c.t, filepath.Join(c.dir, "undisturbed", "machine.hcl"), text)
	quiet.define(strings.Replace(chaosExperiment, "REPLICATES", "1", 1))
	start := time.Now()
	quiet.must("run", quiet.experiment)
	// The host's speed says how many disturbances a matrix can stand and still
	// come to an end.
	c.pace = max(least, min(time.Since(start)/disturbances, most))
	want := map[string]string{}
	for name, s := range quiet.structures() {
		want[name.cell] = s
	}
	quiet.must("clean", quiet.experiment)
	return want
}

// grow writes the experiment with one replicate more.
func (c *chaos) grow() {
	c.t.Helper()
	c.replicates++
	c.define(strings.Replace(chaosExperiment, "REPLICATES", itoa(c.replicates), 1))
}

// killed returns how many kills there were.
func (c *chaos) killed() int {
	n := 0
	for _, k := range c.kills {
		n += k
	}
	return n
}

// A runner is a dbmatrix run under way.
type runner struct {
	cmd  *exec.Cmd
	out  string
	done chan struct{}
	err  error
}

// startRunner starts a runner.
func (h *host) startRunner(args ...string) *runner {
	h.t.Helper()
	cmd, out := h.command(append([]string{"run", "-v"}, args...)...)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	r := &runner{cmd: cmd, out: out.Name(), done: make(chan struct{})}
	go func() {
		r.err = cmd.Wait()
		close(r.done)
	}()
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test failed
		<-r.done
	})
	return r
}

// wait waits for the end of the runner, for a time at most. It reports whether it
// has ended.
func (r *runner) wait(most time.Duration) bool {
	select {
	case <-r.done:
		return true
	case <-time.After(most):
		return false
	}
}

// String tells how the runner ended.
func (r *runner) String() string {
	code, sig := exitOf(r.err)
	switch {
	case sig != 0:
		return fmt.Sprintf("ended by signal %d", sig)
	case code == 2: // that of a Go program after a segmentation fault
		return "segmentation fault"
	}
	return fmt.Sprintf("exit code %d", code)
}

// round runs what is left until the end, with disturbances on the way.
func (c *chaos) round() {
	c.t.Helper()
	p := c.plan()
	plain, failed := p.left()
	if plain+failed == 0 {
		c.more()
		return
	}
	before := c.executed()
	args := []string{c.experiment}
	if plain == 0 {
		args = append(args, "--status", strings.Join(failures, ","))
	}
	start := time.Now()
	r := c.startRunner(args...)
	c.runners++
	d := c.disturb(r)
	took := time.Since(start)
	c.judge(r, d)
	c.t.Logf("runner %d: %s after %.1f s, nothing of it left after %.1f s: %s", c.runners, r, took.Seconds(), (time.Since(start) - took).Seconds(), d)
	c.announcedOnly(r, p.announced(plain == 0), before)
}

// more gives the matrix more to do, and sometimes takes away what it kept.
func (c *chaos) more() {
	c.t.Helper()
	c.empty()
	if c.random.IntN(3) == 0 {
		c.must("clean", c.experiment)
		c.cleanings++
	}
	c.grow()
}

// A disturbed says what was done while a runner ran.
type disturbed struct {
	kills map[kill]bool
	disk  bool
}

// String lists what was done.
func (d disturbed) String() string {
	var texts []string
	for k := range d.kills {
		texts = append(texts, k.String())
	}
	if d.disk {
		texts = append(texts, "full disk")
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// by reports whether one of the kills was of a target, or of a target and kind.
func (d disturbed) by(target, kind string) bool {
	for k := range d.kills {
		if k.target == target && (kind == "" || k.kind == kind) {
			return true
		}
	}
	return false
}

// disturb disturbs a runner until it ends.
func (c *chaos) disturb(r *runner) disturbed {
	c.t.Helper()
	met := c.full != nil
	d := disturbed{kills: map[kill]bool{}, disk: met}
	for c.killed() < c.most && !r.wait(c.delay()) {
		if c.full == nil && c.random.IntN(oneIsADisk) == 0 {
			d.disk = true
			c.fillDisk(r)
			continue
		}
		if k, ok := c.kill(r); ok {
			c.kills[k]++
			d.kills[k] = true
		}
	}
	<-r.done
	if met {
		c.empty()
	}
	return d
}

// fillDisk fills a disk for a while, or for the next runner too.
func (c *chaos) fillDisk(r *runner) {
	c.t.Helper()
	c.full = c.disks[c.random.IntN(len(c.disks))]
	c.full.fill(c.random.Int64N(1 << 20))
	c.fulls++
	r.wait(2 * time.Second)
	if c.random.IntN(oneStaysFull) != 0 {
		c.empty()
	}
}

// empty makes a full disk free again.
func (c *chaos) empty() {
	c.t.Helper()
	if c.full != nil {
		c.full.free()
		c.full = nil
	}
}

// delay returns how long to wait for the next disturbance: mostly short, so that
// starts and stops are hit, sometimes long, so that runs come to an end.
func (c *chaos) delay() time.Duration {
	return min(time.Duration(c.random.ExpFloat64()*float64(c.pace)), 4*c.pace)
}

// judge judges how a runner ended, by what was done to it, and that nothing
// outlives it.
func (c *chaos) judge(r *runner, d disturbed) {
	c.t.Helper()
	out := read(c.t, r.out)
	code, sig := exitOf(r.err)
	explained := false
	c.exits[r.String()]++
	switch {
	case sig == syscall.SIGKILL:
		explained = d.by("runner", "KILL") || d.by("runner", "STOP and KILL")
	case code == 2 && d.by("runner", "SEGV"):
		explained = strings.Contains(out, "SIGSEGV")
	case sig == syscall.SIGTERM || code == 130: // before it has begun to run, and after
		explained = d.by("runner", "TERM")
	case code == 3:
		explained = d.disk || d.by("guardian", "")
	case code == 1:
		explained = d.disk || d.by("guardian", "") || d.by("server", "") || d.by("backend", "") || d.by("client", "")
	case code == 0:
		explained = true
	}
	if !explained {
		c.t.Errorf("a runner: %s, after %q:\n%s", r, d, out)
	}
	if strings.Contains(out, "panic:") {
		c.t.Errorf("a panic:\n%s", out)
	}
	c.nothingSurvives(c.foreign.pids()...)
}

// announcedOnly checks that nothing was executed that the plan had not announced.
func (c *chaos) announcedOnly(r *runner, announced map[string]string, before map[string]int) {
	c.t.Helper()
	for phase, n := range c.executed() {
		if n > before[phase] && announced[phase] == "" {
			c.t.Errorf("%s was executed again, and the plan did not say why\n%s", phase, read(c.t, r.out))
		}
	}
}

// finish runs what is left, undisturbed.
func (c *chaos) finish() {
	c.t.Helper()
	c.empty()
	for range 3 {
		// Also where nothing is left: the last runner may have been killed
		// between its last result and the end of the attempt.
		c.must("run", c.experiment)
		if _, failed := c.plan().left(); failed > 0 {
			c.must("run", c.experiment, "--status", strings.Join(failures, ","))
		}
	}
	if p := c.plan(); len(p.announced(false))+len(p.announced(true)) > 0 {
		c.t.Errorf("after the last run these are left: %v %v", p.announced(false), p.announced(true))
	}
	c.intact()
	c.nothingLeft()
	if _, err := os.Stat(filepath.Join(c.experiment, "set-up")); err == nil {
		c.t.Error("a setup was not undone")
	}
	if out := c.must("report", "--format", "csv", c.experiment); strings.Contains(out, "X") {
		c.t.Errorf("the report is not complete:\n%s", out)
	}
}

// compare compares the record with that of an undisturbed run.
func (c *chaos) compare(want map[string]string) {
	c.t.Helper()
	db := c.record()
	defer db.Close()
	if got := rows(c.t, db, `SELECT cell, replicate, count(*) FROM run_attempt
		WHERE status IN ('ok', 'sla_missed') GROUP BY cell, replicate HAVING count(*) != 1`); len(got) > 0 {
		c.t.Errorf("these have more than one complete attempt: %q", got)
	}
	if got := rows(c.t, db, `SELECT cell, replicate, attempt FROM run_attempt WHERE status = 'running'`); len(got) > 0 {
		c.t.Errorf("these are still running: %q", got)
	}
	got := c.structures()
	if len(got) != len(want)*c.replicates {
		c.t.Errorf("%d runs have a result, want %d", len(got), len(want)*c.replicates)
	}
	for _, name := range slices.SortedFunc(maps.Keys(got), func(a, b runName) int { return strings.Compare(a.cell+a.replicate, b.cell+b.replicate) }) {
		if diff := cmp.Diff(strings.Split(want[name.cell], "\n"), strings.Split(got[name], "\n")); diff != "" {
			c.t.Errorf("%s, replicate %s is not made like an undisturbed run (-want +got):\n%s", name.cell, name.replicate, diff)
		}
	}
}

// report prints the counts.
func (c *chaos) report(took time.Duration) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	names := slices.Compact(slices.Sorted(slices.Values(targets)))
	fmt.Fprintf(w, "\t%s\t\n", strings.Join(names, "\t"))
	for _, kind := range kinds {
		fmt.Fprintf(w, "%s\t", kind)
		for _, target := range names {
			fmt.Fprintf(w, "%d\t", c.kills[kill{target, kind}])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	db := c.record()
	defer db.Close()
	c.t.Logf("%d kills:\n%s%d full disks; %d runners, %s; %d times clean", c.killed(), &b, c.fulls, c.runners, counts(c.exits), c.cleanings)
	c.t.Logf("attempts: %s", strings.Join(rows(c.t, db, `SELECT count(*), status FROM attempt GROUP BY status ORDER BY status`), ", "))
	for _, line := range rows(c.t, db, `SELECT count(*), status, message FROM attempt WHERE message != '' GROUP BY status, message ORDER BY status, message`) {
		c.t.Log(line)
	}
	c.t.Logf("a disturbance every %s on average", c.pace.Round(time.Millisecond))
	c.t.Logf("%d runs of %d replicates, each with one complete attempt; structure as undisturbed; integrity_check ok; %.0f s", len(c.structures()), c.replicates, took.Seconds())
}

// counts words a table of counts.
func counts(of map[string]int) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		texts = append(texts, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(texts, ", ")
}
