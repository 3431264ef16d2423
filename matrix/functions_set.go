package matrix

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func setFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"setintersection", "setintersection(set, ...)",
			"The set of the elements that all sets have.",
			`setintersection(["a", "b"], ["b", "c"])`, `["b"]`}, stdlib.SetIntersectionFunc},
		{FunctionDoc{"setproduct", "setproduct(list, ...)",
			"All combinations of one element of each list or set; of lists, the last varies fastest.",
			`setproduct(["a", "b"], [1, 2])`, `[["a", 1], ["a", 2], ["b", 1], ["b", 2]]`}, setProductFunction()},
		{FunctionDoc{"setsubtract", "setsubtract(set, other)",
			"The set of the elements that only the first set has.",
			`setsubtract(["a", "b"], ["b", "c"])`, `["a"]`}, stdlib.SetSubtractFunc},
		{FunctionDoc{"setunion", "setunion(set, ...)",
			"The set of the elements that any of the sets has.",
			`setunion(["a", "b"], ["b", "c"])`, `["a", "b", "c"]`}, stdlib.SetUnionFunc},
	}
}

// maxProduct is how many combinations setproduct gives. An axis has not so many
// levels; a product of a few long lists fills the memory.
const maxProduct = 100_000

// setProductFunction is cty's, with an error of our own for a senseless product.
func setProductFunction() function.Function {
	return guarded(stdlib.SetProductFunc, func(args []cty.Value) error {
		product := 1
		for i, a := range args {
			if a.IsNull() || !a.CanIterateElements() || !a.Length().IsKnown() {
				return nil
			}
			// Each factor and each product so far is small enough for
			// the next product to fit.
			product *= min(a.LengthInt(), maxProduct+1)
			if product > maxProduct {
				return function.NewArgErrorf(i, "makes more than %d combinations", maxProduct)
			}
		}
		return nil
	})
}
