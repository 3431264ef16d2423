package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

func TestFirstError(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"MariaDB: the first, which is the cause", "2026-01-02 10:00:00 0 [Note] Starting\n2026-01-02 10:00:00 0 [ERROR] mariadbd: Error while setting value 'O_DIRET' to 'innodb_flush_method'\n2026-01-02 10:00:00 0 [ERROR] Unknown/unsupported storage engine: InnoDB",
			"[ERROR] mariadbd: Error while setting value 'O_DIRET' to 'innodb_flush_method'"},
		{"MySQL 8", "2026-01-02T10:00:00.123456Z 0 [ERROR] [MY-000067] [Server] unknown variable 'x=1'.", "[ERROR] [MY-000067] [Server] unknown variable 'x=1'."},
		{"MySQL 5.6", "2015-01-01 00:00:00 1234 [ERROR] Aborting", "[ERROR] Aborting"},
		{"PostgreSQL", "2026-01-02 10:00:00.000 UTC [1234] FATAL:  could not map anonymous shared memory", "FATAL:  could not map anonymous shared memory"},
		{"none", "2026-01-02 10:00:00 0 [Note] ready for connections", ""},
	}
	for _, tt := range tests {
		if got := firstError(strings.Split(tt.log, "\n")); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTelling(t *testing.T) {
	dump := `260102 10:00:00 [ERROR] mysqld got signal 11 ;
/lib/libc.so.6(+0x3c050)[0x7f]

Resource Limits (excludes unlimited resources):
Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max locked memory         8388608              8388608              bytes
Max realtime priority     0                    0
Max connections reached
Core pattern: core

Kernel version: Linux version 6.1`
	want := []string{"260102 10:00:00 [ERROR] mysqld got signal 11 ;", "/lib/libc.so.6(+0x3c050)[0x7f]", "Max connections reached"}
	if diff := cmp.Diff(want, telling(strings.Split(dump, "\n"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a program prints reaches terminals only as text.
func TestLogLinesAreText(t *testing.T) {
	const log = "plain\n\x1b[31mred\x1b[0m\ta\x00b\r\n\xff\xfe\x07 ünï \u202e\u200b\n\n"
	want := []string{"plain", "?[31mred?[0m\tab", "?? ünï ??"}
	if diff := cmp.Diff(want, logLines([]byte(log))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClassify(t *testing.T) {
	tests := map[string]string{
		"2026-01-02 10:00:00 0 [ERROR] mysqld got signal 11 ;":                                                                                              "crash",
		"2026-01-02 10:00:00 0 [ERROR] [FATAL] InnoDB: Error (Out of disk space) in rollback.":                                                              "crash",
		"2026-01-02 10:00:00.000 UTC [12] LOG:  received smart shutdown request":                                                                            "shutdown",
		"2026-01-02 10:00:00 0 [Note] /usr/sbin/mariadbd (initiated by: unknown): Normal shutdown":                                                          "shutdown",
		"2026-01-02T10:00:00.123456Z 0 [System] [MY-013172] [Server] Received SHUTDOWN from user <via user signal>. Shutting down mysqld (Version: 9.7.0).": "shutdown",
		"2026-01-02 10:00:00 0 [Warning] InnoDB: A long semaphore wait:":                                                                                    "long_wait",
		"--Thread 140 has waited at btr0cur.cc line 10 for 241.00 seconds the semaphore:":                                                                   "long_wait",
		"2026-01-02 10:00:00 0 [ERROR] mariadbd: Disk is full writing './t.MAD' (Errcode: 28 \"No space left on device\")":                                  "no_space",
		"2026-01-02 10:00:00 0 [ERROR] InnoDB: Database page corruption on disk":                                                                            "corruption",
		"2026-01-02 10:00:00 0 [ERROR] Can't sync file './ib_logfile0'":                                                                                     "io_error",
		"2026-01-02 10:00:00 0 [ERROR] Something else":                                                                                                      "error",
		"2026-01-02 10:00:00 0 [Warning] 'x' was removed. It does nothing now":                                                                              "warning",
		"2026-01-02 10:00:00 0 [Note] ready for connections":                                                                                                "",
		"2026-01-02 10:00:00.000 UTC [12] LOG:  server process (PID 99) was terminated by signal 9: Killed":                                                 "crash",
		"2026-01-02 10:00:00.000 UTC [12] ERROR:  relation does not exist":                                                                                  "error",
	}
	for line, want := range tests {
		if got := classify(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestLogReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "error.log")
	r := logReader{path: path}
	steps := []struct {
		name  string
		write func() error
		want  []string
	}{
		{"no file", func() error { return nil }, nil},
		{"a line and a half", func() error { return os.WriteFile(path, []byte("one\ntw"), 0o600) }, []string{"one"}},
		{"nothing new", func() error { return nil }, nil},
		{"the rest", func() error { return os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600) }, []string{"two", "three"}},
		{"NULs", func() error { return os.WriteFile(path, []byte("one\ntwo\nthree\nf\x00our\n"), 0o600) }, []string{"four"}},
		{"replaced", func() error { return os.WriteFile(path, []byte("new\n"), 0o600) }, []string{"new"}},
	}
	for _, s := range steps {
		if err := s.write(); err != nil {
			t.Fatal(err)
		}
		got, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

func TestReadLogLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "error.log")
	text := "first\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 3*tailBytes/100) + "last\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := readLog(path)
	if lines[0] != "first" || lines[len(lines)-1] != "last" {
		t.Errorf("a large log reads from %q to %q", lines[0], lines[len(lines)-1])
	}
	if n := len(strings.Join(lines, "\n")); n > 2*tailBytes {
		t.Errorf("%d bytes were read", n)
	}
}

func TestHelpVariables(t *testing.T) {
	const help = `mariadbd  Ver 10.11.19
  --table-open-cache=# The number of cached open tables

Variables (--variable-name=value)
and boolean options {FALSE|TRUE}      Value (after reading options)
------------------------------------- ---------------------------
innodb-io-capacity                    100
table-open-cache                      9909
sync-binlog                           1
tls-version                           TLSv1.2,TLSv1.3
`
	o := checkOutput{printed: help, options: []matrix.Option{
		textOption("table_open_cache", "1000000"), textOption("sync_binlog", "1"), textOption("tls_version", "TLSv1.2"), textOption("other", "3"),
		textOption("innodb_io_capacity", "0.1K"),
	}}
	want := []Complaint{
		{Option: "table_open_cache", Message: "table_open_cache would be 9909, not 1000000"},
		{Option: "innodb_io_capacity", Message: "innodb_io_capacity would be 100, not 0.1K"},
	}
	if diff := cmp.Diff(want, mariadb().complaints(o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAboutOptions(t *testing.T) {
	options := []matrix.Option{textOption("innodb_io_capacity", "1")}
	all := []Complaint{
		{Message: "[Warning] Could not increase number of max_open_files"},
		{Message: "[Warning] option 'innodb-io-capacity': unsigned value 1 adjusted to 100"},
		{Message: "[ERROR] something else", Fatal: true},
	}
	want := []Complaint{
		{Option: "innodb_io_capacity", Message: "[Warning] option 'innodb-io-capacity': unsigned value 1 adjusted to 100"},
		{Message: "[ERROR] something else", Fatal: true},
	}
	if diff := cmp.Diff(want, aboutOptions(all, options)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComplaints(t *testing.T) {
	tests := []struct {
		name, output string
		code         int
		want         []Complaint
	}{
		{"MariaDB refuses a value and ends with 0", "2026-01-02 10:00:00 0 [Warning] option 'innodb-io-capacity-max': unsigned value 9 adjusted to 100\n2026-01-02 10:00:00 0 [ERROR] /usr/sbin/mariadbd: Error while setting value 'x' to 'innodb_flush_method'\n", 0, []Complaint{
			{Message: "[Warning] option 'innodb-io-capacity-max': unsigned value 9 adjusted to 100"},
			{Fatal: true, Message: "[ERROR] /usr/sbin/mariadbd: Error while setting value 'x' to 'innodb_flush_method'"},
		}},
		{"unknown variable", "2026-01-02 10:00:00 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'nosuch=1'\n", 7, []Complaint{{Fatal: true, Message: "[ERROR] /usr/sbin/mariadbd: unknown variable 'nosuch=1'"}}},
		{"without a word", "something\n", 1, []Complaint{{Fatal: true, Message: "it ended with exit code 1: something"}}},
		{"fine", "", 0, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, mysqlMessages(checkOutput{messages: tt.output, code: tt.code})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
