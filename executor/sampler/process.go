package sampler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dbmatrix/matrix"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// A Tree says which processes count as one: Root and all that descend from it,
// but for the trees of Except.
type Tree struct {
	Name   string // the prefix of its metrics: server, client
	Root   int    // process id
	Except []int  // process ids
	Memory bool   // its memory is sampled too
}

// Processes samples the process trees of a run and the CPU time of all others.
//
// A process that ended is not missed: the kernel adds its CPU time to the parent
// that waits for it, and that time is counted too.
type Processes struct {
	roots   Roots
	fs      procfs.FS
	trees   []treeState
	scanned time.Time
	rest    time.Duration // from then on until the next scan
	now     func() time.Time

	kernel    map[int]float64 // CPU time of each kernel thread, at the last scan
	kernelCPU float64         // of all since the sampler was made
	highest   map[string]float64
}

// A treeState is a tree with the processes that were found in it last.
type treeState struct {
	Tree
	start    uint64 // start time of the root, which tells it from a later process of its id
	members  []int
	resetPID int // the process whose peak was reset; 0: none
}

// scanRest is for how long new processes are not looked for again between the
// edges of a window, for each process of the host. Looking at one takes some 20 us:
// scans so take half a percent of a core at most, and on hosts with up to 250
// processes there is one each second.
const scanRest = 4 * time.Millisecond

// kernelThread is the flag PF_KTHREAD of include/linux/sched.h.
const kernelThread = 0x00200000

// NewProcesses returns the sampler of process trees. All roots must be alive.
func NewProcesses(r Roots, trees ...Tree) (*Processes, error) {
	all, err := procfs.NewFS(r.Proc)
	if err != nil {
		return nil, fmt.Errorf("sampling processes: %w", err)
	}
	p := &Processes{roots: r, fs: all, now: time.Now, highest: map[string]float64{}}
	for _, t := range trees {
		stat, err := p.stat(t.Root)
		if err != nil {
			return nil, fmt.Errorf("sampling process %d (%s): %w", t.Root, t.Name, err)
		}
		p.trees = append(p.trees, treeState{Tree: t, start: stat.Starttime})
	}
	return p, nil
}

func (p *Processes) stat(pid int) (procfs.ProcStat, error) {
	proc, err := p.fs.Proc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return proc.Stat()
}

// Name returns the names of the trees.
func (p *Processes) Name() string {
	names := make([]string, len(p.trees))
	for i, t := range p.trees {
		names[i] = t.Name
	}
	return "processes of " + strings.Join(names, " and ")
}

