package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dbmatrix/matrix"
)

// A Launch is what a start needs.
type Launch struct {
	Guardian *Guardian
	Settings *matrix.Settings // Server, Options, Env, Storage
	Layout   Layout

	// Port makes the server listen on the loopback address; 0: only the
	// private socket.
	Port int

	// Limits bound the wait for readiness; zero values are the defaults.
	Limits ReadyLimits
}

// ReadyLimits bound the wait until a server is ready.
type ReadyLimits struct {
	Still time.Duration // without any sign of progress; 2 minutes
	Total time.Duration // 5 minutes after a clean stop, else 2 hours
}

// Defaults of ReadyLimits. A start after a clean stop takes seconds; after a
// crash it takes as long as the redo and undo logs are.
const (
	readyStill        = 2 * time.Minute
	readyTotalClean   = 5 * time.Minute
	readyTotalUnclean = 2 * time.Hour
)

// An Instance is one running server with its data directory.
type Instance struct {
	launch  Launch
	flavour Flavour
	process *Process
	address Address
	db      *sql.DB
	sockets string
	file    string
	log     string
	token   string
	took    time.Duration
	clock   time.Time // of the start
	events  logReader

	stopLimits ReadyLimits
	killWait   time.Duration // after SIGKILL, for the kernel to be done
}

// Start writes the option file, starts the server under the guardian, and waits
// until it is ready: the process is alive, a query over its own socket answers,
// data directory, pid file and version are its own, and the plugins that were
// asked for are loaded. The error is a *StartError where the server is to blame;
// nothing runs then. When ctx ends before that, the server gets SIGKILL.
func Start(ctx context.Context, l Launch) (*Instance, error) {
	i, err := start(ctx, l)
	if err != nil {
		var se *StartError
		if errors.As(err, &se) {
			return nil, err
		}
		return nil, fmt.Errorf("starting server %q: %w", l.Settings.Server.Name, err)
	}
	return i, nil
}

