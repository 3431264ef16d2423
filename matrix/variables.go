package matrix

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// A variable is a value that may be given from outside.
type variable struct {
	name        string
	typ         cty.Type // cty.NilType where neither type nor default says
	value       cty.Value
	validations []validation
	rng         hcl.Range
}

type validation struct {
	condition, message *hcl.Attribute
	rng                hcl.Range
}

// decodeVariables declares the variables and settles their values: --var, then
// --var-file, then the machine file, then the default.
func (d *decoder) decodeVariables(blocks hcl.Blocks) {
	for _, b := range blocks {
		v := d.declareVariable(b)
		if prior, dup := d.variables[v.name]; dup {
			d.faults.add(duplicate("variable", v.name, b.DefRange, prior.rng))
			continue
		}
		d.variables[v.name] = v
	}
	given := d.givenVariables()
	for _, b := range blocks {
		v := d.variables[b.Labels[0]]
		if g, ok := given[v.name]; ok {
			v.value = g
		} else if v.value == cty.NilVal {
			d.faults.add(fault(v.rng, "Variable without a value",
				"The variable %q has no default, and none was given. Give one with --var %s=VALUE.", v.name, v.name))
			v.value = cty.DynamicVal
		}
	}
	for _, b := range blocks {
		d.validate(d.variables[b.Labels[0]])
	}
}

func duplicate(kind, name string, here, prior hcl.Range) *hcl.Diagnostic {
	return fault(here, "Duplicate "+kind, "The %s %q is declared at %s already. Names must differ.", kind, name, place(prior))
}

func (d *decoder) declareVariable(b *hcl.Block) *variable {
	v := &variable{name: b.Labels[0], rng: b.DefRange, value: cty.NilVal}
	d.identifier("variables", v.name, b.LabelRanges[0])
	content := d.content(b.Body, variableSchema())
	if attr := content.Attributes["type"]; attr != nil {
		t, diags := typeexpr.TypeConstraint(attr.Expr)
		d.faults.add(diags...)
		v.typ = t
	}
	if attr := content.Attributes["default"]; attr != nil {
		if value, ok := d.plain(attr.Expr, "The default of a variable"); ok {
			v.value = d.convertDefault(v, value, attr)
		} else {
			v.value = cty.DynamicVal
		}
	}
	read(d, content.Attributes["description"], "", textValue)
	for _, vb := range content.Blocks {
		vc := d.content(vb.Body, validationSchema())
		cond := d.required(vc, "condition", vb.DefRange, "validation")
		msg := d.required(vc, "error_message", vb.DefRange, "validation")
		if cond != nil && msg != nil {
			v.validations = append(v.validations, validation{cond, msg, vb.DefRange})
		}
	}
	return v
}

// plain evaluates an expression that may not depend on other declarations, since
// these may come later, and may be given from outside.
func (d *decoder) plain(expr hcl.Expression, what string) (cty.Value, bool) {
	for _, t := range expr.Variables() {
		if root(t.RootName()) != rootHost {
			d.faults.add(fault(t.SourceRange(), "Name not known here", "%s is a plain value: it may call functions and read host, and nothing else.", what))
			return cty.NilVal, false
		}
	}
	return d.staticExpr(expr)
}

func (d *decoder) convertDefault(v *variable, value cty.Value, attr *hcl.Attribute) cty.Value {
	if v.typ == cty.NilType {
		v.typ = value.Type()
		return value
	}
	got, err := convert.Convert(value, v.typ)
	if err != nil {
		d.faults.add(fault(attr.Expr.Range(), "Wrong value", "The default of variable %q is not of its type, %s: %s.",
			v.name, typeexpr.TypeString(v.typ), err))
		return cty.DynamicVal
	}
	return got
}

// required returns an attribute that a block must have, and reports its absence
// with the block's place, unless it may have been lost.
func (d *decoder) required(c *hcl.BodyContent, name string, rng hcl.Range, what string) *hcl.Attribute {
	attr := c.Attributes[name]
	if attr == nil && !d.lossy[c] {
		d.faults.add(fault(rng, "Missing argument", "This %s needs the argument %q.", what, name))
	}
	return attr
}

// givenVariables collects the values from outside, the strongest source last.
func (d *decoder) givenVariables() map[string]cty.Value {
	given := map[string]cty.Value{}
	for name, attr := range d.machine.variables {
		if v := d.variables[name]; v != nil { // a machine may serve many experiments
			d.give(given, v, attr.value, attr.rng)
		}
	}
	for _, file := range d.opts.VarFiles {
		d.readVarFile(file, given)
	}
	for _, o := range d.opts.Vars {
		d.giveText(given, o)
	}
	return given
}

