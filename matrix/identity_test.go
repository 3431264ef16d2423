package matrix

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// identityExperiment is what the edits of the identity rules are made to.
const identityExperiment = `
experiment {
  title      = "Base"
  replicates = 1
}
variable "rows" { default = 500 }
defaults {
  server  = server.inno
  storage = storage.ssd
  my_cnf  = { innodb_io_capacity = 100 }
  env     = { MALLOC_CONF = "a" }
  setup   = [["sh", "prepare.sh"]]
}
axis "size" {
  level "small" {
    label  = "1 GiB"
    my_cnf = { innodb_buffer_pool_size = "1G" }
    params = { rows = var.rows }
  }
  level "large" {
    my_cnf = { innodb_buffer_pool_size = "2G" }
    params = { rows = 1000 }
  }
}
phase "load" {
  snapshot = true
  workload "bench" {
    step = "load"
    rows = param.rows
  }
  settle { dirty_pages_pct = 1 }
}
phase "query" {
  iterations = 2
  timeout    = "1h"
  workload "sql" { file = "query.sql" }
}
table "rates" {
  phase   = "query"
  columns = ["qps.av"]
}
`

// An edit is a change to the experiment, the host or the record, and what the
// plan makes of it.
type edit struct {
	says string   // what the documentation calls it; "" where there is no such edit
	text []string // pairs of what is replaced in the definition, and by what

	// change changes the files beside the definition, what it is loaded with,
	// or what was recorded.
	files   map[string]string
	load    func(*LoadOptions)
	history func(*History)
	options PlanOptions

	want []string
	also []edit // others that the words stand for
}

var done = []string{"size=small 1: done [load done, query done]", "size=large 1: done [load done, query done]"}

// stale is what the plan makes of both runs where their first phase changed.
func stale(why string) []string {
	return []string{
		"size=small 1: stale (" + why + ") [load stale, query stale]",
		"size=large 1: stale (" + why + ") [load stale, query stale]",
	}
}

// staleQuery is the same where only their second phase changed, and the state
// after the first is gone.
func staleQuery(why string) []string {
	return []string{
		"size=small 1: stale (" + why + ") [load rebuild, query stale]",
		"size=large 1: stale (" + why + ") [load rebuild, query stale]",
	}
}

// first changes the record of size=small.
func first(change func(*Attempt)) func(*History) {
	return func(h *History) { change(&h.Attempts[0]) }
}

