package matrix

import (
	"slices"
	"strings"

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
	return slices.Concat(
		numberFunctions(),
		textFunctions(),
		collectionFunctions(),
		setFunctions(),
		encodingFunctions(),
		typeFunctions(),
		fileFunctions(dir),
		versionFunctions(),
	)
}
