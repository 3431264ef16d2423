package matrix

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func collectionFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"alltrue", "alltrue(list)",
			"Whether all elements are true; it is true of an empty list, and null counts as false.",
			`alltrue([true, false])`, `false`}, allTrueFunction()},
		{FunctionDoc{"anytrue", "anytrue(list)",
			"Whether one element at least is true; it is false of an empty list, and null counts as false.",
			`anytrue([true, false])`, `true`}, anyTrueFunction()},
		{FunctionDoc{"chunklist", "chunklist(list, size)",
			"The list cut into lists of that size; the last may be shorter.",
			`chunklist([1, 2, 3], 2)`, `[[1, 2], [3]]`}, stdlib.ChunklistFunc},
		{FunctionDoc{"coalesce", "coalesce(value, ...)",
			"The first of the values that is neither null nor an empty text.",
			`coalesce(null, "", "zstd")`, `"zstd"`}, coalesceFunction()},
		{FunctionDoc{"coalescelist", "coalescelist(list, ...)",
			"The first of the lists that is not empty.",
			`coalescelist([], ["a"])`, `["a"]`}, stdlib.CoalesceListFunc},
		{FunctionDoc{"compact", "compact(list)",
			"The list of texts without null and empty ones.",
			`compact(["inno", "", null, "dio"])`, `["inno", "dio"]`}, stdlib.CompactFunc},
		{FunctionDoc{"concat", "concat(list, ...)",
			"The lists one after the other as one list.",
			`concat([1], [2, 3])`, `[1, 2, 3]`}, concatFunction()},
		{FunctionDoc{"contains", "contains(list, value)",
			"Whether the value is an element of the list or set; a number never equals a text.",
			`contains(["inno", "myrocks"], "inno")`, `true`}, containsFunction()},
		{FunctionDoc{"distinct", "distinct(list)",
			"The list without elements that came before.",
			`distinct(["a", "b", "a"])`, `["a", "b"]`}, stdlib.DistinctFunc},
		{FunctionDoc{"element", "element(list, index)",
			"The element at the index, counted from 0 and starting over at the end of the list.",
			`element(["a", "b", "c"], 4)`, `"b"`}, stdlib.ElementFunc},
		{FunctionDoc{"flatten", "flatten(list)",
			"The list with the elements of lists in it in their place.",
			`flatten([["a", "b"], [], ["c"]])`, `["a", "b", "c"]`}, stdlib.FlattenFunc},
		{FunctionDoc{"index", "index(list, value)",
			"The place of the first element that equals the value, counted from 0; none is an error.",
			`index(["none", "c0", "c1"], "c1")`, `2`}, indexFunction()},
		{FunctionDoc{"keys", "keys(map)",
			"The keys of the map or object in alphabetical order.",
			`keys({ b = 1, a = 2 })`, `["a", "b"]`}, stdlib.KeysFunc},
		{FunctionDoc{"length", "length(value)",
			"The number of elements of a list, set, map or object, or of characters of a text.",
			`length(["a", "b"])`, `2`}, lengthFunction()},
		{FunctionDoc{"lookup", "lookup(map, key, default)",
			"The value of the key in the map or object, or the default where there is none; without a default that is an error.",
			`lookup({ small = 1, large = 8 }, "medium", 4)`, `4`}, lookupFunction()},
		{FunctionDoc{"matchkeys", "matchkeys(values, keys, wanted)",
			"Those of the values whose key, at the same place in the second list, is in the third.",
			`matchkeys(["a", "b", "c"], [1, 2, 3], [1, 3])`, `["a", "c"]`}, matchKeysFunction()},
		{FunctionDoc{"merge", "merge(map, ...)",
			"The maps or objects as one; where they share a key, the last decides.",
			`merge({ a = 1, b = 2 }, { b = 3 })`, `{ a = 1, b = 3 }`}, mergeFunction()},
		{FunctionDoc{"one", "one(list)",
			"The only element of the list or set, or null where it is empty; two are an error.",
			`one(["a"])`, `"a"`}, oneFunction()},
		{FunctionDoc{"range", "range(start, limit, step)",
			"The numbers from the start (0 when there is one argument) to just before the limit, by the step (1 unless given); at most 1024.",
			`range(1, 9, 2)`, `[1, 3, 5, 7]`}, rangeFunction()},
		{FunctionDoc{"reverse", "reverse(list)",
			"The list in reverse order.",
			`reverse([1, 2, 3])`, `[3, 2, 1]`}, stdlib.ReverseListFunc},
		{FunctionDoc{"slice", "slice(list, start, end)",
			"The elements from the start to just before the end.",
			`slice(["a", "b", "c", "d"], 1, 3)`, `["b", "c"]`}, stdlib.SliceFunc},
		{FunctionDoc{"sort", "sort(list)",
			"The texts in alphabetical order of their characters.",
			`sort(["b", "a", "B"])`, `["B", "a", "b"]`}, stdlib.SortFunc},
		{FunctionDoc{"transpose", "transpose(map)",
			"A map from each text in the lists to the sorted keys that it stood under.",
			`transpose({ a = ["x", "y"], b = ["y"] })`, `{ x = ["a"], y = ["a", "b"] }`}, transposeFunction()},
		{FunctionDoc{"values", "values(map)",
			"The values of the map or object in alphabetical order of their keys.",
			`values({ b = 1, a = 2 })`, `[2, 1]`}, stdlib.ValuesFunc},
		{FunctionDoc{"zipmap", "zipmap(keys, values)",
			"A map of each key to the value at the same place.",
			`zipmap(["a", "b"], [1, 2])`, `{ a = 1, b = 2 }`}, zipmapFunction()},
	}
}

