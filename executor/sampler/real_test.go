package sampler

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hogVariable makes the test program itself a child that uses memory.
const hogVariable = "DBMATRIX_TEST_HOG"

func TestMain(m *testing.M) {
	if os.Getenv(hogVariable) != "" {
		hog()
		return
	}
	os.Exit(m.Run())
}

// hogSize is how much memory the hog takes for a moment, in bytes.
const hogSize = 96 << 20

// hog takes memory, gives it back and waits; each step when it is told to.
func hog() {
	in := bufio.NewReader(os.Stdin)
	step := func() {
		fmt.Println("ready")
		if _, err := in.ReadString('\n'); err != nil {
			os.Exit(0)
		}
	}
	step()
	b, err := unix.Mmap(-1, 0, hogSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	if err := unix.Munmap(b); err != nil {
		panic(err)
	}
	for {
		step()
	}
}

// A child is a process that says "ready" and goes on when it is told to.
type child struct {
	*exec.Cmd
	t     *testing.T
	stdin io.WriteCloser
	out   *bufio.Reader
}

func start(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{Cmd: cmd, t: t}
	cmd.Stderr = os.Stderr
	var err error
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	t.Cleanup(c.end)
	return c
}

func (c *child) ready() {
	c.t.Helper()
	if line, err := c.out.ReadString('\n'); err != nil || line != "ready\n" {
		c.t.Fatalf("the child said %q, %v", line, err)
	}
}

func (c *child) step() {
	c.t.Helper()
	if _, err := io.WriteString(c.stdin, "\n"); err != nil {
		c.t.Fatal(err)
	}
}

// end lets the child end, if it has not.
func (c *child) end() {
	if c.ProcessState == nil {
		c.stdin.Close()
		_ = c.Wait() // its exit status tells nothing
	}
}

// stepWithin has the child do its step within a window, and end.
func (c *child) stepWithin(t *testing.T, interval time.Duration, samplers ...Sampler) Result {
	t.Helper()
	w, err := Begin(t.Context(), interval, samplers...)
	if err != nil {
		t.Fatal(err)
	}
	c.step()
	c.ready()
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.end()
	return r
}

// TestBusyChild compares server_cpu with what the kernel says of a child that
// ended, its own children included, some of which ended within the window.
func TestBusyChild(t *testing.T) {
	c := start(t, exec.Command("/bin/sh", "-c", `
		echo ready; read go
		for i in 1 2 3; do dd if=/dev/zero of=/dev/null bs=1M count=2000 2>/dev/null; done
		i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done
		echo ready; read go`))
	c.ready()
	p, err := NewProcesses(System(), Tree{Name: "server", Root: c.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	r := c.stepWithin(t, 50*time.Millisecond, p)
	want := (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	got, ok := r.Metric("server_cpu")
	// Each of the five processes is counted in ticks of 10 ms.
	if !ok || math.Abs(got-want) > 0.1 {
		t.Errorf("server_cpu %.3f s, want %.3f s", got, want)
	}
	if want < 0.2 {
		t.Errorf("the child used %.3f s only: too little to tell", want)
	}
	sum := 0.0
	for _, s := range r.Series {
		if s.Metric == "server_cpu" {
			for _, x := range s.Readings {
				sum += x.Value
			}
		}
	}
	if math.Abs(sum-got) > 1e-6 {
		t.Errorf("the readings sum to %v, the metric is %v", sum, got)
	}
}

// TestNewProcessIsNotForeign has a child start others after the window has begun:
// what they use is the child's, and never that of others too.
func TestNewProcessIsNotForeign(t *testing.T) {
	c := start(t, exec.Command("/bin/sh", "-c", `
		echo ready; read go
		(i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done) & wait
		echo ready; read go`))
	c.ready()
	h, err := NewHost(System())
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProcesses(System(), Tree{Name: "server", Root: c.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	r := c.stepWithin(t, 20*time.Millisecond, h, p)
	metric := func(name string) float64 {
		x, ok := r.Metric(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		return x
	}
	if metric("server_cpu") < 0.2 {
		t.Fatalf("the child used %.3f s only: too little to tell", metric("server_cpu"))
	}
	// The one is read a little after the other.
	if all, parts := metric("cpu_user")+metric("cpu_system"), metric("server_cpu")+metric("other_cpu"); parts > all+0.15 {
		t.Errorf("the child and others used %.3f s of %.3f s", parts, all)
	}
}

// TestPeakOfRealChild lets a child take and give back memory between two
// readings: only the kernel's own peak shows it.
func TestPeakOfRealChild(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hogVariable+"=1")
	c := start(t, cmd)
	c.ready()
	p, err := NewProcesses(System(), Tree{Name: "server", Root: c.Process.Pid, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	window := func(use bool) (rss, peak, pss float64) {
		w, err := Begin(t.Context(), time.Hour, p)
		if err != nil {
			t.Fatal(err)
		}
		if use {
			c.step()
			c.ready()
		}
		r, err := w.End(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rss, _ = r.Metric("server_rss")
		peak, _ = r.Metric("server_rss_peak")
		pss, _ = r.Metric("server_pss")
		return rss, peak, pss
	}
	rss, peak, pss := window(true)
	if peak < hogSize || rss > hogSize/2 || pss <= 0 || pss > rss+1<<20 {
		t.Errorf("rss %.0f, peak %.0f, pss %.0f; want a peak above %d, the others far below", rss, peak, pss, hogSize)
	}
	if _, peak, _ = window(false); peak > hogSize/2 {
		t.Errorf("peak %.0f in a window in which nothing was taken", peak)
	}
}

// TestRealDevices writes a file and finds it in the counters of the device.
func TestRealDevices(t *testing.T) {
	dir := t.TempDir()
	f, err := FindFilesystem(System(), dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDevices(System(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Begin(t.Context(), time.Hour, d)
	if err != nil {
		t.Fatal(err)
	}
	const size = 8 << 20
	writeSynced(t, filepath.Join(dir, "file"), size)
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wrote, ok := r.Metric("disk_write_bytes")
	switch {
	case len(f.Devices) == 0 && (ok || len(r.Flags) != 1 || r.Flags[0].Name != "no_device"):
		t.Errorf("%s has no device, yet disk_write_bytes is there: %v, or it is not said: %v", f.Type, ok, r.Flags)
	case len(f.Devices) > 0 && wrote < size:
		t.Errorf("disk_write_bytes %.0f, want at least %d", wrote, size)
	}
}

func writeSynced(t *testing.T, name string, size int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Not all the same, so that no filesystem compresses it away.
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

// TestRealHost checks the sums that must hold on any host.
func TestRealHost(t *testing.T) {
	h, err := NewHost(System())
	if err != nil {
		t.Fatal(err)
	}
	w, err := Begin(t.Context(), 100*time.Millisecond, h)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	r, err := w.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, name := range []string{"cpu_user", "cpu_system", "cpu_iowait", "cpu_idle", "cpu_steal"} {
		v, ok := r.Metric(name)
		if !ok || v < 0 {
			t.Errorf("%s is %v, %v", name, v, ok)
		}
		sum += v
	}
	cpus, _ := r.Metric("cpus")
	if want := cpus * r.Elapsed.Seconds(); math.Abs(sum-want) > 0.2*want {
		t.Errorf("the CPUs' time sums to %.2f s, want about %.2f s", sum, want)
	}
	for _, s := range r.Series {
		if len(s.Readings) < 5 {
			t.Errorf("%s has %d readings in ten intervals", s.Metric, len(s.Readings))
		}
	}
}

func TestRealFacts(t *testing.T) {
	facts, err := Facts(System(), map[string]string{"data": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"host.boot", "host.kernel", "host.cpus", "host.memory_mib", "data.filesystem", "data.mount_options"} {
		if !slices.ContainsFunc(facts, func(f Fact) bool { return f.Name == name && f.Value != "" }) {
			t.Errorf("there is no %s in %v", name, facts)
		}
	}
}

// BenchmarkReading prints what sampling costs: a reading of host, devices and two
// process trees, as a share of one core when it is taken each second.
func BenchmarkReading(b *testing.B) {
	h, err := NewHost(System())
	if err != nil {
		b.Fatal(err)
	}
	d, err := NewDevices(System(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewProcesses(System(), Tree{Name: "server", Root: os.Getpid(), Memory: true}, Tree{Name: "client", Root: os.Getppid(), Except: []int{os.Getpid()}})
	if err != nil {
		b.Fatal(err)
	}
	w := newWindow(systemClock(), time.Second, []Sampler{h, d, p})
	if err := w.begin(b.Context()); err != nil {
		b.Fatal(err)
	}
	// As in a second's ticks.
	every := int((p.rest + time.Second - 1) / time.Second)
	used := cpuTime(b)
	n := 0
	for b.Loop() {
		if n%every == 0 {
			p.scanned = time.Time{}
		}
		w.read(b.Context())
		n++
	}
	perReading := (cpuTime(b) - used) / float64(n)
	b.ReportMetric(100*perReading, "%core")
	if perReading > 0.01 {
		b.Errorf("a reading takes %.1f ms of CPU time, more than 1 %% of a core at one each second", 1000*perReading)
	}
}

// cpuTime returns the CPU time of this process in seconds.
func cpuTime(b *testing.B) float64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// TestProportionalSizeWithoutTheEnded tests that a process which has ended, such
// as a backend of PostgreSQL whose client has left, does not take the size of the
// others away.
func TestProportionalSizeWithoutTheEnded(t *testing.T) {
	// The shell's child has ended, and cat does not wait for it.
	cmd := exec.Command("sh", "-c", "true & exec cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	p, err := NewProcesses(System(), Tree{Name: "server", Root: cmd.Process.Pid, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if err := p.scan(); err != nil {
			t.Fatal(err)
		}
		if members := p.trees[0].members; len(members) == 2 {
			if stat, err := p.stat(members[1]); err == nil && stat.State == "Z" {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no process has ended without being waited for")
		}
	}
	samples, _, err := p.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(samples, func(s Sample) bool { return s.Metric == "server_pss" && s.Value > 0 }) {
		t.Errorf("no proportional size among %+v", samples)
	}
}

// TestThisProcessIsInItsTree makes sure that ids of real processes are read as
// they are.
func TestThisProcessIsInItsTree(t *testing.T) {
	p, err := NewProcesses(System(), Tree{Name: "client", Root: os.Getppid()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.scan(); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.trees[0].members, os.Getpid()) {
		t.Errorf("process %d is not among %v", os.Getpid(), p.trees[0].members)
	}
	if _, err := NewProcesses(System(), Tree{Name: "server", Root: 1 << 30}); err == nil || !strings.Contains(err.Error(), strconv.Itoa(1<<30)) {
		t.Errorf("a root that is not there: %v, want an error that names it", err)
	}
}
