package report

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// FuzzRoundHalfUp compares the quick way with that in decimal arithmetic, on
// numbers and on halves.
func FuzzRoundHalfUp(f *testing.F) {
	for _, x := range []float64{0, 2.5, 1.005, 0.5, -0.5, -0.004, 1e-9, 1e21, 123456.789, 4503599627370496.5} {
		f.Add(x, uint8(2))
		f.Add(x, uint8(0))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		half, _ := strconv.ParseFloat(strconv.FormatFloat(random.Float64()*1000, 'f', 2, 64)+"5", 64)
		f.Add(half, uint8(2))
		f.Add(math.Nextafter(half, 0), uint8(2))
		f.Add(random.NormFloat64(), uint8(3))
	}
	f.Fuzz(func(t *testing.T, x float64, decimals uint8) {
		if math.IsNaN(x) || math.IsInf(x, 0) || decimals > maxPrecision {
			t.Skip()
		}
		if got, want := roundHalfUp(x, int(decimals)), roundHalf(x, int(decimals)); got != want {
			t.Errorf("roundHalfUp(%v, %d) = %s, want %s", x, decimals, got, want)
		}
	})
}
