package linkbench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// with returns a block with further attributes.
func with(b, more block) block {
	all := block{}
	maps.Copy(all, b)
	maps.Copy(all, more)
	return all
}

// An engine is one on which everything must work.
type engine struct {
	name   string
	start  func(testing.TB) workload.Target
	block  block  // which chooses it
	packed block  // another form of its tables
	hash   string // a number made of a text in %s
	hex    string // bytes in %s as a text
}

func engines() []engine {
	const (
		mysqlHash    = "CRC32(%s)"
		postgresHash = "('x' || SUBSTR(MD5(%s), 1, 8))::bit(32)::bigint"
	)
	return []engine{
		{
			"InnoDB", func(t testing.TB) workload.Target {
				return workloadtest.Start(t, "--innodb_lock_wait_timeout=1", oddMode)
			},
			block{}, block{"compression": "table"}, mysqlHash, "HEX(%s)",
		},
		{
			// Small tables are full of deadlocks: see keepPlans.
			"MyRocks", func(t testing.TB) workload.Target {
				return workloadtest.StartRocksDB(t, "--rocksdb_deadlock_detect=1", "--rocksdb_flush_log_at_trx_commit=2")
			},
			block{"engine": "rocksdb"}, nil, mysqlHash, "HEX(%s)",
		},
		{
			"PostgreSQL", func(t testing.TB) workload.Target { return workloadtest.StartPostgres(t, "lock_timeout=1s") },
			block{}, nil, postgresHash, "ENCODE(%s, 'hex')",
		},
	}
}

// data returns a query for counts and checksums of all tables, without the times,
// which are those of the load.
func (e *engine) data() string {
	var parts []string
	for table, columns := range map[string]string{
		"linktable":  "id1, id2, link_type, visibility, version, " + fmt.Sprintf(e.hex, "data"),
		"counttable": "id, link_type, count, version",
		"nodetable":  "id, type, version, " + fmt.Sprintf(e.hex, "data"),
	} {
		hash := fmt.Sprintf(e.hash, "CONCAT_WS(',', "+columns+")")
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS name, COUNT(*), SUM(%s) FROM linkdb0.%[1]s", table, hash))
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY name"
}

// conformance checks what holds for all workloads: the data is a function of the
// seed, whatever the loaders and the form of the tables.
func (e *engine) conformance(t *testing.T, target workload.Target) {
	small := with(e.block, block{"step": "load", "maxid1": 2001, "loaders": 2})
	workloadtest.Suite{
		Type:       Type(),
		Prepare:    small,
		Others:     []block{{"loaders": 1}, {"loaders": 7}, with(e.packed, block{"partitions": 4}), {"late_index": true}},
		Seed:       block{"seed": 2},
		Data:       e.data(),
		Work:       with(small, block{"step": "query", "requesters": 4, "seconds": 60}),
		Interrupts: 6,
	}.Run(t, target)
}

// scaleVariable says how long, in seconds, the tests named scale are to run the
// mix.
const scaleVariable = "DBMATRIX_LINKBENCH_SECONDS"

// scale loads a hundred thousand nodes, runs the mix on them and compares the
// counts with the links. Unless it is asked for, it does so at a twentieth of the
// scale, with few requests: of a number of requests the operations are the same
// each time, of a time they are not, and once in a thousand times they are far from
// the mix.
func (e *engine) scale(t *testing.T, target workload.Target) {
	common := with(e.block, block{"profile": profileModern, "maxid1": 5001, "requests": 1500, "loaders": 4, "requesters": 8})
	if text := os.Getenv(scaleVariable); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", scaleVariable, err)
		}
		delete(common, "requests")
		common["maxid1"], common["seconds"] = 100001, seconds
	}
	runs(t, target, common)
}

