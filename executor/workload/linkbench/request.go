package linkbench

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// A request is one operation with its parameters, and what came of it. It is
// used again and again.
type request struct {
	op   operation
	id   int64 // of the node, or that a link starts from
	typ  int64 // of links
	id2  int64
	ids  []int64 // id2 of a multiget
	data []byte
	now  time.Time

	insert bool  // a link is to be inserted, else updated
	newest int64 // a list has links of up to that time, in ms
	skip   int64 // and leaves out so many

	rows   int64 // that came back
	oldest int64 // time of the last link of a list
}

// Outcomes of writing a link that make the fork's client try the other way.
var (
	errExists  = errors.New("the link exists")
	errMissing = errors.New("the link does not exist")
)

// A store sends requests in the way of one of the two clients. Links are written
// in transactions, which it commits. After an error the transaction is open.
type store interface {
	do(*request) error
}

// A maker makes the requests of one requester.
type maker struct {
	config *config
	graph  *graph
	access *access
	random *rand.Rand
	lists  history

	addedLink, updatedLink, addedNode, updatedNode *generator
}

func newMaker(c *config, g *graph, a *access, random *rand.Rand) *maker {
	links, nodes := linkPayload(c.linkSize, c.bugCompat), nodePayload(c.nodeSize)
	return &maker{
		config: c, graph: g, access: a, random: random,
		addedLink: links.generator(random), updatedLink: links.generator(random),
		addedNode: nodes.generator(random), updatedNode: nodes.generator(random),
	}
}

// olderChance is the probability that a list goes on where an earlier one ended.
const olderChance = 0.003

// next makes the next request.
func (m *maker) next(r *request) {
	*r = request{op: m.config.mix.choose(100 * m.random.Float64()), ids: r.ids[:0], newest: math.MaxInt64}
	if r.op == getLinksList && m.random.Float64() < olderChance && m.lists.older(r, m.random) {
		return
	}
	switch r.op {
	case addNode:
		r.data = m.addedNode.next(m.random)
		r.now = time.Now()
		return
	case updateNode:
		r.data = m.updatedNode.next(m.random)
		r.now = time.Now()
	}
	r.id = m.access.id(r.op, m.random)
	if r.op < addNode {
		m.link(r)
	}
}

// link makes the parts of a request about links.
func (m *maker) link(r *request) {
	typ := m.random.Int64N(m.graph.types)
	r.typ = firstLinkType + typ
	if r.op == countLink || r.op == getLinksList {
		return
	}
	e := ends{m.config.original, r.id, m.graph.nodes, m.graph.links(r.id, typ)}
	if r.op == multigetLink {
		r.ids = e.many(r.ids, m.random, multigetSize(m.random, m.config.bugCompat), r.op.chance())
		return
	}
	r.id2 = e.one(m.random, r.op.chance())
	switch r.op {
	case addLink:
		r.insert, r.data = true, m.addedLink.next(m.random)
	case updateLink:
		r.data = m.updatedLink.next(m.random)
	}
	r.now = time.Now()
}
