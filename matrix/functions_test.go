package matrix

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// evaluateCall returns the value of an expression with the functions of the
// language and these names:
//
//	missing   a number that is not known, as that of a missing metric
//	someday   a text that is not known
//	later     of no known type
//	holes     a list of texts, the second of which is not known
func evaluateCall(t testing.TB, dir, text string) (cty.Value, hcl.Diagnostics) {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(text), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("parsing %s: %v", text, diags)
	}
	return expr.Value(&hcl.EvalContext{Functions: Functions(dir), Variables: map[string]cty.Value{
		"missing": cty.UnknownVal(cty.Number),
		"someday": cty.UnknownVal(cty.String),
		"later":   cty.DynamicVal,
		"holes":   cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
	}})
}

// wantValue fails the test unless got is the value of the expression want, once
// that is converted to the type of got: a text cannot write a list or a set.
func wantValue(t *testing.T, got cty.Value, text, want string) {
	t.Helper()
	value, diags := evaluateCall(t, "", want)
	if diags.HasErrors() {
		t.Fatalf("evaluating %s: %v", want, diags)
	}
	converted, err := convert.Convert(value, got.Type())
	if err != nil || family(got) != family(value) || !got.RawEquals(converted) {
		t.Errorf("%s = %#v, want %s", text, got, want)
	}
}

// family returns the name of a kind of values, so that a number is not taken for
// a text that looks like it.
func family(v cty.Value) string {
	switch ty := v.Type(); {
	case ty.IsPrimitiveType(), ty == cty.DynamicPseudoType:
		return ty.FriendlyName()
	case ty.IsMapType(), ty.IsObjectType():
		return "map"
	default:
		return "list"
	}
}

func TestFunctionExamples(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "hello.txt"), "hello\n")
	for _, doc := range FunctionDocs() {
		t.Run(doc.Name, func(t *testing.T) {
			got, diags := evaluateCall(t, dir, doc.Example)
			if diags.HasErrors() {
				t.Fatalf("%s: %v", doc.Example, diags)
			}
			wantValue(t, got, doc.Example, doc.Result)
			if !strings.Contains(doc.Example, doc.Name+"(") {
				t.Errorf("the example %s does not call %s", doc.Example, doc.Name)
			}
			if !strings.HasSuffix(doc.Summary, ".") {
				t.Errorf("the summary %q is no sentence", doc.Summary)
			}
		})
	}
}

func putFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The parameters must be those of the signature, since messages name them.
func TestFunctionSignatures(t *testing.T) {
	functions := Functions("")
	for _, doc := range FunctionDocs() {
		f, ok := functions[doc.Name]
		if !ok {
			t.Errorf("%s is described but not there", doc.Name)
			continue
		}
		names := []string{}
		for _, p := range f.Params() {
			names = append(names, p.Name)
		}
		if more := f.VarParam(); more != nil && strings.HasSuffix(doc.Signature, ", ...)") {
			if len(names) == 0 || names[len(names)-1] != more.Name {
				names = append(names, more.Name)
			}
			names = append(names, "...")
		} else if more != nil {
			names = append(names, strings.Split(more.Name, " or ")...)
		}
		got := doc.Name + "(" + strings.Join(names, ", ") + ")"
		if diff := cmp.Diff(doc.Signature, got); diff != "" {
			t.Errorf("signature (-documented +built):\n%s", diff)
		}
	}
}

