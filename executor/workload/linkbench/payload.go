package linkbench

import (
	"math"
	"math/rand/v2"
)

// A payload says how the data of nodes or links looks: its size is log-normal,
// and its chunks are either fresh random bytes or copied from a motif.
type payload struct {
	median    float64 // size in bytes; the logarithm's standard deviation is 1
	limit     int     // all sizes are below it
	low, high byte    // of all bytes
	unique    float64 // share of the chunks that are fresh
	motif     int     // bytes of the buffer that the others are copied from
}

const (
	maxLinkData = 255
	maxNodeData = 1 << 20

	// motifBytes is the buffer that the original has, and documentedMotif
	// the one that it should have for links.
	motifBytes      = 512
	documentedMotif = 128

	chunkBytes = 128
)

func linkPayload(median float64, bugCompat bool) payload {
	p := payload{median: median, limit: maxLinkData, low: 32, high: 100, unique: 0.225, motif: motifBytes}
	if !bugCompat {
		p.motif = documentedMotif
	}
	return p
}

func nodePayload(median float64) payload {
	return payload{median: median, limit: maxNodeData, low: 50, high: 220, unique: 0.63, motif: motifBytes}
}

// A generator makes payloads. It allocates nothing once it has made a large one.
type generator struct {
	payload
	motifs []byte
	data   []byte
}

// generator returns a generator whose motifs are made from the random numbers.
func (p payload) generator(random *rand.Rand) *generator {
	g := &generator{payload: p, motifs: make([]byte, p.motif)}
	g.fill(random, g.motifs)
	return g
}

// next returns a payload, valid until the next one.
func (g *generator) next(random *rand.Rand) []byte {
	size := g.size(random)
	if size > len(g.data) {
		g.data = make([]byte, size)
	}
	data := g.data[:size]
	for at := 0; at < size; at += chunkBytes {
		chunk := data[at:min(at+chunkBytes, size)]
		if random.Float64() < g.unique {
			g.fill(random, chunk)
		} else {
			copy(chunk, g.motifs[random.IntN(len(g.motifs)-len(chunk)+1):])
		}
	}
	return data
}

func (g *generator) size(random *rand.Rand) int {
	size := math.Round(g.median * math.Exp(random.NormFloat64()))
	return int(min(size, float64(g.limit-1)))
}

// fill fills a buffer with uniform bytes of the payload's range. Each half of a
// 64-bit random number is scaled to it; the bias is below 2^-24.
func (g *generator) fill(random *rand.Rand, b []byte) {
	values := uint64(g.high-g.low) + 1
	for i := 0; i < len(b); i += 2 {
		bits := random.Uint64()
		b[i] = g.low + byte(bits>>32*values>>32)
		if i+1 < len(b) {
			b[i+1] = g.low + byte(bits&math.MaxUint32*values>>32)
		}
	}
}
