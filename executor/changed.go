package executor

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// contents tells whether what the plan has hashed is still what is there: builds,
// and the files and programs that phases name. Hours may lie between the plan and
// a phase, and a number must not be recorded under a fingerprint that it does not
// have.
type contents struct {
	known map[string]hashed // by path
}

// A hashed is a file as it was when its content was looked at.
type hashed struct {
	size         int64
	mtime, ctime syscall.Timespec
	inode        uint64
	content      string
}

// of returns the content of a file as the inputs of a phase have it. A file that
// looks as it did is not read again.
func (c *contents) of(path string) string {
	var now hashed
	if info, err := os.Stat(path); err == nil {
		st := info.Sys().(*syscall.Stat_t)
		now = hashed{size: st.Size, mtime: st.Mtim, ctime: st.Ctim, inode: st.Ino}
	}
	was, ok := c.known[path]
	if now.content = was.content; ok && now == was {
		return was.content
	}
	now.content = matrix.ContentOf(path)
	if c.known == nil {
		c.known = map[string]hashed{}
	}
	c.known[path] = now
	return now.content
}

// source returns the first file or program of a phase that has changed since the
// plan was made, and "" where none has.
func (c *contents) source(p *matrix.Phase) string {
	for _, s := range p.Sources() {
		if c.of(s.Path()) != s.Value {
			return s.Name
		}
	}
	return ""
}

// build returns a word for what has changed of the build that the settings name,
// and of the plugins that they load, and "" where nothing has.
func build(prober *server.Prober, s *matrix.Settings) string {
	if prober == nil || s.Server == nil {
		return ""
	}
	name := fmt.Sprintf("the build of server %q", s.Server.Name)
	now, err := prober.Content(*s.Server)
	switch {
	case err != nil:
		return fmt.Sprintf("%s (%s)", name, err)
	case now != s.Server.Build.Content:
		return name
	}
	for _, in := range s.Implicit() {
		if in.Name != server.PluginsInput {
			continue
		}
		if now, err := prober.Plugins(*s.Server, s.Options); err != nil || now != in.Value {
			return fmt.Sprintf("a plugin of server %q", s.Server.Name)
		}
	}
	return ""
}

// changedText words that something has changed.
func changedText(what string) string {
	return what + " has changed since the plan was made; run again to measure what is there now"
}

// changedFailure returns the failure of a phase in which something has changed.
func changedFailure(what string) *failure {
	f := failed("%s", changedText(what))
	f.stale = true
	return f
}

// changed says which input of a run has changed since the plan was made, or "".
func (e *executor) changed(run *matrix.Run) string {
	for _, rp := range e.opts.Selection.phases(run) {
		what := e.contents.source(rp.Phase)
		if what == "" {
			what = build(e.deps.Prober, rp.Phase.Settings)
		}
		if what != "" {
			return changedText(what)
		}
	}
	return ""
}

// sameSources returns a failure where a file or program of the phase has changed
// since the plan was made.
func (ph *phaseRun) sameSources() *failure {
	if what := ph.contents.source(ph.p); what != "" {
		return changedFailure(what)
	}
	return nil
}

// blameChange returns the failure of a phase whose files or programs changed while
// it was under way: what it measured, or why it failed, is not of what the plan
// names. How it ended becomes a detail.
func (ph *phaseRun) blameChange(f *failure) *failure {
	if f != nil && (f.host != nil || f.device != "" || f.status == matrix.Interrupted) {
		return f
	}
	changed := ph.sameSources()
	if changed == nil || f != nil && f.Error() == changed.Error() {
		return f
	}
	if f != nil {
		changed.details = append([]string{"it ended as " + string(f.status) + ": " + f.Error()}, f.details...)
	}
	return changed
}

// sameBuild returns a failure where the build of the phase has changed since the
// plan was made. err is why its server did not start, nil where it did.
func (a *attempt) sameBuild(p *matrix.Phase, err error) error {
	what := build(a.deps.Prober, p.Settings)
	if what == "" {
		return err
	}
	f := changedFailure(what)
	var start *server.StartError
	if errors.As(err, &start) {
		f.details = append(f.details, start.Error())
	}
	return f
}
