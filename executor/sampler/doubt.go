package sampler

import (
	"fmt"
	"time"

	"dbmatrix/matrix"
)

// Bounds above which numbers are doubtful, as shares of all CPU time.
const (
	// stealBound: a virtual machine that waits for its host that long gives
	// other numbers on another day.
	stealBound = 0.02

	// foreignBound: processes that are not of the run and take that much
	// CPU take caches and I/O too. Kernel threads are not foreign: they
	// mostly write what the server wrote.
	foreignBound = 0.05
)

// stallFactor is how many intervals may pass between two readings before the
// sampler counts as stalled.
const stallFactor = 4

// doubts returns what makes the metrics of a window doubtful. A metric that was
// not sampled gives no doubt.
func (w *Window) doubts(r Result) []matrix.Flag {
	var flags []matrix.Flag
	add := func(name, format string, args ...any) {
		flags = append(flags, matrix.Flag{Name: name, Detail: fmt.Sprintf(format, args...)})
	}
	if in, _ := r.Metric("swap_in"); in > 0 {
		add("swap", "%.1f MiB were swapped in", in/(1<<20))
	}
	cpus, _ := r.Metric("cpus")
	if all := cpus * r.Elapsed.Seconds(); all > 0 {
		if steal, _ := r.Metric("cpu_steal"); steal/all > stealBound {
			add("steal", "the hypervisor took %.1f %% of the CPU time", 100*steal/all)
		}
		other, _ := r.Metric("other_cpu")
		kernel, _ := r.Metric("kernel_cpu")
		if foreign := other - kernel; foreign/all > foreignBound {
			add("foreign_cpu", "processes that are not of the run took %.1f %% of the CPU time", 100*foreign/all)
		}
	}
	if w.longest > stallFactor*w.interval {
		add("stalled_sampler", "there was no reading for %s", w.longest.Round(100*time.Millisecond))
	}
	if slept := w.clock.slept() - w.asleep; slept > time.Second {
		add("suspended", "the machine slept for %s", slept.Round(time.Second))
	}
	return flags
}
