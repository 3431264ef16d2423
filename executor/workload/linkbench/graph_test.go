package linkbench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func approx(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v +- %v", what, got, want, tolerance)
	}
}

// TestShuffler holds the shufflers to what the original's class, run in Java,
// makes of ten million ids, and of a number that its groups do not part evenly.
func TestShuffler(t *testing.T) {
	for _, test := range []struct {
		name      string
		seed      int64
		rotations []int64           // the first ones, of ten million
		offsets   map[int64]int64   // of ten million, by rank
		uneven    map[int64][]int64 // of 1,000,003: offset and inverse
	}{
		{
			"links", seedLinks, []int64{347, 5629, 1728, 6331},
			map[int64]int64{0: 355328, 1: 5764097, 2: 1769474, 1000: 3268584},
			map[int64][]int64{0: {389120, 611328}, 999999: {596543, 403007}, 1000002: {251458, 748098}},
		},
		{
			"uncorrelated", seedUncorrelated, []int64{5777, 7391, 3650, 7109},
			map[int64]int64{0: 5915648, 1: 7568385, 2: 3737602, 1000: 4527080},
			map[int64][]int64{0: {692224, 308224}, 999999: {361023, 638527}, 1000002: {785986, 213570}},
		},
		{
			"nodes", seedNodes, []int64{6047, 7075, 2965, 3711},
			map[int64]int64{0: 6192128, 1: 7244801, 2: 3036162, 1000: 287720},
			map[int64][]int64{0: {963584, 36864}, 999999: {152127, 847423}, 1000002: {177730, 821826}},
		},
	} {
		s := newShuffler(test.seed, 10000000)
		if diff := cmp.Diff(test.rotations, s.rotations[:4]); diff != "" {
			t.Errorf("%s: rotations (-want +got):\n%s", test.name, diff)
		}
		for rank, want := range test.offsets {
			if got := s.permute(rank); got != want {
				t.Errorf("%s: rank %d has the offset %d, want %d", test.name, rank, got, want)
			}
		}
		s = newShuffler(test.seed, 1000003)
		for i, want := range test.uneven {
			if diff := cmp.Diff(want, []int64{s.permute(i), s.inverse(i)}); diff != "" {
				t.Errorf("%s: offset and rank of %d (-want +got):\n%s", test.name, i, diff)
			}
		}
	}
}

// TestShufflerIsOneToOne checks every rank of some numbers of ids, also such that
// groups have other sizes or one id.
func TestShufflerIsOneToOne(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 1023, 1024, 1025, 2047, 2048, 2050, 5000, 10000, 65537} {
		s := newShuffler(seedLinks, n)
		seen := make([]bool, n)
		for rank := range n {
			offset := s.permute(rank)
			if offset < 0 || offset >= n || seen[offset] {
				t.Fatalf("of %d ids, rank %d has the offset %d, which is none or another's", n, rank, offset)
			}
			seen[offset] = true
			if back := s.inverse(offset); back != rank {
				t.Fatalf("of %d ids, offset %d has the rank %d, want %d", n, offset, back, rank)
			}
		}
	}
}

// TestDegrees holds the distributions to their published means and percentiles.
func TestDegrees(t *testing.T) {
	for _, test := range []struct {
		name         string
		degrees      degrees
		mean         float64
		p50, p75     int64
		p90, p95     int64
		p99, longest int64
		p999, p9999  float64 // thinned: within a tenth
	}{
		{"2017", degrees2017(), 3.85, 1, 1, 2, 4, 25, 3918659, 300, 2940},
		{"2011", degrees2011(), 4.10, 1, 1, 3, 5, 16, 934410, 264, 6051},
	} {
		mean, before := 0.0, 0.0
		for _, p := range test.degrees {
			mean += float64(p.links) * (p.share - before)
			before = p.share
		}
		approx(t, test.name+": the mean", mean, test.mean, 0.01)
		got := []int64{}
		for _, share := range []float64{0.5, 0.75, 0.9, 0.95, 0.99, 1} {
			got = append(got, test.degrees.at(share))
		}
		if diff := cmp.Diff([]int64{test.p50, test.p75, test.p90, test.p95, test.p99, test.longest}, got); diff != "" {
			t.Errorf("%s: percentiles (-want +got):\n%s", test.name, diff)
		}
		approx(t, test.name+": p99.9", float64(test.degrees.at(0.999)), test.p999, 0.25*test.p999)
		approx(t, test.name+": p99.99", float64(test.degrees.at(0.9999)), test.p9999, 0.25*test.p9999)
		if at := test.degrees.at(0); at != test.degrees[0].links {
			t.Errorf("%s: the least number of links is %d, want %d", test.name, at, test.degrees[0].links)
		}
	}
}

