package servertest

import (
	"context"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (s *suite) testInForce(t *testing.T) {
	set := s.settings(s.profile.plain...)
	want := map[string]outcome{}
	for _, o := range set.Options {
		want[o.Name] = outcome{o, server.Verified, false}
	}
	for _, o := range s.profile.inForce {
		set.Options = append(set.Options, o.option)
		want[o.option.Name] = o
	}
	i := s.start(t, s.shared(t), set)
	got, err := i.InForce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(set.Options) {
		t.Errorf("%d options were judged of %d", len(got), len(set.Options))
	}
	bad := 0
	for _, v := range got {
		w := want[v.Option.Name]
		if v.Verdict != w.verdict || v.Granule != w.granule {
			t.Errorf("%s; want %s, granule %v", v, w.verdict, w.granule)
		}
		if v.Verdict != server.Verified && !v.Granule {
			bad++
		}
	}
	if faults := server.Faults(set, got); len(faults) != bad {
		t.Errorf("faults are %q, want %d of them", faults, bad)
	}
	s.noBinaryLog(t, i)
	s.stop(t, i)
}

// noBinaryLog checks that log_bin = false did not make files.
func (s *suite) noBinaryLog(t *testing.T, i *server.Instance) {
	t.Helper()
	if s.build.Server.Build.Flavour == "postgres" {
		return
	}
	if got := query(t, i, "SELECT @@log_bin"); got != "0" {
		t.Errorf("@@log_bin is %s", got)
	}
	for _, pattern := range []string{"OFF*", "binlog*", "*.index", "*-bin*"} {
		if found, _ := filepath.Glob(filepath.Join(i.Layout().Data(), pattern)); len(found) > 0 {
			t.Errorf("there is a binary log: %v", found)
		}
	}
}

func (s *suite) testMisspelt(t *testing.T) {
	set := s.settings(s.profile.misspelt)
	err := s.refused(t, s.shared(t), set)
	var start *server.StartError
	if !errors.As(err, &start) {
		t.Fatalf("got %v, want a StartError", err)
	}
	if !strings.Contains(start.Cause, s.profile.misspelt.Value.Text) && start.Option != s.profile.misspelt.Name || len(start.Tail) == 0 {
		t.Errorf("the error names neither option nor value, or has no log: %v", err)
	}
}

func (s *suite) testUnknown(t *testing.T) {
	set := s.settings(s.profile.unknown)
	err := s.refused(t, s.shared(t), set)
	var start *server.StartError
	if !errors.As(err, &start) || start.Option != s.profile.unknown.Name || !strings.Contains(err.Error(), "level test.it") {
		t.Errorf("the error does not name the option and its place: %v", err)
	}
}

func (s *suite) testPlugin(t *testing.T) {
	set := &matrix.Settings{Server: &s.build.Server, Options: []matrix.Option{s.profile.plugin}}
	err := s.refused(t, s.shared(t), set)
	if !strings.Contains(err.Error(), s.profile.plugin.Value.Text) {
		t.Errorf("the error does not name the plugin: %v", err)
	}
}

func (s *suite) testCheck(t *testing.T) {
	ctx := context.Background()
	good, err := server.Check(ctx, s.settings(s.profile.plain...))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range good {
		if c.Fatal {
			t.Errorf("a good option file is refused: %+v", c)
		}
	}
	for _, o := range []matrix.Option{s.profile.misspelt, s.profile.unknown} {
		bad, err := server.Check(ctx, s.settings(o))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(bad, func(c server.Complaint) bool { return c.Fatal }) {
			t.Errorf("%s = %s is not refused: %+v", o.Name, o.Value.Text, bad)
		}
	}
}

// testLoose sets an option that the server does not know and does not mind: what
// the level asks for does not happen, and that must show.
func (s *suite) testLoose(t *testing.T) {
	set := s.settings(s.profile.loose)
	i := s.start(t, s.shared(t), set)
	verdicts, err := i.InForce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(verdicts, func(v server.InForce) bool { return v.Option.Name == s.profile.loose.Name })
	if at < 0 || verdicts[at].Verdict != s.profile.ignored {
		t.Errorf("got %v, want it %s", verdicts, s.profile.ignored)
	}
	if faults := server.Faults(set, verdicts); len(faults) != 1 || !strings.Contains(faults[0], s.profile.loose.Name) {
		t.Errorf("faults are %q", faults)
	}
	s.stop(t, i)
}

// testPersisted lets a workload set an option in the data directory, where the
// server finds it at its next start.
func (s *suite) testPersisted(t *testing.T) {
	set := s.settings(s.profile.before)
	l := s.run(t, set)
	i := s.start(t, l, set)
	exec(t, i, s.profile.persist)
	s.stop(t, i)
	i = s.start(t, l, set)
	verdicts, err := i.InForce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if v.Option.Name == s.profile.before.Name && v.Verdict != s.profile.persisted {
			t.Errorf("%s; want %s", v, s.profile.persisted)
		}
	}
	s.stop(t, i)
}
