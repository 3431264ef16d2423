package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAskedOfSharedLoad checks that a run which was recorded with its load, and one
// that went on from it, are taken to ask for the same.
func TestAskedOfSharedLoad(t *testing.T) {
	option := func(phase, value string) AskedOption {
		return AskedOption{Phase: phase, OptionLine: OptionLine{Name: "wal_compression", Value: value}}
	}
	maker := ServerSettings{Asked: []AskedOption{option("init", "OFF"), option("run", "OFF")}}
	follower := ServerSettings{Asked: []AskedOption{option("run", "OFF")}}
	if diff := cmp.Diff(maker.asked(), follower.asked()); diff != "" {
		t.Errorf("asked by the maker of the load and by one that follows:\n%s", diff)
	}
	changed := ServerSettings{Asked: []AskedOption{option("init", "OFF"), option("run", "ON")}}
	if got := differingNames([]map[string]string{maker.asked(), changed.asked()}); len(got) == 0 {
		t.Error("an option that a phase changes counts as asked alike")
	}
}