// TestShares checks how the links of a node are shared out among the types.
func TestShares(t *testing.T) {
	for _, test := range []struct {
		name  string
		share func(total, types, typ int64) int64
		types int64
		want  map[int64][]int64 // by all links
	}{
		{"fork", equalShare, 2, map[int64][]int64{0: {1, 1}, 1: {1, 1}, 2: {1, 1}, 3: {1, 1}, 7: {3, 3}}},
		{"original", originalShare, 2, map[int64][]int64{0: {0, 0}, 1: {1, 0}, 2: {2, 1}, 3: {2, 2}, 8: {5, 5}}},
		{"original", originalShare, 3, map[int64][]int64{1: {1, 0, 0}, 3: {2, 2, 1}}},
		{"as documented", evenShare, 2, map[int64][]int64{0: {0, 0}, 1: {1, 0}, 2: {1, 1}, 3: {2, 1}}},
	} {
		for total, want := range test.want {
			var got []int64
			for typ := range test.types {
				got = append(got, test.share(total, test.types, typ))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %d links (-want +got):\n%s", test.name, total, diff)
			}
		}
	}
}

// TestGraph checks the totals of large graphs: links and counts a node.
func TestGraph(t *testing.T) {
	const n = 100000000
	for _, test := range []struct {
		profile       string
		links, counts float64
	}{
		{profileModern, 4.588, 2.0},
		{profileFB2011, 4.37, 0.77},
	} {
		c := mustDecode(t, block{"step": "load", "profile": test.profile, "maxid1": n + 1})
		links, counts := c.graph(c.degrees()).totals()
		approx(t, test.profile+": links a node", float64(links)/n, test.links, 0.02)
		approx(t, test.profile+": counts a node", float64(counts)/n, test.counts, 0.005)
	}
}

// TestTotals compares the totals with a sum over all nodes.
func TestTotals(t *testing.T) {
	for _, b := range []block{
		{"profile": profileModern, "maxid1": 10001},
		{"profile": profileFB2011, "maxid1": 10001},
		{"profile": profileFB2011, "maxid1": 10001, "bug_compat": false},
		{"profile": profileFB2017, "maxid1": 3001, "link_types": 3, "max_links": 50},
		{"profile": profileModern, "maxid1": 2},
	} {
		b["step"] = "load"
		c := mustDecode(t, b)
		g := c.graph(c.degrees())
		var links, counts, most int64
		for id := int64(1); id <= g.nodes; id++ {
			for typ := range g.types {
				n := g.links(id, typ)
				links += n
				if n > 0 {
					counts++
				}
				most = max(most, n)
			}
		}
		gotLinks, gotCounts := g.totals()
		if gotLinks != links || gotCounts != counts {
			t.Errorf("%v: the totals are %d links and %d counts, the sums %d and %d", b, gotLinks, gotCounts, links, counts)
		}
		if most > c.maxLinks {
			t.Errorf("%v: a list has %d links, want %d at most", b, most, c.maxLinks)
		}
	}
}

// TestMiddle checks that without bug_compat small graphs have the mean of large
// ones.
func TestMiddle(t *testing.T) {
	c := mustDecode(t, block{"step": "load", "profile": profileModern, "maxid1": 100001, "bug_compat": false})
	links, _ := c.graph(c.degrees()).totals()
	approx(t, "links a node", float64(links)/100000, 4.588, 0.2)
}

func TestParseDegrees(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", "nlinks\n0 40\n1 70.5\n5 100\n", ""},
		{"among others", "x\n9 9 9\nnlinks\n0 40\n1 70.5\n5 99.99999999\n\nlink_nreads\n7 1\n", ""},
		{"none", "link_nreads\n1 100\n", "no section nlinks"},
		{"empty", "nlinks\n", "no section nlinks"},
		{"short", "nlinks\n1 50\n", "ends at 50 %"},
		{"falling", "nlinks\n1 50\n2 40\n", "line 3: the numbers of links and the percentages must rise"},
		{"twice", "nlinks\n1 50\n1 100\n", "line 3: the numbers"},
		{"text", "nlinks\n1 50\nx 100\n", `line 3: "x" is no number of links`},
		{"negative", "nlinks\n-1 50\n", `line 2: "-1" is no number of links`},
		{"above", "nlinks\n1 150\n", `line 2: "150" is no percentage`},
		{"no number", "nlinks\n1 NaN\n", `line 2: "NaN" is no percentage`},
		{"three", "nlinks\n1 2 3\n", "line 2: 3 values"},
	} {
		got, err := parseDegrees(strings.NewReader(test.text))
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: the error is %v, want %q", test.name, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		for share, want := range map[float64]int64{0.1: 0, 0.4: 0, 0.41: 1, 0.705: 1, 0.71: 5, 1: 5} {
			if links := got.at(share); links != want {
				t.Errorf("%s: a share of %v has %d links, want %d", test.name, share, links, want)
			}
		}
	}
}

func FuzzParseDegrees(f *testing.F) {
	f.Add("nlinks\n0 40\n1 70.5\n5 100\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDegrees(strings.NewReader(text))
		if err != nil {
			return
		}
		last := int64(-1)
		for share := 0.0; share <= 1; share += 0.125 {
			links := d.at(share)
			if links < last {
				t.Errorf("a share of %v has %d links, fewer than a smaller share", share, links)
			}
			last = links
		}
	})
}

func TestReadDegrees(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Distribution.dat")
	if _, err := readDegrees(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is not there: the error is %v", err)
	}
	if err := os.WriteFile(path, []byte("nlinks\n3 100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := readDegrees(path)
	if err != nil {
		t.Fatal(err)
	}
	if d.at(0.5) != 3 {
		t.Errorf("the distribution is %v", d)
	}
}
