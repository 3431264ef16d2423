package server

import (
	"strings"
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	limits := ReadyLimits{Still: 10 * time.Second, Total: time.Minute}
	tests := []struct {
		name string
		at   func(second int) Movement
		ends int // second at which it is over
		why  string
	}{
		{"nothing moves", func(int) Movement { return Movement{} }, 11, "nothing has moved"},
		{"it writes", func(s int) Movement { return Movement{Written: uint64(s)} }, 61, "it took over"},
		{"it logs", func(s int) Movement { return Movement{LogBytes: int64(s / 5)} }, 61, "it took over"},
		{"it reads a lot", func(s int) Movement { return Movement{Read: uint64(s) << 20} }, 61, "it took over"},
		{"it computes", func(s int) Movement { return Movement{CPU: time.Duration(s) * 500 * time.Millisecond} }, 61, "it took over"},
		{"timers only", func(s int) Movement { return Movement{CPU: time.Duration(s) * 10 * time.Millisecond} }, 11, "nothing has moved"},
		{"it stops after twenty seconds", func(s int) Movement { return Movement{Written: uint64(min(s, 20))} }, 31, "nothing has moved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPatience(limits)
			for s := 1; s <= 100; s++ {
				why := p.lost(tt.at(s), p.begin.Add(time.Duration(s)*time.Second))
				if why == "" {
					continue
				}
				if s != tt.ends || !strings.Contains(why, tt.why) {
					t.Errorf("it is over after %d s: %s; want after %d: %s", s, why, tt.ends, tt.why)
				}
				return
			}
			t.Error("it is never over")
		})
	}
}