// identityRules are the rules of what runs again, each with an edit that does it
// and one that does not. The documentation's table is made of them.
var identityRules = []struct {
	rule        string
	again, kept edit
}{
	{"The text of the definition",
		edit{},
		edit{says: "a comment, the layout, the order of attributes", text: []string{
			"variable \"rows\"", "# How much.\nvariable   \"rows\"",
			"  storage = storage.ssd\n  my_cnf  = { innodb_io_capacity = 100 }\n", "  my_cnf  = { innodb_io_capacity = 50 + 50 }\n  storage = storage.ssd\n",
		}, want: done}},
	{"Titles, descriptions, labels",
		edit{},
		edit{says: "`title`, `description`, `source`, `label`", text: []string{
			`"Base"`, `"Another title"`,
			`"1 GiB"`, `"one"`,
			`level "large" {`, "level \"large\" {\n    description = \"more\"",
		}, want: done}},
	{"Names of axes and levels",
		edit{says: "the name of a level with `same = true`", text: []string{`label  = "1 GiB"`, `same   = true`}, want: []string{
			"size=small 1: stale (the name of a level with `same = true` changed) [load stale, query stale]", done[1]}},
		edit{says: "any other name of an axis or level", text: []string{
			`axis "size"`, `axis "memory"`, `level "small"`, `level "little"`,
		}, want: []string{"memory=little 1: done [load done, query done]", "memory=large 1: done [load done, query done]"}}},
	{"Names of phases",
		edit{},
		edit{says: "the name of a phase", text: []string{`phase "query"`, `phase "reads"`, `phase   = "query"`, `phase   = "reads"`},
			want: []string{"size=small 1: done [load done, reads done]", "size=large 1: done [load done, reads done]"}}},
	{"The report",
		edit{},
		edit{says: "`table`, `chart`, `text` and `import` blocks, `check` blocks of a phase", text: []string{
			`columns = ["qps.av"]`, `columns = ["qps.99", "cpu"]`,
			`timeout    = "1h"`, "check \"rate\" {\n    condition     = col[\"qps.av\"] > 0\n    error_message = \"nothing\"\n  }",
		}, want: done}},
	{"Time limits and pauses",
		edit{says: "`warmup`", text: []string{`  settle {`, "  warmup = \"10s\"\n  settle {"},
			want: stale("warmup was not set, is 10s")},
		edit{says: "`timeout`, `cooldown`, `max_consecutive_failures`", text: []string{
			`"1h"`, `"2h"`, `replicates = 1`, "cooldown = \"1m\"\n  max_consecutive_failures = 9",
		}, want: done}},
	{"Sampling",
		edit{says: "`exec`, since programs disturb", text: []string{`  settle {`, "  sample {\n    exec = [{ name = \"stacks\", command = [\"./prepare.sh\"], every = \"10s\" }]\n  }\n  settle {"},
			want: stale("program../prepare.sh was not set, is sha256:c44090c3f318c724; sample.exec.stacks was not set, is 10s ./prepare.sh")},
		edit{says: "`interval`, `status`, `extents`", text: []string{`  settle {`, "  sample {\n    interval = \"5s\"\n    status   = [\"Threads_running\"]\n    extents  = true\n  }\n  settle {"},
			want: done}},
	{"Replicates",
		edit{says: "`replicates` raised: those that are missing", text: []string{`replicates = 1`, `replicates = 2`}, want: []string{
			done[0], done[1],
			"size=small 2: new (never run) [load new, query new]",
			"size=large 2: new (never run) [load new, query new]"}},
		edit{says: "`replicates` raised: those that are there", text: []string{`replicates = 1`, `replicates = 1 + 0`}, want: done}},
	{"Order",
		edit{},
		edit{says: "`order`, `seed` of the experiment", text: []string{`replicates = 1`, "order = \"grouped\"\n  seed = 7"}, want: done}},
	{"Iterations",
		edit{says: "`iterations` raised: what is missing; of a phase that others follow: those too; of one with a snapshot: all of it", text: []string{`iterations = 2`, `iterations = 3`}, want: []string{
			"size=small 1: top-up (phase query: 2 of 3 iterations recorded) [load rebuild, query top-up]",
			"size=large 1: top-up (phase query: 2 of 3 iterations recorded) [load rebuild, query top-up]"},
			also: []edit{{text: []string{`snapshot = true`, "snapshot = true\n  iterations = 2"}, want: []string{
				"size=small 1: stale (snapshot.iterations was not set, is 2) [load stale, query stale]",
				"size=large 1: stale (snapshot.iterations was not set, is 2) [load stale, query stale]"}}}},
		edit{says: "`iterations` of the last phase lowered", text: []string{`iterations = 2`, `iterations = 1`}, want: done}},
	{"Levels and cells",
		edit{says: "a level added: its cells", text: []string{`axis "size" {`, "axis \"size\" {\n  level \"tiny\" {\n    my_cnf = { innodb_buffer_pool_size = \"5M\" }\n    params = { rows = 10 }\n  }"}, want: []string{
			"size=tiny 1: new (never run) [load new, query new]", done[0], done[1]}},
		edit{says: "the cells of the other levels; levels in another order; a level removed", text: []string{`level "small"`, `level "large_"`, `level "large" {`, `level "small" {`, `level "large_"`, `level "large"`,
			`"1G"`, `"3G"`, `"2G"`, `"1G"`, `"3G"`, `"2G"`, `var.rows`, `900 + 100`, `rows = 1000`, `rows = 500`,
		}, want: []string{done[1], done[0]}, also: []edit{
			{text: []string{"  level \"small\" {\n    label  = \"1 GiB\"\n    my_cnf = { innodb_buffer_pool_size = \"1G\" }\n    params = { rows = var.rows }\n  }\n", ""}, want: done[1:]},
		}}},
	{"Server options",
		edit{says: "a value", text: []string{`innodb_io_capacity = 100`, `innodb_io_capacity = 200`},
			want: stale("my_cnf.innodb_io_capacity was 100, is 200")},
		edit{says: "another spelling of the name or of the value; where it is set", text: []string{
			`innodb_io_capacity = 100`, `Innodb-IO-Capacity = "100"`, `"1G"`, `"1024M"`,
		}, want: done}},
	{"Options of a later phase",
		edit{says: "that phase and those after it", text: []string{`timeout    = "1h"`, "restart = true\n  my_cnf = { innodb_io_capacity = 300 }"},
			want: staleQuery("my_cnf.innodb_io_capacity was 100, is 300; restart was not set, is true")},
		edit{says: "the phases before it, whose snapshot serves", text: []string{`timeout    = "1h"`, "restart = true\n  my_cnf = { innodb_io_capacity = 300 }"},
			history: func(h *History) {
				for _, a := range h.Attempts {
					h.Snapshots = append(h.Snapshots, Snapshot{Fingerprint: a.Phases[0].Fingerprint, Replicate: 1})
				}
			},
			want: []string{
				"size=small 1: stale (my_cnf.innodb_io_capacity was 100, is 300; restart was not set, is true) [load done, query stale]",
				"size=large 1: stale (my_cnf.innodb_io_capacity was 100, is 300; restart was not set, is true) [load done, query stale]"}}},
	{"Params, variables, locals",
		edit{says: "a value that something measured reads", text: []string{`default = 500`, `default = 600`}, want: []string{
			"size=small 1: stale (bench.rows was 500, is 600) [load stale, query stale]", done[1]}},
		edit{says: "a name; a value that ends up the same", text: []string{`rows = var.rows`, `n = var.rows`, `rows = 1000`, `n = 1000`, `param.rows`, `param.n`}, want: done}},
	{"Server builds",
		edit{says: "the content of the build: executable, libraries", load: func(o *LoadOptions) {
			probe := o.Probe
			o.Probe = func(ctx context.Context, s *Server) Build {
				b := probe(ctx, s)
				b.Content = "patched"
				return b
			}
		}, want: stale("server.build was build of inno, is patched")},
		edit{says: "the server's name, its path", load: func(o *LoadOptions) {
			o.Found = []*Server{{Name: "other", Mysqld: "/elsewhere/mysqld"}}
			probe := o.Probe
			o.Probe = func(ctx context.Context, s *Server) Build {
				b := probe(ctx, s)
				b.Content = "build of inno"
				return b
			}
		}, text: []string{`server.inno`, `server.other`}, want: done}},
	{"Server arguments",
		edit{says: "`init_args`, `prefix` of the server", text: []string{`variable "rows"`, "server \"inno\" {\n  prefix = [\"./prepare.sh\", \"0\"]\n}\nvariable \"rows\""},
			want: stale("program../prepare.sh was not set, is sha256:c44090c3f318c724; server.prefix was not set, is ./prepare.sh 0"), also: []edit{
				{text: []string{`variable "rows"`, "server \"inno\" {\n  init_args = [\"--lower-case-table-names=1\"]\n}\nvariable \"rows\""},
					want: stale("server.init_args was not set, is --lower-case-table-names=1")}}},
		edit{says: "`min_version`, `user`", text: []string{`variable "rows"`, "server \"inno\" {\n  min_version = \"10.4\"\n  user = \"nobody\"\n}\nvariable \"rows\""}, want: done}},
	{"Workloads",
		edit{says: "a type, an attribute, a new version of the workload", load: func(o *LoadOptions) { o.Workloads[1].Version = 2 },
			want: staleQuery("workload.version was 1, is 2"), also: []edit{
				{text: []string{`file = "query.sql"`, `statements = ["SELECT 1"]`},
					want: staleQuery("file.query.sql was sha256:b4e0497804e46e0a, is not set; sql.file was \"query.sql\", is not set; sql.statements was not set, is [\"SELECT 1\"]")},
				{text: []string{`workload "sql" { file = "query.sql" }`, `workload "fileio" {}`},
					want: staleQuery("workload was sql, is fileio; file.query.sql was sha256:b4e0497804e46e0a, is not set; sql.file was \"query.sql\", is not set")},
			}},
		edit{says: "an attribute that is given its default", text: []string{`rows = param.rows`, "rows = param.rows\n    rate = null"}, want: done}},
	{"Files",
		edit{says: "the content of a script or program that a phase, `setup`, `teardown`, a `prefix` or a sampler names, and of the server's own `pgbench`", files: map[string]string{"prepare.sh": "echo 2\n"},
			want: stale("file.prepare.sh was sha256:c44090c3f318c724, is sha256:03623d0eb5add7ba"), also: []edit{
				{files: map[string]string{"query.sql": "SELECT 2;\n"}, want: staleQuery("file.query.sql was sha256:b4e0497804e46e0a, is sha256:a41109d24069b482")}}},
		edit{says: "a file that nothing names; the time of a file", files: map[string]string{"README": "2\n", "query.sql": "SELECT 1;\n"}, want: done}},
	{"Environment, commands",
		edit{says: "`env`, `setup`, `teardown`, `prefix`", text: []string{`MALLOC_CONF = "a"`, `MALLOC_CONF = "b"`},
			want: stale("env.MALLOC_CONF was a, is b"), also: []edit{
				{text: []string{`[["sh", "prepare.sh"]]`, `[["sh", "prepare.sh"], ["sync"]]`}, want: stale("setup.2 was not set, is sync")},
				{text: []string{`setup   =`, "teardown = [[\"sync\"]]\n  setup   ="}, want: stale("teardown.1 was not set, is sync")},
				{text: []string{`setup   =`, "prefix = [\"./prepare.sh\"]\n  setup   ="}, want: stale("prefix was not set, is ./prepare.sh; program../prepare.sh was not set, is sha256:c44090c3f318c724")}}},
		edit{says: "`notify` of the machine file", load: func(o *LoadOptions) {
			o.Machine = withMachine(o, "notify = [\"/bin/true\"]\n")
		}, want: done}},
	{"Storage",
		edit{says: "another storage, for any role", text: []string{`storage.ssd`, `{ data = storage.ssd, redo = storage.hdd }`},
			want: stale("storage.binlog was ssd, is not set; storage.redo was ssd, is hdd; storage.tmp was ssd, is not set")},
		edit{says: "the place of a storage, `data_dir`", load: func(o *LoadOptions) {
			o.Machine = withMachine(o, "data_dir = \"/elsewhere\"\n")
		}, text: []string{`variable "rows"`, "storage \"ssd\" { dir = \"/mnt/other\" }\nvariable \"rows\""}, want: done}},
	{"Snapshots",
		edit{says: "`snapshot` added or removed, `copy`, `share`", text: []string{`snapshot = true`, "snapshot {\n    copy = \"reflink\"\n  }"},
			want: stale("snapshot was copy, is reflink"), also: []edit{
				{text: []string{`snapshot = true`, "snapshot {\n    share = \"replicates\"\n  }"}, want: stale("snapshot.share was not set, is replicates")},
				{text: []string{`snapshot = true`, ``}, want: stale("snapshot was copy, is not set")},
				{text: []string{`timeout    = "1h"`, `snapshot = true`}, want: staleQuery("snapshot was not set, is copy; snapshot.iterations was not set, is 2")}}},
		edit{says: "`budget`", text: []string{`snapshot = true`, "snapshot {\n    budget = \"9G\"\n  }"}, want: done}},
	{"Start and end of a phase",
		edit{says: "`restart`, `cache`, `read_only`, `settle`", text: []string{`dirty_pages_pct = 1`, `dirty_pages_pct = 5`},
			want: stale("settle.dirty_pages_pct was 1, is 5"), also: []edit{
				{text: []string{`timeout    = "1h"`, `restart = true`}, want: staleQuery("restart was not set, is true")},
				{text: []string{`timeout    = "1h"`, `cache = "cold"`}, want: staleQuery("cache was as_is, is cold")},
				{text: []string{`timeout    = "1h"`, `read_only = true`}, want: staleQuery("read_only was not set, is true")},
				{text: []string{`dirty_pages_pct = 1`, "\n    dirty_pages_pct = 1\n    checkpoint_age = \"1M\"\n    purge_history = 5\n    pause = \"1s\"\n  "},
					want: stale("settle.checkpoint_age was not set, is 1048576; settle.pause was not set, is 1s; settle.purge_history was not set, is 5")},
				{text: []string{`dirty_pages_pct = 1`, "\n    dirty_pages_pct = 1\n    compaction = true\n    vacuum = true\n    max_wait = \"1m\"\n  "},
					want: stale("settle.compaction was not set, is true; settle.max_wait was 20m0s, is 1m0s; settle.vacuum was not set, is true")}}},
		edit{says: "`on_interrupt`", text: []string{`timeout    = "1h"`, `on_interrupt = "continue"`}, want: done}},
	{"Phases",
		edit{says: "a phase added before others, removed before others, moved: from there on; added at the end: that one", text: []string{`table "rates"`, "phase \"more\" {\n  workload \"bench\" { step = \"query\" }\n}\ntable \"rates\""}, want: []string{
			"size=small 1: top-up (2 of 3 phases recorded) [load rebuild, query rebuild, more new]",
			"size=large 1: top-up (2 of 3 phases recorded) [load rebuild, query rebuild, more new]"},
			also: []edit{
				{text: []string{`phase "load" {`, "phase \"before\" {\n  workload \"fileio\" {}\n}\nphase \"load\" {"}, want: []string{
					"size=small 1: stale (workload was bench, is fileio; and 5 more) [before stale, load stale, query stale]",
					"size=large 1: stale (workload was bench, is fileio; and 5 more) [before stale, load stale, query stale]"}},
			}},
		edit{says: "the last phase removed", text: []string{"phase \"query\" {\n  iterations = 2\n  timeout    = \"1h\"\n  workload \"sql\" { file = \"query.sql\" }\n}\n", "", `phase   = "query"`, `phase   = "load"`}, want: []string{
			"size=small 1: done [load done]", "size=large 1: done [load done]"}},
	},
	{"Withdrawn and accepted results",
		edit{says: "a result that `invalidate` withdrew", history: first(func(a *Attempt) { a.Withdrawn = "a backup ran" }), want: []string{
			"size=small 1: new (withdrawn: a backup ran) [load new, query new]", done[1]}},
		edit{says: "a stale result that `accept` let stand", text: []string{`"1G"`, `"3G"`}, history: nil, want: []string{
			"size=small 1: done (accepted as it stands) [load done, query done]", done[1]}}},
	{"Other hosts",
		edit{says: "results of another host", history: first(func(a *Attempt) { a.Host = "host2" }), want: []string{
			"size=small 1: new (measured on another host only, host2; --any-host lets that count) [load new, query new]", done[1]}},
		edit{says: "the same, with `--any-host`", history: first(func(a *Attempt) { a.Host = "host2" }), options: PlanOptions{AnyHost: true}, want: done}},
	{"Runs that did not end well",
		edit{says: "those that were interrupted or skipped", history: first(func(a *Attempt) {
			a.Status, a.Phases = Interrupted, a.Phases[:2]
			a.Phases[1].Status, a.Phases[1].Iterations = Interrupted, 1
		}), want: []string{
			"size=small 1: interrupted (in phase query) [load rebuild, query interrupted]", done[1]},
			also: []edit{{history: first(func(a *Attempt) { a.Status, a.Message, a.Phases = Skipped, "its build cannot start", nil }), want: []string{
				"size=small 1: new (skipped before: its build cannot start) [load new, query new]", done[1]}}}},
		edit{says: "failed, timeout, hung, crashed and invalid ones, unless `--status` names them; sla_missed ones", history: first(func(a *Attempt) {
			a.Status, a.Message = Crashed, "signal 11"
			a.Phases[1].Status, a.Phases[1].Message = Crashed, "signal 11"
		}), want: []string{
			"size=small 1: crashed (signal 11) [load rebuild, query crashed (signal 11)]", done[1]},
			also: []edit{{history: first(func(a *Attempt) { a.Status, a.Phases[1].Status = SLAMissed, SLAMissed }), want: done}}}},
	{"`run --fresh`",
		edit{says: "everything", options: PlanOptions{Fresh: true}, want: []string{
			"size=small 1: new (asked for afresh; it was done) [load new, query new]", "size=large 1: new (asked for afresh; it was done) [load new, query new]"}},
		edit{}},
}

