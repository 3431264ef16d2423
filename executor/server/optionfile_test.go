package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"dbmatrix/matrix"
)

// origin returns a place in a file.
func origin(kind matrix.OverlayKind, name, file string, line int, value string) matrix.Origin {
	return matrix.Origin{Kind: kind, Name: name, Value: value, Range: hcl.Range{Filename: file, Start: hcl.Pos{Line: line}}}
}

// levelOption returns an option that a level sets.
func levelOption(name string, v matrix.OptionValue) matrix.Option {
	return matrix.Option{Name: name, Value: v, Origins: []matrix.Origin{origin(matrix.OverlayLevel, "level a.b", "experiment.hcl", 7, "")}}
}

// textOption returns a text that a level sets.
func textOption(name, value string) matrix.Option {
	return levelOption(name, matrix.OptionValue{Kind: matrix.OptionText, Text: value})
}

// everyKind are options of every kind, with chains of origins.
func everyKind() []matrix.Option {
	overridden := textOption("innodb_buffer_pool_size", "35G")
	overridden.Value.Kind = matrix.OptionText
	null := origin(matrix.OverlayDefaults, "defaults", "/home/me/exp/experiment.hcl", 12, "")
	null.Null = true
	overridden.Origins = []matrix.Origin{
		origin(matrix.OverlayServer, "server mysql97", "/home/me/exp/machine.hcl", 3, "4G"), null,
		origin(matrix.OverlayLevel, "level memory.large", "/home/me/exp/experiment.hcl", 40, "35G"),
	}
	composite := levelOption("rocksdb_default_cf_options", matrix.OptionValue{Kind: matrix.OptionComposite, Parts: []matrix.OptionPart{
		{Key: "compression_per_level", Value: "kNoCompression"}, {Key: "block_based_table_factory", Value: "{block_size=16k}"},
	}})
	composite.Origins = nil
	for i, part := range []string{"compression_per_level", "block_based_table_factory", "compression_per_level"} {
		o := origin(matrix.OverlayKind(int(matrix.OverlayDefaults)+i/2), "defaults", "experiment.hcl", 20+i, "kZSTD")
		o.Part = part
		composite.Origins = append(composite.Origins, o)
	}
	loose := textOption("rocksdb_block_cache_size", "30G")
	loose.Loose = true
	return []matrix.Option{
		overridden, composite, loose,
		levelOption("innodb_io_capacity", matrix.OptionValue{Kind: matrix.OptionNumber, Text: "1048576"}),
		levelOption("innodb_file_per_table", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true}),
		levelOption("innodb_adaptive_hash_index", matrix.OptionValue{Kind: matrix.OptionBool}),
		levelOption("core_file", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true}),
		levelOption("plugin_load_add", matrix.OptionValue{Kind: matrix.OptionList, Items: []string{"ha_rocksdb", "provider_lz4"}}),
		levelOption("sql_mode", matrix.OptionValue{Kind: matrix.OptionList, Items: []string{"ANSI", "NO_ZERO_DATE"}}),
		levelOption("optimizer_switch", matrix.OptionValue{Kind: matrix.OptionComposite, Parts: []matrix.OptionPart{{Key: "mrr", Value: "true"}, {Key: "index_merge", Value: "off"}}}),
		textOption("init_connect", `SET @a = "#1\2"`),
		levelOption("log_bin", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true}),
	}
}

