package sampler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dbmatrix/matrix"

	"github.com/prometheus/procfs"
)

// A Host samples CPU time, context switches and swapping of the whole host.
type Host struct {
	roots     Roots
	fs        procfs.FS
	highest   map[string]float64
	throttled uint64 // throttle events before the window
}

// NewHost returns the sampler of a host.
func NewHost(r Roots) (*Host, error) {
	fs, err := procfs.NewFS(r.Proc)
	if err != nil {
		return nil, fmt.Errorf("sampling the host: %w", err)
	}
	return &Host{roots: r, fs: fs, highest: map[string]float64{}}, nil
}

// Name returns "the host".
func (h *Host) Name() string { return "the host" }

// Begin remembers how often the CPUs were throttled before.
func (h *Host) Begin(context.Context) error {
	h.throttled = throttleEvents(h.roots)
	return nil
}

// Read returns the host's counters.
func (h *Host) Read(context.Context, bool) ([]Sample, error) {
	stat, err := h.fs.Stat()
	if err != nil {
		return nil, err
	}
	c := stat.CPUTotal // its Guest is in User already, GuestNice in Nice
	samples := []Sample{
		h.counter("cpu_user", "s", c.User+c.Nice),
		h.counter("cpu_system", "s", c.System+c.IRQ+c.SoftIRQ),
		h.counter("cpu_iowait", "s", c.Iowait),
		h.counter("cpu_idle", "s", c.Idle),
		h.counter("cpu_steal", "s", c.Steal),
		h.counter("context_switches", "count", float64(stat.ContextSwitches)),
		{Metric: "cpus", Unit: "count", Kind: Gauge, Value: float64(len(stat.CPU))},
	}
	swapped, err := readSwap(h.roots)
	if err != nil {
		return nil, err
	}
	return append(samples,
		h.counter("swap_in", "B", swapped.in),
		h.counter("swap_out", "B", swapped.out)), nil
}

// counter returns a counter that never goes down: the kernel's idle and iowait
// times do so at times, by a tick (proc(5)), which is no new beginning.
func (h *Host) counter(name, unit string, value float64) Sample {
	h.highest[name] = max(h.highest[name], value)
	return Sample{Metric: name, Unit: unit, Kind: Counter, Value: h.highest[name]}
}

// End flags a window in which a CPU was throttled.
func (h *Host) End(context.Context) ([]Sample, []matrix.Flag, error) {
	now := throttleEvents(h.roots)
	if now <= h.throttled {
		return nil, nil, nil
	}
	return nil, []matrix.Flag{{
		Name:   "throttled",
		Detail: fmt.Sprintf("CPUs were throttled %d times, for heat or by a quota", now-h.throttled),
	}}, nil
}

// throttleEvents counts how often CPUs were slowed down for heat and this
// process' own control group (version 2) for its quota.
func throttleEvents(r Roots) uint64 {
	var sum uint64
	// A pattern without a syntax error cannot fail.
	files, _ := filepath.Glob(filepath.Join(r.Sys, "devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count"))
	for _, f := range files {
		if n, ok := readNumber(f); ok {
			sum += n
		}
	}
	for line := range strings.Lines(read(r.Proc, "self/cgroup")) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			n, _ := field(read(r.Sys, "fs/cgroup", path, "cpu.stat"), "nr_throttled")
			sum += n
		}
	}
	return sum
}

// A swap is what was read from and written to swap since boot, in bytes.
type swap struct{ in, out float64 }

func readSwap(r Roots) (swap, error) {
	b, err := os.ReadFile(filepath.Join(r.Proc, "vmstat"))
	if err != nil {
		return swap{}, err
	}
	page := float64(os.Getpagesize())
	in, _ := field(string(b), "pswpin") // a kernel without swap has no such line
	out, _ := field(string(b), "pswpout")
	return swap{in: float64(in) * page, out: float64(out) * page}, nil
}

// field returns the number on the line that begins with a name and a blank.
func field(text, name string) (uint64, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
