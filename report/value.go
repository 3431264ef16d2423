package report

import (
	"math"
	"strconv"
	"strings"
)

// A Value is a number that may be missing, with the text it was written as.
type Value struct {
	Number float64
	Known  bool
	Text   string // as written in an imported file; "" for what was measured
}

// number makes a value of a computed number. One that is not finite has no
// meaning as a result and is missing.
func number(x float64) Value {
	return Value{Number: x, Known: !math.IsNaN(x) && !math.IsInf(x, 0)}
}

// ParseValue reads a number as people print it. Digits that are not known may
// be written as X: "11XX" counts as 1100 and stays "11XX" in print. Text that is
// no number ("X", "NA") is a missing value that keeps its text.
func ParseValue(text string) Value {
	v := Value{Text: text}
	digits := text
	if known := strings.TrimRight(text, "X"); known != text {
		if known == "" || strings.ContainsAny(known, ".eE") {
			return v
		}
		digits = known + strings.Repeat("0", len(text)-len(known))
	}
	if !plainDecimal(digits) {
		return v
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return v
	}
	v.Number, v.Known = x, true
	return v
}

// plainDecimal reports whether s is a decimal number. ParseFloat takes more:
// hexadecimal digits, underscores, infinities.
func plainDecimal(s string) bool {
	digit := false
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c == '.':
		case c == '+' || c == '-':
			if i > 0 && s[i-1] != 'e' && s[i-1] != 'E' {
				return false
			}
		case c == 'e' || c == 'E':
			if !digit {
				return false
			}
		default:
			return false
		}
	}
	return digit
}

// coarse reports whether the value was written with unknown digits.
func (v Value) coarse() bool { return v.Known && strings.HasSuffix(v.Text, "X") }

// halfUnit returns half a unit of the last digit that is printed: how far the
// number may be from what it was rounded from. A printed 0 stands for a value
// that vanished in the column's decimals.
func (v Value) halfUnit(columnDecimals int) float64 {
	if v.coarse() {
		unknown := len(v.Text) - len(strings.TrimRight(v.Text, "X"))
		return math.Pow10(unknown) / 2
	}
	decimals := decimalsOf(v.Text)
	if v.Number == 0 && decimals == 0 {
		decimals = columnDecimals
	}
	return math.Pow10(-decimals) / 2
}

// decimalsOf returns how many digits a printed number has after the point.
func decimalsOf(text string) int {
	_, after, found := strings.Cut(text, ".")
	if !found {
		return 0
	}
	n := 0
	for n < len(after) && after[n] >= '0' && after[n] <= '9' {
		n++
	}
	return n
}