func TestOptionFile(t *testing.T) {
	two := Layout{Dir: "/data/runs/a", Roles: map[string]string{"redo": "/fast/runs/a", "binlog": "/fast/runs/a", "tmp": "/tmp/runs/a"}}
	tests := []struct {
		name    string
		server  matrix.Server
		layout  Layout
		port    int
		options []matrix.Option
	}{
		{"mariadb-10.11", build("mariadb", "10.11.19", "/usr/sbin/mariadbd"), Layout{Dir: "/data/runs/a"}, 0, everyKind()},
		{"mariadb-10.5-storage", build("mariadb", "10.5.23", "/opt/mariadbd"), two, 3307, everyKind()},
		{"mysql-5.6", build("mysql", "5.6.51", "/opt/mysqld"), Layout{Dir: "/data/runs/a"}, 0, nil},
		{"mysql-5.7", build("mysql", "5.7.44", "/opt/mysqld"), Layout{Dir: "/data/runs/a"}, 0, nil},
		{"mysql-8.0-storage", build("mysql", "8.0.36", "/opt/mysqld"), two, 0, everyKind()},
		{"mysql-9.7", build("mysql", "9.7.4", "/opt/mysqld"), Layout{Dir: "/data/runs/a"}, 0, []matrix.Option{
			levelOption("log_bin", matrix.OptionValue{Kind: matrix.OptionBool}),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := FlavourOf(tt.server.Build.Flavour)
			if err != nil {
				t.Fatal(err)
			}
			got, err := optionText(f, placement{
				layout: tt.layout, server: &tt.server, options: tt.options, sockets: "/run/dbmatrix/0123456789ab",
				log: "/data/runs/a/logs/error.1.log", port: tt.port, title: "Cell a=b,\nreplicate 1",
			})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "optionfile/"+tt.name+"."+strings.TrimPrefix(f.optionFile(), "my."), got)
		})
	}
}

// build returns a server of a version that need not be there.
func build(flavour, version, program string) matrix.Server {
	return matrix.Server{Name: "s", Mysqld: program, Build: matrix.Build{Flavour: flavour, Version: version, Content: "x"}}
}

func TestOptionFileRefuses(t *testing.T) {
	tests := []struct {
		name   string
		option matrix.Option
		want   string
	}{
		{"owned", textOption("datadir", "/x"), "level a.b, experiment.hcl:7: option datadir is decided by dbmatrix: each run has a data directory of its own"},
		{"log_bin as text", textOption("log_bin", "OFF"), "write log_bin = true or false"},
		{"log_bin with a path", textOption("log_bin", "/x/y"), "without a path"},
		{"log_bin as number", levelOption("log_bin", matrix.OptionValue{Kind: matrix.OptionNumber, Text: "1"}), "true, false or the name"},
		{"composite that is none", levelOption("max_connections", matrix.OptionValue{Kind: matrix.OptionComposite}), "no composite option"},
		{"NUL", textOption("init_connect", "a\x00b"), "control character"},
		{"a log elsewhere", textOption("general_log_file", "/var/log/mysql.log"), "outside of the run's own directory"},
		{"a log above", textOption("slow_query_log_file", "x/../../slow.log"), "outside of the run's own directory"},
		{"a tablespace elsewhere", textOption("innodb_data_file_path", "ibdata1:12M;/mnt/ibdata2:10M:autoextend"), "write to /mnt/ibdata2"},
		{"long", textOption("init_connect", strings.Repeat("x", 5000)), "the server reads 4000"},
	}
	s := build("mariadb", "10.11.19", "/x")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := optionText(mariadb(), placement{layout: Layout{Dir: "/d"}, server: &s, options: []matrix.Option{tt.option}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	s := build("mysql", "8.0.36", "/x")
	s.Basedir = "/opt/mysql"
	got, err := Defaults(&matrix.Settings{Server: &s, Options: []matrix.Option{textOption("mysqlx", "ON")}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range got {
		names = append(names, o.Name)
	}
	want := []string{"log_bin", "innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup", "skip_name_resolve", "secure_file_priv", "persisted_globals_load"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Files beside the data are the server's own affair.
func TestOptionFileInside(t *testing.T) {
	s := build("mariadb", "10.11.19", "/x")
	for _, o := range []matrix.Option{
		textOption("general_log_file", "general.log"), textOption("slow_query_log_file", "logs/slow.log"),
		textOption("innodb_data_file_path", "ibdata1:12M;ibdata2:10M:autoextend"), textOption("innodb_tmpdir", ""),
		textOption("ft_stopword_file", "/etc/words"), // is read
	} {
		if _, err := optionText(mariadb(), placement{layout: Layout{Dir: "/d"}, server: &s, options: []matrix.Option{o}}); err != nil {
			t.Error(err)
		}
	}
}
