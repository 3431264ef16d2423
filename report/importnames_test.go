package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadImportNamed reads a spreadsheet with headings of its own.
func TestReadImportNamed(t *testing.T) {
	const text = "DBMS,step,ips,how,pass\ninno,load,100,dio,2\n"
	axes := []string{"engine", "io"}
	tests := []struct {
		name  string
		names map[string]string
		want  string // the error
	}{
		{"all", map[string]string{"DBMS": "engine", "step": "phase", "how": "io", "pass": "replicate"}, ""},
		{"a heading that is not there", map[string]string{"DBMS": "engine", "step": "phase", "mode": "io"}, `p.csv:1:1: there is no column "mode", which is to be io`},
		{"an axis that is not there", map[string]string{"DBMS": "engin", "step": "phase"}, `p.csv:1:1: "DBMS" is to be "engin", which is no axis of the experiment (is "engine" meant?)`},
		{"two of one axis", map[string]string{"DBMS": "engine", "step": "phase", "how": "engine"}, `p.csv:1:15: the heading "engine" stands twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadImportNamed(strings.NewReader(text), "old", "p.csv", axes, tt.names)
			if tt.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"engine": "inno", "io": "dio"}
			if diff := cmp.Diff(want, got[0].Levels); diff != "" || got[0].Replicate != 2 || got[0].Phases[0].Phase != "load" || got[0].Phases[0].Printed["ips"].Number != 100 {
				t.Errorf("%+v; -want +got\n%s", got[0], diff)
			}
		})
	}
}
