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

// tickError is how far the CPU time that /proc/stat tells may be off for one CPU, in
// seconds: the kernel gives a whole tick to what runs when it comes, at both ends
// of the window.
const tickError = 2.0 / userHZ

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
	if steal, ok := r.cpuShare("cpu_steal"); ok && steal > stealBound {
		add("steal", "the hypervisor took %.1f %% of the CPU time", 100*steal)
	}
	if foreign, ok := r.cpuShare("other_cpu", "kernel_cpu"); ok && foreign > foreignBound {
		add("foreign_cpu", "processes that are not of the run took %.1f %% of the CPU time", 100*foreign)
	}
	if w.longest > stallFactor*w.interval {
		add("stalled_sampler", "there was no reading for %s", w.longest.Round(100*time.Millisecond))
	}
	if slept := w.clock.slept() - w.asleep; slept > time.Second {
		add("suspended", "the machine slept for %s", slept.Round(time.Second))
	}
	return flags
}

// cpuShare returns the share that some metric, less others, has of all CPU time. ok
// is false where it is no more than ticks may be off by, as in a window of a few
// hundredths of a second.
func (r Result) cpuShare(metric string, less ...string) (share float64, ok bool) {
	cpus, _ := r.Metric("cpus")
	used, _ := r.Metric(metric)
	for _, name := range less {
		x, _ := r.Metric(name)
		used -= x
	}
	all := cpus * r.Elapsed.Seconds()
	if all <= 0 || used <= cpus*tickError {
		return 0, false
	}
	return min(used/all, 1), true // ticks add up to a little more than the time at times
}
