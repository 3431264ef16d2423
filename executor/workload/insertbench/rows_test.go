package insertbench

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestInsertText holds the text of a batch: a change of the data is a change of
// the workload's version.
func TestInsertText(t *testing.T) {
	g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}}
	g.start(1, streamLoad+1, 0)
	got := g.appendInsert(nil, "pi1", 3, time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC))
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
		for n := range test.clients {
			s := c.share(n)
			for _, table := range s.tables {
				for batch := s.first; batch*c.rowsPerCommit < c.tableRows(table); batch += s.stride {
					got = append(got, fmt.Sprint(table, " ", batch))
				}
			}
		}
		var rows int64
		for table := 1; table <= test.tables; table++ {
			rows += c.tableRows(table)
			for batch := int64(0); batch*c.rowsPerCommit < c.tableRows(table); batch++ {
				want = append(want, fmt.Sprint(table, " ", batch))
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

func TestRandomText(t *testing.T) {
	one := newRandomText(1)
	if !bytes.Equal(one, newRandomText(1)) || bytes.Equal(one, newRandomText(2)) {
		t.Error("the text does not depend on the seed alone")
	}
	if bytes.ContainsAny(one, `'"\`) {
		t.Error("the text would have to be quoted")
	}
}
