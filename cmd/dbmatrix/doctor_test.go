package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// TestExamineReach tests that doctor finds the closed directory at which run would
// refuse, for servers that are on this host.
func TestExamineReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a server runs as the user who starts dbmatrix, unless that is root")
	}
	me, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no other user to run a server as")
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.MkdirAll(filepath.Join(closed, "e"), 0o700); err != nil {
		t.Fatal(err)
	}
	servers := []*matrix.Server{
		{Name: "here", User: me.Username, Build: matrix.Build{Flavour: "mariadb"}},
		{Name: "same", User: me.Username, Build: matrix.Build{Flavour: "mariadb"}},
		{Name: "absent", User: me.Username, Build: matrix.Build{Flavour: "mariadb", Absent: "gone"}},
	}
	found := examineReach(servers, filepath.Join(closed, "e"))
	if len(found) == 0 || found[0].grade != gradeFault || !strings.Contains(found[0].detail, "is closed to it") || !strings.Contains(found[0].detail, "server here") {
		t.Errorf("found %v", found)
	}
	for _, f := range found {
		if strings.Contains(f.detail, "absent") {
			t.Errorf("a server that is not here: %v", f)
		}
	}
	if found := examineReach(servers, "/"); len(found) > 0 {
		t.Errorf("of an open directory: %v", found)
	}
}
