package linkbench

import (
	"bytes"
	"compress/zlib"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestZipf holds the distributions to the shares of accesses that go to the
// hottest ranks, of ten million.
func TestZipf(t *testing.T) {
	const n = 10000000
	for _, test := range []struct {
		shape            float64
		first            float64 // share of the hottest rank
		hundredth, tenth float64 // of the hottest 1 % and 10 %
	}{
		{shapeRead, 0.00825, 0.376, 0.618},
		{shapeWrite, 0.00404, 0.294, 0.545},
		{shapeNodeRead, 0.00089, 0.176, 0.421},
		{shapeNodeUpdate, 0.00069, 0.162, 0.403},
	} {
		z := newZipf(n, test.shape)
		share := func(k int64) float64 { return shareOf(&z, k) }
		approx(t, "the share of the first", share(1), test.first, 0.00001)
		approx(t, "the share of 1 %", share(n/100), test.hundredth, 0.002)
		approx(t, "the share of 10 %", share(n/10), test.tenth, 0.002)
		if got := z.rank(math.Nextafter(1, 0)); got != n-1 {
			t.Errorf("shape %v: the last rank is %d", test.shape, got)
		}
	}
}

// shareOf returns the share of the accesses that go to the first k ranks: up to
// which p the rank is below k.
func shareOf(z *zipf, k int64) float64 {
	const steps = 1 << 24
	return float64(sort.Search(steps, func(i int) bool { return z.rank(float64(i)/steps) >= k })) / steps
}

func TestZipfOfFew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := int64(1); n <= 4; n++ {
		z := newZipf(n, 0.8)
		for range 1000 {
			if rank := z.rank(random.Float64()); rank < 0 || rank >= n {
				t.Fatalf("of %d ranks, %d", n, rank)
			}
		}
	}
}

// TestHarmonic checks that the approximation takes over where the sum ends.
func TestHarmonic(t *testing.T) {
	approx(t, "H(100000, 0.8)", harmonic(exactTerms, 0.8), harmonic(exactTerms-1, 0.8), 0.02)
	approx(t, "H(2, 0.5)", harmonic(2, 0.5), 1+math.Sqrt(0.5), 1e-12)
}

// TestPayloads holds the data to the ratios by which zlib compresses blocks of it,
// and to the sizes.
func TestPayloads(t *testing.T) {
	for _, test := range []struct {
		name         string
		payload      payload
		median, mean float64
		ratios       [3]float64 // of blocks of 8, 16, 64 KiB
	}{
		{"links", linkPayload(23, true), 23, 37, [3]float64{0.30, 0.27, 0.25}},
		{"nodes", nodePayload(168), 168, 276, [3]float64{0.67, 0.64, 0.62}},
	} {
		random := newRandom(1, streamLinks, 7)
		g := test.payload.generator(random)
		var all []byte
		var sizes []float64
		sum := 0.0
		for len(all) < 4<<20 {
			data := g.next(random)
			all = append(all, data...)
			sizes = append(sizes, float64(len(data)))
			sum += float64(len(data))
		}
		sort.Float64s(sizes)
		approx(t, test.name+": the median", sizes[len(sizes)/2], test.median, 0.03*test.median)
		approx(t, test.name+": the mean", sum/float64(len(sizes)), test.mean, 0.05*test.mean)
		if most := sizes[len(sizes)-1]; most >= float64(test.payload.limit) {
			t.Errorf("%s: a size of %v", test.name, most)
		}
		for i, block := range []int{8 << 10, 16 << 10, 64 << 10} {
			approx(t, test.name+": the ratio", zlibRatio(t, all, block), test.ratios[i], 0.02)
		}
		used := [256]bool{}
		for _, b := range all {
			used[b] = true
		}
		for b := range used {
			if want := b >= int(test.payload.low) && b <= int(test.payload.high); used[b] != want {
				t.Errorf("%s: the byte %d is used: %v, want %v", test.name, b, used[b], want)
			}
		}
	}
}

