package store

import (
	"slices"
	"sort"
	"strings"

	"dbmatrix/matrix"
)

// Metrics are the recorded numbers of an iteration, sorted by name, each name once.
// A list takes a third of the memory that a map does, of which a report of a large
// experiment holds thousands.
type Metrics []matrix.Metric

// Get returns the metric of that name, if it was recorded.
func (m Metrics) Get(name string) (matrix.Metric, bool) {
	if i, ok := m.find(name); ok {
		return m[i], true
	}
	return matrix.Metric{}, false
}

// With returns metrics of which one is set; m is changed.
func (m Metrics) With(metric matrix.Metric) Metrics {
	i, ok := m.find(metric.Name)
	if ok {
		m[i] = metric
		return m
	}
	return slices.Insert(m, i, metric)
}

// Join returns the metrics of both lists, those of m where both have one. Neither
// is changed; where one is empty, it is the other.
func (m Metrics) Join(other Metrics) Metrics {
	switch {
	case len(other) == 0:
		return m
	case len(m) == 0:
		return other
	}
	all := slices.Clone(m)
	for _, metric := range other {
		if i, ok := all.find(metric.Name); !ok {
			all = slices.Insert(all, i, metric)
		}
	}
	return all
}

func (m Metrics) find(name string) (int, bool) {
	i := sort.Search(len(m), func(i int) bool { return m[i].Name >= name })
	return i, i < len(m) && m[i].Name == name
}

func (m Metrics) sort() {
	slices.SortFunc(m, func(a, b matrix.Metric) int { return strings.Compare(a.Name, b.Name) })
}
