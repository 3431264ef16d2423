package server

import (
	"context"
	"errors"

	"dbmatrix/matrix"
)

// A Verdict says what became of an option that was asked for.
type Verdict string

// Verdicts.
const (
	Verified     Verdict = "verified"     // the server has the value that was asked
	Adjusted     Verdict = "adjusted"     // it took the option and changed the value
	Contradicted Verdict = "contradicted" // it has another value, or does not heed the option
	Unverifiable Verdict = "unverifiable" // nothing tells what it has
)

// An InForce is one requested option and what the server has in force.
type InForce struct {
	Option  matrix.Option
	Asked   string // as written in the option file
	Got     string // as the server tells it; "" where it does not
	Verdict Verdict

	// Granule says of an adjusted value that it was rounded to the server's
	// own unit, such as a buffer pool chunk.
	Granule bool

	Source string // where Got comes from, such as "information_schema.system_variables"
	Detail string // the server's words or a reason, else ""
}

// InForce compares each requested option with what the server has in force.
func (i *Instance) InForce(ctx context.Context) ([]InForce, error) {
	return nil, errors.New("not built yet")
}

// Faults returns, of verdicts, those that spoil a measurement, one sentence
// each: an option that an axis, matrix or phase sets must be verified, unless
// the settings allow it to be adjusted or unverified. Rounding to a granule is
// no fault.
func Faults(s *matrix.Settings, verdicts []InForce) []string { return nil }