func TestFunctionNames(t *testing.T) {
	want := strings.Fields(`
		abs alltrue anytrue at_least base64decode base64encode can ceil chomp
		chunklist coalesce coalescelist compact concat contains csvdecode
		distinct element endswith file fileexists flatten floor format
		formatlist indent index join jsondecode jsonencode keys length log
		lookup lower matchkeys max md5 merge min one parseint pow range regex
		regexall replace reverse setintersection setproduct setsubtract
		setunion sha1 sha256 signum slice sort split startswith strrev substr
		sum title tobool tolist tomap tonumber toset tostring transpose trim
		trimprefix trimspace trimsuffix try upper values zipmap`)
	var documented []string
	for _, doc := range FunctionDocs() {
		documented = append(documented, doc.Name)
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("documented (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(Functions("")))); diff != "" {
		t.Errorf("callable (-want +got):\n%s", diff)
	}
}

func TestFunctionResults(t *testing.T) {
	tests := []struct{ expr, want string }{
		// Numbers.
		{`abs(0)`, `0`},
		{`abs("-2")`, `2`},
		{`ceil(-5.9)`, `-5`},
		{`floor(-5.1)`, `-6`},
		{`max("10", 9)`, `10`},
		{`min(-1, -1.5)`, `-1.5`},
		{`parseint("-42", 10)`, `-42`},
		{`parseint("1011", 2)`, `11`},
		{`pow(4, 0.5)`, `2`},
		{`pow(0, 0)`, `1`},
		{`signum(0)`, `0`},
		{`sum([0.1, 0.2])`, `0.3`},
		{`sum(["1", 2])`, `3`},
		{`sum(toset([1, 1, 2]))`, `3`},

		// Texts.
		{`chomp("a\r\n\n")`, `"a"`},
		{`endswith("abc", "")`, `true`},
		{`endswith("c", "bc")`, `false`},
		{`format("%.0f", 2.5)`, `"2"`}, // to even, as Go does
		{`format("%s %v %d%%", "a", [1, true], 5)`, `"a [1,true] 5%"`},
		{`formatlist("%s-%s", "a", ["x", "y"])`, `["a-x", "a-y"]`},
		{`indent(2, "one line")`, `"one line"`},
		{`join("-", ["a"], ["b", "c"])`, `"a-b-c"`},
		{`join("-", [])`, `""`},
		{`join("-", [1, true])`, `"1-true"`},
		{`regex("c([0-9])-(.*)", "c1-dio")`, `["1", "dio"]`},
		{`regex("c(?P<level>[0-9])", "c1-dio")`, `{ level = "1" }`},
		{`regexall("x", "abc")`, `[]`},
		{`replace("a.b.c", ".", "-")`, `"a-b-c"`}, // no pattern
		{`replace("a1b22", "/[0-9]+/", "")`, `"ab"`},
		{`replace("a/b", "/", "|")`, `"a|b"`}, // a slash is no pattern
		{`replace("ab", "//", "-")`, `"-a-b-"`},
		{`replace("k=v", "/(\\w)=(\\w)/", "$2=$1")`, `"v=k"`},
		{`replace("aaa", "b", "c")`, `"aaa"`},
		{`split(",", "")`, `[""]`},
		{`split("", "abc")`, `["a", "b", "c"]`},
		{`startswith("mysql97", "mariadb")`, `false`},
		{`startswith("", "")`, `true`},
		{`strrev("aé日")`, `"日éa"`},
		{`substr("hello", -2, -1)`, `"lo"`},
		{`substr("hello", 3, 99)`, `"lo"`},
		{`substr("日本語", 1, 1)`, `"本"`},
		{`title("")`, `""`},
		{`trim("?!a?!", "!?")`, `"a"`},
		{`trimprefix("abc", "x")`, `"abc"`},
		{`trimspace("\t a b \n")`, `"a b"`},
		{`trimsuffix("aaa", "a")`, `"aa"`},

		// Collections.
		{`alltrue([])`, `true`},
		{`alltrue([true, "true"])`, `true`},
		{`alltrue([true, null])`, `false`},
		{`anytrue([])`, `false`},
		{`anytrue([null, true])`, `true`},
		{`anytrue([null])`, `false`},
		{`chunklist([1, 2, 3], 0)`, `[[1, 2, 3]]`},
		{`coalesce("", "b")`, `"b"`},
		{`coalesce(null, 0, 1)`, `0`},
		{`coalesce(null, false, true)`, `false`},
		{`coalesce("", 5)`, `"5"`}, // one type for all
		{`coalesce(null, null, [1])`, `[1]`},
		{`coalescelist([], [1], [2])`, `[1]`},
		{`compact([1, null, "", 2])`, `["1", "2"]`},
		{`compact([])`, `[]`},
		{`concat([], ["a"])`, `["a"]`},
		{`concat(tolist([]), tolist(["a"]), [1])`, `["a", "1"]`},
		{`contains([1, 2], 2)`, `true`},
		{`contains(["1"], 1)`, `false`},
		{`contains([], "x")`, `false`},
		{`contains(toset(["a"]), "a")`, `true`},
		{`contains([null], null)`, `true`},
		{`contains(["a"], null)`, `false`},
		{`contains(["a", null], tostring(null))`, `true`},
		{`contains([[1]], [1])`, `true`},
		{`element(["a", "b"], -1)`, `"b"`},
		{`flatten([[1, [2, [3]]], 4])`, `[1, 2, 3, 4]`},
		{`index(["a", "b", "a"], "a")`, `0`},
		{`index([1, null], null)`, `1`},
		{`index(tolist([10, 20]), 20)`, `1`},
		{`length("")`, `0`},
		{`length("日本")`, `2`},
		{`length({ a = 1, b = 2 })`, `2`},
		{`length(tomap({ a = 1 }))`, `1`},
		{`length(toset(["a", "a"]))`, `1`},
		{`length([])`, `0`},
		{`lookup({ a = 1 }, "a")`, `1`},
		{`lookup({ a = 1 }, "b", "none")`, `"none"`},
		{`lookup({}, "b", 1)`, `1`},
		{`lookup({ a = 1 }, "b", null)`, `null`},
		{`lookup(tomap({ a = 1 }), "a")`, `1`},
		{`lookup(tomap({ a = 1 }), "b", "2")`, `2`}, // of the map's type
		{`lookup(tomap({ a = 1 }), "b", null)`, `tonumber(null)`},
		{`lookup({ a = null }, "a", 1)`, `null`}, // the key is there
		{`matchkeys(["a", "b"], ["x", "y"], ["z"])`, `[]`},
		{`matchkeys(["a", "b"], ["1", "2"], [2])`, `["b"]`},
		{`matchkeys([1, 2, 3], ["x", "y", "x"], ["x"])`, `[1, 3]`},
		{`matchkeys([], [], ["x"])`, `[]`},
		{`merge({ a = 1 }, null, { a = "x" })`, `{ a = "x" }`},
		{`merge()`, `{}`},
		{`one([])`, `null`},
		{`one(toset(["a"]))`, `"a"`},
		{`one(tolist([]))`, `null`},
		{`one([null])`, `null`},
		{`range(3)`, `[0, 1, 2]`},
		{`range(2, 5)`, `[2, 3, 4]`},
		{`range(4, 0, -2)`, `[4, 2]`},
		{`range(0)`, `[]`},
		{`slice(["a", "b"], 1, 1)`, `[]`},
		{`sort([10, 9])`, `["10", "9"]`}, // as texts
		{`transpose({})`, `{}`},
		{`transpose({ a = [] })`, `{}`},
		{`transpose({ b = ["x"], a = ["x"] })`, `{ x = ["a", "b"] }`},
		{`values({ b = 1, a = "x" })`, `["x", 1]`},
		{`zipmap([], [])`, `{}`},
		{`setintersection(["a"], ["b"])`, `[]`},
		{`setproduct(["a"], [])`, `[]`},
		{`setsubtract(["a", "b"], [])`, `["a", "b"]`},
		{`setunion([], ["b", "a", "b"])`, `["a", "b"]`},

		// Encodings.
		{`base64decode("")`, `""`},
		{`base64encode("日")`, `"5pel"`},
		{`csvdecode("a,b\n\"x,y\",2")`, `[{ a = "x,y", b = "2" }]`},
		{`csvdecode("a,b\n")`, `[]`},
		{`jsondecode("18446744073709551615")`, `18446744073709551615`},
		{`jsondecode("[null, 1.5e1]")`, `[null, 15]`},
		{`jsonencode("<")`, `"\"\\u003c\""`}, // as Terraform does
		{`jsonencode({ b = null, a = 1000000 })`, `"{\"a\":1000000,\"b\":null}"`},
		{`md5("")`, `"d41d8cd98f00b204e9800998ecf8427e"`},

		// Types.
		{`can(1)`, `true`},
		{`can([0][1])`, `false`},
		{`tobool(null)`, `tobool(null)`},
		{`tolist(toset([2, 1]))`, `[1, 2]`},
		{`tonumber("1e3")`, `1000`},
		{`toset([])`, `[]`},
		{`tostring(true)`, `"true"`},
		{`tostring(1e21)`, `"1000000000000000000000"`},
		{`tostring(0.1 + 0.2)`, `"0.3"`},
		{`try([0][1], {}.a, "last")`, `"last"`},

		// Versions.
		{`at_least("10.6", "10.11")`, `false`}, // as texts it would be
		{`at_least("10.11", "10.6")`, `true`},
		{`at_least("10.6.0", "10.6")`, `true`},
		{`at_least("10.6", "10.6.0")`, `true`},
		{`at_least("10.6", "10.6.1")`, `false`},
		{`at_least("8.0.36-28", "8.0.36")`, `true`},
		{`at_least("8.0.36-28", "8.0.37")`, `false`},
		{`at_least("17beta1", "17")`, `true`},
		{`at_least("16.4 (Debian 16.4-1)", "16.5")`, `false`},
		{`at_least("10.", "10.0")`, `true`},
		{`at_least("09.7", "9.07")`, `true`},
		{`at_least("99999999999999999999", "10000000000000000000")`, `true`},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			got, diags := evaluateCall(t, "", tt.expr)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			wantValue(t, got, tt.expr, tt.want)
		})
	}
}

