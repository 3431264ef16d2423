package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

func TestPostgresOptionFile(t *testing.T) {
	s := build("postgres", "15.18.0", "")
	got, err := optionText(postgres(), placement{
		layout: Layout{Dir: "/data/runs/a"}, server: &s, sockets: "/run/dbmatrix/0123456789ab", port: 5433, title: "Cell a=b, replicate 1",
		options: []matrix.Option{
			textOption("shared_buffers", "8GB"),
			levelOption("max_connections", matrix.OptionValue{Kind: matrix.OptionNumber, Text: "100"}),
			levelOption("full_page_writes", matrix.OptionValue{Kind: matrix.OptionBool}),
			levelOption("jit", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true}),
			levelOption("shared_preload_libraries", matrix.OptionValue{Kind: matrix.OptionList, Items: []string{"pg_stat_statements", "pg_prewarm"}}),
			textOption("pg_stat_statements.max", "1000"),
			textOption("application_name", "it's a \\ #test\n"),
			levelOption("data_checksums", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "optionfile/postgres-15.conf", got)
}

func TestPostgresNumber(t *testing.T) {
	tests := []struct {
		text, unit string
		want       float64
		fails      bool
	}{
		{"128MB", "8kB", 16384, false},
		{"1GB", "MB", 1024, false},
		{"1GB", "B", 1 << 30, false},
		{"16384", "8kB", 16384, false},
		{"1.5GB", "MB", 1536, false},
		{"5min", "s", 300, false},
		{"20 min", "s", 1200, false},
		{"1d", "min", 1440, false},
		{"500us", "ms", 0.5, false},
		{"1e3", "8kB", 1000, false},
		{"0.9", "", 0.9, false},
		{"1GB", "s", 0, true},
		{"1XB", "MB", 0, true},
		{"on", "MB", 0, true},
	}
	for _, tt := range tests {
		got, err := postgresNumber(tt.text, tt.unit)
		if (err != nil) != tt.fails || got != tt.want {
			t.Errorf("%s in %s: got %v, %v; want %v", tt.text, tt.unit, got, err, tt.want)
		}
	}
}

func TestJudgeSetting(t *testing.T) {
	const file = "configuration file"
	off := levelOption("x", matrix.OptionValue{Kind: matrix.OptionBool})
	list := levelOption("x", matrix.OptionValue{Kind: matrix.OptionList, Items: []string{"a", "b"}})
	tests := []struct {
		name    string
		option  matrix.Option
		setting postgresSetting
		want    Verdict
		granule bool
	}{
		{"size", textOption("x", "128MB"), postgresSetting{"16384", "8kB", "integer", file, ""}, Verified, false},
		{"rounded", textOption("x", "129kB"), postgresSetting{"16", "8kB", "integer", file, ""}, Adjusted, true},
		{"other size", textOption("x", "1GB"), postgresSetting{"16384", "8kB", "integer", "default", ""}, Contradicted, false},
		{"set on the command line", textOption("x", "1"), postgresSetting{"2", "", "integer", "command line", ""}, Contradicted, false},
		{"set by ALTER SYSTEM", textOption("x", "1"), postgresSetting{"2", "", "integer", file, postgresAuto}, Contradicted, false},
		{"bool", off, postgresSetting{"off", "", "bool", file, ""}, Verified, false},
		{"bool as text", textOption("x", "false"), postgresSetting{"off", "", "bool", file, ""}, Verified, false},
		{"other bool", off, postgresSetting{"on", "", "bool", "default", ""}, Contradicted, false},
		{"enum", textOption("x", "Replica"), postgresSetting{"replica", "", "enum", file, ""}, Verified, false},
		{"list", list, postgresSetting{"a,b", "", "string", file, ""}, Verified, false},
		{"list with blanks", list, postgresSetting{"a, b", "", "string", file, ""}, Verified, false},
		{"real", textOption("x", "1.1"), postgresSetting{"1.1", "", "real", file, ""}, Verified, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := InForce{Option: tt.option, Asked: asText(tt.option)}
			judgeSetting(&v, tt.setting)
			if v.Verdict != tt.want || v.Granule != tt.granule {
				t.Errorf("got %s, granule %v", v, v.Granule)
			}
		})
	}
}

func TestInitdbArgument(t *testing.T) {
	off := levelOption("data_checksums", matrix.OptionValue{Kind: matrix.OptionBool})
	f := postgres().(*postgresFlavour)
	if got, err := f.initdbArgument(off, "18.1.0"); err != nil || !slices.Equal(got, []string{"--no-data-checksums"}) {
		t.Errorf("no checksums of PostgreSQL 18: got %v, %v", got, err)
	}
	tests := []struct {
		option matrix.Option
		want   []string
		fails  string
	}{
		{levelOption("data_checksums", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true}), []string{"--data-checksums"}, ""},
		{off, nil, ""},
		{textOption("data_checksums", "perhaps"), nil, "true or false"},
		{textOption("wal_segment_size", "64MB"), []string{"--wal-segsize=64"}, ""},
		{textOption("wal_segment_size", "64kB"), nil, "a megabyte or more"},
		{textOption("block_size", "16kB"), nil, "no such option"},
	}
	for _, tt := range tests {
		got, err := f.initdbArgument(tt.option, "17.2.0")
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s = %s: got %v, %v", tt.option.Name, asText(tt.option), got, err)
		}
	}
}

func TestPostgresComplaints(t *testing.T) {
	const output = "2026-01-02 10:00:00.000 GMT [1] LOG:  unrecognized configuration parameter \"nosuch\" in file \"/x\" line 3\n" +
		"2026-01-02 10:00:00.000 GMT [1] FATAL:  configuration file \"/x\" contains errors\n"
	want := []Complaint{{Fatal: true, Message: `unrecognized configuration parameter "nosuch" in file "/x" line 3`}}
	if diff := cmp.Diff(want, (&postgresFlavour{}).complaints(checkOutput{messages: output, code: 1})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (&postgresFlavour{}).complaints(checkOutput{printed: "16384\n"}); got != nil {
		t.Errorf("a good file: got %v", got)
	}
}

func TestDSN(t *testing.T) {
	tests := []struct {
		address  Address
		database string
		want     string
	}{
		{Address{Flavour: "mysql", Socket: "/run/dbmatrix/ab/s", User: "root"}, "test", "root@unix(/run/dbmatrix/ab/s)/test?timeout=10s&writeTimeout=1m0s"},
		{Address{Flavour: "postgres", Socket: "/run/dbmatrix/ab/.s.PGSQL.5433", User: "postgres"}, "", "postgres:///postgres?connect_timeout=10&host=%2Frun%2Fdbmatrix%2Fab&port=5433&user=postgres"},
	}
	for _, tt := range tests {
		if got := tt.address.DSN(tt.database); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestHostLockPath(t *testing.T) {
	t.Setenv("DBMATRIX_HOST_LOCK", "/somewhere/else")
	if got, err := HostLockPath(); got != "/somewhere/else" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	t.Setenv("DBMATRIX_HOST_LOCK", "")
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	want := dir + "/dbmatrix.lock"
	if writable("/run/lock") {
		want = "/run/lock/dbmatrix.lock"
	}
	if got, err := HostLockPath(); got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
