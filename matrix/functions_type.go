package matrix

import (
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func typeFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"can", "can(expression)",
			"Whether the expression has a value at all; a name that is declared nowhere is an error still.",
			`can(tonumber("many"))`, `false`}, tryfunc.CanFunc},
		{FunctionDoc{"tobool", "tobool(value)",
			"The value as true or false; of texts only \"true\" and \"false\" can be.",
			`tobool("true")`, `true`}, stdlib.MakeToFunc(cty.Bool)},
		{FunctionDoc{"tolist", "tolist(value)",
			"The value as a list, whose elements are of one type; a set comes sorted.",
			`tolist(["a", 1])`, `["a", "1"]`}, stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType))},
		{FunctionDoc{"tomap", "tomap(value)",
			"The value as a map, whose values are of one type.",
			`tomap({ a = "x", b = 1 })`, `{ a = "x", b = "1" }`}, stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType))},
		{FunctionDoc{"tonumber", "tonumber(value)",
			"The value as a number.",
			`tonumber("16")`, `16`}, stdlib.MakeToFunc(cty.Number)},
		{FunctionDoc{"toset", "toset(value)",
			"The value as a set: without duplicates, in no order of its own.",
			`toset(["b", "a", "b"])`, `["a", "b"]`}, stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType))},
		{FunctionDoc{"tostring", "tostring(value)",
			"The number, truth or text as a text.",
			`tostring(16)`, `"16"`}, stdlib.MakeToFunc(cty.String)},
		{FunctionDoc{"try", "try(expressions, ...)",
			"The first of the expressions that has a value; a name that is declared nowhere is an error still.",
			`try(tonumber("many"), 1)`, `1`}, tryfunc.TryFunc},
	}
}
