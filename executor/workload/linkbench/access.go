package linkbench

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Shapes of the Zipf distributions by which ids are chosen, and shares of the
// choices for which the hot ids are not those with many links.
const (
	shapeRead       = 0.8
	shapeWrite      = 0.741
	shapeNodeRead   = 0.625
	shapeNodeUpdate = 0.606

	uncorrelatedRead  = 0.995
	uncorrelatedWrite = 0.95
)

// A choice chooses ids: a rank by its popularity, and the id that has it.
type choice struct {
	zipf     zipf
	shuffler *shuffler
}

func (c *choice) id(random *rand.Rand) int64 {
	return 1 + c.shuffler.permute(c.zipf.rank(random.Float64()))
}

// A blend chooses ids by one of two choices.
type blend struct {
	correlated, uncorrelated choice
	share                    float64 // of the uncorrelated
}

func (b *blend) id(random *rand.Rand) int64 {
	if random.Float64() < b.share {
		return b.uncorrelated.id(random)
	}
	return b.correlated.id(random)
}

// An access chooses the ids of all operations. All requesters share it.
type access struct {
	nodes                int64
	linkRead, linkWrite  blend
	nodeRead, nodeUpdate choice
}

func newAccess(nodes int64, links *shuffler, bugCompat bool) *access {
	uncorrelated := newShuffler(seedUncorrelated, nodes)
	blended := func(shape, other, share float64) blend {
		return blend{choice{newZipf(nodes, shape), links}, choice{newZipf(nodes, other), uncorrelated}, share}
	}
	a := &access{nodes: nodes, linkRead: blended(shapeRead, shapeRead, uncorrelatedRead)}
	if bugCompat {
		a.linkWrite = blended(shapeWrite, shapeRead, uncorrelatedRead)
	} else {
		a.linkWrite = blended(shapeWrite, shapeWrite, uncorrelatedWrite)
	}
	ofNodes := newShuffler(seedNodes, nodes)
	a.nodeRead = choice{newZipf(nodes, shapeNodeRead), ofNodes}
	a.nodeUpdate = choice{newZipf(nodes, shapeNodeUpdate), ofNodes}
	return a
}

// id returns the id of a node or, for links, of the node that they start from.
func (a *access) id(o operation, random *rand.Rand) int64 {
	switch o {
	case addLink, deleteLink, updateLink:
		return a.linkWrite.id(random)
	case countLink, multigetLink, getLinksList:
		return a.linkRead.id(random)
	case updateNode:
		return a.nodeUpdate.id(random)
	case getNode:
		return a.nodeRead.id(random)
	}
	return 1 + random.Int64N(a.nodes) // a node to delete
}

// Multigets ask for a geometrically distributed number of ids.
const (
	multigetChance = 0.382
	multigetMost   = 127
)

// multigetSize returns how many ids a multiget asks for.
func multigetSize(random *rand.Rand, bugCompat bool) int {
	p := random.Float64()
	if p == 0 {
		return 1
	}
	trials := math.Log1p(-p) / math.Log1p(-multigetChance)
	if bugCompat {
		return min(multigetMost, 1+int(math.Ceil(trials)))
	}
	return min(multigetMost, 1+int(trials))
}

// chance is the probability that the link of an operation exists after the
// load.
func (o operation) chance() float64 {
	switch o {
	case addLink:
		return 0.05
	case multigetLink:
		return 0.5
	}
	return 0.9 // updates and deletes
}

// ends chooses the other ends of the links of one node and type.
type ends struct {
	original bool
	id, ids  int64 // the node, and how many ids there are
	links    int64 // of the node and type
}

// one returns an id that is linked after the load with the given chance. The
// original client takes it from a range that is as much longer than the list of
// links; the fork from the list or from all ids, of which there is one more: 0.
func (e ends) one(random *rand.Rand, chance float64) int64 {
	if e.original {
		return e.id + random.Int64N(e.span(chance))
	}
	if random.Float64() < chance {
		return e.id + random.Int64N(max(1, e.links))
	}
	return random.Int64N(e.ids + 1)
}

func (e ends) span(chance float64) int64 {
	return max(1, int64(math.Ceil(1/chance*float64(e.links))))
}

// maxUniqueTries is how often the original looks for an id that is not yet in
// the list of a multiget.
const maxUniqueTries = 101

// many appends n ids to a list. Those of the original differ from each other as
// far as that is possible.
func (e ends) many(list []int64, random *rand.Rand, n int, chance float64) []int64 {
	if e.original && e.span(chance) <= int64(n) {
		for i := range n {
			list = append(list, e.id+int64(i))
		}
		return list
	}
	for range n {
		id := e.one(random, chance)
		for try := 1; e.original && try < maxUniqueTries && slices.Contains(list, id); try++ {
			id = e.one(random, chance)
		}
		list = append(list, id)
	}
	return list
}