// Begin resets the peak of resident memory where that is permitted (5 in
// /proc/PID/clear_refs, proc(5)). It makes sense for a single process only: the
// peaks of several need not have been at one time.
func (p *Processes) Begin(context.Context) error {
	if err := p.scan(); err != nil {
		return err
	}
	for i := range p.trees {
		t := &p.trees[i]
		t.resetPID = 0
		if !t.Memory || len(t.members) != 1 {
			continue
		}
		f, err := os.OpenFile(filepath.Join(p.roots.Proc, strconv.Itoa(t.members[0]), "clear_refs"), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, err = f.WriteString("5")
		if errors.Join(err, f.Close()) == nil {
			t.resetPID = t.members[0]
		}
	}
	return nil
}

// scan finds the processes of each tree, and adds up the CPU time of kernel
// threads.
func (p *Processes) scan() error {
	procs, err := p.fs.AllProcs()
	if err != nil {
		return err
	}
	children := map[int][]int{}
	kernel := map[int]float64{}
	for _, proc := range procs {
		stat, err := proc.Stat()
		if err != nil {
			continue // ended meanwhile
		}
		if stat.Flags&kernelThread != 0 {
			kernel[proc.PID] = stat.CPUTime()
			continue
		}
		children[stat.PPID] = append(children[stat.PPID], proc.PID)
	}
	if p.kernel != nil {
		for pid, now := range kernel {
			p.kernelCPU += max(0, now-p.kernel[pid])
		}
	}
	p.kernel = kernel
	for i := range p.trees {
		t := &p.trees[i]
		except := map[int]bool{}
		for _, pid := range t.Except {
			except[pid] = true
		}
		t.members = descend(nil, t.Root, children, except)
	}
	p.scanned, p.rest = p.now(), time.Duration(len(procs))*scanRest
	return nil
}

// descend adds a process and all below it to a list.
func descend(list []int, pid int, children map[int][]int, except map[int]bool) []int {
	if except[pid] {
		return list
	}
	list = append(list, pid)
	for _, c := range children[pid] {
		list = descend(list, c, children, except)
	}
	return list
}

// Read returns the counters and sizes of the trees and, where it has looked for new
// processes, other_cpu and kernel_cpu: what a new process of a tree has used would
// be taken for that of others.
func (p *Processes) Read(_ context.Context, edge bool) ([]Sample, error) {
	scan := edge || p.now().Sub(p.scanned) >= p.rest
	if scan {
		if err := p.scan(); err != nil {
			return nil, err
		}
	}
	stat, err := p.fs.Stat()
	if err != nil {
		return nil, err
	}
	c := stat.CPUTotal
	other := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
	var samples []Sample
	for i := range p.trees {
		t := &p.trees[i]
		use, err := p.use(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		samples = append(samples, p.samples(t, use)...)
		other -= p.highest[t.Name+"_cpu"]
	}
	if !scan {
		return samples, nil
	}
	return append(samples,
		p.counter("other_cpu", "s", other),
		p.counter("kernel_cpu", "s", p.kernelCPU)), nil
}

// A use is what the processes of a tree have used.
type use struct {
	cpu          float64 // s
	rss          float64 // B
	read, wrote  float64 // B
	ioUnreadable bool    // another user's processes, without the right to look
}

// use adds up the processes of a tree. Those that ended since they were found
// are not missed: see Processes.
func (p *Processes) use(t *treeState) (use, error) {
	var u use
	var shared float64
	for _, pid := range t.members {
		stat, err := p.stat(pid)
		if pid == t.Root && (err != nil || stat.Starttime != t.start) {
			return use{}, fmt.Errorf("process %d is gone", pid)
		}
		if err != nil {
			continue
		}
		u.cpu += stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/userHZ
		proc, err := p.fs.Proc(pid)
		if err != nil {
			continue
		}
		own, with := resident(proc, stat, t.Memory && len(t.members) > 1)
		u.rss += own
		shared = max(shared, with)
		switch io, err := proc.IO(); {
		case errors.Is(err, fs.ErrPermission):
			u.ioUnreadable = true
		case err == nil:
			u.read += float64(io.ReadBytes)
			u.wrote += float64(io.WriteBytes)
		}
	}
	u.rss += shared
	return u, nil
}

// resident returns the resident memory of a process: what is its own, and what it
// may share with others of a tree of several, such as the buffers of PostgreSQL,
// which each of its processes has among its own. Of a tree the largest shared
// part counts, once: the others are mostly the same pages. Counting them exactly
// (PSS) would make the kernel walk all pages in every interval.
func resident(proc procfs.Proc, stat procfs.ProcStat, several bool) (own, shared float64) {
	if several {
		if status, err := proc.NewStatus(); err == nil && status.RssAnon+status.RssShmem > 0 {
			return float64(status.RssAnon), float64(status.RssFile + status.RssShmem)
		}
	}
	return float64(stat.ResidentMemory()), 0
}

// userHZ is the number of clock ticks in a second in /proc, which is 100 on all
// machines that Go supports (asm-generic/param.h).
const userHZ = 100

func (p *Processes) samples(t *treeState, u use) []Sample {
	samples := []Sample{p.counter(t.Name+"_cpu", "s", u.cpu)}
	if !u.ioUnreadable {
		samples = append(samples,
			p.counter(t.Name+"_read_bytes", "B", u.read),
			p.counter(t.Name+"_write_bytes", "B", u.wrote))
	}
	if t.Memory {
		samples = append(samples,
			Sample{Metric: t.Name + "_rss", Unit: "B", Kind: Gauge, Value: u.rss},
			Sample{Metric: t.Name + "_rss_peak", Unit: "B", Kind: Peak, Value: u.rss})
	}
	return samples
}

// counter returns a counter that never goes down: between the end of a process
// and the moment when its parent takes over what it used, a sum is too low.
func (p *Processes) counter(name, unit string, value float64) Sample {
	p.highest[name] = max(p.highest[name], value)
	return Sample{Metric: name, Unit: unit, Kind: Counter, Value: p.highest[name]}
}

// End returns the peak that the kernel kept and the proportional size (PSS),
// which makes the kernel walk all pages.
func (p *Processes) End(context.Context) ([]Sample, []matrix.Flag, error) {
	var samples []Sample
	for i := range p.trees {
		t := &p.trees[i]
		if !t.Memory {
			continue
		}
		if peak, ok := p.peak(t); ok {
			samples = append(samples, Sample{Metric: t.Name + "_rss_peak", Unit: "B", Value: peak})
		}
		samples = append(samples, p.proportional(t)...)
	}
	return samples, nil, nil
}

// peak returns the peak of the resident memory since Begin, for a process whose
// peak was reset then.
func (p *Processes) peak(t *treeState) (float64, bool) {
	if t.resetPID == 0 || len(t.members) != 1 || t.members[0] != t.resetPID {
		return 0, false
	}
	proc, err := p.fs.Proc(t.resetPID)
	if err != nil {
		return 0, false
	}
	status, err := proc.NewStatus()
	if err != nil || status.VmHWM == 0 {
		return 0, false
	}
	return float64(status.VmHWM), true
}

// proportional returns the proportional sizes of a tree, none where one of its
// processes may not be looked at.
func (p *Processes) proportional(t *treeState) []Sample {
	var pss, swapped float64
	for _, pid := range t.members {
		proc, err := p.fs.Proc(pid)
		if err != nil {
			continue // ended meanwhile
		}
		m, err := proc.ProcSMapsRollup()
		switch {
		// The file of a process that has given back its memory can be opened
		// and not be read.
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
			continue
		case err != nil:
			return nil
		}
		pss += float64(m.Pss)
		swapped += float64(m.SwapPss)
	}
	if pss == 0 {
		return nil
	}
	return []Sample{
		{Metric: t.Name + "_pss", Unit: "B", Value: pss},
		{Metric: t.Name + "_swap", Unit: "B", Value: swapped},
	}
}
