package executor

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"

	"golang.org/x/sys/unix"
)

// A subject is what the phases of a run act on: a *server.Instance, or a
// directory alone for cells without a server.
type subject interface {
	Address() server.Address
	PID() int
	DB() *sql.DB
	OptionFile() string
	ErrorLog() string
	StartTook() time.Duration

	Done() <-chan struct{} // closed when the process has ended
	State() string         // of its process and threads
	Crash() string
	Exit() server.Exit

	Stop(ctx context.Context) (server.Stopped, error)
	Kill(ctx context.Context) (server.Stopped, error)

	InForce(ctx context.Context) ([]server.InForce, error)
	Facts(ctx context.Context) (server.Facts, error)
	Debt(ctx context.Context) (server.Debt, error)
	Drain(ctx context.Context, s *matrix.Settle) (restore func(context.Context) error, err error)
	LogEvents() ([]server.LogEvent, error)
	Movement() (server.Movement, error)
}

var (
	_ subject = (*server.Instance)(nil)
	_ subject = bare{}
)

// bare is the subject of cells without a server. Nothing runs, so nothing can
// crash, be asked or be stopped.
type bare struct{}

func (bare) Address() server.Address                           { return server.Address{} }
func (bare) PID() int                                          { return 0 }
func (bare) DB() *sql.DB                                       { return nil }
func (bare) OptionFile() string                                { return "" }
func (bare) ErrorLog() string                                  { return "" }
func (bare) StartTook() time.Duration                          { return 0 }
func (bare) Done() <-chan struct{}                             { return nil }
func (bare) State() string                                     { return "" }
func (bare) Crash() string                                     { return "" }
func (bare) Exit() server.Exit                                 { return server.Exit{} }
func (bare) Stop(context.Context) (server.Stopped, error)      { return server.Stopped{Clean: true}, nil }
func (bare) Kill(context.Context) (server.Stopped, error)      { return server.Stopped{Clean: true}, nil }
func (bare) InForce(context.Context) ([]server.InForce, error) { return nil, nil }
func (bare) Facts(context.Context) (server.Facts, error)       { return server.Facts{}, nil }
func (bare) Debt(context.Context) (server.Debt, error)         { return server.Debt{}, nil }
func (bare) Drain(context.Context, *matrix.Settle) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}
func (bare) LogEvents() ([]server.LogEvent, error) { return nil, nil }
func (bare) Movement() (server.Movement, error)    { return server.Movement{}, nil }

// A machine is what runs do to this host. Its fields are functions so that tests
// can put something quicker in the place of some.
type machine struct {
	// template returns an initialised data directory to be copied.
	template func(ctx context.Context, s *matrix.Settings) (server.Layout, error)

	// create makes an empty directory for a cell without a server.
	create func(l server.Layout, o server.Owner) error

	layoutAt func(dir string) (server.Layout, error)

	copyTo func(ctx context.Context, from, to server.Layout, o server.Owner, mode server.CopyMode) (server.Copied, error)
	update func(l server.Layout, change func(*server.Owner)) error
	remove func(l server.Layout) error
	exists func(l server.Layout) (bool, error)

	start func(ctx context.Context, l server.Launch) (subject, error)
	guard func(ctx context.Context, cmd *exec.Cmd) error

	// setUp runs a setup command: what it leaves in the background is an error,
	// since it would not be there in the phases.
	setUp func(ctx context.Context, cmd *exec.Cmd) error

	// sources returns what is sampled while phases run on a subject.
	sources func(l server.Layout, pid int) ([]sampler.Sampler, error)
	usage   func(ctx context.Context, l server.Layout) (sampler.Usage, error)
	free    func(dir string) (uint64, error)

	// readOnly reports whether the filesystem of a directory takes no writes: the
	// kernel may make it so after an error of its disk.
	readOnly func(dir string) bool

	device func(dir string) (uint64, error) // number of the filesystem's device
	facts  func(l server.Layout) ([]sampler.Fact, error)

	// evict drops the files of a data directory from the page cache and
	// reports how many bytes stayed; warm reads them once and reports how many
	// bytes are not in it then.
	evict func(l server.Layout) (left int64, err error)
	warm  func(ctx context.Context, l server.Layout) (missing int64, err error)

	guardian *server.Guardian
	lost     func() bool // the guardian has ended

	// renew returns a machine like this one with a new guardian. The old one
	// has ended.
	renew func(ctx context.Context) (*machine, error)
}

