package matrix

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes as experiments write it, which is MySQL's
// way: a whole number that one of K, M, G, T, P and E may follow, in either
// case, each 1024 times the one before. "128M" is 134217728.
//
// An error is a sentence for the writer of the definition, with no full stop.
func ParseSize(text string) (uint64, error) {
	language := Dialect{FoldUnits: true, Units: map[string]uint64{
		"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60,
	}}
	return language.Size(text)
}

// Size reads a number of bytes as the dialect's server writes it: a whole number
// that one of the dialect's units may follow. A number without a unit is taken
// as it is; whether the server counts it in bytes, only the option can tell.
//
// An error is a sentence for the writer of the definition, with no full stop.
func (d *Dialect) Size(text string) (uint64, error) {
	digits, suffix := splitDigits(text)
	switch {
	case text == "":
		return 0, fmt.Errorf("an empty text is no size: %s", d.sizeHint())
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative: a size is 0 or more", text)
	case digits == "":
		return 0, fmt.Errorf("%q is no size: %s", text, d.sizeHint())
	case strings.HasPrefix(suffix, "."):
		return 0, fmt.Errorf("%q is no whole number: write it in a smaller unit", text)
	}
	unit := uint64(1)
	if suffix != "" {
		var ok bool
		if unit, ok = d.unit(suffix); !ok {
			return 0, fmt.Errorf("%q has the unknown unit %q: %s", text, suffix, d.sizeHint())
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > math.MaxUint64/unit {
		return 0, fmt.Errorf("%q is too large: a size is less than 16 EiB", text)
	}
	return n * unit, nil
}

// Normalise returns the form of an option's text in which two spellings of one
// size are equal: "128M" and "131072k" both become "134217728". A text that is
// no size with a unit comes back as it is; so does a bare number.
//
// Where the dialect has a unit of one byte, the result carries it: such a server
// counts bare numbers in units of its own (PostgreSQL's shared_buffers = 128 is
// 1 MiB), and they must not be taken for bytes.
func (d *Dialect) Normalise(text string) string {
	_, suffix := splitDigits(text)
	if suffix == "" {
		return text
	}
	size, err := d.Size(text)
	if err != nil {
		return text
	}
	return strconv.FormatUint(size, 10) + d.byteUnit()
}

// byteUnit returns the dialect's unit of one byte, or "".
func (d *Dialect) byteUnit() string {
	for _, name := range slices.Sorted(maps.Keys(d.Units)) {
		if d.Units[name] == 1 {
			return name
		}
	}
	return ""
}

// unit returns how many bytes a suffix stands for.
func (d *Dialect) unit(suffix string) (uint64, bool) {
	if n, ok := d.Units[suffix]; ok && n > 0 {
		return n, true
	}
	if !d.FoldUnits {
		return 0, false
	}
	for name, n := range d.Units {
		if n > 0 && lowerASCII(name) == lowerASCII(suffix) {
			return n, true
		}
	}
	return 0, false
}

// sizeHint says how a size is written, with the dialect's units from small to
// large.
func (d *Dialect) sizeHint() string {
	if len(d.Units) == 0 {
		return "write a whole number"
	}
	units := slices.SortedFunc(maps.Keys(d.Units), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.Units[a], d.Units[b]), cmp.Compare(a, b))
	})
	return fmt.Sprintf("write a whole number and, if need be, one of %s right after it, such as \"128%s\"",
		strings.Join(units, ", "), units[min(1, len(units)-1)])
}

// splitDigits cuts a text after the decimal digits that it begins with.
func splitDigits(text string) (digits, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}
