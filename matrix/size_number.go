package matrix

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Bounds of the numbers that can be written as options. The longest that a
// server takes is the largest 64-bit number; the rest is room.
const (
	// maxDigits is how long a number's decimal text may be. A fraction
	// without end, such as 1/3, has 155 digits in cty.
	maxDigits = 64

	// maxExponent keeps numbers such as 1e1000000 from being written out
	// only to be found too long: 2 to the 256th has 78 digits.
	maxExponent = 256

	// exactBits is how much of cty's 512 bits is believed. The last ones
	// hold the rounding of sums such as 0.1 + 0.7.
	exactBits = 480
)

// numberText returns a number as the exact decimal that a server is to read:
// never with an exponent, without trailing zeros. A number that has no short
// exact decimal, such as 1/3 or an infinity, is an error, for it would be
// written as another number than the definition says.
//
// An error is a sentence for the writer of the definition, with no full stop.
func numberText(v cty.Value) (string, error) {
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return "", errors.New("null is no number")
	case v.Type() != cty.Number:
		return "", fmt.Errorf("%s is no number", v.Type().FriendlyName())
	case !v.IsKnown():
		return "", errors.New("the number is not known yet")
	}
	f := v.AsBigFloat()
	if f.IsInf() {
		return "", errors.New("the number is infinite; something is divided by 0")
	}
	outside := fmt.Errorf("the number %s is too large or too close to 0 to be written out", f.Text('g', 6))
	if exponent := f.MantExp(nil); exponent > maxExponent || exponent < -maxExponent {
		return "", outside
	}
	if f.Prec() > exactBits {
		f = new(big.Float).SetPrec(exactBits).Set(f)
	}
	text := f.Text('f', -1)
	if f.IsInt() {
		whole, _ := f.Int(nil)
		text = whole.String()
	}
	digits := strings.NewReplacer("-", "", ".", "").Replace(text)
	if len(strings.Trim(digits, "0")) > maxDigits {
		return "", fmt.Errorf("the number %s... has no exact decimal form of at most %d digits: round it, for instance with floor()", f.Text('g', 6), maxDigits)
	}
	if len(digits) > maxDigits {
		return "", outside
	}
	return text, nil
}
