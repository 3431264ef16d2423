package matrix

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func encodingFunctions() []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"base64decode", "base64decode(text)",
			"The text that the base64 text stands for, which must be UTF-8.",
			`base64decode("aGVsbG8=")`, `"hello"`}, base64DecodeFunction()},
		{FunctionDoc{"base64encode", "base64encode(text)",
			"The bytes of the text in base64.",
			`base64encode("hello")`, `"aGVsbG8="`}, base64EncodeFunction()},
		{FunctionDoc{"csvdecode", "csvdecode(text)",
			"The rows of a CSV text as objects of texts, named by its first row.",
			`csvdecode("rows,clients\n1000,4\n")`, `[{ rows = "1000", clients = "4" }]`}, stdlib.CSVDecodeFunc},
		{FunctionDoc{"jsondecode", "jsondecode(text)",
			"The value that the JSON text stands for.",
			`jsondecode("{\"clients\": [4, 16]}")`, `{ clients = [4, 16] }`}, jsonDecodeFunction()},
		{FunctionDoc{"jsonencode", "jsonencode(value)",
			"The value as a JSON text.",
			`jsonencode({ clients = [4, 16] })`, `"{\"clients\":[4,16]}"`}, stdlib.JSONEncodeFunc},
		{FunctionDoc{"md5", "md5(text)",
			"The MD5 hash of the text in hexadecimal digits.",
			`md5("hello")`, `"5d41402abc4b2a76b9719d911017c592"`}, hashFunction("MD5", md5.New)},
		{FunctionDoc{"sha1", "sha1(text)",
			"The SHA-1 hash of the text in hexadecimal digits.",
			`sha1("hello")`, `"aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"`}, hashFunction("SHA-1", sha1.New)},
		{FunctionDoc{"sha256", "sha256(text)",
			"The SHA-256 hash of the text in hexadecimal digits.",
			`sha256("hello")`, `"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"`}, hashFunction("SHA-256", sha256.New)},
	}
}

func base64EncodeFunction() function.Function {
	return textToText("Encodes a text in base64.", func(text string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	})
}

func base64DecodeFunction() function.Function {
	return textToText("Decodes a base64 text.", func(text string) (string, error) {
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", function.NewArgErrorf(0, "is not in base64")
		}
		if !utf8.Valid(plain) {
			return "", function.NewArgErrorf(0, "stands for bytes that are no UTF-8 text")
		}
		return string(plain), nil
	})
}

func hashFunction(name string, algorithm func() hash.Hash) function.Function {
	return textToText("The "+name+" hash of a text.", func(text string) (string, error) {
		h := algorithm()
		h.Write([]byte(text))
		return hex.EncodeToString(h.Sum(nil)), nil
	})
}

// jsonDecodeFunction is cty's, with an error that tells the place of the fault.
func jsonDecodeFunction() function.Function {
	return guarded(stdlib.JSONDecodeFunc, func(args []cty.Value) error {
		if args[0].IsNull() || !args[0].IsKnown() {
			return nil
		}
		text := args[0].AsString()
		var any json.RawMessage
		var fault *json.SyntaxError
		if err := json.Unmarshal([]byte(text), &any); errors.As(err, &fault) {
			before := text[:fault.Offset]
			return function.NewArgErrorf(0, "is no JSON: line %d, character %d: %s",
				1+strings.Count(before, "\n"), len(before)-1-strings.LastIndex(before, "\n"), fault)
		}
		return nil
	})
}

// textToText makes a function of one text that gives a text.
func textToText(description string, f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Description:  description,
		Params:       []function.Parameter{{Name: "text", Type: cty.String}},
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := f(args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(text), nil
		},
	})
}
