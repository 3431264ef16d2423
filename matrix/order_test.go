package matrix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stepwise makes scan and query of the test workload follow its load, and what
// sql leaves opaque.
func stepwise(o *LoadOptions) {
	for i := range o.Workloads {
		switch w := &o.Workloads[i]; w.Name {
		case "bench":
			w.Follows = func(a Args) []string {
				if a["step"].AsString() == "load" {
					return nil
				}
				return []string{"load"}
			}
		case "sql":
			w.Opaque = func(Args) bool { return true }
		}
	}
}

func TestPhaseOrder(t *testing.T) {
	const (
		load   = "phase \"load\" {\n  workload \"bench\" { step = \"load\" }\n}\n"
		query  = "phase \"query\" {\n  workload \"bench\" { step = \"query\" }\n}\n"
		own    = "phase \"own\" {\n  workload \"sql\" { statements = [\"create table t (a int)\"] }\n}\n"
		copied = "phase \"copied\" {\n  setup = [[\"cp\", \"-r\", \"kept\", \"{dir}\"]]\n  workload \"bench\" { step = \"query\" }\n}\n"
		some   = "axis \"a\" { levels = [1, 2] }\nphase \"load\" {\n  when = axis.a == \"1\"\n  workload \"bench\" { step = \"load\" }\n}\nphase \"query\" {\n  my_cnf = { x = axis.a }\n  restart = true\n  workload \"bench\" { step = \"query\" }\n}\n"
	)
	tests := []struct {
		name  string
		files map[string]string
		want  string // a part of the fault; "" is none
	}{
		{"in order", map[string]string{"a.hcl": load + query}, ""},
		{"in a file that is read before", map[string]string{"experiment.hcl": load, "a.hcl": query},
			`Phase "query" (bench, step query) works on what step load makes, and phase "load" (DIR/experiment.hcl:2), which has that step, comes after it.`},
		{"in a file that is read after", map[string]string{"a.hcl": load, "b.hcl": query}, ""},
		{"without a load", map[string]string{"a.hcl": query}, `works on what step load makes, and no phase of the cell has that step`},
		{"after the user's own statements", map[string]string{"a.hcl": own + query + load}, ""},
		{"before the user's own statements", map[string]string{"a.hcl": query + own}, "no phase of the cell has that step"},
		{"of a data directory from elsewhere", map[string]string{"a.hcl": copied}, ""},
		{"a load that only some cells have", map[string]string{"a.hcl": some}, "no phase of the cell has that step. Put one before it. (In cell a=2.)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, src := range tt.files {
				if name == "experiment.hcl" || len(tt.files) == 1 || name == "a.hcl" && tt.files["b.hcl"] != "" {
					src = "defaults { server = server.inno }\n" + src
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := testOptions(dir)
			stepwise(&o)
			e, _, diags := Load(t.Context(), o)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_, diags = e.Expand()
			got := ""
			if diags.HasErrors() {
				got = strings.ReplaceAll(diags[0].Detail, dir, "DIR")
			}
			if got != "" != (tt.want != "") || !strings.Contains(got, tt.want) {
				t.Errorf("the fault is %q, want one with %q", got, tt.want)
			}
		})
	}
}
