package servertest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"dbmatrix/executor/server"
)

// A record is what each build did in the suite. Its methods may be called from
// several goroutines.
type record struct {
	names  []string
	builds map[string]Build

	mu      sync.Mutex
	results map[string]*result
	notes   map[string][]string // case and reason to the builds that did not run it
}

// A result is what one build did.
type result struct {
	passed, failed, excepted int
	took                     time.Duration
}

func newRecord() *record {
	return &record{builds: map[string]Build{}, results: map[string]*result{}, notes: map[string][]string{}}
}

// add takes a build in.
func (r *record) add(name string, b Build) {
	r.names = append(r.names, name)
	r.builds[name], r.results[name] = b, &result{}
}

// suite returns the suite for a build, with a guardian of its own.
func (r *record) suite(t *testing.T, name string) *suite {
	t.Helper()
	g, err := server.StartGuardian(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	b := r.builds[name]
	return &suite{name: name, build: b, profile: profileOf(b), guardian: g, dir: Dir(t), record: r}
}

// result notes the end of one case.
func (r *record) result(name string, passed bool, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.results[name]
	of.took += took
	if passed {
		of.passed++
	} else {
		of.failed++
	}
}

// except notes why a build does not run a case.
func (r *record) except(name, of, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[name].excepted++
	r.note(name, of, why)
}

// without notes what a part of a case lacks on this host.
func (r *record) without(name, of, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(name, of, why)
}

func (r *record) note(name, of, why string) {
	key := of + ": " + why
	r.notes[key] = append(r.notes[key], name)
}

// printBuilds prints the builds that are tested.
func (r *record) printBuilds(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "server\tflavour\tversion\tbuild\tengine")
	for _, name := range r.names {
		of := r.builds[name].Server.Build
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", name, of.Flavour, of.Version, of.Comment, r.builds[name].Engine())
	}
	fmt.Fprintln(tw)
	tw.Flush()
}

// printResults prints what each build did, and what it did not do and why.
func (r *record) printResults(w io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "server\tpassed\tfailed\tnot applicable\tseconds")
	for _, name := range r.names {
		of := r.results[name]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%.1f\n", name, of.passed, of.failed, of.excepted, of.took.Seconds())
	}
	tw.Flush()
	for _, note := range slices.Sorted(maps.Keys(r.notes)) {
		fmt.Fprintf(w, "%s (%s)\n", note, strings.Join(slices.Sorted(slices.Values(r.notes[note])), ", "))
	}
}
