package executor

import (
	"errors"
	"strings"
	"testing"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/store"

	"github.com/google/go-cmp/cmp"
)

func TestReadEnvironment(t *testing.T) {
	dir := t.TempDir() + "/not/there/yet"
	env, err := readEnvironment(sampler.System(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	facts := byName(env.facts)
	for _, name := range []string{"host.kernel", "host.cpus", "host.memory_mib", dir + ".filesystem", dir + ".mount_options"} {
		if facts[name] == "" {
			t.Errorf("no %s in %v", name, facts)
		}
	}
	for _, name := range []string{"host.boot", "host.id", "host.name", dir + ".device"} {
		if _, ok := facts[name]; ok {
			t.Errorf("%s is compared, though it says nothing of how the host is set", name)
		}
	}
	if env.boot == "" {
		t.Error("no boot id")
	}
	if changes := env.changes(env.facts); changes != nil {
		t.Errorf("an environment differs from itself: %q", changes)
	}
}

func TestEnvironmentChanges(t *testing.T) {
	before := []store.Fact{{Name: "host.kernel", Value: "6.1.0-21"}, {Name: "host.governor", Value: "powersave"},
		{Name: "/a.mount_options", Value: "rw"}, {Name: "/b.mount_options", Value: "rw"}}
	now := environment{facts: []store.Fact{{Name: "host.kernel", Value: "6.1.0-25"}, {Name: "host.thp", Value: "never"},
		{Name: "/a.mount_options", Value: "ro"}, {Name: "/c.mount_options", Value: "rw"}}}
	want := []string{
		"/a.mount_options rw → ro",
		"host.kernel 6.1.0-21 → 6.1.0-25",
		"host.thp is never, was not known",
		"host.governor was powersave, is not known",
	}
	if diff := cmp.Diff(want, now.changes(before)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestLimitsOfMemoryFilesystemsAreNoChange(t *testing.T) {
	mounted := func(filesystem, options string) []store.Fact {
		return []store.Fact{{Name: "/a.filesystem", Value: filesystem}, {Name: "/a.mount_options", Value: options}}
	}
	for _, c := range []struct {
		filesystem, before, now string
		want                    int
	}{
		{"tmpfs", "rw,nosuid,size=1024k,nr_inodes=10", "rw,nosuid,size=2048k", 0},
		{"tmpfs", "rw,size=1024k", "rw,noatime,size=1024k", 1},
		{"ext4", "rw,size=1024k", "rw,size=2048k", 1},
	} {
		changes := environment{facts: mounted(c.filesystem, c.now)}.changes(mounted(c.filesystem, c.before))
		if len(changes) != c.want {
			t.Errorf("%s: %s → %s: %q", c.filesystem, c.before, c.now, changes)
		}
	}
}

func TestChangedEnvironmentMustBeAccepted(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	plan := h.plan(oneServer + phase("p", do("work")))
	id, err := h.store.RecordPlan(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	e := &executor{plan: plan, deps: Deps{Store: h.store}, experiment: id, opts: Options{Report: func(Event) {}}}
	epoch := func(reason string) store.EpochID {
		t.Helper()
		last, err := h.store.LastEpoch(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(last.Reason, reason) || last.ID != e.epoch {
			t.Errorf("epoch %d (%s), want one of reason %s", last.ID, last.Reason, reason)
		}
		return last.ID
	}
	if err := e.compareEnvironment(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := epoch("first")
	if err := e.compareEnvironment(t.Context()); err != nil || epoch("first") != first {
		t.Errorf("nothing changed, and there is a new epoch (%v)", err)
	}

	// A reboot alone asks nothing.
	last, err := h.store.LastEpoch(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.BeginEpoch(t.Context(), id, store.Epoch{BootID: "another", Reason: "test", Facts: last.Facts}); err != nil {
		t.Fatal(err)
	}
	if err := e.compareEnvironment(t.Context()); err != nil {
		t.Fatal(err)
	}
	epoch("reboot")

	// Anything else does.
	changed := append([]store.Fact{{Name: "host.governor", Value: "of old"}}, last.Facts...)
	if _, err := h.store.BeginEpoch(t.Context(), id, store.Epoch{BootID: last.BootID, Reason: "test", Facts: changed}); err != nil {
		t.Fatal(err)
	}
	err = e.compareEnvironment(t.Context())
	var env *EnvironmentError
	if !errors.As(err, &env) || !strings.Contains(err.Error(), "host.governor") || !strings.Contains(err.Error(), "--accept-environment") {
		t.Fatalf("got %v", err)
	}
	e.opts.AcceptEnvironment = true
	if err := e.compareEnvironment(t.Context()); err != nil {
		t.Fatal(err)
	}
	epoch("accepted")
}
