package workload

import (
	"math"
	"testing"
	"time"
)

func TestPacer(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name               string
		pacer              Pacer
		elapsed            time.Duration
		n                  int64
		wantWait, wantFrom time.Duration
	}{
		{"no rate", Pacer{Each: 100}, 123 * ms, 7, 0, 123 * ms},
		{"first is due at once", Pacer{1000, 100}, 0, 0, 0, 0},
		{"second after its interval", Pacer{1000, 100}, 10 * ms, 1, 90 * ms, 100 * ms},
		{"late: no wait, time counts from when it was due", Pacer{1000, 100}, 950 * ms, 3, 0, 300 * ms},
		{"slower than one a second", Pacer{0.5, 1}, 0, 3, 6000 * ms, 6000 * ms},
		{"after a hundred days", Pacer{1000, 1}, 100 * 24 * time.Hour, 8640001000, 1000 * ms, 100*24*time.Hour + 1000*ms},
		{"more than can be told", Pacer{1e-9, 1 << 40}, 0, 1 << 40, math.MaxInt64, math.MaxInt64},
	} {
		wait, from := test.pacer.Pace(test.elapsed, test.n)
		if wait != test.wantWait || from != test.wantFrom {
			t.Errorf("%s: wait %s, from %s; want %s, %s", test.name, wait, from, test.wantWait, test.wantFrom)
		}
	}
}

// TestPacerCatchesUp plays a client that sends at once what is due and is held up
// in between: what was due by the end was sent by the end.
func TestPacerCatchesUp(t *testing.T) {
	p := Pacer{Rate: 1000, Each: 100}
	now, sent := time.Duration(0), int64(0)
	for p.Due(sent) < time.Minute {
		wait, intended := p.Pace(now, sent)
		now += wait
		if now < intended {
			t.Fatalf("operation %d was sent at %s, before it was due at %s", sent, now, intended)
		}
		now += 20 * time.Millisecond
		if sent == 100 {
			now += 5 * time.Second // a stall
		}
		sent++
	}
	if sent != 600 || now > time.Minute+time.Second {
		t.Errorf("%d operations were sent by %s, want 600 within the minute", sent, now)
	}
}
