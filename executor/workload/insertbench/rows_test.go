package insertbench

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stamp is the time of batches in golden files.
var stamp = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

// TestInsertText holds the text of a batch: a change of the data is a change of
// the workload's version.
func TestInsertText(t *testing.T) {
	g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}}
	g.start(1, streamLoad+1, 0)
	got := g.appendInsert(nil, "pi1", 3, stamp)
	golden(t, "insert.sql", append(got, '\n'))
	if version != 1 {
		t.Error("the version was raised: see that the golden file was made anew for a reason")
	}
}

func TestGeneratorBatches(t *testing.T) {
	text := newRandomText(1)
	batch := func(seed int64, stream, number uint64) string {
		g := generator{text: text, shape: dataShape{10, 20, 50}}
		g.start(1, 0, 99) // what was before does not matter
		g.below(10)
		g.start(seed, stream, number)
		return string(g.appendInsert(nil, "t", 2, time.Unix(0, 0)))
	}
	if once, again := batch(1, 2, 3), batch(1, 2, 3); once != again {
		t.Error("the same batch has other rows the second time")
	}
	seen := map[string]bool{}
	for seed := range int64(3) {
		for stream := range uint64(3) {
			for number := range uint64(3) {
				seen[batch(seed, stream, number)] = true
			}
		}
	}
	if len(seen) != 27 {
		t.Errorf("27 batches are only %d different ones", len(seen))
	}
}

func TestData(t *testing.T) {
	text := []byte("0123456789")
	for _, test := range []struct {
		shape dataShape
		want  []string
	}{
		{dataShape{0, 0, 50}, []string{""}},
		{dataShape{1, 1, 50}, []string{"a"}},
		{dataShape{8, 8, 50}, []string{"aaaaa012", "aaaaa123", "aaaaa789"}},
		{dataShape{4, 4, 0}, []string{"aaaa"}},
		{dataShape{4, 4, 100}, []string{"a012", "a789"}},
	} {
		g := generator{text: text, shape: test.shape}
		g.start(1, 1, 1)
		seen := map[string]bool{}
		for range 1000 {
			g.draw(1)
			seen[string(g.appendData(nil, g.offsets[0]))] = true
		}
		for _, want := range test.want {
			if !seen[want] {
				t.Errorf("%+v: %q never came", test.shape, want)
			}
		}
		if random := test.shape.randomPart(test.shape.longest); random > 0 && len(seen) != len(text)-random+1 {
			t.Errorf("%+v: %d values came, want one for each place in the text", test.shape, len(seen))
		}
	}
}

func TestPrice(t *testing.T) {
	for hundredths, want := range map[uint64]string{0: "0.00", 7: "0.07", 99: "0.99", 100: "1.00", 100499: "1004.99"} {
		if got := string(appendPrice(nil, hundredths)); got != want {
			t.Errorf("%d hundredths are %s, want %s", hundredths, got, want)
		}
	}
	g := generator{}
	g.start(1, 1, 1)
	var low, high uint64 = 1 << 60, 0
	for range 100000 {
		got := g.hundredths(1000)
		low, high = min(low, got), max(high, got)
	}
	if low != 1000 || high != 1500 {
		t.Errorf("prices of customer 1000 are from %d to %d hundredths, want 1000 to 1500", low, high)
	}
}

