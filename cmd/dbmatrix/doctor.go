package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// newDoctorCommand examines this host.
func newDoctorCommand(s *streams) *cobra.Command {
	var o experimentOptions
	c := &cobra.Command{
		Use:   "doctor [PATH...]",
		Short: "Examine this host: builds, filesystems, limits, tools",
		Long: `Says what this host has and what to do about what it lacks: server builds, what
filesystems can do, limits, processor settings, programs that workloads call.

Each PATH is an experiment, whose builds and storages are examined, or another
directory in which data may come to lie; without one it is the working directory.

Each line is ok, a note (numbers may be doubtful) or a fault (some experiments
cannot run).` + exitStatus(exitUsage, exitEnvironment),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return doctor(c.Context(), s, &o, args)
		},
	}
	o.addFlags(c.Flags())
	return c
}

// A grade says how bad a finding is.
type grade string

const (
	gradeOK    grade = "ok"
	gradeNote  grade = "note"
	gradeFault grade = "fault"
)

// A finding is one thing that doctor found.
type finding struct {
	grade  grade
	what   string // such as "server mariadb"
	detail string
	remedy string // what to do about it, else ""
}

// doctor prints all findings; it ends with 3 where one is a fault.
func doctor(ctx context.Context, s *streams, o *experimentOptions, paths []string) error {
	if err := checkDirs(paths); err != nil {
		return err
	}
	servers, used, dirs, err := o.examined(ctx, s, paths)
	if err != nil {
		return err
	}
	found := examineProgram()
	found = append(found, examineBuilds(ctx, servers)...)
	for _, dir := range dirs {
		found = append(found, examineDir(dir)...)
		found = append(found, examineReach(used, dir)...)
	}
	found = append(found, examineHost(dirs)...)
	found = append(found, examineTools()...)

	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	faults := 0
	for _, f := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.grade, f.what, f.detail)
		if f.remedy != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", f.remedy)
		}
		if f.grade == gradeFault {
			faults++
		}
	}
	if err := w.Flush(); err != nil {
		return exit(exitEnvironment, err)
	}
	if faults > 0 {
		return exit(exitEnvironment, errors.New(count(faults, "fault")+" found"))
	}
	return nil
}

// checkDirs refuses what is no directory.
func checkDirs(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return exit(exitUsage, fmt.Errorf("%s is not there; doctor examines experiments and directories", path))
		case err != nil:
			return exit(exitUsage, err)
		case !info.IsDir() && filepath.Ext(path) != ".hcl": // a single file is an experiment
			return exit(exitUsage, fmt.Errorf("%s is a file; name its directory: dbmatrix doctor %s", path, filepath.Dir(path)))
		}
	}
	return nil
}

// examineReach says which servers cannot work in a directory, as run would.
func examineReach(servers []*matrix.Server, dir string) []finding {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return []finding{{gradeFault, "directory " + dir, err.Error(), ""}}
	}
	var found []finding
	seen := map[string]bool{}
	for _, s := range servers {
		if s.Build.Absent != "" {
			continue
		}
		if err := server.CheckAccount(s, abs); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			found = append(found, finding{gradeFault, "directory " + dir, "server " + s.Name + " cannot work here: " + err.Error(), ""})
		}
	}
	return found
}

// examineProgram judges how this program was built.
func examineProgram() []finding {
	b := readBuildFacts()
	f := finding{gradeOK, "dbmatrix", strings.TrimSpace(b.version + " " + b.commit), ""}
	if b.cgo != "on" {
		f.grade = gradeFault
		f.detail += ", built without cgo: the results database cannot work"
		f.remedy = "build with CGO_ENABLED=1 and a C compiler (apt-get install gcc libc6-dev)"
	}
	return []finding{f, examineLock()}
}

