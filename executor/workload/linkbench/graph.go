package linkbench

import "sort"

// firstLinkType is the first type of links; the others follow it.
const firstLinkType = 123456789

// A graph says which links the nodes have after the load. It is a function: none
// of it is kept.
type graph struct {
	nodes    int64 // their ids are 1 .. nodes
	types    int64 // of links
	most     int64 // links of a node
	degrees  degrees
	shuffler *shuffler
	share    func(total, types, typ int64) int64 // links of the typ-th type, from 0
	middle   bool                                // see rankLinks
}

// links returns how many links of a type, from 0, the node has.
func (g *graph) links(id, typ int64) int64 {
	return g.share(g.rankLinks(g.shuffler.inverse(id-1)), g.types, typ)
}

// rankLinks returns how many links the node of a rank has; the first rank has
// the most.
func (g *graph) rankLinks(rank int64) int64 {
	at := float64(rank)
	if g.middle {
		at += 0.5
	}
	return min(g.degrees.at(1-at/float64(g.nodes)), g.most)
}

// totals returns how many links there are, and how many pairs of a node and a
// type that have any: the rows of linktable and counttable.
func (g *graph) totals() (links, counts int64) {
	for rank := int64(0); rank < g.nodes; {
		total := g.rankLinks(rank)
		rest := int(g.nodes - rank)
		same := int64(sort.Search(rest, func(i int) bool { return g.rankLinks(rank+int64(i)) < total }))
		for typ := range g.types {
			if n := g.share(total, g.types, typ); n > 0 {
				links += same * n
				counts += same
			}
		}
		rank += same
	}
	return links, counts
}

// equalShare is the fork's: the same for each type, and at least one.
func equalShare(total, types, _ int64) int64 { return max(total, types) / types }

// originalShare is the original's, which adds links: it counts as left over
// what the first type does not have, and gives one of it to each type.
func originalShare(total, types, typ int64) int64 {
	share := total / types
	if typ < total-share {
		share++
	}
	return share
}

// evenShare is what the original was to do: all links shared out among the
// types.
func evenShare(total, types, typ int64) int64 {
	share := total / types
	if typ < total%types {
		share++
	}
	return share
}
