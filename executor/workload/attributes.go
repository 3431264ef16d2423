package workload

import (
	"github.com/zclconf/go-cty/cty"

	"dbmatrix/matrix"
)

// Seed returns the attribute that all workloads with random data have.
func Seed() matrix.Attribute {
	return matrix.Attribute{
		Name: "seed", Type: cty.Number,
		Doc: "Start of the random numbers: the same seed makes the same data. Without one it is the number of the replicate.",
	}
}

// AllowErrors returns the attribute that lets errors of the server pass.
func AllowErrors() matrix.Attribute {
	return matrix.Attribute{
		Name: "allow_errors", Type: cty.List(cty.String), Unit: "error codes",
		Doc: "Errors of the server that are counted and do not fail the phase: numbers of MySQL and MariaDB, states of PostgreSQL. Deadlocks (1213, 40P01) and lock waits (1205, 55P03) are retried and counted in any case.",
	}
}

// Whole returns an attribute that is a number with a default.
func Whole(name, unit string, value int64, doc string) matrix.Attribute {
	return matrix.Attribute{Name: name, Type: cty.Number, Unit: unit, Default: cty.NumberIntVal(value), Doc: doc}
}

// Optional returns an attribute that is a number without a default.
func Optional(name, unit, doc string) matrix.Attribute {
	return matrix.Attribute{Name: name, Type: cty.Number, Unit: unit, Doc: doc}
}

// Choice returns an attribute that is one of several texts, the first of which
// is its default.
func Choice(name, doc string, values ...string) matrix.Attribute {
	return matrix.Attribute{Name: name, Type: cty.String, Default: cty.StringVal(values[0]), Values: values, Doc: doc}
}

// Step returns the required attribute that says which step of a benchmark a
// phase is.
func Step(doc string, values ...string) matrix.Attribute {
	return matrix.Attribute{Name: "step", Type: cty.String, Required: true, Values: values, Doc: doc}
}

// Text returns an attribute that is a text with a default; "" is none.
func Text(name, value, doc string) matrix.Attribute {
	a := matrix.Attribute{Name: name, Type: cty.String, Doc: doc}
	if value != "" {
		a.Default = cty.StringVal(value)
	}
	return a
}

// Switch returns an attribute that is false unless set.
func Switch(name, doc string) matrix.Attribute {
	return matrix.Attribute{Name: name, Type: cty.Bool, Default: cty.False, Doc: doc}
}