func allTrueFunction() function.Function { return quantifier("Whether all are true.", false) }

func anyTrueFunction() function.Function { return quantifier("Whether any is true.", true) }

// quantifier makes a function of a list of truths: it gives decisive as soon as
// one element is that, the opposite when none is, and is unknown where only
// elements that are not known yet could decide. Null counts as false.
func quantifier(description string, decisive bool) function.Function {
	return function.New(&function.Spec{
		Description:  description,
		Params:       []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result := cty.BoolVal(!decisive)
			for _, e := range args[0].AsValueSlice() {
				if !e.IsKnown() {
					result = cty.UnknownVal(cty.Bool)
					continue
				}
				if truth := !e.IsNull() && e.True(); truth == decisive {
					return cty.BoolVal(decisive), nil
				}
			}
			return result, nil
		},
	})
}

// coalesceFunction differs from cty's in that it skips empty texts too.
func coalesceFunction() function.Function {
	return function.New(&function.Spec{
		Description: "The first value that is neither null nor an empty text.",
		VarParam: &function.Parameter{
			Name: "values", Type: cty.DynamicPseudoType,
			AllowNull: true, AllowUnknown: true, AllowDynamicType: true,
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, a := range args {
				types[i] = a.Type()
			}
			result, _ := convert.UnifyUnsafe(types)
			if result == cty.NilType {
				return cty.NilType, function.NewArgErrorf(0, "the values have no common type")
			}
			return result, nil
		},
		Impl: func(args []cty.Value, result cty.Type) (cty.Value, error) {
			for i, a := range args {
				v, err := convert.Convert(a, result)
				if err != nil {
					return cty.NilVal, function.NewArgError(i, err)
				}
				if !v.IsKnown() {
					return cty.UnknownVal(result), nil
				}
				if v.IsNull() || result == cty.String && v.AsString() == "" {
					continue
				}
				return v, nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "all values are null or empty; end with one that is not")
		},
	})
}