// A metric that is missing makes a formula unknown, never an error.
func TestFunctionsOfUnknowns(t *testing.T) {
	for _, expr := range []string{
		`abs(missing)`, `max(1, missing)`, `sum([1, missing])`, `sum(later)`,
		`log(missing, 2)`, `log(8, missing)`, `pow(2, missing)`, `ceil(missing / 2)`,
		`range(missing)`, `parseint(someday, 10)`,
		`format("%.1f", missing)`, `join(".", holes)`, `upper(someday)`, `indent(missing, "a")`,
		`replace(someday, "/a/", "")`, `replace("a", someday, "")`, `startswith(someday, "a")`, `endswith("a", someday)`,
		`alltrue([true, missing == 1])`, `anytrue([false, missing == 1])`,
		`coalesce(missing, 1)`, `coalesce(null, someday, "a")`, `coalesce(later, "a")`,
		`contains(["a"], someday)`, `contains(holes, "b")`,
		`index(holes, "b")`, `index(later, "b")`,
		`length(someday)`, `length(later)`, `length(toset(holes))`,
		`lookup({ a = 1 }, someday)`, `lookup(later, "a", 1)`, `lookup(tomap({ a = 1 }), someday, 2)`,
		`matchkeys(["a"], [someday], ["x"])`, `matchkeys(["a"], ["x"], [someday])`,
		`one(toset(holes))`, `one([someday])`, `one(later)`, `transpose({ a = [someday] })`,
		`setproduct(toset(holes), [1])`, `tostring(missing)`, `try(missing, 1)`, `can(missing + 1)`,
		`jsondecode(someday)`, `md5(someday)`, `base64decode(someday)`, `file(someday)`, `fileexists(someday)`,
		`at_least(someday, "10.6")`, `at_least("10.6", someday)`, `at_least(later, "10.6")`,
		`at_least(null, "10.6")`, `at_least(tostring(null), "10.6")`,
	} {
		t.Run(expr, func(t *testing.T) {
			got, diags := evaluateCall(t, "", expr)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if got.IsWhollyKnown() {
				t.Errorf("%s = %#v, want it unknown", expr, got)
			}
		})
	}

	// Where what is known decides, the rest does not matter.
	for expr, want := range map[string]string{
		`alltrue([missing == 1, false])`:   `false`,
		`anytrue([missing == 1, true])`:    `true`,
		`contains(holes, "a")`:             `true`,
		`index(holes, "a")`:                `0`,
		`coalesce("a", someday)`:           `"a"`,
		`length(holes)`:                    `2`,
		`length([missing])`:                `1`,
		`length({ a = missing })`:          `1`,
		`lookup({ a = 1 }, "a", missing)`:  `1`,
		`try({}.a, 1)`:                     `1`,
		`upper(someday) == null`:           `false`,
		`at_least("10.6", "10.6") == null`: `false`,
	} {
		got, diags := evaluateCall(t, "", expr)
		if diags.HasErrors() {
			t.Errorf("%s: %v", expr, diags)
			continue
		}
		wantValue(t, got, expr, want)
	}
}