// examineLock says who runs here now.
func examineLock() finding {
	path, err := server.HostLockPath()
	if err != nil {
		return finding{gradeFault, "host lock", err.Error(), "set DBMATRIX_HOST_LOCK to a path that every user of this host can write"}
	}
	lock, err := server.LockHost()
	var held *server.LockedError
	switch {
	case errors.As(err, &held):
		return finding{gradeNote, "host lock", held.Error(), ""}
	case err != nil:
		return finding{gradeFault, "host lock", err.Error(), "set DBMATRIX_HOST_LOCK to a path that every user of this host can write"}
	}
	if err := lock.Close(); err != nil {
		return finding{gradeNote, "host lock", err.Error(), ""}
	}
	return finding{gradeOK, "host lock", path + " is free", ""}
}

// examined returns the servers that experiments may name beside those that are
// found without a machine file, those of them that cells use, and the directories
// to be examined.
func (o *experimentOptions) examined(ctx context.Context, s *streams, paths []string) (servers, used []*matrix.Server, dirs []string, err error) {
	for _, path := range paths {
		files, err := []string{path}, error(nil)
		if filepath.Ext(path) != ".hcl" {
			files, err = entries(path, func(name string) bool { return filepath.Ext(name) == ".hcl" })
		}
		if err != nil || len(files) == 0 || len(files) == 1 && filepath.Base(files[0]) == "machine.hcl" {
			dirs = append(dirs, path)
			continue
		}
		exp, cells, err := o.expand(ctx, s, path)
		if err != nil {
			return nil, nil, nil, err
		}
		servers = append(servers, exp.Servers...)
		used = append(used, usedServers(cells)...)
		for _, dir := range exp.DataDirs() {
			// It is made by the first run; what counts is where it will lie.
			dirs = append(dirs, existing(dir))
		}
	}
	slices.Sort(dirs)
	return servers, used, slices.Compact(dirs), nil
}

// usedServers returns the servers of cells, each once.
func usedServers(cells []*matrix.Cell) []*matrix.Server {
	var used []*matrix.Server
	for _, c := range cells {
		for _, p := range c.Phases {
			if s := p.Settings.Server; s != nil && !slices.Contains(used, s) {
				used = append(used, s)
			}
		}
	}
	return used
}

