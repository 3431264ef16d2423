package matrix

import "github.com/zclconf/go-cty/cty/function/stdlib"

func setFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"setintersection", "setintersection(set, ...)",
			"The set of the elements that all sets have.",
			`setintersection(["a", "b"], ["b", "c"])`, `["b"]`}, stdlib.SetIntersectionFunc},
		{FunctionDoc{"setproduct", "setproduct(list, ...)",
			"All combinations of one element of each list or set; of lists, the last varies fastest.",
			`setproduct(["a", "b"], [1, 2])`, `[["a", 1], ["a", 2], ["b", 1], ["b", 2]]`}, stdlib.SetProductFunc},
		{FunctionDoc{"setsubtract", "setsubtract(set, other)",
			"The set of the elements that only the first set has.",
			`setsubtract(["a", "b"], ["b", "c"])`, `["a"]`}, stdlib.SetSubtractFunc},
		{FunctionDoc{"setunion", "setunion(set, ...)",
			"The set of the elements that any of the sets has.",
			`setunion(["a", "b"], ["b", "c"])`, `["a", "b", "c"]`}, stdlib.SetUnionFunc},
	}
}
