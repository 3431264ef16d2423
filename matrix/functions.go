package matrix

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A FunctionDoc describes one function of the language to its user.
type FunctionDoc struct {
	Name      string
	Signature string // such as "join(separator, list)"
	Summary   string // one sentence
	Example   string // an expression that calls it
	Result    string // an expression for what the example gives
}

// A libraryFunction is a function together with what the user is told of it.
type libraryFunction struct {
	FunctionDoc
	function.Function
}

// Functions returns the functions that expressions may call, by name. They are
// Terraform's, with Terraform's meaning, save those whose result depends on the
// time or on chance: an experiment means the same whenever it is read. One is
// dbmatrix's own: at_least compares versions.
//
// Unknown arguments give unknown results, so that formulas over numbers that
// are not there yet are unknown themselves. The function file and its like see
// the files in and below dir, which is an experiment's directory, and no others.
func Functions(dir string) map[string]function.Function {
	all := library(dir)
	functions := make(map[string]function.Function, len(all))
	for _, f := range all {
		functions[f.Name] = f.Function
	}
	return functions
}

// FunctionDocs describes all functions of the language, sorted by name.
func FunctionDocs() []FunctionDoc {
	all := library("")
	docs := make([]FunctionDoc, len(all))
	for i, f := range all {
		docs[i] = f.FunctionDoc
	}
	slices.SortFunc(docs, func(a, b FunctionDoc) int { return strings.Compare(a.Name, b.Name) })
	return docs
}

// library returns all functions, family by family.
func library(dir string) []libraryFunction {
	all := slices.Concat(
		numberFunctions(),
		textFunctions(),
		collectionFunctions(),
		setFunctions(),
		encodingFunctions(),
		typeFunctions(),
		fileFunctions(dir),
		versionFunctions(),
	)
	for i, f := range all {
		all[i].Function = renamed(f.Function, f.Signature)
	}
	return all
}

// renamed returns a function whose parameters have the names in the signature,
// so that messages speak of the same arguments as the documentation.
func renamed(f function.Function, signature string) function.Function {
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	names := strings.Split(list, ", ")
	params, more := f.Params(), f.VarParam()
	same := true
	rename := func(p *function.Parameter, name string) {
		same = same && p.Name == name
		p.Name = name
	}
	for i := range params {
		rename(&params[i], names[i])
	}
	if last := len(names) - 1; more != nil && names[last] == "..." {
		rename(more, names[last-1])
	} else if more != nil {
		rename(more, strings.Join(names[len(params):], " or "))
	}
	if same {
		return f
	}
	return wrapped(f, params, more, func([]cty.Value) error { return nil })
}

// guarded returns f with a check of its arguments before it: cty's own functions
// take some arguments for which they then have no result and, worse, no message.
// Arguments that check sees may be null or unknown.
func guarded(f function.Function, check func(args []cty.Value) error) function.Function {
	return wrapped(f, f.Params(), f.VarParam(), check)
}

// wrapped returns a function that judges its arguments with check, then leaves
// all else to f. Whatever they are, f sees them, since it knows best what a null
// or unknown argument gives.
func wrapped(f function.Function, params []function.Parameter, more *function.Parameter, check func(args []cty.Value) error) function.Function {
	all := func(p *function.Parameter) {
		p.AllowNull, p.AllowUnknown, p.AllowDynamicType = true, true, true
	}
	for i := range params {
		all(&params[i])
	}
	if more != nil {
		all(more)
	}
	return function.New(&function.Spec{
		Description: f.Description(),
		Params:      params,
		VarParam:    more,
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := check(args); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return f.Call(args)
		},
	})
}
