package server

import (
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// A prefix is for what is measured: no template is made with it, and what starts
// the server as its child is told by name.
func TestPrefix(t *testing.T) {
	s := &matrix.Server{Name: "pinned", Mysqld: "/opt/mysqld", Prefix: []string{"taskset", "-c", "99"}}
	if got := unpinned(s); got.Prefix != nil || got.Mysqld != s.Mysqld || s.Prefix == nil {
		t.Errorf("without its prefix %v is %v", s, got)
	}
	i := &Instance{launch: Launch{Settings: &matrix.Settings{Server: s}}}
	for _, text := range []string{i.forker(), i.started()} {
		if !strings.Contains(text, "its prefix, taskset -c 99,") {
			t.Errorf("no name of the prefix in %q", text)
		}
	}
	i.launch.Settings.Server = unpinned(s)
	if got := i.started(); got != "it" {
		t.Errorf("a server without a prefix is called %q", got)
	}
}
