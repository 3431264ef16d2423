package servertest

import (
	"context"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// freePort returns a port of the loopback address that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return free.Addr().(*net.TCPAddr).Port
}

// testPort starts a server that listens on the loopback address.
func (s *suite) testPort(t *testing.T) {
	set := s.settings()
	port := freePort(t)
	i, err := server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: set, Layout: s.shared(t), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Errorf("by the port: %v", err)
	} else {
		c.Close()
	}
	if s.build.Server.Build.Flavour != "postgres" {
		db := openTCP(t, port)
		defer db.Close()
		if err := db.Ping(); err != nil {
			t.Errorf("by the port: %v", err)
		}
	}
	s.stop(t, i)
}

// testBinaryLog has the binary log on a storage of its own.
func (s *suite) testBinaryLog(t *testing.T) {
	set := s.settings(Switch("log_bin", true))
	set.Storage = map[string]matrix.Storage{"binlog": {Name: "logs", Dir: Dir(t)}}
	l := s.run(t, set)
	i := s.start(t, l, set)
	if found, _ := filepath.Glob(l.Role("binlog") + "/binlog.0*"); len(found) == 0 {
		t.Errorf("there is no binary log in %s", l.Role("binlog"))
	}
	verdicts, err := i.InForce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if faults := server.Faults(set, verdicts); len(faults) > 0 {
		t.Errorf("faults are %q", faults)
	}
	s.stop(t, i)
}

// testOccupiedPort starts a server on a port that another process listens on.
func (s *suite) testOccupiedPort(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	set := s.settings()
	_, err = server.Start(context.Background(), server.Launch{Guardian: s.guardian, Settings: set, Layout: s.shared(t), Port: port})
	if err == nil {
		t.Fatal("the server started")
	}
	for _, want := range []string{fmt.Sprintf("port %d", port), fmt.Sprintf("process %d", os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %s", err, want)
		}
	}
}

// socketOf returns where the server of a layout will have its socket.
func (s *suite) socketOf(t *testing.T, l server.Layout) string {
	t.Helper()
	set := s.settings()
	i := s.start(t, l, set)
	s.stop(t, i)
	return i.Address().Socket
}

// testOccupiedSocket starts a server whose socket another process listens on.
func (s *suite) testOccupiedSocket(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	socket := s.socketOf(t, l)
	other, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.refused(t, l, set); !strings.Contains(err.Error(), socket) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v, want it to name %s", err, socket)
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("the other's socket: %v", err)
	}
	other.Close()
	s.stop(t, s.start(t, l, set))
}

// testStaleSocket starts a server where one that is gone left its socket and the
// files beside it, with a process id that another process has now.
func (s *suite) testStaleSocket(t *testing.T) {
	set := s.settings()
	l := s.shared(t)
	socket := s.socketOf(t, l)
	other, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	other.SetUnlinkOnClose(false)
	other.Close()
	pid := fmt.Sprintf("%d\n", s.bystander(t, l))
	if err := os.WriteFile(socket+".lock", []byte(pid), 0o644); err != nil {
		t.Fatal(err)
	}
	s.stop(t, s.start(t, l, set))
}
