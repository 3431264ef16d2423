package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"dbmatrix/matrix"
)

func TestValues(t *testing.T) {
	v := Read(matrix.Args{
		"whole": cty.MustParseNumberVal("2e9"), "half": cty.NumberFloatVal(0.5), "low": cty.NumberIntVal(-1),
		"huge": cty.MustParseNumberVal("1e30"), "null": cty.NullVal(cty.Number), "unknown": cty.UnknownVal(cty.Number),
		"text": cty.StringVal("x"), "yes": cty.True,
		"list":   cty.ListVal([]cty.Value{cty.StringVal("a"), cty.NullVal(cty.String), cty.StringVal("b")}),
		"map":    cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1"), "b": cty.NullVal(cty.String)}),
		"codes":  cty.ListVal([]cty.Value{cty.NumberIntVal(1062), cty.NumberIntVal(0), cty.NumberFloatVal(1.5)}),
		"states": cty.ListVal([]cty.Value{cty.StringVal("23505"), cty.StringVal("40P01"), cty.StringVal("40p01")}),
	})
	if got := v.Int("whole", 1); got != 2e9 {
		t.Errorf("2e9 is read as %d", got)
	}
	for _, name := range []string{"null", "unknown", "absent"} {
		if v.Has(name) || v.Int(name, 1) != 0 || v.Float(name) != 0 {
			t.Errorf("%s has a value", name)
		}
	}
	if len(v.Faults) > 0 {
		t.Errorf("good values have the faults %v", v.Faults)
	}
	if v.Text("text") != "x" || !v.Bool("yes") || v.Float("half") != 0.5 {
		t.Error("a text, a bool or a number is read wrong")
	}
	if diff := cmp.Diff([]string{"a", "b"}, v.Texts("list")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "1"}, v.Map("map")); diff != "" {
		t.Error(diff)
	}
	v.Int("half", 0)
	v.Int("low", 0)
	v.Int("huge", 0)
	if diff := cmp.Diff([]string{"1062", "0", "1.5"}, v.ErrorCodes("codes")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"23505", "40P01", "40p01"}, v.ErrorCodes("states")); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, f := range v.Faults {
		got = append(got, f.Attribute+": "+f.Summary)
	}
	want := []string{
		"half: 0.5 is no whole number", "low: -1 is too small",
		"huge: 1000000000000000000000000000000 is no whole number",
		"codes: 0 is no error code", "codes: 1.5 is no error code", "states: 40p01 is no error code",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