func start(ctx context.Context, l Launch) (*Instance, error) {
	i, clean, err := prepare(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := i.spawn(ctx); err != nil {
		return nil, err
	}
	if err := i.awaitReady(ctx, clean); err != nil {
		if i.db != nil {
			i.db.Close()
		}
		// Not the stop signal: a server that gets it before it is ready
		// may hang for good.
		_, kerr := i.end(context.WithoutCancel(ctx), "it never became ready")
		return nil, errors.Join(err, kerr)
	}
	i.took = time.Since(i.clock)
	if err := i.process.Ready(); err != nil {
		return nil, err
	}
	return i, nil
}

// prepare checks and makes what a start needs. It reports whether the last stop
// was clean.
func prepare(ctx context.Context, l Launch) (*Instance, bool, error) {
	s := l.Settings.Server
	if s.Build.Absent != "" {
		return nil, false, fmt.Errorf("it is not on this host: %s", s.Build.Absent)
	}
	f, err := FlavourOf(s.Build.Flavour)
	if err != nil {
		return nil, false, err
	}
	user, err := accountFor(s, f)
	if err != nil {
		return nil, false, err
	}
	o, err := l.Layout.Owner()
	if err != nil {
		return nil, false, err
	}
	if err := startable(ctx, l, o, f, user); err != nil {
		return nil, false, err
	}
	if err := portFree(l.Port); err != nil {
		return nil, false, err
	}
	i := &Instance{launch: l, flavour: f, token: o.Token, stopLimits: ReadyLimits{Still: stopStill, Total: stopTotal}, killWait: killedWait}
	if i.sockets, err = makeSockets(socketRoot(), o.Token, user); err != nil {
		return nil, false, err
	}
	n := o.Starts + 1
	i.log = filepath.Join(l.Layout.Logs(), fmt.Sprintf("error.%d.log", n))
	i.events.path = i.log
	i.file = filepath.Join(l.Layout.Dir, f.optionFile())
	i.address = Address{Flavour: f.Dialect().Flavour, Socket: filepath.Join(i.sockets, f.socket(l.Port)), Port: l.Port, User: f.superuser()}
	if err := clearSockets(i.sockets, i.address.Socket); err != nil {
		return nil, false, err
	}
	text, err := optionText(f, i.placement(o))
	if err != nil {
		return nil, false, err
	}
	if err := writeDurably(i.file, []byte(text), 0o644); err != nil {
		return nil, false, err
	}
	return i, o.Clean, l.Layout.Update(func(now *Owner) {
		now.Clean, now.Starts, now.Sockets, now.Process = false, n, i.sockets, nil
		now.Build = s.Build.Content
	})
}

// placement says where the instance's files are.
func (i *Instance) placement(o Owner) placement {
	title := o.Kind + " " + filepath.Base(i.launch.Layout.Dir)
	if o.Cell != "" {
		title = fmt.Sprintf("Cell %s, replicate %d", o.Cell, o.Replicate)
	}
	return placement{
		layout: i.launch.Layout, server: i.launch.Settings.Server, options: i.launch.Settings.Options,
		sockets: i.sockets, log: i.log, port: i.launch.Port, title: title,
	}
}

// startable checks what a server would fail on only after a while, or would
// spoil: a data directory that was never initialised, one of another build, one
// that is in use or cannot be written.
func startable(ctx context.Context, l Launch, o Owner, f Flavour, user *account) error {
	entries, err := os.ReadDir(l.Layout.Data())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return fmt.Errorf("%s was never initialised", l.Layout.Data())
	}
	if err != nil {
		return err
	}
	content := l.Settings.Server.Build.Content
	if o.Build != "" && content != "" && o.Build != content {
		return fmt.Errorf("%s was written by another build of the server; a data directory is not carried from one build to another", l.Layout.Dir)
	}
	if o.Process != nil {
		if err := awaitEnd(ctx, *o.Process, l.Layout.Data()); err != nil {
			return err
		}
	}
	if !o.Clean {
		if err := awaitUnused(ctx, l.Layout.Data()); err != nil {
			return err
		}
		for _, name := range f.stale() {
			if err := os.Remove(filepath.Join(l.Layout.Data(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := l.Layout.fits(f); err != nil {
		return err
	}
	if err := makeFolders(l.Layout, user); err != nil {
		return err
	}
	if err := f.place(l.Layout); err != nil {
		return err
	}
	if err := user.reach(l.Layout.Data()); err != nil {
		return err
	}
	return writableDirs(l.Layout)
}

// writableDirs makes, syncs and removes a file in each folder of a layout.
func writableDirs(l Layout) error {
	_, scratch := l.folders()
	for _, dir := range append(scratch, l.Places()...) {
		f, err := os.CreateTemp(dir, "write-test-")
		if err != nil {
			return err
		}
		_, err = f.WriteString("x")
		if err == nil {
			err = f.Sync()
		}
		f.Close()
		os.Remove(f.Name())
		if err != nil {
			return fmt.Errorf("writing to %s: %w", dir, err)
		}
	}
	return nil
}

// spawn starts the process and writes down which one it is.
func (i *Instance) spawn(ctx context.Context) error {
	s := i.launch.Settings.Server
	program, err := programOf(i.flavour, *s)
	if err != nil {
		return err
	}
	user, err := accountFor(s, i.flavour)
	if err != nil {
		return err
	}
	// What a server prints before it opens its log goes to the same file.
	out, err := os.OpenFile(i.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := user.own(i.log); err != nil {
		return err
	}
	args := append([]string{program}, i.flavour.arguments(i.launch.Layout)...)
	if len(s.Prefix) > 0 {
		args = append(append([]string{}, s.Prefix...), args...)
		if program, err = lookPath(s.Prefix[0]); err != nil {
			return err
		}
	}
	i.clock = time.Now()
	i.process, err = i.launch.Guardian.Start(ctx, Command{
		Path: program, Args: args, Env: serverEnv(i.launch.Settings, i.token), Dir: i.launch.Layout.Dir,
		Stdout: out, Stderr: out, Stop: i.flavour.stopSignal(), Credential: user.credential(),
	})
	if err != nil {
		return err
	}
	id := i.process.ID
	return i.launch.Layout.Update(func(o *Owner) { o.Process, o.Guardian = &id, &i.launch.Guardian.id })
}

// Polling for readiness begins short, since most starts take a tenth of a
// second, and backs off for those that recover for hours.
const (
	pollFirst = 10 * time.Millisecond
	pollMost  = time.Second
	askLimit  = 5 * time.Second // of one query
)

// awaitReady waits until the server answers and is the right one.
func (i *Instance) awaitReady(ctx context.Context, clean bool) error {
	db, err := i.flavour.open(i.address)
	if err != nil {
		return err
	}
	i.db = db
	patience := newPatience(i.limits(clean))
	for wait := pollFirst; ; wait = min(wait*5/4, pollMost) {
		who, err := i.ask(ctx)
		if err == nil {
			return i.recognise(ctx, who)
		}
		select {
		case <-i.process.Done():
			return i.failed("starting", i.started()+" ended with "+i.process.Exit().String())
		case <-ctx.Done():
			return fmt.Errorf("broken off while it was starting: %w", context.Cause(ctx))
		case <-time.After(wait):
		}
		m, _ := i.Movement() // a process that has ended shows in Done
		if why := patience.lost(m, time.Now()); why != "" {
			return i.failed("waiting for", fmt.Sprintf("it runs but does not answer (%s; last: %v); %s", why, err, i.process.ID.describe()))
		}
	}
}

// limits returns the bounds of the wait for readiness.
func (i *Instance) limits(clean bool) ReadyLimits {
	l := i.launch.Limits
	if l.Still == 0 {
		l.Still = readyStill
	}
	if l.Total == 0 {
		l.Total = readyTotalUnclean
		if clean {
			l.Total = readyTotalClean
		}
	}
	return l
}

// ask asks the server who it is.
func (i *Instance) ask(ctx context.Context) (identity, error) {
	if _, err := os.Lstat(i.address.Socket); err != nil {
		return identity{}, errors.New("no socket yet")
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return i.flavour.identity(ctx, i.db)
}

// An identity is what a server says of itself when asked.
type identity struct {
	dataDir string
	pid     string // path of its pid file, or the pid itself
	version string
}

// recognising is what fails where another server answers than the one that was
// started.
const recognising = "recognising"

// recognise checks that the server that answers is the one that was started.
func (i *Instance) recognise(ctx context.Context, who identity) error {
	if want := i.launch.Layout.Data(); !samePath(who.dataDir, want) {
		return i.failed(recognising, fmt.Sprintf("another server answers at its socket: its data directory is %s", who.dataDir))
	}
	pid, err := pidOf(who.pid)
	if err != nil {
		return i.failed(recognising, "its pid file cannot be read: "+err.Error())
	}
	if pid != i.process.ID.PID {
		return i.failed(recognising, fmt.Sprintf("the server is process %d and not %d, which was started: %s", pid, i.process.ID.PID, i.forker()))
	}
	want := i.launch.Settings.Server.Build.Version
	if parseVersion(numbers(who.version)) != parseVersion(want) {
		return i.failed(recognising, fmt.Sprintf("it says that it is version %s, and the program said %s", who.version, want))
	}
	return i.pluginsLoaded(ctx)
}

// started names what was started, where that is not the server itself.
func (i *Instance) started() string {
	if prefix := i.launch.Settings.Server.Prefix; len(prefix) > 0 {
		return "the server with its prefix, " + strings.Join(prefix, " ") + ","
	}
	return "it"
}

// forker says what starts the server as a child, and what to do.
func (i *Instance) forker() string {
	s := i.launch.Settings.Server
	if len(s.Prefix) > 0 {
		return fmt.Sprintf("its prefix, %s, starts it as a child; a prefix must become the server (exec)", strings.Join(s.Prefix, " "))
	}
	program, err := programOf(i.flavour, *s)
	if err != nil {
		program = "its program" // it was there when it was started
	}
	return program + " starts it as a child; name the server program itself"
}

// numbers cuts a version text after its numbers.
func numbers(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		return text
	}
	return text[:end]
}

// samePath reports whether two paths lead to one file.
func samePath(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// pidOf returns the process id that a pid file, or a text, holds.
func pidOf(text string) (int, error) {
	if strings.HasPrefix(text, "/") {
		b, err := os.ReadFile(text)
		if err != nil {
			return 0, err
		}
		text = firstLine(string(b)) // PostgreSQL's has more lines
	}
	return strconv.Atoi(strings.TrimSpace(text))
}

// pluginsLoaded checks the plugins that the options load: a server without one
// says so in its log and is ready all the same.
func (i *Instance) pluginsLoaded(ctx context.Context) error {
	for _, v := range i.verdicts() {
		if !pluginOptions[v.Option.Name] {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		if err := i.flavour.inForce(ctx, i.db, i.launch.Settings.Server.Build, []*InForce{&v}); err != nil {
			return i.failed("asking for the plugins of", err.Error())
		}
		if v.Verdict == Contradicted {
			e := i.failed("loading the plugins of", v.Detail)
			e.Option = v.Option.Name
			return e
		}
	}
	return nil
}

// pluginOptions are the options that load plugins.
var pluginOptions = map[string]bool{"plugin_load": true, "plugin_load_add": true}

// Address returns where the server answers.
func (i *Instance) Address() Address { return i.address }

// PID returns the server's process id.
func (i *Instance) PID() int { return i.process.ID.PID }

// DB returns the control connections: few, with timeouts, kept apart from those
// of workloads.
func (i *Instance) DB() *sql.DB { return i.db }

// Layout returns where the instance's files are.
func (i *Instance) Layout() Layout { return i.launch.Layout }

// OptionFile returns the path of the option file it was started with.
func (i *Instance) OptionFile() string { return i.file }

// ErrorLog returns the path of the error log of this start.
func (i *Instance) ErrorLog() string { return i.log }

// Token returns what its processes carry as DBMATRIX_TOKEN.
func (i *Instance) Token() string { return i.token }

// StartTook returns the time from the start of the process until it was ready.
func (i *Instance) StartTook() time.Duration { return i.took }

// State tells the state of the server's process and of its threads, such as
// "pid 4711 (mariadbd) is in state S with 30 threads, 2 of them in state D in
// blkdev_issue_discard". It is "" once the process has ended.
func (i *Instance) State() string { return i.process.ID.describe() }

// Done is closed when the server's process has ended.
func (i *Instance) Done() <-chan struct{} { return i.process.Done() }

// Exit returns how the process ended; it is valid once Done is closed.
func (i *Instance) Exit() Exit { return i.process.Exit() }

// Crash describes an end that nobody asked for: the signal or exit code and what
// the log says, with its last lines. It is for a server whose Done is closed.
func (i *Instance) Crash() string {
	e := i.Exit()
	lines := readLog(i.log)
	cause := lastWords(lines)
	if cause == "" {
		cause = "its log says nothing of it"
		switch {
		case e.Signal == syscall.SIGKILL:
			cause += "; killed from outside, or by the kernel for lack of memory"
		case e.Code == 0 && e.Signal == 0:
			cause = "it was told to stop, and not by dbmatrix"
		}
	}
	return fmt.Sprintf("server %q ended with %s: %s\n%s", i.launch.Settings.Server.Name, e, cause, strings.Join(tail(telling(lines), tailLines), "\n"))
}

// lastWords returns the last line of a log that tells of an end.
func lastWords(lines []string) string {
	for n := len(lines) - 1; n >= 0; n-- {
		switch classify(lines[n]) {
		case "crash", "no_space", "io_error", "corruption":
			return strings.TrimSpace(stamp.ReplaceAllString(lines[n], ""))
		}
	}
	return ""
}

// A StartError is a start that failed.
type StartError struct {
	Server  string
	Doing   string // what was being done to the server, such as "starting"
	Cause   string // one sentence: the first [ERROR] line where there is one
	Option  string // the option that the cause names, else ""
	LogPath string // "" where the log is removed with the directory

	OptionFile string   // that it was started with
	Tail       []string // the last lines of the error log
}

// Error returns all of it.
func (e *StartError) Error() string {
	text := fmt.Sprintf("%s server %q failed: %s", e.Doing, e.Server, e.Cause)
	log := "its log"
	if e.LogPath != "" {
		log = e.LogPath
	}
	if len(e.Tail) > 0 {
		text += fmt.Sprintf("\nthe last lines of %s:\n  %s", log, strings.Join(e.Tail, "\n  "))
	}
	return text
}

// failed describes a start that failed, with the evidence of the log.
func (i *Instance) failed(doing, cause string) *StartError {
	e := &StartError{Server: i.launch.Settings.Server.Name, Doing: doing, LogPath: i.log, OptionFile: i.file}
	lines := readLog(i.log)
	e.Tail = tail(telling(lines), tailLines)
	e.Cause = cause
	// A server that answers has no error of its own that would explain it.
	if first := firstError(lines); first != "" && doing != recognising {
		e.Cause = first + " (" + cause + ")"
		e.Option = i.named(first)
	}
	if e.Option != "" {
		e.Cause += "; the option is set by " + place(*i.launch.Settings.Option(e.Option))
	}
	return e
}

// named returns the requested option that a line of a log names, or "".
func (i *Instance) named(line string) string {
	return namedIn(line, i.launch.Settings.Options)
}

// namedIn returns the option that a text names: of several, the longest.
func namedIn(text string, options []matrix.Option) string {
	best := ""
	for _, o := range options {
		if len(o.Name) > len(best) && names(text, o.Name) {
			best = o.Name
		}
	}
	return best
}