func (d *decoder) give(given map[string]cty.Value, v *variable, value cty.Value, rng hcl.Range) {
	if v.typ != cty.NilType {
		got, err := convert.Convert(value, v.typ)
		if err != nil {
			d.faults.add(fault(rng, "Wrong value", "The variable %q is of type %s: %s.", v.name, typeexpr.TypeString(v.typ), err))
			given[v.name] = cty.DynamicVal
			return
		}
		value = got
	}
	given[v.name] = value
}

// readVarFile reads the values of a --var-file.
func (d *decoder) readVarFile(name string, given map[string]cty.Value) {
	file, ok := parseFile(name, d.faults)
	if !ok {
		return
	}
	d.src.files[name] = file
	set, diags := file.Body.JustAttributes()
	d.faults.add(diags...)
	for _, attr := range sortedAttrs(set) {
		v := d.variables[attr.Name]
		if v == nil {
			d.faults.add(fault(attr.NameRange, "Unknown variable", "The experiment declares no variable %q%s",
				attr.Name, alternatives(attr.Name, "", keys(d.variables))))
			continue
		}
		if value, ok := d.plain(attr.Expr, "A value in a variables file"); ok {
			d.give(given, v, value, attr.Expr.Range())
		}
	}
}

// giveText reads a value of --var by the variable's type: a text as it is,
// anything else as an expression of literals.
func (d *decoder) giveText(given map[string]cty.Value, o VarValue) {
	v := d.variables[o.Name]
	nowhere := func(format string, args ...any) {
		d.faults.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong --var " + o.Name, Detail: fmt.Sprintf(format, args...)})
	}
	if v == nil {
		nowhere("The experiment declares no variable %q%s", o.Name, alternatives(o.Name, "", keys(d.variables)))
		return
	}
	given[v.name] = cty.DynamicVal // unless it can be read
	value := cty.StringVal(o.Value)
	if v.typ != cty.NilType && v.typ != cty.String && (!v.typ.IsPrimitiveType() || strings.TrimSpace(o.Value) == "null") {
		expr, diags := hclsyntax.ParseExpression([]byte(o.Value), "--var "+o.Name, hcl.InitialPos)
		if !diags.HasErrors() {
			value, diags = expr.Value(nil)
		}
		if diags.HasErrors() {
			nowhere("%q cannot be read as a value of type %s: %s", o.Value, typeexpr.TypeString(v.typ), diags[0].Detail)
			return
		}
	}
	if v.typ != cty.NilType {
		got, err := convert.Convert(value, v.typ)
		if err != nil {
			nowhere("%q is no value of its type, %s: %s.", o.Value, typeexpr.TypeString(v.typ), err)
			return
		}
		value = got
	}
	given[v.name] = value
}

// validate checks a variable's value against its validation blocks.
func (d *decoder) validate(v *variable) {
	for _, check := range v.validations {
		held, ok := d.static(check.condition)
		if !ok {
			continue
		}
		b, wrong := boolValue(held)
		switch {
		case held.IsNull() || wrong != "":
			d.faults.add(badValue("condition", check.condition.Expr.Range(), "must be true or false"))
		case !b:
			message := read(d, check.message, "the validation fails", textValue)
			d.faults.add(fault(check.rng, "Invalid variable", "The variable %q is %s: %s.", v.name, show(v.value), strings.TrimSuffix(message, ".")))
		}
	}
}

// identifier reports a name that expressions could not refer to.
func (d *decoder) identifier(kind, name string, rng hcl.Range) {
	if !hclsyntax.ValidIdentifier(name) {
		d.faults.add(fault(rng, "Bad name", "%q is no name for this block: expressions refer to %s by name, so it must be of letters, digits, _ and -, and not begin with a digit.", name, kind))
	}
}

// show prints a value for a message, on one line.
func show(v cty.Value) string {
	switch {
	case v == cty.NilVal || v.IsNull():
		return "null"
	case !v.IsWhollyKnown():
		return "unknown"
	case v.Type() == cty.String:
		return fmt.Sprintf("%q", v.AsString())
	case v.Type() == cty.Bool:
		return fmt.Sprint(v.True())
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case v.Type().IsCapsuleType():
		return capsuleName(v)
	case v.Type().IsObjectType() || v.Type().IsMapType():
		return showAll(v, "{", "}", true)
	}
	return showAll(v, "[", "]", false)
}

func showAll(v cty.Value, open, end string, named bool) string {
	var parts []string
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		part := show(e)
		if named {
			part = k.AsString() + " = " + part
		}
		parts = append(parts, part)
	}
	return open + strings.Join(parts, ", ") + end
}

// beside makes a path absolute, relative to a directory.
func beside(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// programBeside is beside for a program: one without a slash is looked for on PATH.
func programBeside(dir, name string) string {
	if !strings.ContainsRune(name, '/') {
		return name
	}
	return beside(dir, name)
}