// existing returns a directory, or the nearest one above it that is there.
func existing(dir string) string {
	for dir != "/" && dir != "." {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// examineBuilds lists the servers that are found without a machine file, and
// those that experiments name.
func examineBuilds(ctx context.Context, named []*matrix.Server) []finding {
	prober := &server.Prober{Cache: probeCache()}
	var found []finding
	seen := map[string]bool{}
	for _, m := range append(prober.Find(ctx), named...) {
		if seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		program := m.Mysqld
		if program == "" {
			program = m.Bindir
		}
		b := m.Build
		if b.Content == "" && b.Absent == "" {
			b = prober.Probe(ctx, *m)
		}
		f := finding{gradeOK, "server." + m.Name, fmt.Sprintf("%s %s at %s", b.Flavour, b.Version, program), ""}
		if b.Absent != "" {
			f = finding{gradeFault, "server." + m.Name, b.Absent, "name a build that runs here in machine.hcl"}
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		found = append(found, finding{gradeFault, "servers", "none on PATH, in /usr/sbin or in /usr/lib/postgresql",
			"make servers, or name builds in machine.hcl; on Debian: apt-get install mariadb-server"})
	}
	if os.Geteuid() == 0 {
		for _, name := range []string{"mysql", "postgres"} {
			if _, err := user.Lookup(name); err != nil {
				found = append(found, finding{gradeNote, "user " + name, "not there; a server does not run as root",
					"useradd --system --no-create-home --shell /usr/sbin/nologin " + name})
			}
		}
	}
	return found
}

// examineDir judges the filesystem that holds a directory, by trying in a file
// of its own there.
func examineDir(dir string) []finding {
	name := "directory " + dir
	abs, err := filepath.Abs(dir)
	if err != nil {
		return []finding{{gradeFault, name, err.Error(), ""}}
	}
	f, err := os.CreateTemp(abs, ".dbmatrix-doctor-*")
	if err != nil {
		remedy := "choose another data_dir in machine.hcl"
		if errors.Is(err, fs.ErrNotExist) {
			remedy = "mkdir -p " + abs
		}
		return []finding{{gradeFault, name, err.Error(), remedy}}
	}
	defer os.Remove(f.Name())
	defer f.Close()

	found := []finding{examineSpace(name, abs)}
	found = append(found, examineSync(name, f), examineDirectIO(name, f.Name()), examineHoles(name, f), examineReflink(name, f))
	return found
}

// lowSpace is the free space below which even small experiments fail.
const lowSpace = 2 << 30

// examineSpace tells the kind of a filesystem and what is free on it.
func examineSpace(name, dir string) finding {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return finding{gradeFault, name, err.Error(), ""}
	}
	free := st.Bavail * uint64(st.Bsize)
	f := finding{gradeOK, name, fmt.Sprintf("%s, %s free", filesystemName(int64(st.Type)), formatBytes(free)), ""}
	switch {
	case int64(st.Type) == unix.NFS_SUPER_MAGIC:
		f.grade, f.remedy = gradeFault, "results.db needs a local filesystem: put the experiment on one"
	case free < lowSpace:
		f.grade, f.remedy = gradeNote, "free some space, or run dbmatrix clean"
	}
	return f
}

// filesystemName names the filesystems that databases are put on.
func filesystemName(magic int64) string {
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC:      "ext2/3/4",
		unix.XFS_SUPER_MAGIC:       "xfs",
		unix.BTRFS_SUPER_MAGIC:     "btrfs",
		unix.TMPFS_MAGIC:           "tmpfs (memory: not a disk)",
		unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
		unix.NFS_SUPER_MAGIC:       "nfs",
		unix.F2FS_SUPER_MAGIC:      "f2fs",
		0x2fc12fc1:                 "zfs", // not in x/sys: OpenZFS's ZFS_SUPER_MAGIC
	}
	if n, ok := names[magic]; ok {
		return n
	}
	return fmt.Sprintf("filesystem of type %#x", magic)
}

// syncRounds is how many fsyncs are timed: the slowest of the first few tells
// more than an average.
const syncRounds = 16

// examineSync times fsync of a small write.
func examineSync(name string, f *os.File) finding {
	var total, slowest time.Duration
	for i := range syncRounds {
		if _, err := f.WriteAt(make([]byte, 4096), int64(i)*4096); err != nil {
			return finding{gradeFault, name, "writing: " + err.Error(), ""}
		}
		start := time.Now()
		if err := f.Sync(); err != nil {
			return finding{gradeFault, name, "fsync: " + err.Error(), ""}
		}
		took := time.Since(start)
		total, slowest = total+took, max(slowest, took)
	}
	return finding{gradeOK, name, fmt.Sprintf("fsync of 4 KiB takes %v, at most %v",
		(total / syncRounds).Round(time.Microsecond), slowest.Round(time.Microsecond)), ""}
}

// examineDirectIO tries O_DIRECT.
func examineDirectIO(name, path string) finding {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return finding{gradeNote, name, "no O_DIRECT: " + err.Error(), "cells with direct I/O need another filesystem"}
	}
	_ = unix.Close(fd)
	return finding{gradeOK, name, "O_DIRECT works", ""}
}

// examineHoles punches a hole and looks whether the file got smaller.
func examineHoles(name string, f *os.File) finding {
	const size = 1 << 20
	blocks := func() (int64, error) {
		var st unix.Stat_t
		err := unix.Fstat(int(f.Fd()), &st)
		return st.Blocks, err
	}
	_, err := f.WriteAt([]byte(strings.Repeat("x", size)), 0)
	if err == nil {
		err = f.Sync()
	}
	before, serr := blocks()
	if err = errors.Join(err, serr); err == nil {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, size/2)
	}
	after, serr := blocks()
	if err = errors.Join(err, serr); err == nil && after >= before {
		err = errors.New("the file keeps its blocks")
	}
	if err != nil {
		return finding{gradeNote, name, "no hole punching: " + err.Error(), "transparent page compression saves nothing here; use ext4 or xfs"}
	}
	return finding{gradeOK, name, "hole punching works", ""}
}

