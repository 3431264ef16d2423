package insertbench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

// TestModernStatements holds the tables and statements of the modern profile to
// their golden forms.
func TestModernStatements(t *testing.T) {
	var got bytes.Buffer
	show := func(statement string) { got.WriteString(statement + ";\n") }
	for _, test := range []struct {
		flavour string
		block   block
	}{
		{"mariadb", block{}},
		{"mariadb", block{"engine": "rocksdb", "partitions": 3, "rows": 1000, "insert_rows": 500, "later_rows": 200}},
		{"postgres", block{"partitions": 3, "rows": 1000, "insert_rows": 500, "later_rows": 200}},
	} {
		test.block["step"] = "l.i0"
		c, faults := decode(arguments(t, test.block), matrix.Build{Flavour: test.flavour})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		for _, statement := range append(c.createTable(1, test.flavour), c.indexTable(1)...) {
			show(statement)
		}
	}
	for _, c := range []config{
		{profile: modern, indexes: 3, rowsPerQuery: 10, tables: 1},
		{profile: modern, indexes: 3, rowsPerQuery: 10, tables: 1, postgres: true},
	} {
		g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}, whole: true}
		g.start(1, streamLoad+1, 0)
		show(string(g.appendInsert(nil, "pi1", 2, stamp)))
		show(string(c.appendDelete(nil, "pi1", 4711, 50)))
		for _, q := range c.rangeQueries("pi1") {
			showQuery(&got, &c, q, &g)
		}
		ends := newLowEnds([]int64{0, 1000})
		point := c.pointQuery(1, &ends[1])
		point.high = 2000
		showQuery(&got, &c, point, &g)
	}
	golden(t, "modern.sql", got.Bytes())
}

// TestPointKeys checks from which keys point queries draw.
func TestPointKeys(t *testing.T) {
	c := config{rowsPerQuery: 1}
	ends := newLowEnds([]int64{0, 100})
	q := c.pointQuery(1, &ends[1])
	for _, test := range []struct{ high, least, most int64 }{
		{103, 100, 102},
		{100, 100, 100}, // deletes have come as far as the reader knows
		{50, 100, 100},
	} {
		q.high = test.high
		var g generator
		least, most := int64(1<<60), int64(0)
		for range 1000 {
			q.draw(&g)
			key := q.keys[0]
			least, most = min(least, key), max(most, key)
		}
		if least != test.least || most != test.most {
			t.Errorf("below %d: keys from %d to %d, want %d to %d", test.high, least, most, test.least, test.most)
		}
	}
}

// TestModernDefaults checks what depends on the step.
func TestModernDefaults(t *testing.T) {
	for _, test := range []struct {
		step                string
		commit, rows, conns int64
	}{
		{"l.i0", 100, 0, 1}, {"l.x", 100, 0, 1}, {"l.i1", 50, 1600, 3}, {"l.i2", 5, 400, 3}, {"qr", 50, 0, 4}, {"qp", 50, 0, 4}, {"query", 100, 0, 2},
	} {
		c, faults := decode(arguments(t, block{"step": test.step, "rows": 1000, "htap_seconds": 0.5}), matrix.Build{})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		rows := int64(0)
		if c.profile == modern && test.rows > 0 {
			rows = c.stepRows()
		}
		got := []int64{c.rowsPerCommit, rows, int64(c.connections())}
		if diff := cmp.Diff([]int64{test.commit, test.rows, test.conns}, got); diff != "" {
			t.Errorf("step %s: rows a commit, rows, connections (-want +got):\n%s", test.step, diff)
		}
	}
}

// modernPhases runs the steps of the modern profile, those with queries at the
// given rates, and checks what they record.
func modernPhases(t *testing.T, target workload.Target, more block, rates ...int) {
	t.Helper()
	common := block{"tables": 2, "rows": 10000, "insert_rows": 5000, "seconds": 1}
	step := func(name string, own block) workload.Result {
		t.Helper()
		return run(t, target, block{"step": name}, common, more, own)
	}
	metrics := func(what string, result workload.Result, want map[string]float64) {
		t.Helper()
		for name, value := range want {
			if got := workloadtest.Metric(t, result, name); got != value {
				t.Errorf("%s: %s is %v, want %v", what, name, got, value)
			}
		}
	}
	metrics("l.i0", step("l.i0", nil), map[string]float64{"rows_inserted": 10000, "inserts": 100})
	indexings := 2.0
	if more["engine"] == "rocksdb" || target.Flavour == "postgres" {
		indexings = 6
	}
	metrics("l.x", step("l.x", nil), map[string]float64{"rows_inserted": 10200, "rows_added": 200, "inserts": 2, "indexings": indexings})
	metrics("l.i1", step("l.i1", nil), map[string]float64{"rows_inserted": 4000, "inserts": 80, "rows_deleted": 4000, "deletes": 80})
	metrics("l.i2", step("l.i2", nil), map[string]float64{"rows_inserted": 1000, "inserts": 200, "rows_deleted": 1000, "deletes": 200})
	metrics("rows", workload.Result{Metrics: []workload.Metric{{Name: "rows", Value: rowsOf(t, target)}}}, map[string]float64{"rows": 10200})
	for _, rate := range rates {
		for _, name := range []string{"qr", "qp"} {
			what := fmt.Sprint(name, rate)
			result := step(name, block{"insert_rate": rate})
			metrics(what, result, map[string]float64{"target_rate": float64(2 * rate)})
			if rows := workloadtest.Metric(t, result, "rows_inserted"); rows == 0 || rows > float64(2*rate) {
				t.Errorf("%s: %v rows were inserted in a second", what, rows)
			}
			inserts, deletes := workloadtest.Metric(t, result, "inserts"), workloadtest.Metric(t, result, "deletes")
			if deletes == 0 || deletes > inserts+2*maxLead || inserts > deletes+2*maxLead {
				t.Errorf("%s: %v inserts and %v deletes", what, inserts, deletes)
			}
			least := 8.0
			if target.Flavour == "postgres" {
				least = 4 // connections leave gaps of up to a thousand keys
			}
			if read := workloadtest.Metric(t, result, "rows_read") / workloadtest.Metric(t, result, "queries"); read < least || read > 10 {
				t.Errorf("%s: a query read %v rows, want %v to 10", what, read, least)
			}
			plans(t, what, result)
		}
	}
}

