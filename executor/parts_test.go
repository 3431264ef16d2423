package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
)

func TestSlug(t *testing.T) {
	for key, want := range map[matrix.CellKey]string{
		"engine=myrocks,dio=dio": "engine-myrocks_dio-dio-",
		"":                       "cell-",
		"a=../../etc":            "a-..-..-etc-",
		"a=x y/z":                "a-x-y-z-",
		"..":                     "-.-",
	} {
		got := Slug(key)
		if !strings.HasPrefix(got, want) || strings.ContainsAny(got, "/ ") || strings.HasPrefix(got, ".") {
			t.Errorf("Slug(%q) = %q", key, got)
		}
	}
	if Slug("a=x y") == Slug("a=x-y") {
		t.Error("two cells share a name")
	}
	if n := len(Slug(matrix.CellKey(strings.Repeat("long", 100)))); n > slugLength+9 {
		t.Errorf("a slug of %d characters", n)
	}
}

func TestClassifyFile(t *testing.T) {
	for rel, want := range map[string]string{
		"ib_logfile0":             "redo",
		"#innodb_redo/#ib_redo12": "redo",
		"aria_log.00000001":       "redo",
		"aria_log_control":        "",
		"#rocksdb/000012.log":     "redo",
		"#rocksdb/000012.sst":     "",
		"pg_wal/0000000100":       "redo",
		"binlog.000001":           "binlog",
		"db/binlog.ibd":           "",
		"ibtmp1":                  "tmp",
		"base/pgsql_tmp/x":        "tmp",
		"ibdata1":                 "",
		"ib/pi1.ibd":              "",
	} {
		if got := classifyFile(rel); got != want {
			t.Errorf("classifyFile(%q) = %q, want %q", rel, got, want)
		}
	}
}