func TestFunctionFaults(t *testing.T) {
	tests := []struct{ expr, want string }{
		{`contains("abc", "a")`, `"list" parameter: must be a list or a set, is string`},
		{`contains(null, "a")`, `"list" parameter: argument must not be null`},
		{`at_least(someday, "10,6")`, `"bound" parameter: "10,6" is no bound`},
		{`abs("x")`, `"number" parameter: a number is required`},
		{`abs(null)`, `"number" parameter: argument must not be null`},
		{`abs()`, `Missing value for "number"`},
		{`alltrue("x")`, `"list" parameter`},
		{`at_least("10.6", "10,6")`, `"bound" parameter: "10,6" is no bound: write numbers with dots`},
		{`at_least("10.6", "10.x")`, `"bound" parameter: "10.x" is no bound`},
		{`at_least("10.6", "")`, `"bound" parameter: "" is no bound`},
		{`at_least("10.6", "10.")`, `"bound" parameter: "10." is no bound`},
		{`at_least("10.6", null)`, `"bound" parameter: argument must not be null`},
		{`at_least("10.6", 10.10)`, `"bound" parameter: must be a text in quotes, is number`},
		{`at_least(10.6, "10.6")`, `"version" parameter: must be a text in quotes, is number`},
		{`at_least("MariaDB", "10.6")`, `"version" parameter: "MariaDB" does not begin with the numbers`},
		{`base64decode("?")`, `"text" parameter: is not in base64`},
		{`base64decode("/w==")`, `"text" parameter: stands for bytes that are no UTF-8 text`},
		{`coalesce()`, `"value" parameter`},
		{`coalesce("", null)`, `"value" parameter: all values are null or empty`},
		{`coalesce([], {})`, `"value" parameter: the values have no common type`},
		{`coalesce("a", tolist([]))`, `"value" parameter: the values have no common type`},
		{`concat(tolist([]), tolist(["a"]), tolist([["b"]]))`, `"list" parameter: the lists hold values of different types`},
		{`csvdecode("a,b\n1")`, `CSV parse error on line 2`},
		{`format("%d", "x")`, `a number is required`},
		{`indent(-1, "a")`, `"spaces" parameter: the indent is a whole number from 0 to 1000`},
		{`indent(0.5, "a")`, `"spaces" parameter`},
		{`indent(1e12, "a")`, `"spaces" parameter`},
		{`index(["a"], "b")`, `"value" parameter: is no element of the list`},
		{`index(["1"], 1)`, `"value" parameter: is no element of the list`},
		{`index([], 1)`, `"value" parameter: is no element of the list`},
		{`index("abc", "a")`, `"list" parameter: must be a list, is string`},
		{`jsondecode("{\n \"a\": x }")`, `"text" parameter: is no JSON: line 2, character 7`},
		{`jsondecode("")`, `"text" parameter: is no JSON: line 1`},
		{`length(5)`, `"value" parameter: must be a list, a set, a map, an object or a text, is number`},
		{`length(null)`, `"value" parameter: argument must not be null`},
		{`log(-1, 2)`, `"number" parameter: only a number above 0`},
		{`log(8, 1)`, `"base" parameter: the base must be above 0 and not 1`},
		{`lookup({ small = 1 }, "smal")`, `"key" parameter: there is no key "smal" (the nearest is "small"), and no default`},
		{`lookup(tomap({ a = 1 }), "xyz")`, `"key" parameter: there is no key "xyz", and no default`},
		{`lookup(tomap({ a = 1 }), "b", [])`, `"default" parameter: the default must be of the type of the map's values, number`},
		{`lookup({}, "a", 1, 2)`, `"default" parameter: lookup takes a map, a key and one default`},
		{`lookup("a", "a")`, `"map" parameter: must be a map or an object, is string`},
		{`matchkeys(["a"], [], [])`, `"keys" parameter: must hold one key for each of the 1 values, holds 0`},
		{`matchkeys(["a"], [["x"]], ["x"])`, `"wanted" parameter: must hold values of the type of the keys`},
		{`max()`, `at least one number`},
		{`merge({}, "a")`, `"map" parameter: must be a map or an object, is string`},
		{`one(["a", "b"])`, `"list" parameter: must have one element or none, has 2`},
		{`one(toset(["a", "b"]))`, `"list" parameter: must have one element or none, has 2`},
		{`one("a")`, `"list" parameter: must be a list or a set, is string`},
		{`pow(-1, 0.5)`, `"power" parameter: a number below 0 has only whole powers`},
		{`pow(0, -1)`, `"power" parameter: 0 has no negative power`},
		{`range(1, 1 / 0, 2)`, `must not be infinite`},
		{`range(2000)`, `1024`},
		{`replace("a", "/(/", "")`, `"part" parameter: "/(/" is no pattern: missing closing )`},
		{`setproduct(range(1000), range(1000))`, `"list" parameter: makes more than 100000 combinations`},
		{`sum([])`, `"numbers" parameter: an empty list has no sum`},
		{`sum([1, "x"])`, `"numbers" parameter: element 1 is no number`},
		{`sum([null])`, `"numbers" parameter: element 0 is no number`},
		{`sum([1 / 0, -1 / 0])`, `"numbers" parameter: positive and negative infinity have no sum`},
		{`sum(5)`, `"numbers" parameter: must be a list or a set, is number`},
		{`tobool("ON")`, `cannot convert "ON" to bool; only the strings "true" or "false" are allowed`},
		{`tonumber("0x10")`, `"value" parameter: cannot convert "0x10" to number`},
		{`transpose({ a = null })`, `"map" parameter: the list of "a" is null`},
		{`transpose({ a = [null] })`, `"map" parameter: the list of "a" holds null`},
		{`try([0][1], {}.a)`, `no expression succeeded`},
		{`zipmap([null], [1])`, `"keys" parameter: key 0 is null`},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			got, diags := evaluateCall(t, "", tt.expr)
			if !diags.HasErrors() {
				t.Fatalf("%s = %#v, want the error %s", tt.expr, got, tt.want)
			}
			if !strings.Contains(diags.Error(), tt.want) {
				t.Errorf("%s:\n got %s\nwant %s", tt.expr, diags, tt.want)
			}
		})
	}
}