// concatFunction is cty's, with an error of our own where lists of different
// kinds meet an empty one of no kind.
func concatFunction() function.Function {
	return guarded(stdlib.ConcatFunc, func(args []cty.Value) error {
		kindless := false
		var types []cty.Type
		for _, a := range args {
			switch ty := a.Type(); {
			case ty.Equals(cty.List(cty.DynamicPseudoType)):
				kindless = true
			case ty.IsListType():
				types = append(types, ty)
			}
		}
		if ty, _ := convert.UnifyUnsafe(types); kindless && len(types) > 1 && ty == cty.NilType {
			return function.NewArgErrorf(0, "the lists hold values of different types")
		}
		return nil
	})
}

// mergeFunction is cty's, with an error of our own for what is no map.
func mergeFunction() function.Function {
	return guarded(stdlib.MergeFunc, func(args []cty.Value) error {
		for i, a := range args {
			if ty := a.Type(); !ty.IsMapType() && !ty.IsObjectType() && ty != cty.DynamicPseudoType {
				return function.NewArgErrorf(i, "must be a map or an object, is %s", ty.FriendlyName())
			}
		}
		return nil
	})
}

// zipmapFunction is cty's, with an error of our own for a null key.
func zipmapFunction() function.Function {
	return guarded(stdlib.ZipmapFunc, func(args []cty.Value) error {
		if args[0].IsNull() || !args[0].IsKnown() {
			return nil
		}
		for i, key := range args[0].AsValueSlice() {
			if key.IsNull() {
				return function.NewArgErrorf(0, "key %d is null", i)
			}
		}
		return nil
	})
}

// containsFunction differs from cty's in that it is not at a loss when asked for
// a null of no type, which is what an axis or param that a cell does not set is.
func containsFunction() function.Function {
	return function.New(&function.Spec{
		Description: "Whether a value is in a list or set.",
		Params:      searchParams(),
		Type: func(args []cty.Value) (cty.Type, error) {
			return cty.Bool, requireSequence(0, args[0])
		},
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result := cty.False
			for it := args[0].ElementIterator(); it.Next(); {
				_, e := it.Element()
				eq := e.Equals(args[1])
				if !eq.IsKnown() {
					result = cty.UnknownVal(cty.Bool) // one after it may be equal yet
				} else if eq.True() {
					return cty.True, nil
				}
			}
			return result, nil
		},
	})
}

// searchParams are those of a function that looks for a value.
func searchParams() []function.Parameter {
	return []function.Parameter{
		{Name: "list", Type: cty.DynamicPseudoType},
		{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
	}
}

// indexFunction differs from cty's function of that name, which takes an
// element out of a collection.
func indexFunction() function.Function {
	return function.New(&function.Spec{
		Description: "The place of a value in a list.",
		Params:      searchParams(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty := args[0].Type(); !ty.IsListType() && !ty.IsTupleType() {
				return cty.NilType, function.NewArgErrorf(0, "must be a list, is %s", ty.FriendlyName())
			}
			return cty.Number, nil
		},
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for i, e := range args[0].AsValueSlice() {
				eq := e.Equals(args[1])
				if !eq.IsKnown() {
					return cty.UnknownVal(cty.Number), nil
				}
				if eq.True() {
					return cty.NumberIntVal(int64(i)), nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(1, "is no element of the list; ask contains() first")
		},
	})
}

// lengthFunction differs from cty's in that it measures texts too.
func lengthFunction() function.Function {
	return function.New(&function.Spec{
		Description: "The number of elements, or of characters of a text.",
		Params: []function.Parameter{{
			Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true,
		}},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			switch {
			case ty == cty.String, ty == cty.DynamicPseudoType, ty.IsCollectionType(), ty.IsTupleType(), ty.IsObjectType():
				return cty.Number, nil
			}
			return cty.NilType, function.NewArgErrorf(0, "must be a list, a set, a map, an object or a text, is %s", ty.FriendlyName())
		},
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, ty := args[0], args[0].Type()
			switch {
			case ty.IsTupleType():
				return cty.NumberIntVal(int64(ty.Length())), nil
			case ty.IsObjectType():
				return cty.NumberIntVal(int64(len(ty.AttributeTypes()))), nil
			case !v.IsKnown():
				return cty.UnknownVal(cty.Number), nil
			case ty == cty.String:
				return stdlib.Strlen(v)
			}
			return v.Length(), nil
		},
	})
}

