package sampler

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs/blockdevice"
)

// A fakeClock advances only when told to.
type fakeClock struct {
	at     time.Time
	asleep time.Duration
}

func (c *fakeClock) clock() clock {
	return clock{now: func() time.Time { return c.at }, slept: func() time.Duration { return c.asleep }}
}

// recordedSources returns the samplers of the recorded host.
func recordedSources(t *testing.T, r Roots) []Sampler {
	t.Helper()
	host, err := NewHost(r)
	if err != nil {
		t.Fatal(err)
	}
	processes, err := NewProcesses(r,
		Tree{Name: "server", Root: 200, Memory: true},
		Tree{Name: "client", Root: 300, Except: []int{200}})
	if err != nil {
		t.Fatal(err)
	}
	devices := recordedDevices(t, r)
	return []Sampler{host, processes, devices}
}

func recordedDevices(t *testing.T, r Roots) *Devices {
	t.Helper()
	d := &Devices{}
	var err error
	if d.fs, err = blockdevice.NewFS(r.Proc, r.Sys); err != nil {
		t.Fatal(err)
	}
	d.add([]Device{{Name: "vda", Major: 254}, {Name: "vda", Major: 254}})
	return d
}

func TestRecordedWindow(t *testing.T) {
	r := tree(t, "host.txtar")
	clock := &fakeClock{at: time.Unix(1000, 0)}
	w := newWindow(clock.clock(), time.Second, recordedSources(t, r))
	if err := w.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(r.Proc, "200/clear_refs")); err != nil || string(got) != "5" {
		t.Errorf("the peak of the server was not reset: clear_refs got %q, %v", got, err)
	}

	// The client program ends before the window does.
	if err := os.RemoveAll(filepath.Join(r.Proc, "302")); err != nil {
		t.Fatal(err)
	}
	unpack(t, filepath.Dir(r.Proc), "host-later.txtar")
	clock.at = clock.at.Add(10 * time.Second)
	result, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	page := float64(os.Getpagesize())
	want := map[string]float64{
		"cpu_user": 9, "cpu_system": 2.15, "cpu_iowait": 0, "cpu_idle": 8.3, "cpu_steal": 0.6,
		"cpus": 2, "context_switches": 5000,
		"swap_in": 256 * page, "swap_out": 0,
		"disk_reads": 50, "disk_read_bytes": 200 * 512, "disk_writes": 200, "disk_write_bytes": 4096 * 512,
		"disk_busy":  0.506, // 6 ms up to 2^32, 500 after it
		"server_cpu": 4.8, "server_read_bytes": 4096, "server_write_bytes": 8192,
		"server_rss": 60000 * page, "server_rss_peak": 290000 << 10, "server_pss": 230000 << 10, "server_swap": 128 << 10,
		"client_cpu": 0.6 + 0.8, "client_read_bytes": 0, "client_write_bytes": 0,
		"other_cpu":  11.15 - 4.8 - 1.4,
		"kernel_cpu": 0.35,
	}
	got := map[string]float64{}
	for _, m := range result.Metrics {
		got[m.Name] = m.Value
	}
	for name := range maps.Keys(got) {
		got[name], want[name] = difference(got[name], 0), difference(want[name], 0)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if result.Elapsed != 10*time.Second {
		t.Errorf("elapsed %s, want 10s", result.Elapsed)
	}
	wantFlags := []matrix.Flag{
		{Name: "throttled", Detail: "CPUs were throttled 2 times, for heat or by a quota"},
		{Name: "swap", Detail: "1.0 MiB were swapped in"},
		{Name: "steal", Detail: "the hypervisor took 3.0 % of the CPU time"},
		{Name: "foreign_cpu", Detail: "processes that are not of the run took 23.0 % of the CPU time"},
		{Name: "stalled_sampler", Detail: "there was no reading for 10s"},
	}
	if diff := cmp.Diff(wantFlags, result.Flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

func TestServerGone(t *testing.T) {
	tests := map[string]func(t *testing.T, dir string){
		"no process": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
		"another process of its id": func(t *testing.T, dir string) {
			name := filepath.Join(dir, "stat")
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(strings.Replace(string(b), " 502 ", " 9999 ", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			r := tree(t, "host.txtar")
			clock := &fakeClock{at: time.Unix(1000, 0)}
			w := newWindow(clock.clock(), time.Second, recordedSources(t, r)[1:2])
			if err := w.begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			end(t, filepath.Join(r.Proc, "200"))
			clock.at = clock.at.Add(time.Second)
			result, err := w.End(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Flags) != 1 || !strings.Contains(result.Flags[0].Detail, "process 200 is gone") {
				t.Errorf("flags %v, want one that says that process 200 is gone", result.Flags)
			}
			if got, ok := result.Metric("server_cpu"); ok {
				t.Errorf("server_cpu is %v, want none", got)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	got, err := Facts(tree(t, "host.txtar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Fact{
		{"host.boot", "1cffe955-d1f6-4213-a99a-da36dbb791d0"},
		{"host.clocksource", "tsc"},
		{"host.cpu_model", "Example CPU @ 2.60GHz"},
		{"host.cpus", "2"},
		{"host.governor", "performance"},
		{"host.id", "3d1219c7c4c5404aaa1f6d2a48adfda4"},
		{"host.kernel", "6.1.0-25-amd64"},
		{"host.kernel_version", "#1 SMP Debian 6.1.106-3"},
		{"host.memory_mib", "24105"},
		{"host.microcode", "0x1"},
		{"host.name", "bench1"},
		{"host.numa_nodes", "0"},
		{"host.swap_mib", "2048"},
		{"host.swappiness", "60"},
		{"host.thp", "madvise"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestMachine(t *testing.T) {
	r := tree(t, "host.txtar")
	got, err := Machine(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := (matrix.Host{ID: "3d1219c7c4c5404aaa1f6d2a48adfda4", CPUs: 2, Memory: 23}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := os.Remove(filepath.Join(r.Etc, "machine-id")); err != nil {
		t.Fatal(err)
	}
	if got, err = Machine(r); err != nil || got.ID != "hostname:bench1" {
		t.Errorf("without a machine id: %+v, %v; want hostname:bench1", got, err)
	}
}

func TestFilesystem(t *testing.T) {
	r := tree(t, "storage.txtar")
	// What stat would say of the device of each path.
	numbers := map[string][2]uint32{
		"/var/lib/db": {8, 1}, "/data/db": {253, 0}, "/data/disk.img": {253, 0}, "/data/upper": {253, 0},
		"/mnt/loop/db": {7, 0}, "/mnt/raid10/db": {9, 0}, "/mnt/btrfs/db": {0, 42}, "/merged/db": {0, 50},
		"/hidden/db": {0, 51}, "/dev/shm/db": {0, 30}, "/tank/db": {0, 60}, "/over/db": {8, 1},
		"/mnt/with blank/db": {259, 1}, "/mnt/gone": {8, 99},
	}
	f := finder{roots: r, number: func(path string) (uint32, uint32, error) {
		n, ok := numbers[path]
		if !ok {
			return 0, 0, os.ErrNotExist
		}
		return n[0], n[1], nil
	}}
	sda1 := Device{Name: "sda1", Major: 8, Minor: 1, Chain: []string{"sda1", "sda"}}
	dm0 := Device{Name: "dm-0", Major: 253, Chain: []string{"dm-0", "sda2", "sda"}}
	tests := []struct {
		path string
		want Filesystem
	}{
		{"/var/lib/db", Filesystem{"/", "ext4", "/dev/sda1", "errors=remount-ro,relatime,rw", []Device{sda1}}},
		{"/data/db", Filesystem{"/data", "xfs", "/dev/mapper/vg-data", "attr2,inode64,noatime,noquota,rw", []Device{dm0}}},
		{"/mnt/loop/db", Filesystem{"/mnt/loop", "ext4", "/dev/loop0", "relatime,rw",
			[]Device{{Name: "loop0", Major: 7, Chain: []string{"loop0", "dm-0", "sda2", "sda"}}}}},
		{"/mnt/raid10/db", Filesystem{"/mnt/raid10", "xfs", "/dev/md0", "noatime,rw",
			[]Device{{Name: "md0", Major: 9, Chain: []string{"md0", "sdb", "sdc"}}}}},
		{"/mnt/btrfs/db", Filesystem{"/mnt/btrfs", "btrfs", "/dev/sdd", "relatime,rw,space_cache=v2", []Device{
			{Name: "sdd", Major: 8, Minor: 48, Chain: []string{"sdd"}}, {Name: "sde", Major: 8, Minor: 64, Chain: []string{"sde"}}}}},
		{"/merged/db", Filesystem{"/merged", "overlay", "overlay", "lowerdir=/l,relatime,rw,upperdir=/data/upper,workdir=/data/work", []Device{dm0}}},
		{"/hidden/db", Filesystem{"/hidden", "overlay", "overlay", "lowerdir=/l,relatime,rw,upperdir=/nowhere/upper,workdir=/w", nil}},
		{"/dev/shm/db", Filesystem{"/dev/shm", "tmpfs", "tmpfs", "nosuid,rw,size=1024k", nil}},
		{"/tank/db", Filesystem{"/tank", "zfs", "tank/data", "rw,xattr", nil}},
		{"/over/db", Filesystem{"/over", "ext4", "/dev/sda1", "relatime,rw", []Device{sda1}}},
		{"/mnt/with blank/db", Filesystem{"/mnt/with blank", "ext4", "/dev/nvme0n1p1", "noatime,rw",
			[]Device{{Name: "nvme0n1p1", Major: 259, Minor: 1, Chain: []string{"nvme0n1p1", "nvme0n1"}}}}},
		{"/mnt/gone", Filesystem{"/", "ext4", "/dev/sda1", "errors=remount-ro,relatime,rw", nil}},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			got, err := f.find(test.path, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	got := filesystemFacts(r, "data", Filesystem{Type: "ext4", Devices: []Device{sda1}})
	for _, want := range []Fact{
		{"data.device", "sda1"}, {"data.device_chain", "sda1 on sda"}, {"data.device_model", "EXAMPLE 10K"}, {"data.rotational", "1"},
		{"data.write_cache", "write back"}, {"data.scheduler", "mq-deadline"}, {"data.readahead_kib", "128"},
	} {
		if !contains(got, want) {
			t.Errorf("facts %v lack %v", got, want)
		}
	}
}

func contains(facts []Fact, want Fact) bool {
	for _, f := range facts {
		if f == want {
			return true
		}
	}
	return false
}

// The buffers of a server of several processes count once, though each has them
// among its resident pages.
func TestSharedMemoryCountsOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("stat", "cpu  1 0 1 1 0 0 0 0 0 0\nbtime 1\n")
	// Postmaster 10 and backends 11 and 12: anonymous, file and shared pages in kB.
	for pid, kb := range map[int][3]int{10: {100, 50, 1000}, 11: {300, 60, 8000}, 12: {200, 40, 5000}} {
		parent, total := 10, (kb[0]+kb[1]+kb[2])/4
		if pid == 10 {
			parent = 1
		}
		write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (postgres) S %d 10 10 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 1000000 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, parent, total))
		write(fmt.Sprintf("%d/status", pid), fmt.Sprintf("Name:\tpostgres\nRssAnon:\t%d kB\nRssFile:\t%d kB\nRssShmem:\t%d kB\n", kb[0], kb[1], kb[2]))
	}
	p, err := NewProcesses(Roots{Proc: dir}, Tree{Name: "server", Root: 10, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := p.Read(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(samples, func(s Sample) bool { return s.Metric == "server_rss" })
	if want := float64(100+300+200+60+8000) * 1024; at < 0 || samples[at].Value != want {
		t.Errorf("got %+v, want server_rss %.0f", samples, want)
	}
}