func TestFileFunctions(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "experiment")
	for _, d := range []string{dir, filepath.Join(dir, "sql")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	putFile(t, filepath.Join(above, "secret"), "secret")
	putFile(t, filepath.Join(dir, "setup.sql"), "SET x = 1;\n")
	putFile(t, filepath.Join(dir, "sql", "drop.sql"), "DROP")
	putFile(t, filepath.Join(dir, "latin1.txt"), "caf\xe9")
	putFile(t, filepath.Join(dir, "..dots"), "dots")
	putFile(t, filepath.Join(dir, "huge"), "")
	if err := os.Truncate(filepath.Join(dir, "huge"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"inside": "sql/drop.sql", "outside": "../secret", "far": filepath.Join(above, "secret"), "loop": "loop", "up": "..",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}

	for expr, want := range map[string]string{
		`file("setup.sql")`:          `"SET x = 1;\n"`,
		`file("./setup.sql")`:        `"SET x = 1;\n"`,
		`file("sql/drop.sql")`:       `"DROP"`,
		`file("inside")`:             `"DROP"`,
		`file("..dots")`:             `"dots"`,
		`fileexists("setup.sql")`:    `true`,
		`fileexists("latin1.txt")`:   `true`,
		`fileexists("setup.sq")`:     `false`,
		`fileexists("none/x.sql")`:   `false`,
		`fileexists("~/.profile")`:   `false`,
		`can(file("setup.sq"))`:      `false`,
		`try(file("none"), "empty")`: `"empty"`,
	} {
		got, diags := evaluateCall(t, dir, expr)
		if diags.HasErrors() {
			t.Errorf("%s: %v", expr, diags)
			continue
		}
		wantValue(t, got, expr, want)
	}

	for path, want := range map[string]string{
		"":                   `is no path`,
		"/etc/hostname":      `is an absolute path`,
		"../secret":          `holds ".."`,
		"sql/../../secret":   `holds ".."`,
		"sql/../setup.sql":   `holds ".."`,
		"outside":            `leads out of the experiment's directory through a symbolic link`,
		"far":                `leads out of the experiment's directory through a symbolic link`,
		"up/secret":          `leads out of the experiment's directory through a symbolic link`,
		"loop":               `cannot be read: too many levels of symbolic links`,
		"sql":                `is no plain file`,
		"pipe":               `is no plain file`,
		"setup.sql/drop.sql": `cannot be read: not a directory`,
	} {
		for _, name := range []string{"file", "fileexists"} {
			wantFault(t, dir, name+`("`+path+`")`, want)
		}
	}
	wantFault(t, dir, `file("setup.sq")`, `"setup.sq" is no file in the experiment's directory`)
	wantFault(t, dir, `file("latin1.txt")`, `is not in UTF-8`)
	wantFault(t, dir, `file("huge")`, `is longer than 16 MiB`)
}

// wantFault fails the test unless the expression is an error at its argument
// path.
func wantFault(t *testing.T, dir, expr, want string) {
	t.Helper()
	got, diags := evaluateCall(t, dir, expr)
	if !diags.HasErrors() {
		t.Errorf("%s = %#v, want the error %s", expr, got, want)
		return
	}
	if text := diags.Error(); !strings.Contains(text, want) || !strings.Contains(text, `"path" parameter`) {
		t.Errorf("%s:\n got %s\nwant %s", expr, text, want)
	}
}

// cty turns a panic of a function into an error with a stack trace, which no
// user should see.
func TestFunctionsDoNotPanic(t *testing.T) {
	texts := cty.List(cty.String)
	values := []cty.Value{
		cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.String), cty.NullVal(texts), cty.DynamicVal,
		cty.UnknownVal(cty.Number), cty.UnknownVal(cty.String), cty.UnknownVal(texts),
		cty.StringVal(""), cty.StringVal("a\nb"), cty.StringVal("/(/"), cty.StringVal("%d %*d"),
		cty.Zero, cty.NumberIntVal(3), cty.NumberIntVal(-3), cty.NumberFloatVal(0.5), cty.MustParseNumberVal("1e100"),
		cty.NumberIntVal(math.MaxInt64), cty.NumberIntVal(math.MinInt64), cty.PositiveInfinity, cty.NegativeInfinity,
		cty.True, cty.EmptyTupleVal, cty.EmptyObjectVal,
		cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.NumberIntVal(1), cty.NullVal(cty.String)}),
		cty.ListValEmpty(cty.DynamicPseudoType), cty.ListValEmpty(cty.String), cty.MapValEmpty(cty.String),
		cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
		cty.ListVal([]cty.Value{cty.NullVal(cty.String)}),
		cty.ListVal([]cty.Value{cty.NullVal(texts)}),
		cty.ListVal([]cty.Value{cty.PositiveInfinity, cty.NegativeInfinity}),
		cty.SetVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
		cty.MapVal(map[string]cty.Value{"a": cty.ListVal([]cty.Value{cty.StringVal("x")})}),
		cty.MapVal(map[string]cty.Value{"a": cty.NullVal(texts)}),
		cty.ObjectVal(map[string]cty.Value{"a": cty.DynamicVal}),
	}
	for name, f := range Functions(t.TempDir()) {
		if name == "try" || name == "can" {
			continue // they take expressions, not values
		}
		t.Run(name, func(t *testing.T) {
			callWithout(t, f)
			for _, a := range values {
				callWithout(t, f, a)
				for _, b := range values {
					callWithout(t, f, a, b)
					for i := 0; i < len(values); i += 3 { // else it takes seconds
						callWithout(t, f, a, b, values[i])
					}
				}
			}
		})
	}
}