// lookupFunction differs from cty's in that the default may be left out.
func lookupFunction() function.Function {
	return function.New(&function.Spec{
		Description: "The value of a key, or a default.",
		Params: []function.Parameter{
			{Name: "map", Type: cty.DynamicPseudoType},
			{Name: "key", Type: cty.String},
		},
		VarParam: &function.Parameter{
			Name: "default", Type: cty.DynamicPseudoType,
			AllowNull: true, AllowUnknown: true, AllowDynamicType: true,
		},
		Type: lookupType,
		Impl: func(args []cty.Value, result cty.Type) (cty.Value, error) {
			key := args[1].AsString()
			if args[0].Type().IsObjectType() {
				if args[0].Type().HasAttribute(key) {
					return args[0].GetAttr(key), nil
				}
			} else if v, ok := args[0].AsValueMap()[key]; ok {
				return v, nil
			}
			if len(args) == 2 {
				return cty.NilVal, function.NewArgErrorf(1, "there is no key %q%s, and no default as the third argument", key, nearestKey(key, args[0]))
			}
			return convert.Convert(args[2], result)
		},
	})
}

// lookupType returns the type of what lookup gives. In an object each key has
// its own, so that it depends on the key.
func lookupType(args []cty.Value) (cty.Type, error) {
	if len(args) > 3 {
		return cty.NilType, function.NewArgErrorf(3, "lookup takes a map, a key and one default at most")
	}
	ty := args[0].Type()
	switch {
	case ty.IsObjectType():
		if !args[1].IsKnown() {
			return cty.DynamicPseudoType, nil
		}
		if key := args[1].AsString(); ty.HasAttribute(key) {
			return ty.AttributeType(key), nil
		}
		if len(args) == 3 {
			return args[2].Type(), nil
		}
		return cty.DynamicPseudoType, nil // Impl says that there is no such key
	case ty.IsMapType():
		if len(args) == 3 && convertible(args[2], ty.ElementType()) != nil {
			return cty.NilType, function.NewArgErrorf(2, "the default must be of the type of the map's values, %s", ty.ElementType().FriendlyName())
		}
		return ty.ElementType(), nil
	}
	return cty.NilType, function.NewArgErrorf(0, "must be a map or an object, is %s", ty.FriendlyName())
}

// nearestKey tells of the key in a known map or object that is nearest to one
// that is not there.
func nearestKey(key string, v cty.Value) string {
	near := nearest(key, slices.Sorted(maps.Keys(v.AsValueMap())))
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (the nearest is %q)", near)
}

// convertible returns an error if the value cannot become one of the type.
func convertible(v cty.Value, ty cty.Type) error {
	_, err := convert.Convert(v, ty)
	return err
}

func matchKeysFunction() function.Function {
	list := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{
		Description: "The values whose keys are wanted.",
		Params: []function.Parameter{
			{Name: "values", Type: list},
			{Name: "keys", Type: list},
			{Name: "wanted", Type: list},
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
			if ty == cty.NilType {
				return cty.NilType, function.NewArgErrorf(2, "must hold values of the type of the keys")
			}
			return args[0].Type(), nil
		},
		RefineResult: notNull,
		Impl: func(args []cty.Value, result cty.Type) (cty.Value, error) {
			for _, a := range args[1:] {
				if !a.IsWhollyKnown() {
					return cty.UnknownVal(result), nil
				}
			}
			ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
			keys, err := convert.Convert(args[1], ty)
			if err != nil {
				return cty.NilVal, function.NewArgError(1, err)
			}
			wanted, err := convert.Convert(args[2], ty)
			if err != nil {
				return cty.NilVal, function.NewArgError(2, err)
			}
			values := args[0].AsValueSlice()
			if len(values) != keys.LengthInt() {
				return cty.NilVal, function.NewArgErrorf(1, "must hold one key for each of the %d values, holds %d", len(values), keys.LengthInt())
			}
			return listOf(result.ElementType(), matching(values, keys.AsValueSlice(), wanted.AsValueSlice())), nil
		},
	})
}