// TestInnoDB runs everything on one server of the one engine.
func TestInnoDB(t *testing.T) {
	engine := engines()[0]
	target := engine.start(t)
	t.Run("conformance", func(t *testing.T) { engine.conformance(t, target) })
	t.Run("scale", func(t *testing.T) { engine.scale(t, target) })
	t.Run("fb2011", func(t *testing.T) { runs(t, target, block{"profile": profileFB2011, "maxid1": 3001, "requests": 1500}) })
	t.Run("contention", func(t *testing.T) { contention(t, target, "innodb", 5) })
	t.Run("forms", func(t *testing.T) { forms(t, target) })
	t.Run("late index", func(t *testing.T) { lateIndex(t, target, nil) })
	t.Run("rate", func(t *testing.T) { rate(t, target) })
	t.Run("check", func(t *testing.T) { wrong(t, target) })
	t.Run("errors", func(t *testing.T) { failures(t, target, nil) })
	t.Run("distribution", func(t *testing.T) { distribution(t, target) })
	t.Run("long list", func(t *testing.T) { longList(t, target) })
}

// oddMode is a mode of the server that the statements must not depend on.
const oddMode = "--sql_mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES,NO_ZERO_DATE"

// TestMySQL runs on the other flavour, which has transparent compression.
func TestMySQL(t *testing.T) {
	target := workloadtest.StartMySQL(t, oddMode)
	for _, profile := range []string{profileModern, profileFB2017} {
		common := block{"profile": profile, "compression": "transparent", "partitions": 2, "maxid1": 2001, "loaders": 2, "requesters": 2, "requests": 2000}
		workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
		c := mustDecode(t, with(common, block{"step": "query"}))
		checkMix(t, &c, workloadtest.Do(t, Type(), target, with(common, block{"step": "query"})))
		workloadtest.Do(t, Type(), target, with(common, block{"step": "check"}))
	}
}

// TestMyRocks runs on the other engine.
func TestMyRocks(t *testing.T) {
	engine := engines()[1]
	target := engine.start(t)
	t.Run("conformance", func(t *testing.T) { engine.conformance(t, target) })
	t.Run("scale", func(t *testing.T) { engine.scale(t, target) })
	t.Run("fb2017", func(t *testing.T) {
		runs(t, target, block{"engine": "rocksdb", "partitions": 4, "maxid1": 3001, "requests": 1500})
	})
	t.Run("contention", func(t *testing.T) { contention(t, target, "rocksdb", 100) })
	t.Run("late index", func(t *testing.T) { lateIndex(t, target, engine.block) })
	t.Run("errors", func(t *testing.T) { failures(t, target, engine.block) })
}

// TestPostgres runs everything that does not depend on the engine.
func TestPostgres(t *testing.T) {
	engine := engines()[2]
	target := engine.start(t)
	t.Run("conformance", func(t *testing.T) { engine.conformance(t, target) })
	t.Run("scale", func(t *testing.T) { engine.scale(t, target) })
	t.Run("fb2011", func(t *testing.T) { runs(t, target, block{"profile": profileFB2011, "maxid1": 3001, "requests": 1500}) })
	t.Run("fb2017", func(t *testing.T) {
		runs(t, target, block{"profile": profileFB2017, "partitions": 4, "maxid1": 3001, "requests": 1500})
	})
	t.Run("contention", func(t *testing.T) { contention(t, target, "innodb", 5) })
	t.Run("late index", func(t *testing.T) { lateIndex(t, target, nil) })
	t.Run("check", func(t *testing.T) { wrong(t, target) })
	t.Run("errors", func(t *testing.T) { failures(t, target, nil) })
	t.Run("long list", func(t *testing.T) { longList(t, target) })
}

