package matrix

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
	}{
		{"0", 0},
		{"0s", 0},
		{"0d", 0},
		{"90s", 90 * time.Second},
		{"20m", 20 * time.Minute},
		{"2h30m", 150 * time.Minute},
		{"30m2h", 150 * time.Minute},
		{"1d", 24 * time.Hour},
		{"1d12h30s", 36*time.Hour + 30*time.Second},
		{"0.5d", 12 * time.Hour},
		{"1.5h", 90 * time.Minute},
		{".5s", 500 * time.Millisecond},
		{"250ms", 250 * time.Millisecond},
		{"1us1ns", 1001},
		{"1µs", time.Microsecond},
		{"1.d", 24 * time.Hour},
		{"1μs", time.Microsecond}, // the Greek letter
		{"007s", 7 * time.Second},
		{"106751d", 106751 * 24 * time.Hour},
		{"9223372036854775807ns", math.MaxInt64},
	}
	for _, tt := range tests {
		got, err := ParseDuration(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseDurationFaults(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `an empty text is no duration: write numbers with units (d, h, m, s, ms; the largest first), such as "90s"`},
		{"90", `"90" has a number without a unit: write "90s" if seconds are meant`},
		{"1.5", `"1.5" has a number without a unit`},
		{"00", `"00" has a number without a unit`},
		{"1h30", `"1h30" has a number without a unit: write "1h30s" if seconds`},
		{"1d5", `"1d5" has a number without a unit`},
		{"-1s", `"-1s" is negative: a duration is never less than 0s`},
		{"-1d", `"-1d" is negative`},
		{"+1s", `"+1s" is no duration: write numbers with units`},
		{"1d-1h", `"1d-1h" is no duration`},
		{"1d+1h", `"1d+1h" is no duration`},
		{"2h1d", `"2h1d" is no duration`},
		{"1d2d", `"1d2d" is no duration`},
		{"d", `"d" is no duration`},
		{".d", `".d" is no duration`},
		{".s", `".s" is no duration`},
		{".", `"." is no duration`},
		{"1..5s", `"1..5s" is no duration`},
		{"20 m", `"20 m" is no duration`},
		{" 20m", `" 20m" is no duration`},
		{"20m\n", `"20m\n" is no duration`},
		{"20min", `"20min" is no duration`},
		{"1w", `"1w" is no duration`},
		{"1H", `"1H" is no duration`},
		{"1e3s", `"1e3s" is no duration`},
		{"forever", `"forever" is no duration`},
		{"hundred", `"hundred" is no duration`},
		{"106752d", `"106752d" is too long: a duration is at most 106751d`},
		{"106751d24h", `"106751d24h" is too long`},
		{"9223372036854775808ns", `"9223372036854775808ns" is too long`},
		{"99999999999999999999h", `"99999999999999999999h" is too long`},
		{"99999999999999999999d", `"99999999999999999999d" is too long`},
		{"2000000h2000000h", `"2000000h2000000h" is too long`},
		{"\xff", `"\xff" is no duration`},
	}
	for _, tt := range tests {
		got, err := ParseDuration(tt.text)
		if err == nil {
			t.Errorf("ParseDuration(%q) = %v, want the error %s", tt.text, got, tt.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("ParseDuration(%q):\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"0s", "90s", "2h30m", "1d12h", "-1s", "d", "1e3s", "106752d", "1.5d.5h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseDuration(text)
		if err != nil {
			if got != 0 || strings.Contains(err.Error(), "time:") {
				t.Errorf("ParseDuration(%q) = %v, %v", text, got, err)
			}
			return
		}
		if got < 0 {
			t.Errorf("ParseDuration(%q) = %v", text, got)
		}
		if again, err := ParseDuration(got.String()); err != nil || again != got {
			t.Errorf("ParseDuration(%q) = %v, which parses as %v, %v", text, got, again, err)
		}
		// What Go's parser knows, it must say the same of.
		if want, err := time.ParseDuration(text); err == nil && want != got {
			t.Errorf("ParseDuration(%q) = %v, want %v", text, got, want)
		}
	})
}