// matching returns those values whose key is among the wanted ones.
func matching(values, keys, wanted []cty.Value) []cty.Value {
	var found []cty.Value
	for i, v := range values {
		if slices.ContainsFunc(wanted, keys[i].RawEquals) {
			found = append(found, v)
		}
	}
	return found
}

func oneFunction() function.Function {
	const many = "must have one element or none"
	return function.New(&function.Spec{
		Description: "The only element, or null.",
		Params:      []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			switch {
			case ty.IsListType(), ty.IsSetType():
				return ty.ElementType(), nil
			case !ty.IsTupleType():
				return cty.NilType, function.NewArgErrorf(0, "must be a list or a set, is %s", ty.FriendlyName())
			case ty.Length() == 0:
				return cty.DynamicPseudoType, nil
			case ty.Length() == 1:
				return ty.TupleElementType(0), nil
			}
			return cty.NilType, function.NewArgErrorf(0, "%s, has %d", many, ty.Length())
		},
		Impl: func(args []cty.Value, result cty.Type) (cty.Value, error) {
			// A set with elements that are not known yet may lose some.
			if !args[0].Length().IsKnown() {
				return cty.UnknownVal(result), nil
			}
			switch elements := args[0].AsValueSlice(); len(elements) {
			case 0:
				return cty.NullVal(result), nil
			case 1:
				return elements[0], nil
			default:
				return cty.NilVal, function.NewArgErrorf(0, "%s, has %d", many, len(elements))
			}
		},
	})
}

func transposeFunction() function.Function {
	result := cty.Map(cty.List(cty.String))
	return function.New(&function.Spec{
		Description:  "A map from the elements to their keys.",
		Params:       []function.Parameter{{Name: "map", Type: result}},
		Type:         function.StaticReturnType(result),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(result), nil
			}
			keys := map[string][]cty.Value{}
			for it := args[0].ElementIterator(); it.Next(); { // in order of the keys
				key, list := it.Element()
				if list.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "the list of %q is null", key.AsString())
				}
				for _, e := range list.AsValueSlice() {
					if e.IsNull() {
						return cty.NilVal, function.NewArgErrorf(0, "the list of %q holds null", key.AsString())
					}
					keys[e.AsString()] = append(keys[e.AsString()], key)
				}
			}
			if len(keys) == 0 {
				return cty.MapValEmpty(result.ElementType()), nil
			}
			lists := make(map[string]cty.Value, len(keys))
			for text, list := range keys {
				lists[text] = cty.ListVal(list)
			}
			return cty.MapVal(lists), nil
		},
	})
}

// requireSequence returns an error if argument i is no list, set or tuple.
func requireSequence(i int, v cty.Value) error {
	if ty := v.Type(); !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
		return function.NewArgErrorf(i, "must be a list or a set, is %s", ty.FriendlyName())
	}
	return nil
}

// sequence returns the elements of a known list, set or tuple, and whether it is
// certain which they are: a set with unknown elements may have fewer.
func sequence(v cty.Value) ([]cty.Value, bool) {
	if !v.Length().IsKnown() {
		return nil, false
	}
	return v.AsValueSlice(), true
}

// listOf returns a list of the values, which may be none.
func listOf(element cty.Type, values []cty.Value) cty.Value {
	if len(values) == 0 {
		return cty.ListValEmpty(element)
	}
	return cty.ListVal(values)
}

// notNull tells cty that a function never gives null.
func notNull(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() }
