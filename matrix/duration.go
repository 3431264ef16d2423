package matrix

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// ParseDuration reads a length of time as experiments write it: whole or
// decimal numbers, each with a unit, such as "90s", "20m", "2h30m" or "1d". The
// units are Go's (ns, us, ms, s, m, h) and d, a day of 24 hours, which comes
// first: "1d12h". A bare 0 needs no unit. Negative durations are refused, since
// nothing in an experiment lasts less than no time.
//
// An error is a sentence for the writer of the definition, with no full stop.
func ParseDuration(text string) (time.Duration, error) {
	switch {
	case text == "":
		return 0, fmt.Errorf("an empty text is no duration: %s", durationHint)
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative: a duration is never less than 0s", text)
	case strings.HasPrefix(text, "+"):
		return 0, fmt.Errorf("%q begins with a sign: %s", text, durationHint)
	case text != "0" && strings.Trim(text, "0123456789.") == "" && strings.ContainsAny(text, "0123456789"):
		return 0, fmt.Errorf("%q has no unit: write %q for seconds", text, text+"s")
	}
	days, rest, err := splitDays(text)
	if err != nil {
		return 0, err
	}
	if rest == "" {
		return days, nil
	}
	clock, err := time.ParseDuration(rest)
	if err != nil || clock < 0 {
		return 0, notDuration(text)
	}
	if clock > math.MaxInt64-days {
		return 0, tooLong(text)
	}
	return days + clock, nil
}

// durationHint says how a duration is written.
const durationHint = `write numbers with units (ms, s, m, h, d), such as "90s" or "2h30m"`

// splitDays reads the days that a duration begins with, which Go's own parser
// does not know, and returns the text after them.
func splitDays(text string) (days time.Duration, rest string, err error) {
	number, rest, ok := strings.Cut(text, "d")
	if !ok {
		return 0, text, nil
	}
	// A day is read as an hour and made longer, so that decimals are Go's.
	hours, err := time.ParseDuration(number + "h")
	if err != nil || strings.Trim(number, "0123456789.") != "" || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		return 0, "", notDuration(text)
	}
	if hours > math.MaxInt64/24 {
		return 0, "", tooLong(text)
	}
	return hours * 24, rest, nil
}

func notDuration(text string) error {
	return fmt.Errorf("%q is no duration: %s", text, durationHint)
}

func tooLong(text string) error {
	return fmt.Errorf("%q is too long: a duration is at most %dd", text, math.MaxInt64/(24*time.Hour))
}