func zlibRatio(t *testing.T, data []byte, block int) float64 {
	t.Helper()
	compressed := 0
	for at := 0; at+block <= len(data); at += block {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		if _, err := w.Write(data[at : at+block]); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		compressed += b.Len()
	}
	return float64(compressed) / float64(len(data)/block*block)
}

// TestMotifs checks what bug_compat is about: the length of the motifs of links.
func TestMotifs(t *testing.T) {
	for compat, want := range map[bool]int{true: 512, false: 128} {
		if got := linkPayload(23, compat).motif; got != want {
			t.Errorf("bug_compat %v: motifs of %d bytes, want %d", compat, got, want)
		}
	}
}

// mixCritical is the chi-square, of the 9 degrees of freedom that ten operations
// have, that one draw of a thousand exceeds: p = 0.001.
const mixCritical = 27.877

// mixSquare returns the chi-square of counted operations against a mix: the sum
// of the squared differences over the expected counts.
func mixSquare(m *mix, got [operations]float64) float64 {
	all := 0.0
	for _, n := range got {
		all += n
	}
	square := 0.0
	for o, n := range got {
		want := m[o] / 100 * all
		square += (n - want) * (n - want) / want
	}
	return square
}

// TestMix makes a million requests of each profile and holds their operations to
// the mix.
func TestMix(t *testing.T) {
	for _, name := range []string{profileFB2017, profileFB2011, profileModern} {
		c := mustDecode(t, block{"step": "query", "profile": name, "maxid1": 100001})
		sum := 0.0
		for _, percent := range c.mix {
			sum += percent
		}
		approx(t, name+": all shares", sum, 100, 1e-5)
		g := c.graph(c.degrees())
		m := newMaker(&c, g, newAccess(g.nodes, g.shuffler, true), newRandom(1, streamRequests, 0))
		var got [operations]float64
		var r request
		for range 1000000 {
			m.next(&r)
			got[r.op]++
		}
		square := mixSquare(&c.mix, got)
		t.Logf("%s: chi-square is %.2f", name, square)
		if square > mixCritical {
			t.Errorf("%s: chi-square is %.2f, want %v at most: %v", name, square, mixCritical, got)
		}
		// It must tell a mix of which one small share is off by 3 %.
		wrong := c.mix
		wrong[addLink] *= 1.03
		wrong[getLinksList] -= wrong[addLink] - c.mix[addLink]
		if square := mixSquare(&wrong, got); square < mixCritical {
			t.Errorf("%s: against another mix chi-square is %.2f, want more than %v", name, square, mixCritical)
		}
	}
}

// TestRequests makes requests and checks what they ask for.
func TestRequests(t *testing.T) {
	const draws = 300000
	for _, test := range []struct {
		block      block
		existing   map[operation]float64 // share of the links that the load made
		ids, first float64               // of multigets: mean, and the least
	}{
		{block{"profile": profileModern}, map[operation]float64{addLink: 0.05, updateLink: 0.9, deleteLink: 0.9, multigetLink: 0.5}, 3.6, 2},
		{block{"profile": profileModern, "bug_compat": false}, map[operation]float64{addLink: 0.05, updateLink: 0.9, deleteLink: 0.9, multigetLink: 0.5}, 2.6, 1},
	} {
		test.block["step"], test.block["maxid1"] = "query", 100001
		c := mustDecode(t, test.block)
		g := c.graph(c.degrees())
		m := newMaker(&c, g, newAccess(g.nodes, g.shuffler, c.bugCompat), newRandom(1, streamRequests, 0))
		var links, existing [operations]float64
		multigets, asked, least := 0.0, 0.0, 1e9
		check := func(r *request, id2 int64) {
			links[r.op]++
			if id2 >= r.id && id2 < r.id+g.links(r.id, r.typ-firstLinkType) {
				existing[r.op]++
			}
		}
		var r request
		for range draws {
			m.next(&r)
			if r.op != addNode && (r.id < 1 || r.id > g.nodes) {
				t.Fatalf("%s of node %d", r.op.name(), r.id)
			}
			switch r.op {
			case addLink, updateLink, deleteLink:
				check(&r, r.id2)
			case multigetLink:
				for _, id2 := range r.ids {
					check(&r, id2)
				}
				multigets, asked, least = multigets+1, asked+float64(len(r.ids)), min(least, float64(len(r.ids)))
			}
		}
		for op, want := range test.existing {
			approx(t, op.name()+": links that exist", existing[op]/links[op], want, 0.02)
		}
		approx(t, "ids of a multiget", asked/multigets, test.ids, 0.05)
		if least != test.first {
			t.Errorf("%v: a multiget asks for %v ids, want %v at least", test.block, least, test.first)
		}
	}
}

