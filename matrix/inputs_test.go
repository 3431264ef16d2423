package matrix

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// What a server runs with beside its settings is measured too.
func TestImplicitInputs(t *testing.T) {
	const src = `
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
`
	with := func(inputs ...Input) func(*LoadOptions) {
		return func(o *LoadOptions) { o.Implicit = func(*Settings) []Input { return inputs } }
	}
	_, before := expandText(t, src, with(Input{"server.plugins", "a"}))
	_, same := expandText(t, src, with(Input{"server.plugins", "a"}))
	_, after := expandText(t, src, with(Input{"server.plugins", "b"}))
	if before[0].Fingerprints[0] != same[0].Fingerprints[0] {
		t.Error("equal implicit inputs give different fingerprints")
	}
	if before[0].Fingerprints[0] == after[0].Fingerprints[0] {
		t.Error("another plugin gives the same fingerprint")
	}
	if want := (Input{"server.plugins", "b"}); !slices.Contains(after[0].Phases[0].Inputs(), want) {
		t.Errorf("inputs %v, want %v among them", after[0].Phases[0].Inputs(), want)
	}
}

// Where a host keeps the files of a build is not measured.
func TestPlacesAreOutside(t *testing.T) {
	const src = `
variable "dir" { default = "/a" }
defaults {
  server = server.inno
  my_cnf = { plugin_dir = var.dir, max_connections = 10 }
}
phase "load" {
  workload "bench" { step = "load" }
}
`
	_, here := expandText(t, src)
	_, there := expandText(t, src, func(o *LoadOptions) { o.Vars = []VarValue{{"dir", "/b"}} })
	if here[0].Fingerprints[0] != there[0].Fingerprints[0] {
		t.Error("another plugin_dir gives another fingerprint")
	}
	for _, in := range here[0].Phases[0].Inputs() {
		if in.Name == "my_cnf.plugin_dir" {
			t.Errorf("plugin_dir is among the inputs: %v", in)
		}
	}
}

// A secret that the environment of a workload's program holds is not stored, but
// another secret is another phase.
func TestMaskedInputs(t *testing.T) {
	masked := showMasked(cty.ObjectVal(map[string]cty.Value{"CLIENTS": cty.StringVal("4"), "API_TOKEN": cty.StringVal("hush"), "NONE": cty.NullVal(cty.String)}))
	if want := `{API_TOKEN = "` + Masked("API_TOKEN", "hush") + `", CLIENTS = "4", NONE = null}`; masked != want {
		t.Errorf("got %s, want %s", masked, want)
	}
	other := showMasked(cty.MapVal(map[string]cty.Value{"API_TOKEN": cty.StringVal("louder")}))
	if same := showMasked(cty.MapVal(map[string]cty.Value{"API_TOKEN": cty.StringVal("hush")})); other == same {
		t.Errorf("two secrets are both %s", other)
	}
	for _, v := range []cty.Value{cty.StringVal("password"), cty.EmptyObjectVal, cty.NullVal(cty.Map(cty.String)), cty.NumberIntVal(3)} {
		if got := showMasked(v); got != show(v) {
			t.Errorf("%s is shown as %s", show(v), got)
		}
	}
}
