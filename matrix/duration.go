package matrix

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// durationForm is how a duration is written: days, then the rest in Go's units.
// (Of micro there are two signs, as in Go.)
var durationForm = regexp.MustCompile(`^(?:([0-9]+(?:\.[0-9]*)?|\.[0-9]+)d)?((?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))*)$`)

// ParseDuration reads a length of time as experiments write it: whole or
// decimal numbers, each with a unit, such as "90s", "20m", "2h30m" or "1d". The
// units are Go's (ns, us, ms, s, m, h) and d, a day of 24 hours, which comes
// first: "1d12h". A bare 0 needs no unit. Negative durations are refused, since
// nothing in an experiment lasts less than no time.
//
// An error is a sentence for the writer of the definition, with no full stop.
func ParseDuration(text string) (time.Duration, error) {
	const hint = `write numbers with units (d, h, m, s, ms; the largest first), such as "90s" or "2h30m"`
	switch {
	case text == "":
		return 0, fmt.Errorf("an empty text is no duration: %s", hint)
	case text == "0":
		return 0, nil
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative: a duration is never less than 0s", text)
	case durationForm.MatchString(text+"s") && !durationForm.MatchString(text):
		return 0, fmt.Errorf("%q has a number without a unit: write %q if seconds are meant", text, text+"s")
	}
	parts := durationForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%q is no duration: %s", text, hint)
	}
	// A day is read as an hour and made longer, so that decimals are read one
	// way. All that can be wrong with the parts now is that they are too long.
	days, daysErr := time.ParseDuration("0" + parts[1] + "h")
	clock, clockErr := time.ParseDuration("0s" + parts[2])
	if daysErr != nil || clockErr != nil || days > (math.MaxInt64-clock)/24 {
		return 0, fmt.Errorf("%q is too long: a duration is at most %dd", text, math.MaxInt64/(24*time.Hour))
	}
	return 24*days + clock, nil
}