// TestEnds checks the ranges from which the original client takes ids, and that a
// multiget has no id twice.
func TestEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	e := ends{original: true, id: 100, ids: 1000, links: 9}
	least, most := int64(1000), int64(0)
	for range 10000 {
		id := e.one(random, 0.9)
		least, most = min(least, id), max(most, id)
	}
	if least != 100 || most != 109 {
		t.Errorf("9 links with a chance of 0.9: ids from %d to %d, want 100 to 109", least, most)
	}
	if diff := cmp.Diff([]int64{100, 101, 102, 103}, (ends{original: true, id: 100, ids: 1000, links: 2}).many(nil, random, 4, 0.5)); diff != "" {
		t.Error(diff)
	}
	seen := map[int64]bool{}
	for _, id := range (ends{original: true, id: 100, ids: 1000, links: 10}).many(nil, random, 15, 0.5) {
		if seen[id] {
			t.Errorf("the id %d is there twice", id)
		}
		seen[id] = true
	}
	if id := (ends{original: true, id: 5, ids: 10}).one(random, 0.05); id != 5 {
		t.Errorf("the other end of a node without links is %d, want 5", id)
	}
}

// TestWriteAccess checks by which distribution link writes choose, which is what
// bug_compat is about.
func TestWriteAccess(t *testing.T) {
	const nodes = 1000000
	links := newShuffler(seedLinks, nodes)
	for compat, want := range map[bool]float64{true: 0.8, false: 0.741} {
		a := newAccess(nodes, links, compat)
		hot := 1 + a.linkWrite.uncorrelated.shuffler.permute(0)
		random := rand.New(rand.NewPCG(1, 2))
		const draws = 1000000
		n := 0.0
		for range draws {
			if a.id(updateLink, random) == hot {
				n++
			}
		}
		z := newZipf(nodes, want)
		approx(t, "the share of the hottest id", n/draws, a.linkWrite.share/z.zeta, 0.0005)
	}
}

// TestHistory checks what is remembered of long lists.
func TestHistory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h history
	var r request
	if h.older(&r, random) {
		t.Fatal("a list is known that was never read")
	}
	long := func(id, oldest int64) { h.read(&request{id: id, typ: 1, rows: listLimit, oldest: oldest}, random) }
	h.read(&request{id: 1, typ: 1, rows: listLimit - 1}, random)
	long(2, 50)
	long(2, 60) // its head again: the tail that is known stays
	if !h.older(&r, random) || r.id != 2 || r.newest != 50 || r.skip != 1 {
		t.Errorf("the list that goes on is %+v", r)
	}
	h.read(&request{id: 2, typ: 1, skip: 1, rows: listLimit, oldest: 40}, random)
	if h.older(&r, random); r.newest != 40 {
		t.Errorf("the list goes on at %d, want 40", r.newest)
	}
	h.read(&request{id: 2, typ: 1, skip: 1, rows: 7, oldest: 30}, random)
	if h.older(&r, random) {
		t.Error("a list that has ended goes on")
	}
	for id := range int64(maxHistory + 100) {
		long(id, id)
	}
	if len(h.tails) != maxHistory || len(h.index) != maxHistory {
		t.Errorf("%d lists are known, by %d keys; want %d", len(h.tails), len(h.index), maxHistory)
	}
	for key, at := range h.index {
		if h.tails[at].list != key {
			t.Fatalf("the list %v is known by the key %v", h.tails[at].list, key)
		}
	}
}
