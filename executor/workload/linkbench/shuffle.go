package linkbench

// maxGroups is into how many groups the shuffler parts the ids.
const maxGroups = 1024

// Seeds of the shufflers. They are the original's, so that the same ids are hot
// and have many links as there.
const (
	seedLinks        = 20343988438726021
	seedUncorrelated = 53238253823453
	seedNodes        = 4766565305853767165
)

// A shuffler maps ranks to offsets of ids, one to one: the i-th rank belongs to
// the group i mod g, in which it is rotated by a random distance.
type shuffler struct {
	n         int64
	rotations []int64 // by group
}

// newShuffler returns the shuffler of n ids, at least one.
func newShuffler(seed, n int64) *shuffler {
	groups := min(maxGroups, n)
	s := &shuffler{n: n, rotations: make([]int64, groups)}
	random := newJavaRandom(seed)
	for i := range s.rotations {
		s.rotations[i] = int64(random.below(int32(n / groups)))
	}
	return s
}

// permute returns the offset of the id that has the given rank.
func (s *shuffler) permute(rank int64) int64 {
	return s.rotate(rank, s.rotations[rank%s.groups()])
}

// inverse returns the rank of the id at the given offset.
func (s *shuffler) inverse(offset int64) int64 {
	group := offset % s.groups()
	return s.rotate(offset, s.size(group)-s.rotations[group])
}

func (s *shuffler) groups() int64 { return int64(len(s.rotations)) }

// size returns how many ids a group has: the first groups have one more where
// the groups do not part the ids evenly.
func (s *shuffler) size(group int64) int64 {
	size := s.n / s.groups()
	if group < s.n%s.groups() {
		size++
	}
	return size
}

func (s *shuffler) rotate(i, distance int64) int64 {
	groups := s.groups()
	group := i % groups
	return group + groups*((i/groups+distance)%s.size(group))
}

// A javaRandom is the generator of java.util.Random, a linear congruential one
// of 48 bits (Knuth, The Art of Computer Programming, volume 2, 3.2.1).
type javaRandom struct{ state uint64 }

const (
	javaMultiplier = 0x5DEECE66D
	javaIncrement  = 0xB
	javaMask       = 1<<48 - 1
)

func newJavaRandom(seed int64) *javaRandom {
	return &javaRandom{(uint64(seed) ^ javaMultiplier) & javaMask}
}

// next returns the upper 31 bits of the next state.
func (r *javaRandom) next() int32 {
	r.state = (r.state*javaMultiplier + javaIncrement) & javaMask
	return int32(r.state >> 17)
}

// below returns a uniform number in [0, n), as Random.nextInt(n) does.
func (r *javaRandom) below(n int32) int32 {
	if n&(n-1) == 0 { // a power of two: the upper bits are the better ones
		return int32(int64(n) * int64(r.next()) >> 31)
	}
	for {
		bits := r.next()
		value := bits % n
		// Bits of the last, partial n would prefer low values; the sum
		// overflows for those.
		if bits-value+(n-1) >= 0 {
			return value
		}
	}
}
