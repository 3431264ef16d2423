package server

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestPortFree(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := portFree(port); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d of the loopback address is in use by process %d (", port, os.Getpid())) {
		t.Errorf("got %v", err)
	}
	l.Close()
	for _, free := range []int{0, port} {
		if err := portFree(free); err != nil {
			t.Errorf("port %d: %v", free, err)
		}
	}
}

func TestListening(t *testing.T) {
	const line = "   2: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 41234 1 0000000000000000 100 0 0 10 0"
	tests := []struct {
		line string
		port int
		want string
	}{
		{line, 3306, "41234"},
		{line, 3307, ""},
		{strings.Replace(line, " 0A ", " 01 ", 1), 3306, ""}, // a connection
		{"  sl  local_address rem_address   st", 3306, ""},
		{"", 0, ""},
	}
	for _, tt := range tests {
		if got := listening(tt.line, tt.port); got != tt.want {
			t.Errorf("port %d in %q: got %q, want %q", tt.port, tt.line, got, tt.want)
		}
	}
}
