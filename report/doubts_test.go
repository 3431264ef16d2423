package report

import (
	"testing"

	"dbmatrix/matrix"
)

// TestAllowedErrors checks from which share on errors that a workload goes over are
// told.
func TestAllowedErrors(t *testing.T) {
	tests := []struct {
		name    string
		metrics map[string]float64
		want    string
	}{
		{"none", map[string]float64{"transactions": 2500, "errors": 0}, ""},
		{"a deadlock or two", map[string]float64{"transactions": 2500, "errors": 2, "deadlocks": 2}, ""},
		{"many", map[string]float64{"transactions": 2500, "queries": 50000, "errors": 228},
			"228 errors that the workload ignored or tried again beside 2500 transactions (where nothing is said, at most 0.1%)"},
		{"of several kinds", map[string]float64{"queries": 1000, "errors": 1, "deadlocks": 5, "lock_waits": 2},
			"5 deadlocks, 2 lock waits that the workload ignored or tried again beside 1000 queries (where nothing is said, at most 0.1%)"},
		{"of nothing", map[string]float64{"errors": 3}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := PhaseResult{Status: matrix.OK, Metrics: metrics(tt.metrics)}
			if got := p.allowedErrors(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
