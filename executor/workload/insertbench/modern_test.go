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
	for _, b := range []block{{}, {"engine": "rocksdb", "partitions": 3, "rows": 1000, "insert_rows": 500, "later_rows": 200}} {
		b["step"] = "l.i0"
		c, faults := decode(arguments(t, b), matrix.Build{})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		show(c.createTable(1, "mariadb"))
		for _, statement := range c.alterTable(1) {
			show(statement)
		}
	}
	c := config{profile: modern, indexes: 3, rowsPerQuery: 10, tables: 1}
	g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}, whole: true}
	g.start(1, streamLoad+1, 0)
	show(string(g.appendInsert(nil, "pi1", 2, stamp)))
	show(string(appendDelete(nil, "pi1", 4711, 50)))
	for _, q := range c.rangeQueries("pi1") {
		show(string(q.append(nil, &g)))
	}
	ends := newLowEnds([]int64{0, 1000})
	point := c.pointQuery(1, &ends[1])
	point.high = 2000
	show(string(point.append(nil, &g)))
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
			var key int64
			text := string(q.append(nil, &g))
			if _, err := fmt.Sscanf(text[strings.IndexByte(text, '('):], "(%d)", &key); err != nil {
				t.Fatal(err)
			}
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
	if more["engine"] == "rocksdb" {
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
			if read := workloadtest.Metric(t, result, "rows_read") / workloadtest.Metric(t, result, "queries"); read < 8 || read > 10 {
				t.Errorf("%s: a query read %v rows, want a little under 10", what, read)
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
		indexOnly := strings.Contains(plan.Text, "Using index") || strings.Contains(plan.Text, "Covering index")
		if plan.Query != primary && plan.Query != deleteOperation.Name && !indexOnly {
			t.Errorf("%s: query of index %s does not read the index alone:\n%s", what, plan.Query, plan.Text)
		}
	}
}

func rowsOf(t *testing.T, target workload.Target) float64 {
	t.Helper()
	var total int64
	err := client.Session(t.Context(), target, database, func(conn *client.Conn) error {
		for n := 1; n <= 2; n++ {
			rows, err := countTable(conn, n)
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
	const data = "SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', cashregisterid, customerid, productid, price, data))) FROM ib."
	workloadtest.Suite{
		Type:       Type(),
		Prepare:    block{"step": "l.i0", "tables": 2, "rows": 6000},
		Others:     []block{{"clients": 4}, {"partitions": 2}},
		Seed:       block{"seed": 2},
		Data:       data + "pi1 UNION ALL " + data + "pi2",
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
			_, rows, err := conn.Rows(data + "pi1 UNION ALL " + data + "pi2")
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

// modernData checks the tables that l.x leaves, and that l.i1 deletes from their
// low ends.
func modernData(t *testing.T, target workload.Target) {
	common := block{"rows": 20000, "insert_rows": 10000, "resync_min": 10}
	run(t, target, common, block{"step": "l.i0"})
	x := run(t, target, common, block{"step": "l.x"})
	if got := workloadtest.Metric(t, x, "rows_inserted"); got != 20100 {
		t.Errorf("%v rows were indexed, want 20100", got)
	}
	conn, err := client.Open(t.Context(), target, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	value := func(query, want string) {
		t.Helper()
		if got, err := conn.Text(query); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", query, got, err, want)
		}
	}
	value("SELECT CONCAT_WS(' ', MIN(price), MAX(price), COUNT(DISTINCT price)) FROM pi1", "0 499 500")
	// A uniform price has its mean within 5 standard errors.
	value("SELECT ABS(AVG(price) - 249.5) < 5 * 500 / SQRT(12 * 20100) FROM pi1", "1")
	// It has nothing to do with the customer.
	value(`SELECT ABS((AVG(price * customerid) - AVG(price) * AVG(customerid)) / (STDDEV_POP(price) * STDDEV_POP(customerid))) < 0.05 FROM pi1`, "1")
	value("SELECT data_type FROM information_schema.columns WHERE table_schema = 'ib' AND table_name = 'pi1' AND column_name = 'price'", "int")
	value("SELECT GROUP_CONCAT(DISTINCT index_name ORDER BY LOWER(index_name)) FROM information_schema.statistics WHERE table_schema = 'ib' AND table_name = 'pi1'",
		"pi1_marketsegment,pi1_pdc,pi1_registersegment,PRIMARY")
	run(t, target, common, block{"step": "l.i1"})
	value("SELECT COUNT(*) FROM pi1", "20100")
	value("SELECT MIN(transactionid) FROM pi1", "8001")
	run(t, target, common, block{"step": "l.i2", "delete_per_insert": false})
	value("SELECT COUNT(*) FROM pi1", "22100")

	run(t, target, common, block{"step": "l.i0"})
	if _, err := conn.Exec("DELETE FROM pi1"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"l.i1", "qp"} {
		_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": step})
		if err == nil || !strings.Contains(err.Error(), "a phase with the step l.i0 must come before") {
			t.Errorf("%s of an empty table: the error is %v", step, err)
		}
	}
	_, err = workloadtest.Try(t.Context(), t, Type(), target, block{"step": "l.x", "rows": 20000})
	if err == nil || !strings.Contains(err.Error(), "table pi1 has 100 rows, not the 20100") {
		t.Errorf("l.x of an empty table: the error is %v", err)
	}
}

// sharedTable checks that clients may have a table together.
func sharedTable(t *testing.T, target workload.Target) {
	common := block{"tables": 1, "clients": 3, "rows": 6000, "insert_rows": 2000}
	for _, step := range []string{"l.i0", "l.x", "l.i1", "l.i2"} {
		result := run(t, target, common, block{"step": step})
		if step == "l.i1" && workloadtest.Metric(t, result, "rows_deleted") != 1600 {
			t.Errorf("%v rows were deleted, want 1600", workloadtest.Metric(t, result, "rows_deleted"))
		}
	}
}