// plans checks that the server does what the benchmark is about.
func plans(t *testing.T, what string, result workload.Result) {
	t.Helper()
	want := 2
	if strings.HasPrefix(what, "qr") {
		want = 4
	}
	if len(result.Plans) != want {
		t.Errorf("%s: %d plans are kept, want %d", what, len(result.Plans), want)
	}
	for _, plan := range result.Plans {
		if plan.Query != primary && plan.Query != deleteOperation.Name && !indexOnly(plan.Text) {
			t.Errorf("%s: query of index %s does not read the index alone:\n%s", what, plan.Query, plan.Text)
		}
	}
}

// indexOnly reports whether a plan reads an index alone, in the words of MariaDB,
// MySQL or PostgreSQL.
func indexOnly(plan string) bool {
	for _, words := range []string{"Using index", "Covering index", "Index Only Scan"} {
		if strings.Contains(plan, words) {
			return true
		}
	}
	return false
}

func rowsOf(t *testing.T, target workload.Target) float64 {
	t.Helper()
	var total int64
	err := client.Session(t.Context(), target, database, func(conn *client.Conn) error {
		for n := 1; n <= 2; n++ {
			rows, err := conn.Int("SELECT COUNT(*) FROM " + tableName(n))
			if err != nil {
				return err
			}
			total += rows
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(total)
}

// modernConformance checks that the rows which the steps leave are a function of
// the seed, whatever the clients.
func modernConformance(t *testing.T, target workload.Target) {
	columns := "SELECT COUNT(*), SUM(" + checksum(target, "CONCAT_WS(',', cashregisterid, customerid, productid, price, data)") + ") FROM "
	data := columns + inDatabase(target, 1) + " UNION ALL " + columns + inDatabase(target, 2)
	workloadtest.Suite{
		Type:       Type(),
		Database:   database,
		Prepare:    block{"step": "l.i0", "tables": 2, "rows": 6000},
		Others:     []block{{"clients": 4}, {"partitions": 2}},
		Seed:       block{"seed": 2},
		Data:       data,
		Work:       block{"step": "qp", "tables": 2, "rows": 6000, "insert_rate": 1000, "htap_seconds": 0.1, "seconds": 60},
		Interrupts: 4,
	}.Run(t, target)
	var left []string
	for _, clients := range []int{1, 2} {
		common := block{"tables": 2, "clients": clients, "rows": 6000, "insert_rows": 2000, "htap_seconds": 0.05}
		for _, step := range []string{"l.i0", "l.x", "l.i1", "l.i2"} {
			run(t, target, common, block{"step": step})
		}
		err := client.Session(t.Context(), target, database, func(conn *client.Conn) error {
			_, rows, err := conn.Rows(data)
			left = append(left, fmt.Sprint(rows))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(left[0], left[1]); diff != "" {
		t.Errorf("with two clients other rows are left (-one +two):\n%s", diff)
	}
}

// sharedTable checks that clients may have a table together.
func sharedTable(t *testing.T, target workload.Target) {
	common := block{"tables": 1, "clients": 3, "rows": 6000, "insert_rows": 2000}
	for _, step := range []string{"l.i0", "l.x", "l.i1", "l.i2"} {
		result := run(t, target, common, block{"step": step})
		if step != "l.i1" {
			continue
		}
		// In PostgreSQL a client that waited for another to delete its rows
		// deletes none in their place.
		deleted := workloadtest.Metric(t, result, "rows_deleted")
		if deleted != 1600 && (target.Flavour != "postgres" || deleted < 400) {
			t.Errorf("%v rows were deleted, want 1600", deleted)
		}
	}
}
