package matrix

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// A reader turns an attribute's value into a Go value. It returns a sentence
// that says what is wrong, or "".
type reader[T any] func(cty.Value) (T, string)

// read evaluates a static attribute; where it is absent or null, or faulty, it
// returns fallback.
func read[T any](d *decoder, attr *hcl.Attribute, fallback T, as reader[T]) T {
	v, ok := d.static(attr)
	if !ok || v.IsNull() {
		return fallback
	}
	got, wrong := as(v)
	if wrong != "" {
		d.losses++
		d.faults.add(badValue(attr.Name, attr.Expr.Range(), wrong))
		return fallback
	}
	return got
}

func badValue(name string, rng hcl.Range, wrong string) *hcl.Diagnostic {
	return fault(rng, "Wrong value", "%s %s.", name, wrong)
}

// static evaluates an attribute at the first step.
func (d *decoder) static(attr *hcl.Attribute) (cty.Value, bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	v, ok := d.staticExpr(attr.Expr)
	if !ok {
		d.losses++
	}
	return v, ok
}

func (d *decoder) staticExpr(expr hcl.Expression) (cty.Value, bool) {
	if found := d.check(expr, stepStatic); len(found) > 0 {
		d.faults.add(found...)
		return cty.NilVal, false
	}
	o := d.compile(expr, nil).eval(&frame{d: d})
	d.faults.add(o.diags...)
	return o.value, !o.diags.HasErrors() && o.value.IsWhollyKnown()
}

// kindOf names the kind of a value for a message, with its article.
func kindOf(v cty.Value) string {
	switch t := v.Type(); {
	case v.IsNull():
		return "null"
	case !v.IsKnown():
		return "a value that is not known"
	case t == cty.String:
		return "a text"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "a bool"
	case t.IsTupleType(), t.IsListType(), t.IsSetType():
		return "a list"
	case t.IsObjectType(), t.IsMapType():
		return "an object"
	}
	return "a " + v.Type().FriendlyName()
}

func textValue(v cty.Value) (string, string) {
	switch {
	case v.IsNull() || !v.IsKnown():
		return "", "must be a text, not " + kindOf(v)
	case v.Type() == cty.String:
		return v.AsString(), ""
	case v.Type() == cty.Number:
		text, err := numberText(v)
		if err != nil {
			return "", "must be a text, and " + err.Error()
		}
		return text, ""
	case v.Type() == cty.Bool:
		return "", `must be a text; put quotes around it if the text "` + fmt.Sprint(v.True()) + `" is meant`
	}
	return "", "must be a text, not " + kindOf(v)
}

func boolValue(v cty.Value) (bool, string) {
	b, err := convert.Convert(v, cty.Bool)
	if err != nil || v.Type() == cty.Number || v.IsNull() || !v.IsKnown() {
		return false, "must be true or false, not " + kindOf(v)
	}
	return b.True(), ""
}

func wholeValue(v cty.Value) (int64, string) {
	n, err := convert.Convert(v, cty.Number)
	if err != nil || v.IsNull() || !v.IsKnown() {
		return 0, "must be a whole number, not " + kindOf(v)
	}
	i, exact := n.AsBigFloat().Int64()
	if exact != big.Exact {
		return 0, fmt.Sprintf("must be a whole number; %s is none", n.AsBigFloat().Text('g', 6))
	}
	return i, ""
}

// atLeast reads a whole number that has a lower bound.
func atLeast(low int64) reader[int] {
	return func(v cty.Value) (int, string) {
		i, wrong := wholeValue(v)
		if wrong == "" && i < low {
			wrong = fmt.Sprintf("must be at least %d; it is %d", low, i)
		}
		return int(i), wrong
	}
}

// between reads a whole number that has two bounds.
func between(low, high int64) reader[int] {
	return func(v cty.Value) (int, string) {
		i, wrong := wholeValue(v)
		if wrong == "" && (i < low || i > high) {
			wrong = fmt.Sprintf("must be between %d and %d; it is %d", low, high, i)
		}
		return int(i), wrong
	}
}

// nameValue reads the name of an experiment, which results go by.
func nameValue(v cty.Value) (string, string) {
	text, wrong := textValue(v)
	if wrong == "" && (strings.TrimSpace(text) == "" || strings.ContainsFunc(text, func(r rune) bool { return r == '/' || r < ' ' })) {
		wrong = fmt.Sprintf("must be a text without slashes and line breaks; it is %q", text)
	}
	return text, wrong
}

func durationValue(v cty.Value) (time.Duration, string) {
	text, wrong := textValue(v)
	if wrong != "" || v.Type() != cty.String {
		return 0, `must be a duration with its unit, such as "90s" or "20m"`
	}
	got, err := ParseDuration(text)
	if err != nil {
		return 0, "must be a duration: " + err.Error()
	}
	return got, ""
}

// oneOf reads a text that has a few legal values.
func oneOf[T ~string](legal ...T) reader[T] {
	return func(v cty.Value) (T, string) {
		text, wrong := textValue(v)
		if wrong != "" {
			return "", wrong
		}
		names := make([]string, len(legal))
		for i, l := range legal {
			if string(l) == text {
				return l, ""
			}
			names[i] = string(l)
		}
		return "", fmt.Sprintf("must be one of %s; it is %q", list(names), text)
	}
}

// textsValue reads a list of texts. A single text is not taken for a list of
// one, since a forgotten bracket often is a forgotten element.
func textsValue(v cty.Value) ([]string, string) {
	if !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() {
		return nil, "must be a list of texts, not " + kindOf(v)
	}
	texts := []string{}
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e.IsNull() {
			return nil, "must be a list of texts; one element is null"
		}
		text, wrong := textValue(e)
		if wrong != "" {
			return nil, "must be a list of texts; one element " + wrong
		}
		texts = append(texts, text)
	}
	return texts, ""
}

// commandsValue reads a list of argument lists.
func commandsValue(v cty.Value) ([][]string, string) {
	if !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() {
		return nil, `must be a list of argument lists, such as [["sync"], ["sleep", "5"]]`
	}
	var commands [][]string
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		args, wrong := textsValue(e)
		if wrong != "" || len(args) == 0 {
			return nil, `must be a list of argument lists, such as [["sync"], ["sleep", "5"]]`
		}
		commands = append(commands, args)
	}
	return commands, ""
}

// textMapValue reads an object whose attributes are texts; null ones are left
// out.
func textMapValue(v cty.Value) (map[string]string, string) {
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return nil, "must be an object such as { name = \"value\" }, not " + kindOf(v)
	}
	texts := map[string]string{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if e.IsNull() {
			continue
		}
		text, wrong := textValue(e)
		if wrong != "" {
			return nil, fmt.Sprintf("holds %s, which %s", k.AsString(), wrong)
		}
		texts[k.AsString()] = text
	}
	return texts, ""
}

// asText reads an outcome that must be a text.
func asText(o *outcome, expr hcl.Expression) (string, hcl.Diagnostics) {
	if o.diags.HasErrors() {
		return "", o.diags
	}
	if o.value.IsNull() || !o.value.IsKnown() {
		return "", nil
	}
	text, wrong := textValue(o.value)
	if wrong != "" {
		return "", hcl.Diagnostics{badValue("This", expr.Range(), wrong)}
	}
	return text, nil
}
