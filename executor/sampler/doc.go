// Package sampler measures the host, its block devices and the processes of a
// run while a workload is measured, and how much disk the data takes.
//
//	Sampler (host, devices, process trees, anything with counters)
//	   │ Read: numbers of this moment
//	   ▼
//	Begin ─► Window ─ readings each second ─► End ─► Result
//	                                                  metrics, series, flags
//
// A Window reads all its sources at both ends, so that a metric is exactly what
// happened between them, and once an interval in between for series. Readings
// of a counter are increases since the reading before, stamped with the time
// when they were taken: a tick that comes late yields one long interval, never
// invented zeros, and the readings of a counter always sum to its metric. A
// counter that went backwards (a device that was made anew, a process that is
// gone) yields a gap and a flag, not a number.
//
// Numbers come from the kernel's own files, below the roots of a Host value, so
// that tests read recorded trees. Nothing is parsed from the output of another
// program.
//
// Metrics (unit):
//
//   - of the host: cpu_user (nice included), cpu_system (interrupts included),
//     cpu_iowait, cpu_idle, cpu_steal (s, all CPUs together), context_switches,
//     cpus (count), swap_in, swap_out (B);
//   - of the devices, together: disk_reads, disk_writes (count, requests as the
//     device saw them, after merging), disk_read_bytes, disk_write_bytes (B),
//     disk_busy (s, time with a request under way);
//   - of a process tree "server": server_cpu (s), server_read_bytes,
//     server_write_bytes (B, what it caused at devices), server_rss,
//     server_rss_peak, server_pss, server_swap (B); of several processes the
//     resident pages that they share count once;
//   - other_cpu (s): what ran that is in no tree, kernel threads included;
//     kernel_cpu (s): the kernel threads' part of it;
//   - of disk usage: size_allocated, size_apparent and size_<role>_allocated,
//     size_<role>_apparent (B).
//
// The kernel counts CPU time in ticks of 10 ms; over short windows the numbers
// are as coarse as that.
package sampler
