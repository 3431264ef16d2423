package matrix

import (
	"math/big"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func numberFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"abs", "abs(number)",
			"The number without its sign.",
			`abs(-12.5)`, `12.5`}, stdlib.AbsoluteFunc},
		{FunctionDoc{"ceil", "ceil(number)",
			"The smallest whole number that is not less than the number.",
			`ceil(5.1)`, `6`}, stdlib.CeilFunc},
		{FunctionDoc{"floor", "floor(number)",
			"The largest whole number that is not more than the number.",
			`floor(5.9)`, `5`}, stdlib.FloorFunc},
		{FunctionDoc{"log", "log(number, base)",
			"The logarithm of the number to the base, as a floating-point number.",
			`log(1024, 2)`, `10`}, logFunction()},
		{FunctionDoc{"max", "max(number, ...)",
			"The largest of the numbers.",
			`max(4, 16, 8)`, `16`}, stdlib.MaxFunc},
		{FunctionDoc{"min", "min(number, ...)",
			"The smallest of the numbers.",
			`min(4, 16, 8)`, `4`}, stdlib.MinFunc},
		{FunctionDoc{"parseint", "parseint(text, base)",
			"The whole number that the text shows in the base, which is 2 to 62.",
			`parseint("ff", 16)`, `255`}, stdlib.ParseIntFunc},
		{FunctionDoc{"pow", "pow(number, power)",
			"The number raised to the power, as a floating-point number.",
			`pow(2, 10)`, `1024`}, powFunction()},
		{FunctionDoc{"signum", "signum(number)",
			"-1, 0 or 1, as the whole number is below, at or above 0.",
			`signum(-13)`, `-1`}, stdlib.SignumFunc},
		{FunctionDoc{"sum", "sum(numbers)",
			"The sum of a list or set of numbers, which must not be empty.",
			`sum([1, 2, 3.5])`, `6.5`}, sumFunction()},
	}
}

// sumFunction adds up. It is not in cty's library.
func sumFunction() function.Function {
	return function.New(&function.Spec{
		Description: "Adds up a list or set of numbers.",
		Params:      []function.Parameter{{Name: "numbers", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := requireSequence(0, args[0]); err != nil {
				return cty.NilType, err
			}
			return cty.Number, nil
		},
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			elements, known := sequence(args[0])
			if !known {
				return cty.UnknownVal(cty.Number), nil
			}
			if len(elements) == 0 {
				return cty.NilVal, function.NewArgErrorf(0, "an empty list has no sum; add a 0, as in sum(concat([0], list))")
			}
			total := cty.Zero
			for i, e := range elements {
				n, err := convert.Convert(e, cty.Number)
				if err != nil || n.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "element %d is no number", i)
				}
				if n.IsKnown() && total.IsKnown() && opposite(n, total) {
					return cty.NilVal, function.NewArgErrorf(0, "positive and negative infinity have no sum")
				}
				total = total.Add(n)
			}
			return total, nil
		},
	})
}

// opposite reports whether two numbers are the two infinities.
func opposite(a, b cty.Value) bool {
	x, y := a.AsBigFloat(), b.AsBigFloat()
	return x.IsInf() && y.IsInf() && x.Sign() != y.Sign()
}

// logFunction is cty's, with an error of our own where there is no logarithm.
func logFunction() function.Function {
	return guarded(stdlib.LogFunc, func(args []cty.Value) error {
		number, base := givenNumber(args[0]), givenNumber(args[1])
		if number != nil && (number.Sign() <= 0 || number.IsInf()) {
			return function.NewArgErrorf(0, "only a number above 0 has a logarithm")
		}
		if base != nil && (base.Sign() <= 0 || base.IsInf() || base.Cmp(big.NewFloat(1)) == 0) {
			return function.NewArgErrorf(1, "the base must be above 0 and not 1")
		}
		return nil
	})
}

// powFunction is cty's, with an error of our own where there is no power.
func powFunction() function.Function {
	return guarded(stdlib.PowFunc, func(args []cty.Value) error {
		number, power := givenNumber(args[0]), givenNumber(args[1])
		if number == nil || power == nil {
			return nil
		}
		if number.Sign() < 0 && !power.IsInt() {
			return function.NewArgErrorf(1, "a number below 0 has only whole powers")
		}
		if number.Sign() == 0 && power.Sign() < 0 {
			return function.NewArgErrorf(1, "0 has no negative power")
		}
		return nil
	})
}

// rangeFunction is cty's, with an error of our own for infinite bounds.
func rangeFunction() function.Function {
	return guarded(stdlib.RangeFunc, func(args []cty.Value) error {
		for i, a := range args {
			if n := givenNumber(a); n != nil && n.IsInf() {
				return function.NewArgErrorf(i, "must not be infinite")
			}
		}
		return nil
	})
}

// givenNumber returns a number, or nil where it is null or not known yet.
func givenNumber(v cty.Value) *big.Float {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	return v.AsBigFloat()
}
