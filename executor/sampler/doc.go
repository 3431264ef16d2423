// Package sampler measures the host, its block devices and the processes of a
// run while a workload is measured, and how much disk the data takes.
//
//	Source (host CPU, devices, process trees, anything with counters)
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
// Metrics (unit): cpu_user, cpu_system, cpu_iowait, cpu_idle, cpu_steal (s, all
// CPUs together), context_switches, cpus, swap_in, swap_out (count, pages for the
// latter two); disk_reads, disk_writes (count, merged requests as the device saw
// them), disk_read_bytes, disk_write_bytes (B), disk_busy (s); server_cpu,
// client_cpu, other_cpu (s); server_rss, server_rss_peak, server_pss,
// server_swap, client_rss (B); server_read_bytes, server_write_bytes (B);
// server_context_switches (count); size_allocated, size_apparent and
// size_<role>_allocated, size_<role>_apparent (B).
//
// The kernel counts CPU time of hosts and processes in ticks of 10 ms; over
// short windows the numbers are as coarse as that.
package sampler
