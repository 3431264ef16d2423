package workload

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/matrix"
)

// Values reads evaluated arguments. Each method returns the zero value where the
// attribute is null. Faults is what it found that the type of an attribute
// cannot say, such as half a row; whoever reads asks for it at the end.
type Values struct {
	args   matrix.Args
	Faults []matrix.ArgError
}

// Read returns the values of args.
func Read(args matrix.Args) *Values { return &Values{args: args} }

// Fault records that an attribute has a wrong value; detail says what to do.
func (v *Values) Fault(attribute, summary, detail string) {
	v.Faults = append(v.Faults, matrix.ArgError{Attribute: attribute, Summary: summary, Detail: detail})
}

// Err returns the first fault, or nil.
func (v *Values) Err() error {
	if len(v.Faults) == 0 {
		return nil
	}
	f := v.Faults[0]
	return fmt.Errorf("%s: %s; %s", f.Attribute, f.Summary, f.Detail)
}

// Has reports whether the attribute has a value.
func (v *Values) Has(name string) bool {
	value, ok := v.args[name]
	return ok && value != cty.NilVal && value.IsKnown() && !value.IsNull()
}

// Text returns a text.
func (v *Values) Text(name string) string {
	if !v.Has(name) {
		return ""
	}
	return v.args[name].AsString()
}

// Bool returns a bool.
func (v *Values) Bool(name string) bool { return v.Has(name) && v.args[name].True() }

// Float returns a number.
func (v *Values) Float(name string) float64 {
	if !v.Has(name) {
		return 0
	}
	f, _ := v.args[name].AsBigFloat().Float64()
	return f
}

// Int returns a whole number of at least lowest; anything else is a fault.
func (v *Values) Int(name string, lowest int64) int64 {
	if !v.Has(name) {
		return 0
	}
	number := v.args[name].AsBigFloat()
	n, accuracy := number.Int64()
	if accuracy != big.Exact {
		v.Fault(name, fmt.Sprintf("%s is no whole number", number.Text('f', -1)), "Give a whole number.")
		return 0
	}
	if n < lowest {
		v.Fault(name, fmt.Sprintf("%d is too small", n), fmt.Sprintf("Give a whole number of at least %d.", lowest))
	}
	return n
}

// Texts returns a list of texts; numbers in it are as they are written.
func (v *Values) Texts(name string) []string {
	if !v.Has(name) {
		return nil
	}
	var texts []string
	for _, e := range v.args[name].AsValueSlice() {
		switch {
		case e.IsNull():
		case e.Type() == cty.Number:
			texts = append(texts, e.AsBigFloat().Text('f', -1))
		default:
			texts = append(texts, e.AsString())
		}
	}
	return texts
}

// ErrorCodes returns a list of error codes: numbers of MySQL and MariaDB, or
// states of PostgreSQL.
func (v *Values) ErrorCodes(name string) []string {
	codes := v.Texts(name)
	for _, code := range codes {
		n, err := strconv.ParseUint(code, 10, 16)
		if (err != nil || n == 0) && !sqlState.MatchString(code) {
			v.Fault(name, code+" is no error code",
				"Give the server's codes: error numbers of MySQL and MariaDB, such as 1062, or states of PostgreSQL, such as \"23505\".")
		}
	}
	return codes
}

// sqlState is what an error's state looks like: class and condition.
var sqlState = regexp.MustCompile(`^[0-9A-Z]{5}$`)

// Map returns named texts. An entry that is null is left out.
func (v *Values) Map(name string) map[string]string {
	if !v.Has(name) {
		return nil
	}
	texts := map[string]string{}
	for key, e := range v.args[name].AsValueMap() {
		if !e.IsNull() {
			texts[key] = e.AsString()
		}
	}
	return texts
}