// What a run is said to need is said to be measured only where it was.
func TestCheckSpace(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	h.full = true // 3 MB are left
	plan := h.plan(oneServer + phase("load", do("load")) + phase("query", do("work")))
	for _, tt := range []struct {
		load, query uint64
		basis       matrix.Basis // of query
		want        string
	}{
		{0, 0, matrix.Unknown, ""},
		{3e6, 2e6, matrix.FromHistory, ""},
		{3e6, 5e6, matrix.FromHistory, "3 MB are free, and after query a run of this kind took 5 MB"},
		{3e6, 5e6, matrix.FromDeclared, "3 MB are free, and query is estimated to take 5 MB, by the arguments of its workload"},
		{4e6, 0, matrix.FromHistory, "3 MB are free, and load is estimated to take 4 MB, by the arguments of its workload"},
	} {
		phases := slices.Clone(plan.Runs[0].Phases)
		phases[0].Bytes, phases[1].Bytes, phases[1].Basis = tt.load, tt.query, tt.basis
		a := &attempt{executor: &executor{plan: plan, machine: h.machine()}, phases: phases}
		err := a.checkSpace(phases[0].Phase)
		if got := fmt.Sprint(err); tt.want == "" && err != nil || tt.want != "" && !strings.HasSuffix(got, tt.want) {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestQuote(t *testing.T) {
	got := quote([]string{"sysbench", "--x=1", "it's", "a b", "", "$HOME"})
	if want := `sysbench --x=1 'it'\''s' 'a b' '' '$HOME'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSplit(t *testing.T) {
	shared, rest := split([][]string{{"a"}, {"b"}, {"a"}, {"c"}}, [][]string{{"a"}, {"c"}})
	if diff := cmp.Diff([][]string{{"a"}, {"c"}}, shared); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"b"}, {"a"}}, rest); diff != "" {
		t.Error(diff)
	}
}

func TestRemaining(t *testing.T) {
	for name, c := range map[string]struct {
		live  Live
		want  time.Duration
		known bool
	}{
		"nothing known":     {Live{Elapsed: time.Minute}, 0, false},
		"counted":           {Live{Done: 25, Total: 100, Elapsed: time.Minute}, 3 * time.Minute, true},
		"expected":          {Live{Expect: time.Hour, Elapsed: time.Minute}, 59 * time.Minute, true},
		"later than before": {Live{Expect: time.Second, Elapsed: time.Minute}, 0, true},
		"more than planned": {Live{Done: 120, Total: 100, Elapsed: time.Minute}, 0, false},
	} {
		if got, known := c.live.Remaining(); got != c.want || known != c.known {
			t.Errorf("%s: %s, %v; want %s, %v", name, got, known, c.want, c.known)
		}
	}
}

func TestWorst(t *testing.T) {
	for _, c := range [][3]matrix.Status{
		{matrix.OK, matrix.SLAMissed, matrix.SLAMissed},
		{matrix.Crashed, matrix.Failed, matrix.Crashed},
		{matrix.Interrupted, matrix.SLAMissed, matrix.Interrupted},
		{"", matrix.OK, matrix.OK},
	} {
		if got := worst(c[0], c[1]); got != c[2] {
			t.Errorf("worst(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestCopyArtifactLeavesOutTheMiddle(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	f, err := os.Create(from)
	if err != nil {
		t.Fatal(err)
	}
	// Sparse: only its ends are on disk.
	if _, err := f.WriteString("begin"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("end"), 3*logBound); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	to, err := copyArtifact(dir, "to", from)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if len(b) > 2*logBound+100 || !strings.HasPrefix(text, "begin") || !strings.HasSuffix(text, "end") || !strings.Contains(text, "bytes left out") {
		t.Errorf("a copy of %d bytes", len(b))
	}
}

func TestPageCache(t *testing.T) {
	// A temporary directory may be in memory, where nothing can be dropped.
	dir, err := os.MkdirTemp(".", "pagecache-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := server.Layout{Dir: dir}
	path := filepath.Join(l.Data(), "file")
	if err := os.MkdirAll(l.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	const size = 4 << 20
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	resident := func() int64 {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n, err := residentBytes(f, size)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if left, err := evictLayout(l); err != nil || left != 0 || resident() != 0 {
		t.Errorf("after dropping: %d bytes left, %d resident, %v", left, resident(), err)
	}
	if missing, err := warmLayout(t.Context(), l); err != nil || missing != 0 || resident() != size {
		t.Errorf("after reading: %d of %d bytes resident, %d missing, %v", resident(), size, missing, err)
	}
}

func TestSettleCriteria(t *testing.T) {
	pct, age, none := 1.0, uint64(100), uint64(0)
	for name, c := range map[string]struct {
		settle matrix.Settle
		debt   server.Debt
		open   int
		fails  bool
	}{
		"nothing asked":      {matrix.Settle{}, server.Debt{}, 0, false},
		"reached":            {matrix.Settle{CheckpointAge: &age}, server.Debt{CheckpointAge: &none}, 0, false},
		"exactly reached":    {matrix.Settle{CheckpointAge: &age}, server.Debt{CheckpointAge: &age}, 0, false},
		"open":               {matrix.Settle{CheckpointAge: &none}, server.Debt{CheckpointAge: &age}, 1, false},
		"compaction pending": {matrix.Settle{Compaction: true}, server.Debt{PendingCompaction: &age}, 1, false},
		"two":                {matrix.Settle{Compaction: true, PurgeHistory: &none}, server.Debt{PendingCompaction: &age, PurgeHistory: &age}, 2, false},
		"vacuum runs":        {matrix.Settle{Vacuum: true}, server.Debt{Vacuums: &age}, 1, false},
		"no vacuum":          {matrix.Settle{Vacuum: true}, server.Debt{Vacuums: &none}, 0, false},
		"server cannot tell": {matrix.Settle{DirtyPagesPct: &pct}, server.Debt{}, 0, true},
	} {
		criteria, err := settleState(&c.settle, c.debt)
		open := 0
		for _, k := range criteria {
			if k.open != "" {
				open++
			}
		}
		if open != c.open || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v", name, criteria, err)
		}
	}
}
