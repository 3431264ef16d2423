package sampler

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// needProgram skips a test where a program is not here; where tests may not skip
// for want of one, it fails.
func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("DBMATRIX_REQUIRE_SERVERS") == "1" {
		t.Fatalf("there is no %s here; make tools installs it", name)
	}
	t.Skipf("there is no %s here", name)
}

// output runs a program whose messages are in no language but C's.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out)
}

// A reader reads numbers that grow, by the names that the sampler has for them.
type reader func(t *testing.T) map[string]float64

// vmstatTotals are the totals since the boot: ticks of 10 ms, as seconds.
func vmstatTotals(t *testing.T) map[string]float64 {
	text := output(t, "vmstat", "-s")
	total := func(names ...string) float64 {
		sum := 0.0
		for _, name := range names {
			m := regexp.MustCompile(`(?m)^\s*(\d+) ` + regexp.QuoteMeta(name) + `$`).FindStringSubmatch(text)
			if m == nil {
				t.Fatalf("vmstat -s has no %q:\n%s", name, text)
			}
			v, _ := strconv.ParseFloat(m[1], 64)
			sum += v
		}
		return sum
	}
	return map[string]float64{
		"cpu_user":         total("non-nice user cpu ticks", "nice user cpu ticks") / 100,
		"cpu_system":       total("system cpu ticks", "IRQ cpu ticks", "softirq cpu ticks") / 100,
		"context_switches": total("CPU context switches"),
	}
}

// iostatTotals are the kB of a device since the boot, as bytes.
func iostatTotals(device string) reader {
	return func(t *testing.T) map[string]float64 {
		for _, line := range strings.Split(output(t, "iostat", "-d", "-k", device), "\n") {
			f := strings.Fields(line)
			if len(f) != 8 || f[0] != device {
				continue
			}
			read, _ := strconv.ParseFloat(f[5], 64)
			wrote, _ := strconv.ParseFloat(f[6], 64)
			return map[string]float64{"disk_read_bytes": read * 1024, "disk_write_bytes": wrote * 1024}
		}
		t.Fatalf("iostat has no device %s", device)
		return nil
	}
}

// TestBesideVmstatAndIostat reads the totals of vmstat and iostat just before and
// just after both ends of a window with a steady load. Counters only grow, so what
// the window has lies between the two, whatever else the host does; and the two
// are close to each other, so that it agrees with either.
func TestBesideVmstatAndIostat(t *testing.T) {
	needProgram(t, "vmstat")
	needProgram(t, "iostat")
	dir := t.TempDir()
	h, err := NewHost(System())
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDevices(System(), dir)
	if err != nil {
		t.Fatal(err)
	}
	readers := []reader{vmstatTotals}
	for _, device := range d.List() {
		if len(d.List()) == 1 { // the totals of several are not compared one by one
			readers = append(readers, iostatTotals(device.Name))
		}
	}
	read := func() map[string]float64 {
		all := map[string]float64{}
		for _, r := range readers {
			for name, v := range r(t) {
				all[name] = v
			}
		}
		return all
	}
	before := read()
	w, err := Begin(t.Context(), 200*time.Millisecond, h, d)
	if err != nil {
		t.Fatal(err)
	}
	within := read()
	for i, until := 0, time.Now().Add(4*time.Second); time.Now().Before(until); i++ {
		writeSynced(t, filepath.Join(dir, fmt.Sprint("file", i%4)), 4<<20)
	}
	stillWithin := read()
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := read()
	for name := range before {
		got, ok := r.Metric(name)
		least, most := stillWithin[name]-within[name], after[name]-before[name]
		count := map[bool]float64{true: 0.04, false: 1}[strings.HasPrefix(name, "cpu_")] // each of up to four sums is in whole ticks
		if strings.HasSuffix(name, "_bytes") {
			count = 1024 // iostat's whole kB
		}
		if !ok || got < least-count || got > most+count {
			t.Errorf("%s is %g, and the other program has between %g and %g", name, got, least, most)
		}
		if name == "disk_write_bytes" && least < 16<<20 {
			t.Errorf("%g bytes were written: too little to tell", least)
		}
	}
}

// TestBesidePidstat lets a child use CPU within the interval of pidstat and within
// a window: both must have all of it.
func TestBesidePidstat(t *testing.T) {
	needProgram(t, "pidstat")
	c := start(t, exec.Command("/bin/sh", "-c", `echo ready; read go; i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; echo ready; read go`))
	c.ready()
	p, err := NewProcesses(System(), Tree{Name: "server", Root: c.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	const interval = 12
	w, err := Begin(t.Context(), time.Second, p)
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command("pidstat", "-u", "-p", strconv.Itoa(c.Process.Pid), strconv.Itoa(interval), "1")
	other.Env = append(os.Environ(), "LC_ALL=C")
	var text strings.Builder
	other.Stdout = &text
	began := time.Now()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // its first reading
	c.step()
	c.ready()
	if time.Since(began) > (interval-2)*time.Second {
		_ = other.Wait() // its end tells nothing here
		t.Skip("the host is too busy: the child was not done within the interval")
	}
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^Average:.*\s([\d.]+)\s+\S+\s+\S+$`).FindStringSubmatch(text.String())
	if m == nil {
		t.Fatalf("pidstat's average cannot be read:\n%s", text.String())
	}
	percent, _ := strconv.ParseFloat(m[1], 64)
	got, _ := r.Metric("server_cpu")
	want := percent / 100 * interval
	if want < 0.1 || math.Abs(got-want) > max(0.02*want, 0.02) {
		t.Errorf("server_cpu %.2f s, pidstat has %.2f s (%.2f%%)", got, want, percent)
	}
}

// TestBesideDu compares sizes with those of du, of files with holes, links and
// folders.
func TestBesideDu(t *testing.T) {
	needProgram(t, "du")
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "db", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeSynced(t, filepath.Join(dir, "db", "full"), 3<<20)
	writeSynced(t, filepath.Join(dir, "db", "deep", "holes"), 1<<20)
	if err := os.Truncate(filepath.Join(dir, "db", "deep", "holes"), 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "db", "full"), filepath.Join(dir, "db", "again")); err != nil {
		t.Fatal(err)
	}
	u, err := DiskUsage(t.Context(), Root{Role: "data", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	number := func(args ...string) float64 {
		first, _, _ := strings.Cut(output(t, "du", append(args, dir)...), "\t")
		v, err := strconv.ParseFloat(first, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	total := u.Total()
	if want := number("-s", "--block-size=1"); float64(total.Allocated) != want {
		t.Errorf("%d bytes allocated, du has %.0f", total.Allocated, want)
	}
	if want := number("-s", "-b"); math.Abs(float64(total.Apparent)-want) > 0.02*want {
		t.Errorf("%d bytes long, du has %.0f", total.Apparent, want)
	}
}
