package sampler

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/procfs/blockdevice"
)

// A script is a sampler that says what it is told to, read by read.
type script struct {
	reads [][]Sample // nil: the read fails
	at    int
	final []Sample
}

func (s *script) Name() string                { return "the script" }
func (s *script) Begin(context.Context) error { return nil }

func (s *script) Read(context.Context, bool) ([]Sample, error) {
	s.at++
	if s.reads[s.at-1] == nil {
		return nil, errors.New("no luck")
	}
	return s.reads[s.at-1], nil
}

func (s *script) End(context.Context) ([]Sample, []matrix.Flag, error) { return s.final, nil, nil }

func counted(v float64) []Sample { return []Sample{{Metric: "n", Unit: "count", Value: v}} }
func level(v float64) []Sample   { return []Sample{{Metric: "n", Unit: "B", Kind: Gauge, Value: v}} }
func highest(v float64) []Sample { return []Sample{{Metric: "n", Unit: "B", Kind: Peak, Value: v}} }

// play samples a script, its reads the given times after each other.
func play(t *testing.T, s *script, gaps ...time.Duration) Result {
	t.Helper()
	clock := &fakeClock{at: time.Unix(1000, 0)}
	w := newWindow(clock.clock(), time.Second, []Sampler{s})
	if err := w.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, gap := range gaps {
		clock.at = clock.at.Add(gap)
		if i < len(gaps)-1 {
			w.read(t.Context())
		}
	}
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWindow(t *testing.T) {
	second := time.Second
	tests := map[string]struct {
		script   *script
		gaps     []time.Duration
		want     float64 // NaN: no metric
		readings []matrix.Reading
		flag     string
	}{
		"a counter": {
			script:   &script{reads: [][]Sample{counted(100), counted(110), counted(115)}},
			gaps:     []time.Duration{second, second},
			want:     15,
			readings: []matrix.Reading{{At: second, Value: 10}, {At: 2 * second, Value: 5}},
		},
		"a tick that comes late is one long interval": {
			script:   &script{reads: [][]Sample{counted(0), counted(10), counted(40), counted(45)}},
			gaps:     []time.Duration{second, 3 * second, second / 2},
			want:     45,
			readings: []matrix.Reading{{At: second, Value: 10}, {At: 4 * second, Value: 30}, {At: 4*second + second/2, Value: 5}},
		},
		"a counter that begins anew": {
			script:   &script{reads: [][]Sample{counted(100), counted(3), counted(5)}},
			gaps:     []time.Duration{second, second},
			want:     math.NaN(),
			readings: []matrix.Reading{{At: second, Value: math.NaN()}, {At: 2 * second, Value: 2}},
			flag:     "counter_reset: the script began anew, so that there is no n",
		},
		"a counter that its source says began anew": {
			script:   &script{reads: [][]Sample{counted(100), {{Metric: "n", Unit: "count", Value: 100, Reset: true}}, counted(101)}},
			gaps:     []time.Duration{second, second},
			want:     math.NaN(),
			readings: []matrix.Reading{{At: second, Value: math.NaN()}, {At: 2 * second, Value: 1}},
			flag:     "counter_reset: the script began anew, so that there is no n",
		},
		"a read that fails makes a long interval": {
			script:   &script{reads: [][]Sample{counted(0), nil, counted(30)}},
			gaps:     []time.Duration{second, second},
			want:     30,
			readings: []matrix.Reading{{At: 2 * second, Value: 30}},
			flag:     "unread: the script could not be read at all times (no luck)",
		},
		"a last read that fails": {
			script:   &script{reads: [][]Sample{counted(0), counted(30), nil}},
			gaps:     []time.Duration{second, second},
			want:     math.NaN(),
			readings: []matrix.Reading{{At: second, Value: 30}},
			flag:     "unread: the script could not be read at the end, so that there is no n (no luck)",
		},
		"a counter that appears late": {
			script:   &script{reads: [][]Sample{{}, counted(30), counted(40)}},
			gaps:     []time.Duration{second, second},
			want:     math.NaN(),
			readings: []matrix.Reading{{At: second, Value: math.NaN()}, {At: 2 * second, Value: 10}},
			flag:     "counter_reset: the script began anew, so that there is no n",
		},
		"a gauge": {
			script:   &script{reads: [][]Sample{level(9), level(7), level(8)}},
			gaps:     []time.Duration{second, second},
			want:     8,
			readings: []matrix.Reading{{At: second, Value: 7}, {At: 2 * second, Value: 8}},
		},
		"a peak": {
			script:   &script{reads: [][]Sample{highest(1), highest(7), highest(3)}},
			gaps:     []time.Duration{second, second},
			want:     7,
			readings: []matrix.Reading{{At: second, Value: 7}, {At: 2 * second, Value: 3}},
		},
		"a peak that the source knows better": {
			script:   &script{reads: [][]Sample{highest(1), highest(7), highest(3)}, final: highest(12)},
			gaps:     []time.Duration{second, second},
			want:     12,
			readings: []matrix.Reading{{At: second, Value: 7}, {At: 2 * second, Value: 3}},
		},
		"a stall": {
			script:   &script{reads: [][]Sample{counted(0), counted(1)}},
			gaps:     []time.Duration{9 * second},
			want:     1,
			readings: []matrix.Reading{{At: 9 * second, Value: 1}},
			flag:     "stalled_sampler: there was no reading for 9s",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := play(t, test.script, test.gaps...)
			got, ok := r.Metric("n")
			if !ok {
				got = math.NaN()
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("metric (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.readings, r.Series[0].Readings, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
			var flags []string
			for _, f := range r.Flags {
				flags = append(flags, f.Name+": "+f.Detail)
			}
			if got := strings.Join(flags, "\n"); got != test.flag {
				t.Errorf("flags %q, want %q", got, test.flag)
			}
		})
	}
}

// A stuck sampler hangs in its second read until it is told to go on.
type stuck struct {
	reads   int
	reading chan struct{} // closed when it hangs
	goOn    chan struct{}
}

func (s *stuck) Name() string                { return "the stuck one" }
func (s *stuck) Begin(context.Context) error { return nil }

func (s *stuck) Read(context.Context, bool) ([]Sample, error) {
	s.reads++
	if s.reads == 2 {
		close(s.reading)
		<-s.goOn
	}
	return []Sample{{Metric: "stuck", Unit: "count", Value: float64(s.reads)}}, nil
}

func (s *stuck) End(context.Context) ([]Sample, []matrix.Flag, error) { return nil, nil, nil }

// TestSlowSamplerDelaysNoOther ends a window while a source hangs: the others are
// read at once.
func TestSlowSamplerDelaysNoOther(t *testing.T) {
	slow := &stuck{reading: make(chan struct{}), goOn: make(chan struct{})}
	read := make(chan struct{}, 3)
	quick := &told{script: script{reads: [][]Sample{counted(1), counted(2), counted(5)}}, read: read}
	w, err := Begin(t.Context(), 20*time.Millisecond, slow, quick)
	if err != nil {
		t.Fatal(err)
	}
	<-read
	<-slow.reading // in its tick, so that the quick one is not read in it
	result := make(chan Result)
	go func() {
		r, err := w.End(t.Context())
		if err != nil {
			t.Error(err)
		}
		result <- r
	}()
	<-read
	time.Sleep(30 * time.Millisecond)
	close(slow.goOn)
	r := <-result
	if got, _ := r.Metric("n"); got != 1 {
		t.Errorf("n is %v, want 1: the reading while the other hung", got)
	}
	if got, _ := r.Metric("stuck"); got != 2 {
		t.Errorf("stuck is %v, want 2", got)
	}
	if len(r.Flags) == 0 || r.Flags[0].Name != "slow_sampler" {
		t.Errorf("flags %v, want slow_sampler", r.Flags)
	}
}

// A told script tells when it was read.
type told struct {
	script
	read chan struct{}
}

func (s *told) Read(ctx context.Context, edge bool) ([]Sample, error) {
	defer func() { s.read <- struct{}{} }()
	return s.script.Read(ctx, edge)
}

func TestWindowFlagsSuspend(t *testing.T) {
	clock := &fakeClock{at: time.Unix(1000, 0), asleep: time.Hour}
	w := newWindow(clock.clock(), time.Second, nil)
	if err := w.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.asleep += 7 * time.Second
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []matrix.Flag{{Name: "suspended", Detail: "the machine slept for 7s"}}; !cmp.Equal(want, r.Flags) {
		t.Errorf("flags %v, want %v", r.Flags, want)
	}
}

// TestForeignCPU checks that the share of other processes stays within what there
// is, and that a window of a few ticks tells nothing of them.
func TestForeignCPU(t *testing.T) {
	used := func(other, kernel float64) []Sample {
		return []Sample{
			{Metric: "cpus", Unit: "count", Kind: Gauge, Value: 2},
			{Metric: "kernel_cpu", Unit: "s", Kind: Counter, Value: 10 + kernel},
			{Metric: "other_cpu", Unit: "s", Kind: Counter, Value: 100 + other},
		}
	}
	tests := []struct {
		name          string
		window        time.Duration
		other, kernel float64
		want          []string
	}{
		{"much", time.Second, 1, 0.5, []string{"processes that are not of the run took 25.0 % of the CPU time"}},
		{"kernel threads alone", time.Second, 1, 0.95, nil},
		{"more ticks than time", time.Second, 2.06, 0, []string{"processes that are not of the run took 100.0 % of the CPU time"}},
		{"a window of two ticks", 20 * time.Millisecond, 0.04, 0, nil},
		{"a short window, and sure", 100 * time.Millisecond, 0.15, 0, []string{"processes that are not of the run took 75.0 % of the CPU time"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range play(t, &script{reads: [][]Sample{used(0, 0), used(tt.other, tt.kernel)}}, tt.window).Flags {
				got = append(got, f.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWindowRefusesTwoSourcesOfOneMetric(t *testing.T) {
	one, two := &script{reads: [][]Sample{counted(1)}}, &script{reads: [][]Sample{counted(1)}}
	if _, err := Begin(t.Context(), 0, one, two); err == nil || !strings.Contains(err.Error(), "metric n is sampled by the script too") {
		t.Errorf("got %v, want an error that names the metric", err)
	}
}

func TestWindowEndsOnce(t *testing.T) {
	w, err := Begin(t.Context(), time.Hour, &script{reads: [][]Sample{counted(1), counted(2)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.End(t.Context()); err == nil {
		t.Error("a second End gave no error")
	}
}

func TestDeviceState(t *testing.T) {
	io := func(reads, sectors, busy uint64) blockdevice.IOStats {
		return blockdevice.IOStats{ReadIOs: reads, ReadSectors: sectors, IOsTotalTicks: busy}
	}
	tests := map[string]struct {
		reads []blockdevice.IOStats
		want  deviceSum
		reset bool // at the last
	}{
		"the first read counts nothing": {[]blockdevice.IOStats{io(5, 40, 9)}, deviceSum{}, false},
		"an increase":                   {[]blockdevice.IOStats{io(5, 40, 9), io(7, 56, 12)}, deviceSum{reads: 2, readSectors: 16, busyMS: 3}, false},
		"milliseconds pass 2^32":        {[]blockdevice.IOStats{io(5, 40, 1<<32-2), io(7, 56, 3)}, deviceSum{reads: 2, readSectors: 16, busyMS: 5}, false},
		"a device that was made again":  {[]blockdevice.IOStats{io(5, 40, 9), io(1, 8, 1)}, deviceSum{}, true},
		"and goes on":                   {[]blockdevice.IOStats{io(5, 40, 9), io(1, 8, 1), io(2, 16, 2)}, deviceSum{reads: 1, readSectors: 8, busyMS: 1}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s deviceState
			var reset bool
			for _, r := range test.reads {
				reset = s.add(r)
			}
			if s.sum != test.want || reset != test.reset {
				t.Errorf("got %+v, reset %v; want %+v, reset %v", s.sum, reset, test.want, test.reset)
			}
		})
	}
}

func TestList(t *testing.T) {
	for want, names := range map[string][]string{"a": {"a"}, "a and b": {"b", "a"}, "a, b and c": {"c", "a", "b"}} {
		if got := list(names); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzDeviceState reads a device twice: whatever the counters say, what is added
// is an increase that they can have made, or the counters began anew.
func FuzzDeviceState(f *testing.F) {
	f.Add(uint64(5), uint64(40), uint64(9), uint64(7), uint64(56), uint64(12))
	f.Add(uint64(5), uint64(40), uint64(1<<32-1), uint64(5), uint64(40), uint64(0))
	f.Add(uint64(5), uint64(40), uint64(9), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, reads, sectors, busy, reads2, sectors2, busy2 uint64) {
		var s deviceState
		s.add(blockdevice.IOStats{ReadIOs: reads, ReadSectors: sectors, IOsTotalTicks: busy})
		reset := s.add(blockdevice.IOStats{ReadIOs: reads2, ReadSectors: sectors2, IOsTotalTicks: busy2})
		if reset != (reads2 < reads || sectors2 < sectors) {
			t.Fatalf("reset is %v", reset)
		}
		want := deviceSum{}
		if !reset {
			want = deviceSum{reads: reads2 - reads, readSectors: sectors2 - sectors, busyMS: s.sum.busyMS}
		}
		if s.sum != want {
			t.Fatalf("got %+v, want %+v", s.sum, want)
		}
		if busy2 < busy && s.sum.busyMS >= 1<<32 {
			t.Fatalf("busy %d ms after a wrap of 32 bits", s.sum.busyMS)
		}
	})
}
