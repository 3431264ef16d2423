package store

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dbmatrix/matrix"
)

// readingBound is how many bytes of disk a reading may take.
const readingBound = 25

// BenchmarkReadings prints what the readings of an hour take on disk: 60 metrics,
// one reading a second each, whose values have all the digits that a number can have.
func BenchmarkReadings(b *testing.B) {
	const metrics, seconds = 60, 3600
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "results.db")
		s, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		p := plan(1, 1)
		r := record(b, s, p)
		phase := r.begin(r.attempt(p.Cells[0], 1), p.Cells[0], 0)
		b.StartTimer()
		if _, err := s.FinishIteration(r.ctx, phase, Iteration{Number: 1, Status: matrix.OK, Series: hour(metrics, seconds)}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		before := ownSize(b, filepath.Join(b.TempDir(), "results.db"))
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		perReading := float64(size(b, path)-before) / (metrics * seconds)
		b.ReportMetric(perReading, "B/reading")
		if perReading > readingBound {
			b.Errorf("a reading takes %.1f bytes, more than %d", perReading, readingBound)
		}
		b.StartTimer()
	}
}

// hour returns series with a reading a second.
func hour(metrics, seconds int) []matrix.Series {
	series := make([]matrix.Series, metrics)
	for m := range series {
		series[m] = matrix.Series{Metric: "metric" + string(rune('A'+m)), Unit: "1/s"}
		for i := range seconds {
			series[m].Readings = append(series[m].Readings, matrix.Reading{At: time.Duration(i) * time.Second, Value: math.Sqrt(float64(i*metrics + m))})
		}
	}
	return series
}

// ownSize is the size of results that hold nothing.
func ownSize(b *testing.B, path string) int64 {
	s, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return size(b, path)
}

func size(b *testing.B, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}