func connect(t *testing.T, target workload.Target) *client.Conn {
	t.Helper()
	conn, err := client.Open(t.Context(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func execute(t *testing.T, conn *client.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// number returns the one number that a query yields.
func number(t *testing.T, conn *client.Conn, query string) float64 {
	t.Helper()
	text, err := conn.Text(query)
	if err != nil {
		t.Fatal(err)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// runs loads, checks the data by SQL, runs the mix and checks the counts.
func runs(t *testing.T, target workload.Target, common block) {
	common = with(block{"loaders": 3, "requesters": 4}, common)
	loaded := workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
	c := mustDecode(t, with(common, block{"step": "load"}))
	conn := connect(t, target)
	holdData(t, conn, &c, loaded)

	queried := workloadtest.Do(t, Type(), target, with(common, block{"step": "query"}))
	checkMix(t, &c, queried)
	checkChanges(t, conn, &c, queried)
	checkAccess(t, conn, &c, queried)

	checked := workloadtest.Do(t, Type(), target, with(common, block{"step": "check"}))
	if n := workloadtest.Metric(t, checked, "counts_checked"); n != number(t, conn, "SELECT COUNT(*) FROM linkdb0.counttable") {
		t.Errorf("%v counts were checked", n)
	}
}

// contention lets many requesters work on very few nodes, and checks the counts.
func contention(t *testing.T, target workload.Target, engine string, nodes int) {
	for _, profile := range []string{profileModern, profileFB2011} {
		common := block{"profile": profile, "engine": engine, "maxid1": nodes + 1, "requesters": 8, "loaders": 1, "seconds": 1}
		workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
		result := workloadtest.Do(t, Type(), target, with(common, block{"step": "query"}))
		t.Logf("%s: %v transactions, %v deadlocks, %v lock waits, %v tries at most", profile, workloadtest.Metric(t, result, "transactions"),
			workloadtest.Metric(t, result, "deadlocks"), workloadtest.Metric(t, result, "lock_waits"), workloadtest.Metric(t, result, "most_tries"))
		workloadtest.Do(t, Type(), target, with(common, block{"step": "check"}))
	}
}

// forms makes tables of all forms; the load itself compares them with the wish.
func forms(t *testing.T, target workload.Target) {
	common := block{"step": "load", "maxid1": 101, "loaders": 1}
	for _, form := range []block{
		{"compression": "table", "key_block_size": 4, "partitions": 2},
		{"compression": "transparent"},
		{"secondary_index": "plain", "link_types": 3, "load_without_binlog": true},
	} {
		workloadtest.Do(t, Type(), target, with(common, form))
	}
	// What differs from the wish must be found.
	f := tableForm{engine: "innodb", partitions: 2, compression: "table", keyBlockSize: 8, covering: true}
	_, err := f.check(connect(t, target), f.tables()[0], target.Flavour, true)
	want := "table linktable is not what was asked for: the compression is none, not table; it has 0 partitions, not 2; " +
		`index id1_type has the columns ["id1" "link_type" "visibility" "time"], not ["id1" "link_type" "visibility" "time" "id2" "version" "data"]`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

// lateIndex loads without the index of links and makes it then.
func lateIndex(t *testing.T, target workload.Target, form block) {
	common := with(form, block{"maxid1": 1001, "loaders": 1, "requesters": 1, "late_index": true, "requests": 100})
	loaded := workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
	workloadtest.Do(t, Type(), target, with(common, block{"step": "check"}))
	if _, err := workloadtest.Try(t.Context(), t, Type(), target, with(common, block{"step": "query"})); err == nil || !strings.Contains(err.Error(), linkIndex) {
		t.Errorf("requests without the index: the error is %v", err)
	}
	indexed := workloadtest.Do(t, Type(), target, with(common, block{"step": "index"}))
	if got, want := workloadtest.Metric(t, indexed, "rows_indexed"), workloadtest.Metric(t, loaded, "links_inserted"); got < want {
		t.Errorf("%v rows were indexed, want %v or more", got, want)
	}
	result := workloadtest.Do(t, Type(), target, with(common, block{"step": "query"}))
	if n := workloadtest.Metric(t, result, "transactions"); n != 100 {
		t.Errorf("%v transactions, want 100", n)
	}
}

// rate checks that a rate is kept, or that it is said where it is not.
func rate(t *testing.T, target workload.Target) {
	common := block{"profile": profileModern, "maxid1": 1001, "loaders": 1, "requesters": 4}
	workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
	slow := with(common, block{"step": "query", "request_rate": 100, "seconds": 1})
	target.Warmup = 200 * time.Millisecond
	result, err := workloadtest.Try(t.Context(), t, Type(), target, slow)
	if missed := new(workload.SLAError); err != nil && !errors.As(err, &missed) { // a busy host
		t.Fatal(err)
	}
	if got := workloadtest.Metric(t, result, "target_rate"); got != 400 {
		t.Errorf("the target rate is %v, want 400", got)
	}
	// Of 400 arrivals the standard deviation is 20.
	if n := workloadtest.Metric(t, result, "transactions"); n < 200 || n > 500 {
		t.Errorf("%v requests in a second at a rate of 400", n)
	}
	fast := with(common, block{"step": "query", "request_rate": 1e6, "seconds": 1})
	result, err = workloadtest.Try(t.Context(), t, Type(), target, fast)
	missed := new(workload.SLAError)
	if !errors.As(err, &missed) {
		t.Fatalf("the error is %v, want an SLAError", err)
	}
	approx(t, "the rate that was asked for", missed.Target, 4e6, 0.05*4e6)
	if missed.Achieved != workloadtest.Metric(t, result, "achieved_rate") {
		t.Errorf("the error has the rate %v, the result %v", missed.Achieved, workloadtest.Metric(t, result, "achieved_rate"))
	}
}

// wrong makes counts wrong, in each way.
func wrong(t *testing.T, target workload.Target) {
	common := block{"profile": profileModern, "maxid1": 10101, "loaders": 1, "max_links": 4}
	workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
	conn := connect(t, target)
	for _, test := range []struct{ change, want, back string }{
		{"UPDATE linkdb0.counttable SET count = count + 1 WHERE id = 10050 AND link_type = 123456789", "node 10050, type 123456789: the count is ",
			"UPDATE linkdb0.counttable SET count = count - 1 WHERE id = 10050 AND link_type = 123456789"},
		{"INSERT INTO linkdb0.linktable (id1, id2, link_type, visibility) VALUES (99999, 1, 5, 1)", "node 99999, type 5: the count is 0, and there are 1 visible links",
			"DELETE FROM linkdb0.linktable WHERE id1 = 99999"},
		{"INSERT INTO linkdb0.counttable VALUES (3, 5, 2, 0, 0)", "node 3, type 5: the count is 2, and there are 0 visible links",
			"DELETE FROM linkdb0.counttable WHERE link_type = 5"},
		{"DELETE FROM linkdb0.counttable", "the count is 0, and there are ", "DELETE FROM linkdb0.linktable"},
		{"SELECT 1", "there are no counts", "SELECT 1"},
	} {
		execute(t, conn, test.change)
		_, err := workloadtest.Try(t.Context(), t, Type(), target, with(common, block{"step": "check"}))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", test.change, err, test.want)
		}
		execute(t, conn, test.back)
	}
}

// failures checks that no error of the server is lost.
func failures(t *testing.T, target workload.Target, form block) {
	common := with(form, block{"profile": profileModern, "maxid1": 1001, "loaders": 1, "requesters": 2, "requests": 500})
	workloadtest.Do(t, Type(), target, with(common, block{"step": "load"}))
	conn := connect(t, target)
	refusal, conflict := "31001", "1213"
	if conn.Postgres() {
		refusal, conflict = "P0031", "40P01"
	}
	execute(t, conn, refuse(conn, refusal, "1")...)
	for _, profile := range []string{profileModern, profileFB2011} {
		query := with(common, block{"step": "query", "profile": profile})
		if _, err := workloadtest.Try(t.Context(), t, Type(), target, query); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: the error is %v, want that of the trigger", profile, err)
		}
		result := workloadtest.Do(t, Type(), target, with(query, block{"allow_errors": []string{refusal}}))
		if workloadtest.Metric(t, result, "errors") == 0 {
			t.Errorf("%s: no error was counted", profile)
		}
		workloadtest.Do(t, Type(), target, with(common, block{"step": "check"}))
	}
	execute(t, conn, refuse(conn, conflict, "0.2")...)
	for _, profile := range []string{profileModern, profileFB2011} {
		result := workloadtest.Do(t, Type(), target, with(common, block{"step": "query", "profile": profile}))
		if deadlocks, retries := workloadtest.Metric(t, result, "deadlocks"), workloadtest.Metric(t, result, "retries"); deadlocks == 0 || deadlocks != retries {
			t.Errorf("%s: %v deadlocks, %v retries", profile, deadlocks, retries)
		}
		workloadtest.Do(t, Type(), target, with(common, block{"step": "check"}))
	}
	execute(t, conn, refuse(conn, conflict, "0")...)
	if _, err := workloadtest.Try(t.Context(), t, Type(), withWarmup(target), with(common, block{"step": "check"})); err == nil || !strings.Contains(err.Error(), "warmup") {
		t.Errorf("a check with a warm-up: the error is %v", err)
	}
}

// refuse returns statements that make the server refuse some of the inserts of a
// count, with an error of that code.
func refuse(conn *client.Conn, code, chance string) []string {
	if conn.Postgres() {
		return []string{
			fmt.Sprintf("CREATE OR REPLACE FUNCTION linkdb0.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF RANDOM() < %s THEN"+
				" RAISE EXCEPTION 'refused' USING ERRCODE = '%s'; END IF; RETURN NEW; END $$", chance, code),
			"CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON linkdb0.counttable FOR EACH ROW EXECUTE FUNCTION linkdb0.refuse()",
		}
	}
	return []string{
		"DROP TRIGGER IF EXISTS linkdb0.refuse",
		fmt.Sprintf("CREATE TRIGGER linkdb0.refuse BEFORE INSERT ON linkdb0.counttable FOR EACH ROW BEGIN IF RAND() < %s THEN"+
			" SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = %s, MESSAGE_TEXT = 'refused'; END IF; END", chance, code),
	}
}

func withWarmup(target workload.Target) workload.Target {
	target.Warmup = time.Second
	return target
}

// distribution loads a graph of a distribution in a file.
func distribution(t *testing.T, target workload.Target) {
	if err := os.WriteFile(filepath.Join(target.Source, "d.dat"), []byte("nlinks\n4 50\n6 100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	result := workloadtest.Do(t, Type(), target, block{"step": "load", "profile": profileModern, "maxid1": 1001, "distribution": "d.dat", "seed": 7})
	if n := workloadtest.Metric(t, result, "links_inserted"); n != 5000 {
		t.Errorf("%v links, want 5000", n)
	}
	if _, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": "load", "distribution": "absent"}); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("without the file the error is %v", err)
	}
}

// longList reads a list that is longer than what is read at once, in two goes, by
// the store of each client.
func longList(t *testing.T, target workload.Target) {
	if err := os.WriteFile(filepath.Join(target.Source, "long.dat"), []byte("nlinks\n1 99\n22000 100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	common := block{"maxid1": 51, "max_links": 22000, "distribution": "long.dat", "loaders": 2}
	for _, profile := range []string{profileModern, profileFB2011} {
		load := with(common, block{"step": "load", "profile": profile})
		workloadtest.Do(t, Type(), target, load)
		b := benchmark{mustDecode(t, load)}
		conn := connect(t, target)
		store, err := b.newStore(target, connect(t, target), conn)
		if err != nil {
			t.Fatal(err)
		}
		r := request{op: getLinksList, id: 1 + newShuffler(seedLinks, b.nodes).permute(0), typ: firstLinkType, newest: math.MaxInt64}
		from := fmt.Sprintf("FROM linkdb0.linktable WHERE id1 = %d AND link_type = %d", r.id, r.typ)
		if err := store.do(&r); err != nil {
			t.Fatal(err)
		}
		last := number(t, conn, "SELECT time "+from+" ORDER BY time DESC LIMIT 1 OFFSET 9999")
		if r.rows != listLimit || float64(r.oldest) != last {
			t.Errorf("%s: %d links, the last of %d, want %d of %v", profile, r.rows, r.oldest, listLimit, last)
		}
		r.newest, r.skip = r.oldest, 1
		if err := store.do(&r); err != nil {
			t.Fatal(err)
		}
		all, first := number(t, conn, "SELECT COUNT(*) "+from), number(t, conn, "SELECT MIN(time) "+from)
		// Links of one millisecond may stand on both sides.
		if rest := float64(r.rows) - (all - listLimit); rest < 0 || rest > 2 || float64(r.oldest) != first {
			t.Errorf("%s: then %d links of %v, the last of %d, want %v", profile, r.rows, all, r.oldest, first)
		}
	}
}
