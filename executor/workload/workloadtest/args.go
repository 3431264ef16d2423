package workloadtest

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// Args returns the arguments of a block of that type with the given attributes;
// the others have their defaults. A value is text, a number, a bool, or one of
// cty's.
func Args(t testing.TB, typ workload.Type, given Block) matrix.Args {
	t.Helper()
	args := matrix.Args{}
	for _, a := range typ.Attributes {
		args[a.Name] = cty.NullVal(a.Type)
		if a.Default != cty.NilVal {
			args[a.Name] = a.Default
		}
	}
	for name, value := range given {
		a := typ.Attribute(name)
		if a == nil {
			t.Fatalf("%s has no attribute %s", typ.Name, name)
		}
		v, ok := value.(cty.Value)
		if !ok {
			implied, err := gocty.ImpliedType(value)
			if err != nil {
				t.Fatal(err)
			}
			if v, err = gocty.ToCtyValue(value, implied); err != nil {
				t.Fatal(err)
			}
		}
		v, err := convert.Convert(v, a.Type)
		if err != nil {
			t.Fatalf("attribute %s: %v", name, err)
		}
		args[name] = v
	}
	return args
}
