package matrix

import (
	"cmp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func versionFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"at_least", "at_least(version, bound)",
			"Whether the version is the bound or a later one, number by number; what follows the numbers of the version does not count. Both are texts: 10.10 without quotes is 10.1.",
			`at_least("10.11.19-MariaDB", "10.6")`, `true`}, atLeastFunction()},
	}
}

// atLeastFunction compares versions. The result is unknown where the version is
// null or unknown: nothing is said of a build that is not there.
func atLeastFunction() function.Function {
	return function.New(&function.Spec{
		Description: "Whether a version is not older than a bound.",
		Params: []function.Parameter{
			// Any type, so that a number is not turned into a text unseen.
			{Name: "version", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
			{Name: "bound", Type: cty.DynamicPseudoType},
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			for i, a := range args {
				if ty := a.Type(); ty != cty.String && ty != cty.DynamicPseudoType {
					return cty.NilType, function.NewArgErrorf(i, "must be a text in quotes, is %s; the number 10.10 would be 10.1", ty.FriendlyName())
				}
			}
			return cty.Bool, nil
		},
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			bound, rest := cutVersion(args[1].AsString())
			if bound == nil || rest != "" {
				return cty.NilVal, function.NewArgErrorf(1, "%q is no bound: write numbers with dots between them, such as \"10.6\"", args[1].AsString())
			}
			if args[0].IsNull() || !args[0].IsKnown() {
				return cty.UnknownVal(cty.Bool), nil
			}
			version, _ := cutVersion(args[0].AsString())
			if version == nil {
				return cty.NilVal, function.NewArgErrorf(0, "%q does not begin with the numbers of a version", args[0].AsString())
			}
			return cty.BoolVal(compareVersions(version, bound) >= 0), nil
		},
	})
}

// cutVersion returns the numbers that a version begins with, and what follows
// them. The numbers stay text without leading zeros, since any length is
// allowed; the zero is "".
func cutVersion(text string) (numbers []string, rest string) {
	for rest = text; ; {
		digits, after := splitDigits(rest)
		if digits == "" {
			return numbers, rest
		}
		numbers = append(numbers, strings.TrimLeft(digits, "0"))
		next, dotted := strings.CutPrefix(after, ".")
		if more, _ := splitDigits(next); !dotted || more == "" {
			return numbers, after
		}
		rest = next
	}
}

// compareVersions compares versions number by number; those that one of them
// lacks are 0.
func compareVersions(a, b []string) int {
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return 0
}
