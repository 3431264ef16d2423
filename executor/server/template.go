package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dbmatrix/matrix"
)

// Templates makes initialised data directories, once for each build, set of
// init-time options and init arguments, to be copied for each run.
type Templates struct {
	DataDir  string
	Guardian *Guardian

	// Limit bounds the making of one; 0 is ten minutes. MySQL 5.7 and 8.0
	// take up to half a minute on a hard disk.
	Limit time.Duration
}

// initLimit is the default of Limit.
const initLimit = 10 * time.Minute

// An InitError says that a build cannot make a data directory with its init-time
// options: no run that needs the same template can be made.
type InitError struct {
	Server string
	Key    string // InitKey of the template
	Err    error
}

// Error returns the cause.
func (e *InitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InitError) Unwrap() error { return e.Err }

// Make returns the template for the settings; it makes it where there is none.
// A template is proven by a start and a clean stop before it gets its name.
func (t *Templates) Make(ctx context.Context, s *matrix.Settings) (Layout, error) {
	l, err := t.make(ctx, s)
	if err != nil {
		return l, fmt.Errorf("initialising a data directory of server %q: %w", s.Server.Name, err)
	}
	return l, nil
}

func (t *Templates) make(ctx context.Context, s *matrix.Settings) (Layout, error) {
	key, err := InitKey(s)
	if err != nil {
		return Layout{}, err
	}
	// A template lies in data_dir whatever the storage of the run: it is
	// copied, role by role.
	l := Layout{Dir: filepath.Join(t.DataDir, KindTemplate+"s", key)}
	if there, err := l.Exists(); there || err != nil {
		return l, err
	}
	init := &matrix.Settings{Server: unpinned(s.Server), Options: initOptions(s), Env: s.Env}
	o := Owner{Kind: KindTemplate, Token: NewToken(), InitKey: key, Build: s.Server.Build.Content, Clean: true}
	return l, create(l, o, func(tmp Layout) error {
		if err := t.fillInTime(ctx, tmp, init, o.Token); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return &InitError{Server: s.Server.Name, Key: key, Err: err}
		}
		return syncTree(tmp.Dir)
	})
}

// unpinned returns a server without its prefix. That is for what is measured, and
// servers of one build that differ in it share a template.
func unpinned(s *matrix.Server) *matrix.Server {
	plain := *s
	plain.Prefix = nil
	return &plain
}

// fillInTime makes a data directory out of nothing and proves it, within the
// limit.
func (t *Templates) fillInTime(ctx context.Context, l Layout, s *matrix.Settings, token string) error {
	most := t.Limit
	if most == 0 {
		most = initLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it was not done within %s", most))
	defer cancel()
	if err := t.fill(ctx, l, s, token); err != nil {
		return err
	}
	return t.prove(ctx, l, s)
}

// fill makes a data directory out of nothing.
func (t *Templates) fill(ctx context.Context, l Layout, s *matrix.Settings, token string) error {
	f, err := FlavourOf(s.Server.Build.Flavour)
	if err != nil {
		return err
	}
	if err := l.fits(f); err != nil {
		return err
	}
	if err := l.Update(func(o *Owner) { o.Guardian = &t.Guardian.id }); err != nil {
		return err
	}
	user, err := accountFor(s.Server, f)
	if err != nil {
		return err
	}
	if err := makeFolders(l, user); err != nil {
		return err
	}
	program, err := programOf(f, *s.Server)
	if err != nil {
		return err
	}
	n := newData{guardian: t.Guardian, server: s.Server, program: program, layout: l, user: user, options: s.Options, env: serverEnv(s, token), file: filepath.Join(l.Dir, "init-"+f.optionFile())}
	text, err := optionText(f, placement{
		layout: l, server: s.Server, options: s.Options, sockets: l.Role(roleTmp),
		log: filepath.Join(l.Logs(), "init.log"), title: "options that only an empty data directory takes",
	})
	if err != nil {
		return err
	}
	if err := writeDurably(n.file, []byte(text), 0o644); err != nil {
		return err
	}
	return f.initialise(ctx, n)
}

// prove starts the server on a new data directory, makes what it still lacks, and
// stops it.
func (t *Templates) prove(ctx context.Context, l Layout, s *matrix.Settings) error {
	i, err := Start(ctx, Launch{Guardian: t.Guardian, Settings: s, Layout: l})
	if err != nil {
		return quoted(err)
	}
	ferr := i.flavour.furnish(ctx, i.db, s.Server.Build)
	stopped, err := i.Stop(ctx)
	if err := errors.Join(ferr, err); err != nil {
		return err
	}
	if !stopped.Clean {
		return fmt.Errorf("the server did not stop cleanly on its new data directory: %s", stopped.Why)
	}
	return removeSockets(i.sockets)
}

// quotedLines is how much of its log the error of a server carries whose
// directory is about to be removed, the log with it.
const quotedLines = 40

// quoted has a start that failed quote its log instead of naming it.
func quoted(err error) error {
	var start *StartError
	if errors.As(err, &start) && start.LogPath != "" {
		start.Tail = tail(telling(readLog(start.LogPath)), quotedLines)
		start.LogPath, start.OptionFile = "", ""
	}
	return err
}

// initOptions returns those of the options that only an empty data directory
// takes.
func initOptions(s *matrix.Settings) []matrix.Option {
	f, err := FlavourOf(s.Server.Build.Flavour)
	if err != nil {
		return nil
	}
	at := f.Dialect().InitTime
	var options []matrix.Option
	for _, o := range s.Options {
		if at[o.Name] {
			options = append(options, o)
		}
	}
	return options
}

// templateVersion is raised when dbmatrix makes other templates than before.
const templateVersion = 2

// InitKey returns the name of the template for the settings: a hash of the
// build's content and of all that only an empty data directory takes.
func InitKey(s *matrix.Settings) (string, error) {
	b := s.Server.Build
	f, err := FlavourOf(b.Flavour)
	if err != nil {
		return "", err
	}
	if b.Content == "" {
		return "", fmt.Errorf("server %q was not probed", s.Server.Name)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%q\n", templateVersion, b.Content, s.Server.InitArgs)
	for _, o := range initOptions(s) {
		lines, err := f.spell(placement{server: s.Server}, o)
		if err != nil {
			return "", fmt.Errorf("%s: option %s: %w", place(o), o.Name, err)
		}
		fmt.Fprintf(h, "%q\n", lines)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	return fmt.Sprintf("%s-%s-%s", b.Flavour, b.Version, sum[:16]), nil
}

// makeFolders makes the folders of a layout that are not there yet, with the
// server's user as their owner. Only that user reads the data.
func makeFolders(l Layout, user *account) error {
	kept, scratch := l.folders()
	for i, dir := range append(kept, scratch...) {
		mode := os.FileMode(0o700)
		if i == len(kept)+1 { // logs: read by whoever runs dbmatrix
			mode = 0o755
		}
		err := os.Mkdir(dir, mode)
		if err == nil {
			err = os.Chmod(dir, mode) // whatever the umask is
		} else if os.IsExist(err) {
			err = nil
		}
		if err != nil {
			return err
		}
		if err := user.own(dir); err != nil {
			return err
		}
	}
	return nil
}