// withMachine writes a machine file that has more than the usual one.
func withMachine(o *LoadOptions, more string) string {
	text, err := os.ReadFile(o.Machine)
	if err != nil {
		return err.Error()
	}
	name := filepath.Join(o.Path, "..", "machine.hcl")
	if err := os.WriteFile(name, append([]byte(more), text...), 0o644); err != nil {
		return err.Error()
	}
	return name
}

// identityFiles are the files beside the experiment.
var identityFiles = map[string]string{"query.sql": "SELECT 1;\n", "prepare.sh": "echo 1\n", "README": "1\n"}

// TestIdentityRules makes the edits of every rule to an experiment of which all
// was measured.
func TestIdentityRules(t *testing.T) {
	for _, r := range identityRules {
		for name, side := range map[string]edit{"again": r.again, "kept": r.kept} {
			if side.says == "" {
				continue
			}
			for i, e := range append([]edit{side}, side.also...) {
				t.Run(fmt.Sprintf("%s/%s %d", r.rule, name, i+1), func(t *testing.T) {
					p := e.plan(t, strings.Contains(side.says, "accept"))
					if diff := cmp.Diff(e.want, shown(p)); diff != "" {
						t.Errorf("plan after an edit: %s (-want +got):\n%s", side.says, diff)
					}
				})
			}
		}
	}
}