// TestShare checks that clients share all batches of all tables, none twice.
func TestShare(t *testing.T) {
	for _, test := range []struct{ tables, clients int }{{1, 1}, {4, 4}, {4, 2}, {4, 1}, {1, 3}, {2, 6}} {
		c := config{tables: test.tables, clients: test.clients, rows: 1003, rowsPerCommit: 10}
		var got, want []string
		var rows int64
		for n := range test.clients {
			for b := range c.fill(c.share(n), 100, c.loadRows) {
				got = append(got, fmt.Sprint(b))
				rows += b.rows
			}
		}
		for table := 1; table <= test.tables; table++ {
			left := c.loadRows(table)
			for number := uint64(0); left > 0; number++ {
				want = append(want, fmt.Sprint(batch{table, 100 + uint64(table), number, min(left, 10)}))
				left -= 10
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d tables, %d clients (-want +got):\n%s", test.tables, test.clients, diff)
		}
		if rows != c.rows {
			t.Errorf("%d tables have %d rows, want %d", test.tables, rows, c.rows)
		}
	}
}

// TestEndless checks that a client takes its tables in turn.
func TestEndless(t *testing.T) {
	c := config{tables: 4, clients: 2, rowsPerCommit: 10}
	var got []batch
	for b := range c.endless(c.share(1), 100) {
		if got = append(got, b); len(got) == 3 {
			break
		}
	}
	want := []batch{{2, 100, 0, 10}, {4, 100, 1, 10}, {2, 100, 2, 10}}
	if !slices.Equal(want, got) {
		t.Errorf("the batches are %v, want %v", got, want)
	}
}

// classicData is the hash of what the classic profile sends, made by the first
// version of the workload. Another profile may come, but not another hash: it is
// the promise of the version.
const classicData = "976d30d8c59417c9"

// TestClassicData holds all that a load and a query phase send to the hash.
func TestClassicData(t *testing.T) {
	hash := fnv.New64a()
	text := newRandomText(7)
	now := stamp
	c := config{profile: classic, step: stepQuery, tables: 3, clients: 2, rows: 1003, rowsPerCommit: 10, indexes: 3, rowsPerQuery: 10, insertRate: 1000, seconds: 60}
	g := generator{text: text, shape: dataShape{10, 20, 50}}
	send := func(b batch) {
		g.start(7, b.stream, b.number)
		hash.Write(g.appendInsert(nil, tableName(b.table), b.rows, now))
	}
	load := c
	load.clients = 1
	for b := range load.fill(load.share(0), streamLoad, load.loadRows) {
		send(b)
	}
	for n := range c.clients {
		stream := mix(c.pass(2) + uint64(n))
		sent := 0
		for b := range c.endless(c.share(n), streamWrite+stream) {
			if send(b); sent == 99 {
				break
			}
			sent++
		}
		g.start(7, streamRead+stream, 0)
		queries := c.rangeQueries("pi1")
		for range 100 {
			hash.Write(drawn(queries[g.below(3)], &g))
		}
	}
	if got := fmt.Sprintf("%016x", hash.Sum64()); got != classicData {
		t.Errorf("the hash of the data is %s, want %s", got, classicData)
	}
}

func TestRandomText(t *testing.T) {
	one := newRandomText(1)
	if !bytes.Equal(one, newRandomText(1)) || bytes.Equal(one, newRandomText(2)) {
		t.Error("the text does not depend on the seed alone")
	}
	if bytes.ContainsAny(one, `'"\`) {
		t.Error("the text would have to be quoted")
	}
}

// drawn returns a query with random values.
func drawn(q query, g *generator) []byte {
	q.draw(g)
	return q.append(nil)
}

func TestAppendNumber(t *testing.T) {
	for n := range uint64(1000000) {
		if got, want := string(appendNumber(nil, n)), strconv.FormatUint(n, 10); got != want {
			t.Fatalf("%d is written %s", n, got)
		}
	}
}

func TestAppendData(t *testing.T) {
	g := generator{text: newRandomText(1)}
	for _, length := range []int{0, 1, 63, 64, 65, 200, dataColumn} {
		g.shape = dataShape{length, length, 50}
		random := length * 3 / 8
		want := strings.Repeat("a", length-random) + string(g.text[7:7+random])
		if diff := cmp.Diff(want, string(g.appendData(nil, 7))); diff != "" {
			t.Errorf("%d bytes (-want +got):\n%s", length, diff)
		}
	}
}
