package insertbench

import (
	"bytes"
	"compress/zlib"
	"database/sql/driver"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// A ledger asks what is in the tables.
type ledger struct {
	t    *testing.T
	conn *client.Conn
}

func openLedger(t *testing.T, target workload.Target) ledger {
	t.Helper()
	conn, err := client.Open(t.Context(), target, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return ledger{t, conn}
}

func (l ledger) text(query string) string {
	l.t.Helper()
	if l.conn.Postgres() {
		query = strings.ReplaceAll(query, " DIV ", " / ")
	}
	text, err := l.conn.Text(query)
	if err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	return text
}

func (l ledger) number(query string) float64 {
	l.t.Helper()
	value, err := strconv.ParseFloat(l.text(query), 64)
	if err != nil {
		l.t.Fatal(err)
	}
	return value
}

// correlation returns that of two columns.
func (l ledger) correlation(one, two string) float64 {
	l.t.Helper()
	return l.number(strings.NewReplacer("one", one, "two", two).Replace(
		"SELECT (AVG(one * two) - AVG(one) * AVG(two)) / (STDDEV_POP(one) * STDDEV_POP(two)) FROM pi1"))
}

// A spread is how the values of an expression are to be spread.
type spread struct {
	expression  string
	least, most float64 // of single values
	mean, sigma float64
}

// check compares a spread with that of count rows of the first table.
func (l ledger) check(s spread, count float64) {
	l.t.Helper()
	const slack = 0.02 // of a float price in hundredths
	if least := l.number("SELECT MIN(" + s.expression + ") FROM pi1"); least < s.least-slack {
		l.t.Errorf("%s: the least is %v, want %v or more", s.expression, least, s.least)
	}
	if most := l.number("SELECT MAX(" + s.expression + ") FROM pi1"); most > s.most+slack {
		l.t.Errorf("%s: the greatest is %v, want %v or less", s.expression, most, s.most)
	}
	// The mean of uniform values lies within 5 standard errors.
	mean := l.number("SELECT AVG(" + s.expression + ") FROM pi1")
	if off := math.Abs(mean - s.mean); off > 5*s.sigma/math.Sqrt(count)+slack {
		l.t.Errorf("%s: the mean is %v, want %v", s.expression, mean, s.mean)
	}
}

// loadedData checks the rows of the classic profile, in three partitions, against
// the benchmark's specification.
func loadedData(t *testing.T, target workload.Target, more block) {
	t.Helper()
	const rows, tables, count = 60001, 2, 30001.0
	load := block{"step": "load", "tables": tables, "rows": rows, "later_rows": 89899}
	maps.Copy(load, more)
	workloadtest.Do(t, Type(), target, load)
	l := openLedger(t, target)
	for n, want := range []float64{count, count - 1} {
		if got := l.number("SELECT COUNT(*) FROM " + tableName(n+1)); got != want {
			t.Errorf("table %s has %v rows, want %v", tableName(n+1), got, want)
		}
	}
	for _, s := range []spread{
		{"transactionid", 1, count, (count + 1) / 2.0, 0},
		{"cashregisterid", 0, 999, 499.5, 1000 / math.Sqrt(12)},
		{"customerid", 0, 99999, 49999.5, 100000 / math.Sqrt(12)},
		{"productid", 0, 9999, 4999.5, 10000 / math.Sqrt(12)},
		{"price", 0, 1005, 502.495, 1000 / math.Sqrt(12)},
		{"price * 100 - customerid", 0, 500, 250, 500 / math.Sqrt(12)},
		{"LENGTH(data)", 10, 20, 15, math.Sqrt(10)},
	} {
		l.check(s, count)
	}
	// The price is mostly the customer: corr = sigma(customer)/sigma(price x 100).
	if correlation := l.correlation("price", "customerid"); correlation < 0.9999 {
		t.Errorf("price and customerid have a correlation of %v, want above 0.9999", correlation)
	}
	for _, pair := range [][2]string{{"cashregisterid", "customerid"}, {"productid", "customerid"}, {"cashregisterid", "productid"}, {"LENGTH(data)", "customerid"}} {
		if got := l.correlation(pair[0], pair[1]); math.Abs(got) > 5/math.Sqrt(count) {
			t.Errorf("%s and %s have a correlation of %v, want none", pair[0], pair[1], got)
		}
	}
	if batches := l.number("SELECT MAX(n) FROM (SELECT COUNT(DISTINCT dateandtime) AS n FROM pi1 GROUP BY (transactionid - 1) DIV 100) AS b"); batches != 1 {
		t.Errorf("a batch has up to %v times, want one", batches)
	}
	if both := l.number("SELECT COUNT(*) FROM pi1 JOIN pi2 USING (transactionid) WHERE pi1.customerid = pi2.customerid"); both > 10 {
		t.Errorf("%v rows of the two tables have the same customer, want about one", both)
	}
	l.payload()
	l.partitions([]float64{24999, 5002, 0})
	l.indexes(map[string]string{
		"marketsegment": "price, customerid", "registersegment": "cashregisterid, price, customerid", "pdc": "price, dateandtime, customerid",
	})
}

// payload checks the values of the column data.
func (l ledger) payload() {
	l.t.Helper()
	// Of a value of length n the last floor(n * 3/8) characters are random.
	letters := l.number("SELECT COUNT(*) FROM pi1 WHERE data LIKE CONCAT(REPEAT('a', LENGTH(data) - LENGTH(data) * 3 DIV 8), '%')")
	if all := l.number("SELECT COUNT(*) FROM pi1"); letters != all {
		l.t.Errorf("%v of %v values begin with their share of letters a, want all", letters, all)
	}
	distinct := l.number("SELECT COUNT(DISTINCT RIGHT(data, 7)) FROM pi1 WHERE LENGTH(data) = 20")
	if all := l.number("SELECT COUNT(*) FROM pi1 WHERE LENGTH(data) = 20"); distinct < 0.99*all {
		l.t.Errorf("%v of %v random parts differ, want nearly all", distinct, all)
	}
	var values, packed bytes.Buffer
	random := 0
	_, err := l.conn.Query("SELECT data FROM pi1", func(row []driver.Value) error {
		value := client.Text(row[0])
		random += len(value) * 3 / 8
		values.WriteString(value)
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(values.Bytes()); err != nil {
		l.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		l.t.Fatal(err)
	}
	// A random character has six bits; beside them a run of letters a takes
	// about a byte and a half.
	least := float64(random) * 6 / 8 / float64(values.Len())
	if ratio := float64(packed.Len()) / float64(values.Len()); ratio < least || ratio > least+0.15 {
		l.t.Errorf("zlib compresses the column data to %.3f of it, want %.3f to %.3f", ratio, least, least+0.15)
	}
}

// partitions checks how many rows are in each.
func (l ledger) partitions(want []float64) {
	l.t.Helper()
	var got []float64
	for n := range want {
		partition := fmt.Sprintf("pi1 PARTITION (p%d)", n)
		if l.conn.Postgres() {
			partition = fmt.Sprintf("pi1_p%d", n)
		}
		got = append(got, l.number("SELECT COUNT(*) FROM "+partition))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("rows by partition (-want +got):\n%s", diff)
	}
}

// indexes checks the columns of the secondary indexes, whose names begin with
// that of the table in some profiles and servers.
func (l ledger) indexes(want map[string]string) {
	l.t.Helper()
	question := "SELECT index_name, GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ') FROM information_schema.statistics" +
		" WHERE table_schema = 'ib' AND table_name = 'pi1' GROUP BY index_name"
	if l.conn.Postgres() {
		question = "SELECT indexname, SUBSTRING(indexdef FROM '\\((.*)\\)$') FROM pg_indexes WHERE tablename = 'pi1'"
	}
	_, rows, err := l.conn.Rows(question)
	if err != nil {
		l.t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range rows {
		got[strings.TrimPrefix(row[0], "pi1_")] = row[1]
	}
	for _, name := range []string{primary, "pkey"} {
		if key, found := got[name]; found && key != keyColumn {
			l.t.Errorf("the primary key is %s", key)
		}
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("indexes (-want +got):\n%s", diff)
	}
}

// modernData checks the tables that l.x leaves, and that l.i1 deletes from their
// low ends.
func modernData(t *testing.T, target workload.Target, more block) {
	t.Helper()
	common := block{"rows": 20000, "insert_rows": 10000, "resync_min": 10}
	maps.Copy(common, more)
	run(t, target, common, block{"step": "l.i0"})
	x := run(t, target, common, block{"step": "l.x"})
	if got := workloadtest.Metric(t, x, "rows_inserted"); got != 20100 {
		t.Errorf("%v rows were indexed, want 20100", got)
	}
	l := openLedger(t, target)
	value := func(query, want string) {
		t.Helper()
		if got := l.text(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	value("SELECT CONCAT_WS(' ', MIN(price), MAX(price), COUNT(DISTINCT price)) FROM pi1", "0 499 500")
	l.check(spread{"price", 0, 499, 249.5, 500 / math.Sqrt(12)}, 20100)
	// It has nothing to do with the customer.
	if got := l.correlation("price", "customerid"); math.Abs(got) > 5/math.Sqrt(20100) {
		t.Errorf("price and customerid have a correlation of %v, want none", got)
	}
	kind := l.text("SELECT data_type FROM information_schema.columns WHERE table_schema = '" + (&config{postgres: l.conn.Postgres()}).schema() +
		"' AND table_name = 'pi1' AND column_name = 'price'")
	if !slices.Contains([]string{"int", "integer"}, kind) {
		t.Errorf("the price is of the type %s", kind)
	}
	l.indexes(map[string]string{
		"marketsegment": "productid, customerid, price", "registersegment": "cashregisterid, customerid, price", "pdc": "price, dateandtime, customerid",
	})
	run(t, target, common, block{"step": "l.i1"})
	value("SELECT COUNT(*) FROM pi1", "20100")
	value("SELECT MIN(transactionid) FROM pi1", "8001")
	run(t, target, common, block{"step": "l.i2", "delete_per_insert": false})
	value("SELECT COUNT(*) FROM pi1", "22100")

	l.conn.Close()
	run(t, target, common, block{"step": "l.i0"})
	emptied := openLedger(t, target)
	if _, err := emptied.conn.Exec("DELETE FROM pi1"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"l.i1", "qp"} {
		_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": step})
		if err == nil || !strings.Contains(err.Error(), "a phase with the step l.i0 must come before") {
			t.Errorf("%s of an empty table: the error is %v", step, err)
		}
	}
	_, err := workloadtest.Try(t.Context(), t, Type(), target, block{"step": "l.x", "rows": 20000, "engine": engineOf(more)})
	if err == nil || !strings.Contains(err.Error(), "table pi1 has 100 rows, not the 20100") {
		t.Errorf("l.x of an empty table: the error is %v", err)
	}
}

func engineOf(b block) string {
	if engine, ok := b["engine"].(string); ok {
		return engine
	}
	return "innodb"
}