// callWithout calls a function, converting the arguments as an expression does,
// and fails the test if it panics.
func callWithout(t *testing.T, f function.Function, args ...cty.Value) {
	t.Helper()
	params := f.Params()
	if len(args) < len(params) || len(args) > len(params) && f.VarParam() == nil {
		return
	}
	converted := make([]cty.Value, len(args))
	for i, a := range args {
		p := f.VarParam()
		if i < len(params) {
			p = &params[i]
		}
		v, err := convert.Convert(a, p.Type)
		if err != nil {
			return
		}
		converted[i] = v
	}
	_, err := f.Call(converted)
	var panicked function.PanicError
	if errors.As(err, &panicked) {
		t.Fatalf("called with %#v: %v", converted, panicked.Value)
	}
}

func FuzzFunctions(f *testing.F) {
	for _, doc := range FunctionDocs() {
		f.Add(doc.Example)
	}
	// Numbers of a million digits and loops are slow, not wrong.
	slow := regexp.MustCompile(`(?i)e[+-]?[0-9]{3}|[0-9]{20}|\bfor\b`)
	f.Fuzz(func(t *testing.T, text string) {
		if slow.MatchString(text) || len(text) > 200 {
			return
		}
		expr, diags := hclsyntax.ParseExpression([]byte(text), "fuzz.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			return
		}
		_, diags = expr.Value(&hcl.EvalContext{Functions: Functions(t.TempDir())})
		for _, d := range diags {
			if d.Subject == nil {
				t.Errorf("%s: a diagnostic without a place: %v", text, d)
			}
			if strings.Contains(d.Detail, "goroutine") {
				t.Errorf("%s panics: %v", text, d)
			}
		}
	})
}
