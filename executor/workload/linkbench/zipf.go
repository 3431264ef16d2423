package linkbench

import "math"

// A zipf is a Zipf distribution of ranks 0 .. n-1, the first being the most
// likely: the method of Gray et al., Quickly Generating Billion-Record Synthetic
// Databases (1994).
type zipf struct {
	n                int64
	zeta, alpha, eta float64
	second           float64 // bound of p x zeta for the rank 1
}

// newZipf returns the distribution of n ranks, at least one, with a shape
// between 0 and 1.
func newZipf(n int64, shape float64) zipf {
	zeta := harmonic(n, shape)
	return zipf{
		n:      n,
		zeta:   zeta,
		alpha:  1 / (1 - shape),
		eta:    (1 - math.Pow(2/float64(n), 1-shape)) / (1 - harmonic(2, shape)/zeta),
		second: 1 + math.Pow(0.5, shape),
	}
}

// rank returns the rank at p, which is in [0, 1).
func (z *zipf) rank(p float64) int64 {
	switch {
	case p*z.zeta < 1:
		return 0
	case p*z.zeta < z.second:
		return min(1, z.n-1)
	}
	rank := int64(float64(z.n) * math.Pow(z.eta*p-z.eta+1, z.alpha))
	return min(rank, z.n-1)
}

// exactTerms is up to how many terms a harmonic number is summed up.
const exactTerms = 100000

// harmonic returns the generalised harmonic number of n terms, for shapes below
// 1. The constant of the approximation is the original's.
func harmonic(n int64, shape float64) float64 {
	if n < exactTerms {
		sum := 0.0
		for i := range n {
			sum += math.Pow(float64(i+1), -shape)
		}
		return sum
	}
	return math.Pow(float64(n), 1-shape)/(1-shape) + 0.58 - 1/(1-shape)
}
