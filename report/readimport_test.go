package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dbmatrix/matrix"
)

func TestReadImport(t *testing.T) {
	const text = "\xef\xbb\xbfengine,io,matrix,phase,iteration,replicate,status,ips,io\r\n" +
		"inno,,m,load,,,,11XX,0.30\r\n" +
		"inno,,m,query,2,,failed,X,\r\n" +
		"inno,dio,m,load,,2,sla_missed,\"7\",\r\n"
	_, err := ReadImport(strings.NewReader(text), "published", "p.csv", []string{"engine", "io"})
	if err == nil || !strings.Contains(err.Error(), `p.csv:1:55: the heading "io" stands twice`) {
		t.Fatalf("a heading that stands twice: %v", err)
	}
	got, err := ReadImport(strings.NewReader(strings.Replace(text, "ips,io", "ips,gb", 1)), "published", "p.csv", []string{"engine", "io"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Attempt{
		{
			Source: "published", Cell: "engine=inno", Levels: map[string]string{"engine": "inno"}, Matrix: "m", Replicate: 1, Number: 1, Status: matrix.Failed,
			Phases: []PhaseResult{
				{Phase: "load", Block: "load", Iteration: 1, Status: matrix.OK, Printed: map[string]Value{"ips": {1100, true, "11XX"}, "gb": {0.3, true, "0.30"}}},
				{Phase: "query", Block: "query", Iteration: 2, Status: matrix.Failed, Printed: map[string]Value{"ips": {0, false, "X"}}},
			},
		},
		{
			Source: "published", Cell: "engine=inno,io=dio", Levels: map[string]string{"engine": "inno", "io": "dio"}, Matrix: "m", Replicate: 2, Number: 1, Status: matrix.SLAMissed,
			Phases: []PhaseResult{
				{Phase: "load", Block: "load", Iteration: 1, Status: matrix.SLAMissed, Printed: map[string]Value{"ips": {7, true, "7"}}},
			},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Attempt{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadImportFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "reading p.csv: the file is empty; it needs a header line"},
		{"no phase", "engine,ips\n", `p.csv:1:8: "ips" is no axis of the experiment; column tokens stand behind the column "phase"` + "\n" + `p.csv:1:1: there is no column "phase"`},
		{"misspelt axis", "engin,phase,ips\n", `p.csv:1:1: "engin" is no axis of the experiment (is "engine" meant?); column tokens stand behind the column "phase"`},
		{"no heading", "engine,phase,\n", "p.csv:1:14: column 3 has no heading"},
		{"ragged", "engine,phase,ips\ninno,load\n", "reading p.csv: record on line 2: wrong number of fields"},
		{"row without phase", "engine,phase,ips\ninno,,5\n", "p.csv:2:6: the row has no phase"},
		{"numbers without phase", "engine,phase,status,ips\ninno,,failed,5\n", "p.csv:2:6: the row has no phase"},
		{"origin", "engine,phase,origin,ips\ninno,load,x,5\n", `p.csv:2:11: origin is a whole number from 1, not "x"`},
		{"iteration", "engine,phase,iteration,ips\ninno,load,zero,5\n", `p.csv:2:11: iteration is a whole number from 1, not "zero"`},
		{"replicate", "engine,phase,replicate,ips\ninno,load,0,5\n", `p.csv:2:11: replicate is a whole number from 1, not "0"`},
		{"status", "engine,phase,status,ips\ninno,load,fine,5\n", `p.csv:2:11: "fine" is no status; they are ok, failed, timeout, hung, crashed, sla_missed, invalid, interrupted, skipped`},
		{"twice", "engine,phase,iteration,ips\ninno,load,,5\ninno,load,1,6\n", "p.csv:3:1: line 2 has the same cell, phase, iteration and replicate"},
		{"not UTF-8", "engine,phase,ips\ninno,load,\xff\n", "p.csv:2:11: the value is not valid UTF-8"},
		{"no number in a column of the library", "engine,phase,ips,note\ninno,load,X,7\nrocks,load,12O4,a word\n", `p.csv:3:12: ips is "12O4", which is no number; where there is none, the value is empty or X`},
		{"no number among numbers", "engine,phase,own\ninno,load,1\nrocks,load,2\n,load,\"3,5\"\n", `p.csv:4:7: own is "3,5", which is a number in another notation: write it in decimal digits with a point and nothing between thousands, as 1234.5; where there is none, the value is empty or X`},
		{"quote", "engine,phase,ips\ninno,load,\"5\n", "reading p.csv: parse error on line 2, column 14: extraneous or missing \" in quoted-field"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadImport(strings.NewReader(tt.text), "published", "p.csv", []string{"engine", "io"})
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// FuzzReadImport checks that a reader of imported files never panics, and that
// what it takes has a phase, counts from 1 and keeps the printed text.
func FuzzReadImport(f *testing.F) {
	f.Add("engine,phase,iteration,ips\ninno,load,1,11XX\n")
	f.Add("engine,io,matrix,phase,replicate,status,ips\n,,,load,2,ok,\"a\nb\"\n")
	f.Add("\xef\xbb\xbfphase\n\n\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		attempts, err := ReadImport(strings.NewReader(text), "s", "f.csv", []string{"engine", "io"})
		if err != nil {
			return
		}
		for _, a := range attempts {
			if a.Replicate < 1 || len(a.Phases) == 0 && a.Status.Complete() {
				t.Errorf("attempt %+v", a)
			}
			for _, p := range a.Phases {
				if p.Phase == "" || p.Iteration < 1 {
					t.Errorf("phase %+v", p)
				}
				for token, v := range p.Printed {
					if v.Text == "" {
						t.Errorf("%s lost its text", token)
					}
				}
			}
		}
	})
}
