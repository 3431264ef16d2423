package linkbench

import "math/rand/v2"

// Streams keep the random numbers of different uses apart.
const (
	streamMotifs   = 0x6d6f746966000000
	streamNodes    = 0x6e6f646573000000
	streamLinks    = 0x6c696e6b73000000
	streamRequests = 0x7265717565737400
)

// newRandom returns the random numbers of one part of a use, such as a chunk of
// the links. Parts are independent of each other, so that it does not matter
// who works on which.
func newRandom(seed int64, stream, part uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix64(uint64(seed)^stream), mix64(part+stream)))
}

// mix64 is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014). PCG mixes
// its two words well enough only after some steps.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
