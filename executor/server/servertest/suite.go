package servertest

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// A suite is one build under test, with its template.
type suite struct {
	name     string
	build    Build
	profile  profile
	guardian *server.Guardian
	dir      string
	template server.Layout
	took     time.Duration // to make the template
	common   server.Layout // of a run that cases use in turn
	record   *record
}

// Run tests everything that dbmatrix asks of a server with each of the named
// builds, two at a time, and prints which builds they are and what each did.
func Run(t *testing.T, names ...string) {
	r := newRecord()
	for _, name := range names {
		r.add(name, Need(t, name)) // before the first test, so that all that are missing show at once
	}
	r.printBuilds(os.Stdout)
	t.Cleanup(func() { r.printResults(os.Stdout) })
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.suite(t, name).all(t)
		})
	}
}

// all runs all cases with the build.
func (s *suite) all(t *testing.T) {
	defer func() {
		if s.common.Dir != "" {
			if err := server.Remove(s.common); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, c := range cases() {
		if why := c.except[s.build.Server.Build.Flavour] + c.except[s.build.Engine()]; why != "" {
			s.record.except(s.name, c.name, why)
			continue
		}
		begin := time.Now()
		passed := t.Run(c.name, func(t *testing.T) { c.run(s, t) })
		s.record.result(s.name, passed, time.Since(begin))
		if !passed && s.template.Dir == "" {
			return // nothing can be tested without a template
		}
	}
}

// settings returns settings of the build with further options.
func (s *suite) settings(options ...matrix.Option) *matrix.Settings {
	return &matrix.Settings{Server: &s.build.Server, Options: slices.Concat(s.build.Options, options)}
}

// copy makes the data directory of a run out of the template.
func (s *suite) copy(t *testing.T, name string, settings *matrix.Settings) server.Layout {
	t.Helper()
	l, err := server.NewLayout(s.dir, server.KindRun, name, settings)
	if err != nil {
		t.Fatal(err)
	}
	o := server.Owner{Kind: server.KindRun, Cell: "test=it", Replicate: 1}
	if _, err := server.Copy(context.Background(), s.template, l, o, server.CopyBytes); err != nil {
		t.Fatal(err)
	}
	return l
}

// run makes the data directory of a run that only one case uses.
func (s *suite) run(t *testing.T, settings *matrix.Settings) server.Layout {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' {
			return '-'
		}
		return r
	}, t.Name())
	l := s.copy(t, name, settings)
	t.Cleanup(func() {
		if err := server.Remove(l); err != nil {
			t.Errorf("removing the run: %v", err)
		}
	})
	return l
}

// shared returns the data directory of a run that cases use in turn, which leave
// it as good as new. After one that fails the next gets a new one.
func (s *suite) shared(t *testing.T) server.Layout {
	t.Helper()
	if s.common.Dir == "" {
		s.common = s.copy(t, "shared", s.settings())
	}
	t.Cleanup(func() {
		if t.Failed() {
			server.Remove(s.common) // what it left is in the way of nobody else
			s.common = server.Layout{}
		}
	})
	return s.common
}

// start starts a server that must start, and stops it after the test.
func (s *suite) start(t *testing.T, l server.Layout, settings *matrix.Settings) *server.Instance {
	t.Helper()
	i, err := server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: settings, Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-i.Done():
		default:
			i.Kill(context.Background())
		}
	})
	return i
}

// stop stops a server that must stop cleanly.
func (s *suite) stop(t *testing.T, i *server.Instance) {
	t.Helper()
	stopped, err := i.Stop(context.Background())
	if err != nil || !stopped.Clean {
		t.Fatalf("the server did not stop cleanly: %+v, %v", stopped, err)
	}
}

// refused starts a server that must not start, and returns why.
func (s *suite) refused(t *testing.T, l server.Layout, settings *matrix.Settings) error {
	t.Helper()
	i, err := server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: settings, Layout: l})
	if err == nil {
		i.Kill(context.Background())
		t.Fatal("the server started")
	}
	return err
}

// query returns the single value of a query.
func query(t *testing.T, i *server.Instance, text string) string {
	t.Helper()
	var v string
	if err := i.DB().QueryRow(text).Scan(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// exec runs a statement.
func exec(t *testing.T, i *server.Instance, text string) {
	t.Helper()
	if _, err := i.DB().Exec(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// schema makes the suite's table.
func (s *suite) schema(t *testing.T, i *server.Instance) {
	t.Helper()
	if strings.Contains(s.profile.schema, "test.") {
		exec(t, i, "CREATE DATABASE IF NOT EXISTS test")
	}
	exec(t, i, s.profile.schema)
}
