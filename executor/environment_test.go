package executor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeRoot lays out files below a temporary root.
func writeRoot(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var recordedHost = map[string]string{
	"proc/sys/kernel/random/boot_id": "b1c2\n",
	"proc/sys/kernel/osrelease":      "6.1.0-25-amd64\n",
	"proc/meminfo":                   "MemTotal:       24576123 kB\nMemFree: 1 kB\nSwapTotal:             0 kB\n",
	"proc/self/mountinfo": "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n" +
		"30 22 259:1 / /data rw,noatime - xfs /dev/nvme0n1p1 rw,attr2\n" +
		"31 22 259:2 / /data\\040two rw - xfs /dev/nvme0n1p2 rw\n",
	"sys/devices/system/cpu/online":                                   "0-1\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":            "powersave\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
}

func TestReadEnvironment(t *testing.T) {
	got, err := ReadEnvironment(writeRoot(t, recordedHost), []string{"/data/x/runs", "/database", "/data two/y"})
	if err != nil {
		t.Fatal(err)
	}
	want := Environment{BootID: "b1c2", Facts: []EnvironmentFact{
		{"kernel", "6.1.0-25-amd64"},
		{"memory", "24000 MiB"},
		{"swap", "0 MiB"},
		{"cpus", "0-1"},
		{"governor", "powersave"},
		{"transparent_hugepage", "madvise"},
		{"clocksource", "tsc"},
		{"mount /data", "xfs rw,noatime rw,attr2"},
		{"mount /", "ext4 rw,relatime rw,errors=remount-ro"},
		{"mount /data two", "xfs rw rw"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestEnvironmentChanges(t *testing.T) {
	before := []EnvironmentFact{{"kernel", "6.1.0-21"}, {"governor", "powersave"}, {"mount /a", "xfs rw"}, {"mount /b", "ext4 rw"}}
	now := Environment{Facts: []EnvironmentFact{
		{"kernel", "6.1.0-25"}, {"numa_nodes", "0"}, {"mount /a", "xfs ro"}, {"mount /c", "xfs rw"},
	}}
	want := []string{
		"kernel 6.1.0-21 → 6.1.0-25",
		"numa_nodes is 0, was not known",
		"mount /a xfs rw → xfs ro",
		"governor was powersave, is not known",
	}
	if diff := cmp.Diff(want, now.Changes(before)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := now.Changes(now.Facts); got != nil {
		t.Errorf("an environment differs from itself: %q", got)
	}
}
