package sampler

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// A Fact is one named property of the host.
type Fact struct{ Name, Value string }

// Facts returns what the host is and how it is set, sorted by name: host.id,
// host.boot, host.kernel, host.cpu_model, host.cpus, host.memory_mib,
// host.swap_mib, host.governor, host.thp, host.clocksource, host.numa_nodes ...
// and for each path by its role (such as "data"): data.filesystem,
// data.mount_options, data.device, data.device_chain, data.rotational,
// data.write_cache, data.scheduler, data.readahead_kib. A property that the host
// does not show is left out.
func Facts(r Roots, paths map[string]string) ([]Fact, error) {
	facts, err := hostFacts(r)
	if err != nil {
		return nil, fmt.Errorf("reading facts of the host: %w", err)
	}
	for _, role := range slices.Sorted(maps.Keys(paths)) {
		f, err := FindFilesystem(r, paths[role])
		if err != nil {
			return nil, err
		}
		facts = append(facts, filesystemFacts(r, role, f)...)
	}
	facts = slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
	slices.SortStableFunc(facts, func(a, b Fact) int { return cmp.Compare(a.Name, b.Name) })
	return facts, nil
}

func hostFacts(r Roots) ([]Fact, error) {
	host, err := Machine(r)
	if err != nil {
		return nil, err
	}
	all, err := procfs.NewFS(r.Proc)
	if err != nil {
		return nil, err
	}
	memory, err := all.Meminfo()
	if err != nil {
		return nil, err
	}
	model, microcode, err := cpuModel(all)
	if err != nil {
		return nil, err
	}
	return []Fact{
		{"host.id", host.ID},
		{"host.name", read(r.Proc, "sys/kernel/hostname")},
		{"host.boot", read(r.Proc, "sys/kernel/random/boot_id")},
		{"host.kernel", read(r.Proc, "sys/kernel/osrelease")},
		{"host.kernel_version", read(r.Proc, "sys/kernel/version")},
		{"host.cpu_model", model},
		{"host.microcode", microcode},
		{"host.cpus", strconv.Itoa(host.CPUs)},
		{"host.numa_nodes", read(r.Sys, "devices/system/node/online")},
		{"host.governor", different(r.Sys, "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")},
		{"host.no_turbo", read(r.Sys, "devices/system/cpu/intel_pstate/no_turbo")},
		{"host.smt", read(r.Sys, "devices/system/cpu/smt/control")},
		{"host.memory_mib", mebibytes(memory.MemTotalBytes)},
		{"host.swap_mib", mebibytes(memory.SwapTotalBytes)},
		{"host.swappiness", read(r.Proc, "sys/vm/swappiness")},
		{"host.thp", inBrackets(read(r.Sys, "kernel/mm/transparent_hugepage/enabled"))},
		{"host.dirty_ratio", read(r.Proc, "sys/vm/dirty_ratio")},
		{"host.dirty_background_ratio", read(r.Proc, "sys/vm/dirty_background_ratio")},
		{"host.overcommit_memory", read(r.Proc, "sys/vm/overcommit_memory")},
		{"host.clocksource", read(r.Sys, "devices/system/clocksource/clocksource0/current_clocksource")},
	}, nil
}

// cpuModel returns the name and the microcode of the first CPU. Not every
// architecture tells them.
func cpuModel(all procfs.FS) (model, microcode string, err error) {
	cpus, err := all.CPUInfo()
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(cpus) == 0 {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	return strings.Join(strings.Fields(cpus[0].ModelName), " "), cpus[0].Microcode, nil
}

func mebibytes(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n>>20, 10)
}

// different returns the different texts of the files that match, joined.
func different(root, pattern string) string {
	// A pattern without a syntax error cannot fail.
	files, _ := filepath.Glob(filepath.Join(root, pattern))
	var texts []string
	for _, f := range files {
		if text := read(f); text != "" {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ", ")
}

// inBrackets returns the word that is in force of a choice such as
// "always [madvise] never".
func inBrackets(s string) string {
	_, rest, found := strings.Cut(s, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !found || !closed {
		return s
	}
	return word
}

func filesystemFacts(r Roots, role string, f Filesystem) []Fact {
	facts := []Fact{
		{role + ".filesystem", f.Type},
		{role + ".mount_point", f.MountPoint},
		{role + ".mount_options", f.Options},
	}
	for _, d := range f.Devices {
		queue := queueFolder(r, d)
		facts = append(facts,
			Fact{role + ".device", d.Name},
			Fact{role + ".device_chain", strings.Join(d.Chain, " on ")},
			Fact{role + ".device_model", read(queue, "../device/model")},
			Fact{role + ".rotational", read(queue, "rotational")},
			Fact{role + ".write_cache", read(queue, "write_cache")},
			Fact{role + ".scheduler", inBrackets(read(queue, "scheduler"))},
			Fact{role + ".readahead_kib", read(queue, "read_ahead_kb")},
			Fact{role + ".nr_requests", read(queue, "nr_requests")})
	}
	return facts
}

// queueFolder returns the folder with the settings of a device; those of a
// partition are those of its disk.
func queueFolder(r Roots, d Device) string {
	dir, err := filepath.EvalSymlinks(filepath.Join(r.Sys, "dev/block", fmt.Sprintf("%d:%d", d.Major, d.Minor)))
	if err != nil {
		return ""
	}
	if read(dir, "partition") != "" {
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "queue")
}
