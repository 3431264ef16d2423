package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"dbmatrix/matrix"
)

// A Prober asks server programs what they are. It remembers the answers in a
// file, keyed by path, size, times of change and inode of each file, so that a
// plan costs no process for a build it has seen before. Its methods may be
// called from several goroutines.
type Prober struct {
	Cache string // path of the file; "" remembers nothing

	mu      sync.Mutex
	known   map[string]cached
	changed bool
}

// A cached is what was found out about a file.
type cached struct {
	Size   int64  `json:"size"`
	MTime  int64  `json:"mtime"` // nanoseconds
	CTime  int64  `json:"ctime"` // nanoseconds: what copies a file with its times sets it
	Inode  uint64 `json:"inode"`
	Device uint64 `json:"device"`
	SHA256 string `json:"sha256,omitempty"`
	Words  string `json:"words,omitempty"` // what --version printed
	Of     string `json:"of,omitempty"`    // content of the build that printed them
}

// versionLimit bounds a version query, which takes ten milliseconds.
const versionLimit = 20 * time.Second

// Probe returns what the program of a server says of itself, and the hash of
// what it is made of. It returns no error: where there is no such build, the
// result's Absent says why.
func (p *Prober) Probe(ctx context.Context, s matrix.Server) matrix.Build {
	defer p.open()()
	program, content, err := p.look(s)
	if err != nil {
		return matrix.Build{Absent: err.Error()}
	}
	b, err := p.identify(ctx, s, program, content)
	if err != nil {
		return matrix.Build{Absent: err.Error()}
	}
	b.Content = content
	if b.Dir, err = programDir(program); err != nil {
		return matrix.Build{Absent: err.Error()}
	}
	if s.Flavour != "" && s.Flavour != b.Flavour {
		return matrix.Build{Absent: fmt.Sprintf("%s is %s, and the server block says flavour %q", program, b.Flavour, s.Flavour)}
	}
	return b
}

// look returns the program of a server and the hash of its build.
func (p *Prober) look(s matrix.Server) (program, content string, err error) {
	if program, err = findProgram(s); err != nil {
		return "", "", err
	}
	content, err = p.content(s, program)
	return program, content, err
}

// findProgram returns the program of a server block, whose flavour may not be
// known yet.
func findProgram(s matrix.Server) (string, error) {
	err := errors.New("the server block names neither mysqld, bindir nor basedir")
	for _, f := range Flavours() {
		if s.Flavour != "" && s.Flavour != f.Dialect().Flavour {
			continue
		}
		program, ferr := programOf(f, s)
		if ferr == nil {
			return program, nil
		}
		if len(f.programs(s)) > 0 {
			err = ferr
		}
	}
	return "", err
}

