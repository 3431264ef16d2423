package report

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A numberFormat is a parsed format such as "%.1f".
type numberFormat struct {
	before, after string
	verb          byte // 'f' decimals, 'g' significant digits, 'e' with an exponent, 's' as written
	precision     int  // -1: as many digits as the number has
}

// parseFormat reads a column's format: text around one verb, which is %d, %f or
// %.Nf (decimals), %g or %.Ng (significant digits), %e or %.Ne, or %s (as it was
// written). %% is a percent sign. Flags and widths are read over: the renderers
// align.
func parseFormat(format string) (numberFormat, error) {
	var f numberFormat
	text := &f.before
	for i := 0; i < len(format); {
		c := format[i]
		if c != '%' {
			*text += string(c)
			i++
			continue
		}
		rest := format[i+1:]
		if strings.HasPrefix(rest, "%") {
			*text += "%"
			i += 2
			continue
		}
		if f.verb != 0 {
			return f, fmt.Errorf("format %q has more than one verb", format)
		}
		n, err := f.parseVerb(rest)
		if err != nil {
			return f, fmt.Errorf("format %q: %w", format, err)
		}
		text = &f.after
		i += 1 + n
	}
	if f.verb == 0 {
		return f, fmt.Errorf("format %q has no verb; write %%.1f for one decimal", format)
	}
	return f, nil
}

// maxPrecision bounds the digits of a format: a float64 has no more to tell.
const maxPrecision = 17

// parseVerb reads what follows the percent sign and returns its length.
func (f *numberFormat) parseVerb(s string) (int, error) {
	n := len(s) - len(strings.TrimLeft(s, "+-# 0123456789"))
	f.precision = -1
	if strings.HasPrefix(s[n:], ".") {
		n++
		start := n
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		p, err := strconv.Atoi("0" + s[start:n])
		if err != nil || p > maxPrecision {
			return 0, fmt.Errorf("the precision is a number from 0 to %d", maxPrecision)
		}
		f.precision = p
	}
	if n == len(s) {
		return 0, fmt.Errorf("the verb is missing")
	}
	switch verb := s[n]; verb {
	case 'd':
		f.verb, f.precision = 'f', 0
	case 'f', 'g', 'e':
		f.verb = verb
		if verb != 'g' && f.precision < 0 {
			f.precision = 6 // as C and Go have it
		}
	case 's':
		f.verb = verb
	default:
		return 0, fmt.Errorf("verb %q is none of d, f, g, e, s", verb)
	}
	return n + 1, nil
}

// print writes a number. What rounds to zero is a bare 0, as the field prints
// it: "0.00" would claim that two decimals were looked at.
func (f numberFormat) print(x float64) string {
	if math.IsInf(x, 0) {
		return infinity(x)
	}
	var s string
	switch {
	case f.verb == 'f':
		s = roundHalfUp(x, f.precision)
	case f.verb == 'e':
		s = strconv.FormatFloat(x, 'e', f.precision, 64)
	case f.verb == 'g' && f.precision > 0:
		s = significant(x, f.precision)
	default:
		s = shortest(x)
	}
	if strings.Trim(s, "-0.") == "" {
		s = "0"
	}
	return f.before + s + f.after
}

func infinity(x float64) string {
	if x < 0 {
		return "-inf"
	}
	return "inf"
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// roundHalfUp writes x with the given number of decimals. It rounds the shortest
// decimal number that stands for x, half away from zero: 2.5 becomes 3 and 1.005
// becomes 1.01, where the binary fraction would give 2 and 1.00.
func roundHalfUp(x float64, decimals int) string {
	written := shortest(x)
	if decimalsOf(written) == decimals+1 && strings.HasSuffix(written, "5") {
		return roundHalf(x, decimals)
	}
	// There is no half. On which side of one the number is, its binary form
	// tells as well: a half between the two would be the shorter number.
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// roundHalf rounds a number in decimal arithmetic.
func roundHalf(x float64, decimals int) string {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		return shortest(x)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	negative := exact.Sign() < 0
	exact.Abs(exact)
	exact.Mul(exact, new(big.Rat).SetInt(scale))
	exact.Add(exact, big.NewRat(1, 2))
	digits := new(big.Int).Quo(exact.Num(), exact.Denom()).String()
	if len(digits) <= decimals {
		digits = strings.Repeat("0", decimals-len(digits)+1) + digits
	}
	whole, fraction := digits[:len(digits)-decimals], digits[len(digits)-decimals:]
	s := whole
	if decimals > 0 {
		s += "." + fraction
	}
	if negative && strings.Trim(s, "0.") != "" {
		s = "-" + s
	}
	return s
}

// significant writes x with the given number of significant digits, never in
// exponential form.
func significant(x float64, digits int) string {
	if x == 0 {
		return "0"
	}
	magnitude := int(math.Floor(math.Log10(math.Abs(x))))
	return roundHalfUp(x, max(0, digits-1-magnitude))
}

// decimals makes the format with n decimals.
func decimals(n int) numberFormat { return numberFormat{verb: 'f', precision: n} }

// common returns the format for numbers that have none of their own: as many
// decimals as one of them needs, but at most two, as the field prints derived
// values, and fewer where the largest number is large.
func common(values []float64) numberFormat {
	largest := 0.0
	for _, x := range values {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			largest = max(largest, math.Abs(x))
		}
	}
	most := 2
	switch {
	case largest >= 1000:
		most = 0
	case largest >= 100:
		most = 1
	}
	need := 0
	for _, x := range values {
		if need == most {
			break
		}
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			need = min(most, max(need, decimalsOf(strings.TrimRight(roundHalfUp(x, 2), "0"))))
		}
	}
	return decimals(need)
}

// Bounds of the decimals that a column gets beyond its format.
const (
	// twoDigits and oneDigit are how many digits the largest number of a
	// column may have in all, so that the smallest has two, or one at least:
	// beyond them a small number beside large ones is noise.
	twoDigits = 4
	oneDigit  = 5

	mostDecimals = 6
)

// fitted returns the format with as many decimals more as the numbers of a
// column need, so that none prints as 0, or as a single digit that it is not.
// All numbers of the column have the same decimals.
func (f numberFormat) fitted(values []float64) numberFormat {
	if f.verb != 'f' {
		return f
	}
	f.precision = widened(f.precision, values, 2, twoDigits)
	f.precision = widened(f.precision, values, 1, oneDigit)
	return f
}

// widened returns the number of decimals with which the values have the wanted
// significant digits: those that need no more decimals than the digits of the
// largest leave for them.
func widened(decimals int, values []float64, significant, digits int) int {
	largest := 0.0
	for _, x := range values {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			largest = max(largest, math.Abs(x))
		}
	}
	whole := 0
	if largest >= 1 {
		whole = 1 + int(math.Floor(math.Log10(largest)))
	}
	most := min(digits-whole, mostDecimals)
	if largest < 1 {
		most = mostDecimals
	}
	for _, x := range values {
		if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
			continue
		}
		need := significant - 1 - int(math.Floor(math.Log10(math.Abs(x))))
		if need > decimals && need <= most && !isExact(x, decimals) {
			decimals = need
		}
	}
	return decimals
}

// isExact reports whether a number is what it prints as.
func isExact(x float64, decimals int) bool {
	const sameNumber = 1e-9 // of two that were computed in different ways
	printed := ParseValue(roundHalfUp(x, decimals)).Number
	return math.Abs(printed-x) <= sameNumber*math.Abs(x)
}
