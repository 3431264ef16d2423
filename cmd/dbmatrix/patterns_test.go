package main

import (
	"testing"

	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
)

// TestNamePatterns tests that --cell takes parts of keys as show does, and patterns.
func TestNamePatterns(t *testing.T) {
	var cells []*matrix.Cell
	for _, key := range []matrix.CellKey{"io=direct", "io=direct,n=1", "io=direct,n=2", "io=[x],n=1"} {
		cells = append(cells, &matrix.Cell{Key: key})
	}
	tests := []struct {
		pattern string
		want    []string
	}{
		{"io=direct", []string{"io=direct"}},
		{"n=1", []string{"io=direct,n=1", `io=\[x],n=1`}},
		{"n=2,io=direct", []string{"io=direct,n=2"}},
		{"io=d*", []string{"io=d*"}},
		{"n=3", []string{"n=3"}},
		{"(the only cell)", []string{""}},
	}
	for _, tt := range tests {
		var o runOptions
		o.selection.Cells = []string{tt.pattern}
		o.namePatterns(cells)
		if diff := cmp.Diff(tt.want, o.selection.Cells); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.pattern, diff)
		}
	}
}