// identify asks the program for its version and lets each flavour read it. What
// a wrapper script said holds as long as the program that it names is the same.
func (p *Prober) identify(ctx context.Context, s matrix.Server, program, content string) (matrix.Build, error) {
	now, err := stamped(program)
	if err != nil {
		return matrix.Build{}, err
	}
	if was := p.known[program]; was.Words != "" && was.Of == content && was.same(now) {
		now = was
	} else {
		if now.Words, err = versionWords(ctx, s, program); err != nil {
			return matrix.Build{}, err
		}
		now.Of = content
		p.remember(program, now)
	}
	for _, f := range Flavours() {
		if b, ok := f.Identify(now.Words); ok {
			return b, nil
		}
	}
	return matrix.Build{}, fmt.Errorf("%s is no server that dbmatrix knows; it calls itself %q", program, firstLine(now.Words))
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// versionWords runs the version query. What it prints on its standard error are
// warnings. It runs in the root directory with a scrubbed environment, where no
// option file or plugin of the caller reaches it.
func versionWords(ctx context.Context, s matrix.Server, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	args := []string{"--no-defaults", "--version"}
	if filepath.Base(program) == "postgres" {
		args = args[1:]
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = "/", serverEnv(&matrix.Settings{}, "")
	var errs strings.Builder
	cmd.Stderr = &errs
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w%s", program, err, whyNotRun(errs.String(), err))
	}
	return strings.Join(logLines(out), "\n") + "\n", nil
}

// missingLibrary matches the loader's word for a library that is not there.
var missingLibrary = regexp.MustCompile(`error while loading shared libraries: (\S+):`)

// whyNotRun explains why a program could not be run, and what to do.
func whyNotRun(stderr string, err error) string {
	switch m := missingLibrary.FindStringSubmatch(stderr); {
	case m != nil:
		return fmt.Sprintf(": library %s is not on this host; install the package that has it", m[1])
	case strings.Contains(stderr, "GLIBC_"):
		return ": it was built for a newer C library: " + firstLine(stderr)
	case errors.Is(err, syscall.ENOEXEC):
		return ": it was built for another machine"
	case errors.Is(err, syscall.EACCES):
		return ": it has no execute permission, or its filesystem is mounted noexec"
	case stderr != "":
		return ": " + clean(firstLine(stderr))
	}
	return ""
}

// lookPath finds a program on PATH, for the prefix of a server.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// Find returns the servers of this host that no machine file names: those on
// PATH, in /usr/sbin and in /usr/lib/postgresql/*/bin. They are called mariadb,
// mysql and postgres by what the builds say of themselves, whatever the program
// is called; of several of one flavour the first is taken, of PostgreSQL the
// newest. Their Build is filled in.
func (p *Prober) Find(ctx context.Context) []*matrix.Server {
	var found []*matrix.Server
	for _, path := range candidates() {
		s := matrix.Server{Mysqld: path}
		if filepath.Base(path) == "postgres" {
			s = matrix.Server{Bindir: filepath.Dir(path)}
		}
		b := p.Probe(ctx, s)
		if b.Absent != "" || slices.ContainsFunc(found, func(f *matrix.Server) bool { return f.Name == b.Flavour }) {
			continue
		}
		s.Name, s.Flavour, s.Build = b.Flavour, b.Flavour, b
		found = append(found, &s)
	}
	return found
}

// candidates returns the programs of this host that may be servers.
func candidates() []string {
	dirs := append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin")
	newest, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	slices.SortFunc(newest, func(a, b string) int {
		va, vb := parseVersion(filepath.Base(filepath.Dir(a))), parseVersion(filepath.Base(filepath.Dir(b)))
		return slices.Compare(vb[:], va[:])
	})
	var paths []string
	for _, dir := range append(dirs, newest...) {
		for _, name := range []string{"mariadbd", "mysqld", "postgres"} {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.IsAbs(path) && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// stamped returns what tells whether a file is still the same.
func stamped(path string) (cached, error) {
	info, err := os.Stat(path)
	if err != nil {
		return cached{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return cached{Size: st.Size, MTime: info.ModTime().UnixNano(), CTime: st.Ctim.Nano(), Inode: st.Ino, Device: uint64(st.Dev)}, nil
}

// same reports whether a file is unchanged.
func (c cached) same(now cached) bool {
	return c.Size == now.Size && c.MTime == now.MTime && c.CTime == now.CTime && c.Inode == now.Inode && c.Device == now.Device
}

// remember keeps what was found out about a file.
func (p *Prober) remember(path string, c cached) {
	if was, ok := p.known[path]; ok && was.same(c) {
		if c.SHA256 == "" {
			c.SHA256 = was.SHA256
		}
		if c.Words == "" {
			c.Words, c.Of = was.Words, was.Of
		}
	}
	p.known[path], p.changed = c, true
}

// open begins the work on what is remembered, and returns what ends it.
func (p *Prober) open() (done func()) {
	p.mu.Lock()
	p.load()
	return func() {
		p.save()
		p.mu.Unlock()
	}
}

// load reads the cache once. One that cannot be read is made anew.
func (p *Prober) load() {
	if p.known != nil {
		return
	}
	p.known = map[string]cached{}
	if p.Cache == "" {
		return
	}
	if b, err := os.ReadFile(p.Cache); err == nil {
		if json.Unmarshal(b, &p.known) != nil || p.known == nil {
			p.known = map[string]cached{}
		}
	}
}

// save writes the cache where it changed. A cache that cannot be written costs
// time and nothing else.
func (p *Prober) save() {
	if !p.changed || p.Cache == "" {
		return
	}
	b, err := json.Marshal(p.known)
	if err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(p.Cache), 0o755) == nil && writeDurably(p.Cache, b, 0o644) == nil {
		p.changed = false
	}
}