// plan records the experiment as it is, makes the edit and plans what is left.
// With accept the stale result of the first run is accepted before.
func (e edit) plan(t *testing.T, accept bool) *Plan {
	t.Helper()
	h := record(planFiles(t, identityExperiment, identityFiles, History{}, PlanOptions{}))
	after := replaced(t, identityExperiment, e.text)
	if accept {
		h.Attempts[0].Accepted = planFiles(t, after, identityFiles, History{}, PlanOptions{}).Runs[0].Phases[1].Fingerprint
	}
	if e.history != nil {
		e.history(&h)
	}
	files := maps.Clone(identityFiles)
	maps.Copy(files, e.files)
	var change []func(*LoadOptions)
	if e.load != nil {
		change = append(change, e.load)
	}
	return planFiles(t, after, files, h, e.options, change...)
}

// replaced makes an edit to a text.
func replaced(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the experiment does not hold %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// planFiles plans an experiment with files beside it.
func planFiles(t testing.TB, src string, beside map[string]string, h History, o PlanOptions, change ...func(*LoadOptions)) *Plan {
	t.Helper()
	all := map[string]string{"exp/experiment.hcl": src}
	for name, text := range beside {
		all["exp/"+name] = text
	}
	dir := filepath.Join(files(t, all), "exp")
	lo := testOptions(dir)
	for _, c := range change {
		c(&lo)
	}
	e, _, diags := Load(context.Background(), lo)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cells, diags := e.Expand()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := e.MakePlan(cells, h, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// record makes the history in which every run of a plan was executed.
func record(p *Plan) History {
	inputs := map[Fingerprint][]Input{}
	h := History{Inputs: func(f Fingerprint) ([]Input, error) { return inputs[f], nil }}
	for i, r := range p.Runs {
		a := Attempt{ID: int64(i + 1), Cell: r.Cell.Key, Replicate: r.Replicate, Number: 1, Host: p.Host.ID, Status: OK}
		for _, ph := range r.Phases {
			inputs[ph.Fingerprint] = ph.Phase.Inputs()
			a.Phases = append(a.Phases, PastPhase{Block: ph.Phase.Block, Fingerprint: ph.Fingerprint,
				Iterations: ph.Phase.Recorded(), Status: OK, Seconds: 10, Bytes: 1000})
		}
		h.Attempts = append(h.Attempts, a)
	}
	return h
}

// shown prints the runs of a plan, one a line.
func shown(p *Plan) []string {
	var lines []string
	for _, r := range p.Runs {
		line := fmt.Sprintf("%s %d: %s", r.Cell.Key, r.Replicate, r.Status)
		if r.Reason != "" {
			line += " (" + r.Reason + ")"
		}
		var phases []string
		for _, ph := range r.Phases {
			text := ph.Phase.Block + " " + string(ph.Status)
			if ph.Status.Failure() {
				text += " (" + ph.Reason + ")"
			}
			phases = append(phases, text)
		}
		lines = append(lines, line+" ["+strings.Join(phases, ", ")+"]")
	}
	return lines
}
