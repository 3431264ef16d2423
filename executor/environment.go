package executor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An Environment is what of the host can change a number without any change to
// the experiment: kernel, memory, processor settings, mount options.
type Environment struct {
	// BootID names the boot. A reboot alone is no change of the environment,
	// but numbers from before and after it are told apart.
	BootID string

	// Facts are compared one by one, in this order.
	Facts []EnvironmentFact
}

// An EnvironmentFact is one named property of the host, such as "kernel" and
// "6.1.0-25-amd64".
type EnvironmentFact struct{ Name, Value string }

// ReadEnvironment reads the host's properties below root ("/" but for tests)
// and the mount options of the filesystems that hold dirs. A property that this
// host does not show, such as the governor inside a virtual machine, is absent.
func ReadEnvironment(root string, dirs []string) (Environment, error) {
	var env Environment
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	add := func(name, value string) {
		if value != "" {
			env.Facts = append(env.Facts, EnvironmentFact{name, value})
		}
	}

	env.BootID = read("proc/sys/kernel/random/boot_id")
	add("kernel", read("proc/sys/kernel/osrelease"))
	add("memory", memoryTotal(read("proc/meminfo"), "MemTotal"))
	add("swap", memoryTotal(read("proc/meminfo"), "SwapTotal"))
	add("cpus", read("sys/devices/system/cpu/online"))
	add("numa_nodes", read("sys/devices/system/node/online"))
	governors, err := distinct(root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	if err != nil {
		return env, err
	}
	add("governor", governors)
	add("transparent_hugepage", chosen(read("sys/kernel/mm/transparent_hugepage/enabled")))
	add("clocksource", read("sys/devices/system/clocksource/clocksource0/current_clocksource"))

	mounts, err := readMounts(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return env, err
	}
	for _, dir := range dirs {
		if m := mounts.of(dir); m != nil {
			add("mount "+m.point, m.fstype+" "+m.options)
		}
	}
	env.Facts = slices.CompactFunc(env.Facts, func(a, b EnvironmentFact) bool { return a == b })
	return env, nil
}

// Changes returns a sentence for each fact that differs from an earlier
// environment. Facts that only one of them has are changes too.
func (e Environment) Changes(earlier []EnvironmentFact) []string {
	before := map[string]string{}
	for _, f := range earlier {
		before[f.Name] = f.Value
	}
	var changes []string
	for _, f := range e.Facts {
		was, ok := before[f.Name]
		delete(before, f.Name)
		switch {
		case !ok && strings.HasPrefix(f.Name, "mount "):
			// Another storage directory came into use; nothing changed.
		case !ok:
			changes = append(changes, fmt.Sprintf("%s is %s, was not known", f.Name, f.Value))
		case was != f.Value:
			changes = append(changes, fmt.Sprintf("%s %s → %s", f.Name, was, f.Value))
		}
	}
	for _, f := range earlier {
		if _, left := before[f.Name]; left && !strings.HasPrefix(f.Name, "mount ") {
			changes = append(changes, fmt.Sprintf("%s was %s, is not known", f.Name, f.Value))
		}
	}
	return changes
}

// memoryTotal returns the named line of /proc/meminfo in whole MiB: the kernel
// reserves a few KiB more or less from boot to boot.
func memoryTotal(meminfo, name string) string {
	for line := range strings.Lines(meminfo) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != name+":" {
			continue
		}
		kib, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			return ""
		}
		return strconv.FormatUint(kib/1024, 10) + " MiB"
	}
	return ""
}

// distinct returns the different contents of the files that match, joined.
func distinct(root, pattern string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		return "", err
	}
	var values []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a CPU that was taken offline just now
		}
		if err != nil {
			return "", fmt.Errorf("reading the CPU governor: %w", err)
		}
		values = append(values, strings.TrimSpace(string(b)))
	}
	slices.Sort(values)
	return strings.Join(slices.Compact(values), ", "), nil
}

// chosen returns the word in brackets of a kernel choice such as
// "always [madvise] never".
func chosen(s string) string {
	_, rest, ok := strings.Cut(s, "[")
	if !ok {
		return s
	}
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// A mount is one line of /proc/self/mountinfo.
type mount struct {
	point   string
	fstype  string
	options string // of the mount, then of the filesystem
	source  string
}

// mounts are the mounts of this process, in the order they were made.
type mounts []mount

// readMounts reads a mountinfo file: "36 35 98:0 /root /point rw,noatime
// shared:1 - ext3 /dev/root rw,errors=continue" (proc(5)).
func readMounts(path string) (mounts, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading mounts: %w", err)
	}
	var ms mounts
	sc := bufio.NewScanner(bytes.NewReader(b))
	for sc.Scan() {
		own, super, ok := strings.Cut(sc.Text(), " - ")
		f, s := strings.Fields(own), strings.Fields(super)
		if !ok || len(f) < 6 || len(s) < 3 {
			continue
		}
		ms = append(ms, mount{
			point:   unescapeMount(f[4]),
			fstype:  s[0],
			source:  unescapeMount(s[1]),
			options: f[5] + " " + s[2],
		})
	}
	return ms, sc.Err()
}

// of returns the mount that holds a path, which need not exist yet.
func (ms mounts) of(path string) *mount {
	var best *mount
	for i := range ms {
		m := &ms[i]
		if path != m.point && m.point != "/" && !strings.HasPrefix(path, m.point+"/") {
			continue
		}
		// A later mount on the same point hides the earlier one.
		if best == nil || len(m.point) >= len(best.point) {
			best = m
		}
	}
	return best
}

// unescapeMount undoes the octal escapes that mountinfo has for blanks.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
