package matrix

import (
	"math/big"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func textFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"chomp", "chomp(text)",
			"The text without the line ends at its end.",
			`chomp("hello\n")`, `"hello"`}, stdlib.ChompFunc},
		{FunctionDoc{"endswith", "endswith(text, suffix)",
			"Whether the text ends with the suffix.",
			`endswith("mysql-9.7", "9.7")`, `true`}, endsWithFunction()},
		{FunctionDoc{"format", "format(form, value, ...)",
			"The form with its verbs, such as %s, %d, %5.1f or %q, replaced by the values.",
			`format("%s.%02d", "myrocks", 7)`, `"myrocks.07"`}, stdlib.FormatFunc},
		{FunctionDoc{"formatlist", "formatlist(form, value, ...)",
			"Like format, once for each element of those values that are lists.",
			`formatlist("p%d", [0, 1])`, `["p0", "p1"]`}, stdlib.FormatListFunc},
		{FunctionDoc{"indent", "indent(spaces, text)",
			"The text with spaces before each line but the first.",
			`indent(2, "a\nb")`, `"a\n  b"`}, indentFunction()},
		{FunctionDoc{"join", "join(separator, list, ...)",
			"The elements of the lists as one text, with the separator between them.",
			`join(".", ["inno", "c1", "dio"])`, `"inno.c1.dio"`}, stdlib.JoinFunc},
		{FunctionDoc{"lower", "lower(text)",
			"The text in lower case.",
			`lower("ZSTD")`, `"zstd"`}, stdlib.LowerFunc},
		{FunctionDoc{"regex", "regex(pattern, text)",
			"What the first match of the pattern (RE2) captures: a text without groups, a list of them, or an object where they are named; no match is an error.",
			`regex("[0-9]+", "myrocks1011")`, `"1011"`}, stdlib.RegexFunc},
		{FunctionDoc{"regexall", "regexall(pattern, text)",
			"The list of what regex gives for each match; no match gives an empty list.",
			`regexall("[a-z]+", "c1-dio")`, `["c", "dio"]`}, stdlib.RegexAllFunc},
		{FunctionDoc{"replace", "replace(text, part, replacement)",
			"The text with each occurrence of the part replaced; a part between slashes is a pattern (RE2), and $1 in the replacement is its first group.",
			`replace("c1.dio", "/c([0-9])/", "level$1")`, `"level1.dio"`}, replaceFunction()},
		{FunctionDoc{"split", "split(separator, text)",
			"The list of the parts between the separators.",
			`split(",", "a,b,c")`, `["a", "b", "c"]`}, stdlib.SplitFunc},
		{FunctionDoc{"startswith", "startswith(text, prefix)",
			"Whether the text begins with the prefix.",
			`startswith("myrocks1011", "myrocks")`, `true`}, startsWithFunction()},
		{FunctionDoc{"strrev", "strrev(text)",
			"The characters of the text in reverse order.",
			`strrev("hello")`, `"olleh"`}, stdlib.ReverseFunc},
		{FunctionDoc{"substr", "substr(text, offset, length)",
			"The part of the text from the offset on (negative: from the end), that many characters long (-1: all the rest).",
			`substr("hello world", 1, 4)`, `"ello"`}, stdlib.SubstrFunc},
		{FunctionDoc{"title", "title(text)",
			"The text with the first letter of each word in upper case.",
			`title("insert benchmark")`, `"Insert Benchmark"`}, stdlib.TitleFunc},
		{FunctionDoc{"trim", "trim(text, characters)",
			"The text without any of the characters at its beginning and end.",
			`trim("--dio--", "-")`, `"dio"`}, stdlib.TrimFunc},
		{FunctionDoc{"trimprefix", "trimprefix(text, prefix)",
			"The text without the prefix, if it begins with it.",
			`trimprefix("rocksdb_wal_dir", "rocksdb_")`, `"wal_dir"`}, stdlib.TrimPrefixFunc},
		{FunctionDoc{"trimspace", "trimspace(text)",
			"The text without the white space at its beginning and end.",
			`trimspace("  hello\n")`, `"hello"`}, stdlib.TrimSpaceFunc},
		{FunctionDoc{"trimsuffix", "trimsuffix(text, suffix)",
			"The text without the suffix, if it ends with it.",
			`trimsuffix("report.csv", ".csv")`, `"report"`}, stdlib.TrimSuffixFunc},
		{FunctionDoc{"upper", "upper(text)",
			"The text in upper case.",
			`upper("zstd")`, `"ZSTD"`}, stdlib.UpperFunc},
	}
}

func startsWithFunction() function.Function {
	return affixFunction("prefix", strings.HasPrefix)
}

func endsWithFunction() function.Function {
	return affixFunction("suffix", strings.HasSuffix)
}

// affixFunction makes a function of a text and an affix that it may have.
func affixFunction(affix string, has func(text, affix string) bool) function.Function {
	return function.New(&function.Spec{
		Description: "Whether a text has the " + affix + ".",
		Params: []function.Parameter{
			{Name: "text", Type: cty.String},
			{Name: affix, Type: cty.String},
		},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(has(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// replaceFunction differs from cty's in that a part between slashes is a
// pattern, as it is in Terraform.
func replaceFunction() function.Function {
	return function.New(&function.Spec{
		Description: "Replaces parts of a text.",
		Params: []function.Parameter{
			{Name: "text", Type: cty.String},
			{Name: "part", Type: cty.String},
			{Name: "replacement", Type: cty.String},
		},
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, part, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
			pattern, ok := slashed(part)
			if !ok {
				return cty.StringVal(strings.ReplaceAll(text, part, replacement)), nil
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(1, "%q is no pattern: %s", part, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			}
			return cty.StringVal(re.ReplaceAllString(text, replacement)), nil
		},
	})
}

// slashed returns what stands between the slashes around a text. A single slash
// is a text to replace, not a pattern.
func slashed(text string) (string, bool) {
	if len(text) < 2 || text[0] != '/' || text[len(text)-1] != '/' {
		return "", false
	}
	return text[1 : len(text)-1], true
}

// maxIndent is the most that indent takes: more is surely a mistake, and would
// fill the memory.
const maxIndent = 1000

// indentFunction is cty's, with an error of our own for a senseless indent.
func indentFunction() function.Function {
	return guarded(stdlib.IndentFunc, func(args []cty.Value) error {
		spaces := givenNumber(args[0])
		if spaces == nil {
			return nil
		}
		if n, accuracy := spaces.Int64(); accuracy != big.Exact || n < 0 || n > maxIndent {
			return function.NewArgErrorf(0, "the indent is a whole number from 0 to %d", maxIndent)
		}
		return nil
	})
}