// examineReflink tries to share the blocks of a file with a copy.
func examineReflink(name string, f *os.File) finding {
	clone, err := os.CreateTemp(filepath.Dir(f.Name()), ".dbmatrix-doctor-*")
	if err != nil {
		return finding{gradeFault, name, err.Error(), ""}
	}
	defer os.Remove(clone.Name())
	defer clone.Close()
	if err := unix.IoctlFileClone(int(clone.Fd()), int(f.Fd())); err != nil {
		return finding{gradeOK, name, `no reflinks: snapshots are copied in full, also with copy = "reflink"`, ""}
	}
	return finding{gradeOK, name, "reflinks work", ""}
}

// fewFiles is a limit of open files below which servers of large experiments
// lower table_open_cache by themselves.
const fewFiles = 16384

// telling are the facts of the host that doctor prints.
var telling = []string{"host.kernel", "host.cpu_model", "host.cpus", "host.numa_nodes", "host.memory_mib", "host.swap_mib",
	"host.governor", "host.thp", "host.clocksource", ".device_chain", ".mount_options", ".write_cache", ".scheduler"}

// examineHost looks at limits and settings that change numbers.
func examineHost(dirs []string) []finding {
	paths := map[string]string{}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			paths[dir] = dir
		}
	}
	facts, err := sampler.Facts(sampler.System(), paths)
	if err != nil {
		return []finding{{gradeFault, "host", err.Error(), ""}}
	}
	var found []finding
	for _, f := range facts {
		if slices.ContainsFunc(telling, func(name string) bool { return strings.HasSuffix(f.Name, name) }) {
			found = append(found, judgeFact(f))
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil {
		f := finding{gradeOK, "open files", strconv.FormatUint(limit.Max, 10), ""}
		if limit.Max < fewFiles {
			f.grade, f.remedy = gradeNote, fmt.Sprintf("raise the hard limit (ulimit -Hn) to %d: servers shrink their table caches to fit", fewFiles)
		}
		found = append(found, f)
	}
	return found
}

// judgeFact says what a property of the host means for numbers.
func judgeFact(fact sampler.Fact) finding {
	f := finding{gradeOK, fact.Name, fact.Value, ""}
	if i := strings.LastIndexByte(fact.Name, '.'); fact.Name[:i] != "host" {
		name := strings.ReplaceAll(fact.Name[i+1:], "_", " ")
		f.what, f.detail = "directory "+fact.Name[:i], name+": "+fact.Value
	}
	switch {
	case fact.Name == "host.governor" && fact.Value != "performance":
		f.grade, f.remedy = gradeNote, "cpupower frequency-set -g performance, so that the clock does not follow the load"
	case fact.Name == "host.thp" && fact.Value == "always":
		f.grade, f.remedy = gradeNote, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: stalls of the kernel's defragmentation show in tails"
	case fact.Name == "host.swap_mib" && fact.Value != "0":
		f.grade, f.remedy = gradeNote, "swapoff -a while measuring; swapping makes numbers doubtful"
	}
	return f
}

// examineTools looks for the programs that workloads call.
func examineTools() []finding {
	var found []finding
	for _, t := range []struct{ program, use, remedy string }{
		{"sysbench", "workload sysbench", "apt-get install sysbench"},
		{"go-tpc", "workload tpcc", "make bin/go-tpc, and bin on PATH"},
		{"pgbench", "workload pgbench, where the server has none beside it", "apt-get install postgresql-contrib"},
	} {
		path, err := exec.LookPath(t.program)
		if err != nil {
			found = append(found, finding{gradeNote, t.program, "not on PATH; needed by " + t.use, t.remedy})
			continue
		}
		found = append(found, finding{gradeOK, t.program, path, ""})
	}
	return found
}

// formatBytes words a size in binary units.
func formatBytes(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