// startMachine returns the real one, with a guardian that program is executed as.
func startMachine(ctx context.Context, dataDir, program string) (*machine, error) {
	g, err := server.StartGuardian(context.WithoutCancel(ctx), program)
	if err != nil {
		return nil, err
	}
	m := newMachine(dataDir, g)
	m.renew = func(ctx context.Context) (*machine, error) {
		_ = g.Close() // that it was killed is known
		return startMachine(ctx, dataDir, program)
	}
	return m, nil
}

// newMachine returns the machine of a guardian.
func newMachine(dataDir string, g *server.Guardian) *machine {
	templates := &server.Templates{DataDir: dataDir, Guardian: g}
	return &machine{
		template: templates.Make,
		create:   func(l server.Layout, o server.Owner) error { return l.Create(o) },
		layoutAt: server.LayoutAt,
		copyTo:   server.Copy,
		update:   func(l server.Layout, change func(*server.Owner)) error { return l.Update(change) },
		remove:   server.Remove,
		exists:   func(l server.Layout) (bool, error) { return l.Exists() },
		start: func(ctx context.Context, l server.Launch) (subject, error) {
			// A nil *Instance in the interface would not be nil.
			i, err := server.Start(ctx, l)
			if err != nil {
				return nil, err
			}
			return i, nil
		},
		guard:    g.Run,
		setUp:    g.RunAlone,
		sources:  hostSources,
		usage:    layoutUsage,
		free:     availableBytes,
		readOnly: isReadOnly,
		device:   deviceOf,
		facts:    layoutFacts,
		evict:    evictLayout,
		warm:     warmLayout,
		guardian: g,
		lost:     g.Lost,
	}
}

// hostSources returns the host, the devices that hold the data, and the
// processes of the server and of dbmatrix with the programs it runs.
func hostSources(l server.Layout, pid int) ([]sampler.Sampler, error) {
	roots := sampler.System()
	host, err := sampler.NewHost(roots)
	if err != nil {
		return nil, err
	}
	devices, err := sampler.NewDevices(roots, l.Places()...)
	if err != nil {
		return nil, err
	}
	client := sampler.Tree{Name: "client", Root: os.Getpid(), Memory: true}
	trees := []sampler.Tree{client}
	if pid != 0 {
		trees[0].Except = []int{pid}
		trees = append(trees, sampler.Tree{Name: "server", Root: pid, Memory: true})
	}
	processes, err := sampler.NewProcesses(roots, trees...)
	if err != nil {
		return nil, err
	}
	return []sampler.Sampler{host, devices, processes}, nil
}

// layoutUsage counts the data of a layout by role. Files that the server puts
// into its data directory for want of another place count as what they are.
func layoutUsage(ctx context.Context, l server.Layout) (sampler.Usage, error) {
	roots := []sampler.Root{{Path: l.Data(), Role: "data", Classify: classifyFile}}
	for _, role := range []string{"redo", "binlog", "tmp"} {
		if dir := l.Role(role); dir != "" && dir != l.Data() {
			if _, err := os.Stat(dir); err == nil {
				roots = append(roots, sampler.Root{Path: dir, Role: role})
			}
		}
	}
	return sampler.DiskUsage(ctx, roots...)
}

// availableBytes returns how much a server can still write on the filesystem of a
// directory.
func availableBytes(dir string) (uint64, error) {
	space, err := sampler.FreeSpace(dir)
	return uint64(max(0, space.Available)), err
}

// isReadOnly opens the owner file for writing, or a file without a name where there
// is none, and writes nothing. The flags of the filesystem do not tell: after an
// error ext4 takes no writes and still counts as mounted for them.
func isReadOnly(dir string) bool {
	const flags = unix.O_WRONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(filepath.Join(dir, server.OwnerFile), flags, 0)
	if errors.Is(err, unix.ENOENT) {
		fd, err = unix.Open(dir, flags|unix.O_TMPFILE, 0o600)
	}
	if err == nil {
		err = unix.Close(fd)
	}
	return errors.Is(err, unix.EROFS)
}

// layoutFacts returns the facts of the host and of the filesystems of a layout.
func layoutFacts(l server.Layout) ([]sampler.Fact, error) {
	paths := map[string]string{"data": l.Dir}
	for role, dir := range l.Roles {
		paths[role] = dir
	}
	return sampler.Facts(sampler.System(), paths)
}
