package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

func TestCompareText(t *testing.T) {
	tests := []struct {
		asked         string
		r             variableReading
		same, rounded bool
	}{
		{"128M", variableReading{value: "134217728"}, true, false},
		{"1g", variableReading{value: "1073741824"}, true, false},
		{"1E", variableReading{value: "1152921504606846976"}, true, false},
		{"18446744073709551615", variableReading{value: "18446744073709551615"}, true, false},
		{"18446744073709551615", variableReading{value: "18446744073709551614"}, false, false},
		{"1e6", variableReading{value: "1000000"}, false, false}, // the server reads it as 1 exa
		{"200M", variableReading{value: "268435456", granule: 1 << 27}, false, true},
		{"200M", variableReading{value: "402653184", granule: 1 << 27}, false, false},
		{"1048577", variableReading{value: "1048576", granule: 1024}, false, true},
		{"1.5", variableReading{value: "1.500000"}, true, false},
		{"0.3333333333333", variableReading{value: "0.333333"}, true, false},
		{"0.25", variableReading{value: "0.250001"}, false, false},
		{"O_DIRECT", variableReading{value: "O_DIRECT"}, true, false},
		{"o_direct", variableReading{value: "O_DIRECT", enum: []string{"fsync", "O_DIRECT"}}, true, false},
		{"1", variableReading{value: "O_DIRECT", enum: []string{"fsync", "O_DIRECT"}}, true, false},
		{"0", variableReading{value: "O_DIRECT", enum: []string{"fsync", "O_DIRECT"}}, false, false},
		{"1", variableReading{value: "ON", kind: "BOOLEAN"}, true, false},
		{"OFF", variableReading{value: "ON", kind: "BOOLEAN"}, false, false},
		{"on", variableReading{value: "1"}, true, false},
		{"/a/b", variableReading{value: "/a/b/"}, true, false},
		{"NO_ZERO_DATE,ANSI_QUOTES", variableReading{value: "ANSI_QUOTES,NO_ZERO_DATE"}, true, false},
		{"ANSI_QUOTES", variableReading{value: "ANSI_QUOTES,NO_ZERO_DATE"}, false, false},
		{"", variableReading{value: ""}, true, false},
		{"a", variableReading{value: ""}, false, false},
	}
	for _, tt := range tests {
		same, rounded := compareText(tt.asked, tt.r)
		if same != tt.same || rounded != tt.rounded {
			t.Errorf("asked %q, is %+v: got same %v, rounded %v", tt.asked, tt.r, same, rounded)
		}
	}
}

func TestJudgeVariable(t *testing.T) {
	number := textOption("x", "100")
	on := levelOption("x", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true})
	off := levelOption("x", matrix.OptionValue{Kind: matrix.OptionBool})
	parts := levelOption("optimizer_switch", matrix.OptionValue{Kind: matrix.OptionComposite, Parts: []matrix.OptionPart{{Key: "mrr", Value: "true"}, {Key: "semijoin", Value: "off"}}})
	tests := []struct {
		name   string
		option matrix.Option
		r      variableReading
		want   Verdict
	}{
		{"same", number, variableReading{value: "100", origin: "CONFIG"}, Verified},
		{"same by default", number, variableReading{value: "100", origin: "COMPILE-TIME"}, Verified},
		{"clamped", number, variableReading{value: "200", origin: "CONFIG"}, Adjusted},
		{"set by the server", number, variableReading{value: "200", origin: "AUTO"}, Adjusted},
		{"not taken", number, variableReading{value: "200", origin: "COMPILE-TIME"}, Contradicted},
		{"persisted", number, variableReading{value: "200", origin: "PERSISTED"}, Contradicted},
		{"MySQL's word", number, variableReading{value: "200", origin: "EXPLICIT"}, Adjusted},
		{"on", on, variableReading{value: "ON"}, Verified},
		{"on is off", on, variableReading{value: "OFF", origin: "CONFIG"}, Adjusted},
		{"off as a name", off, variableReading{value: "none", enum: []string{"none", "all"}}, Verified},
		{"parts", parts, variableReading{value: "index_merge=on,mrr=on,semijoin=off"}, Verified},
		{"a part differs", parts, variableReading{value: "mrr=on,semijoin=on"}, Contradicted},
		{"a part is missing", parts, variableReading{value: "mrr=on"}, Contradicted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := InForce{Option: tt.option, Asked: asText(tt.option)}
			judgeVariable(&v, tt.r, "test")
			if v.Verdict != tt.want {
				t.Errorf("got %s, want %s", v, tt.want)
			}
		})
	}
}

func TestJudgePlugins(t *testing.T) {
	active := []Plugin{{Name: "ROCKSDB", Library: "ha_rocksdb.so"}, {Name: "ROCKSDB_CFSTATS", Library: "ha_rocksdb.so"}, {Name: "InnoDB"}, {Name: "provider_lz4", Library: "provider_lz4.so"}}
	tests := []struct {
		value   string
		want    Verdict
		missing string
	}{
		{"ha_rocksdb", Verified, ""},
		{"ha_rocksdb.so", Verified, ""},
		{"rocksdb=ha_rocksdb.so", Verified, ""},
		{"innodb=ha_rocksdb.so", Contradicted, "innodb=ha_rocksdb.so"},
		{"ha_rocksdb;provider_lz4", Verified, ""},
		{"provider_lz4;provider_snappy", Contradicted, "plugin provider_snappy is"},
	}
	for _, tt := range tests {
		v := InForce{Option: textOption("plugin_load_add", tt.value)}
		judgePlugins(&v, active)
		if v.Verdict != tt.want || !strings.Contains(v.Detail, tt.missing) {
			t.Errorf("%s: got %s, %s", tt.value, v.Verdict, v.Detail)
		}
	}
}

func TestColumnFamilyParts(t *testing.T) {
	got := columnFamilyParts(matrix.OptionValue{Kind: matrix.OptionText, Text: "a=1; b={c=2;d={e=3;f=x:y}};g=4;"})
	want := []matrix.OptionPart{{Key: "a", Value: "1"}, {Key: "b.c", Value: "2"}, {Key: "b.d.e", Value: "3"}, {Key: "b.d.f", Value: "x:y"}, {Key: "g", Value: "4"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareColumnFamily(t *testing.T) {
	tests := []struct {
		asked, got string
		want       Verdict
	}{
		{"kZSTD", "kZSTD", Verified},
		{"kZSTD", "kNoCompression", Contradicted},
		{"kNoCompression:kLZ4Compression", "kNoCompression:kLZ4Compression", Verified},
		{"kNoCompression:kLZ4Compression", "kNoCompression", Contradicted},
		{"true", "ON", Verified},
		{"false", "1", Contradicted},
		{"8m", "8388608", Verified},
		{"10", "10.000000", Verified},
		{"11", "10.000000", Contradicted},
		{"bloomfilter:10:false", "nullptr", Contradicted},
		{"bloomfilter:10:false", "rocksdb.BuiltinBloomFilter", Unverifiable},
	}
	for _, tt := range tests {
		if got := compareColumnFamily(tt.asked, tt.got); got != tt.want {
			t.Errorf("asked %s, is %s: got %s, want %s", tt.asked, tt.got, got, tt.want)
		}
	}
}

func TestHearLog(t *testing.T) {
	const log = `2026-01-02 10:00:00 0 [Warning] 'innodb-buffer-pool-instances' was removed. It does nothing now and exists only for compatibility with old my.cnf files.
2026-01-02 10:00:00 0 [Note] innodb_io_capacity is fine and nothing is ignored
2026-01-02T10:00:00.000000Z 0 [Warning] [MY-010142] [Server] Changed limits: table_open_cache: 9919 (requested 524288)
2026-01-02T10:00:00.000000Z 0 [Warning] [MY-013907] [InnoDB] Deprecated configuration parameters innodb_log_file_size and/or innodb_log_files_in_group have been used to compute innodb_redo_log_capacity=100663296. Please use innodb_redo_log_capacity instead.
2026-01-02T10:00:00.000000Z 0 [Warning] [MY-013869] [InnoDB] Ignored deprecated configuration parameter innodb_log_file_size. Used innodb_redo_log_capacity instead.
2026-01-02 10:00:00 0 [Warning] /usr/sbin/mariadbd: unknown variable 'loose_no_such=1'
2026-01-02T10:00:00.000000Z 0 [Warning] [MY-000067] [Server] unknown variable 'loose-nothing-like-it=1'.`
	tests := []struct {
		option string
		before Verdict
		want   Verdict
		detail string
	}{
		{"innodb_buffer_pool_instances", Unverifiable, Contradicted, "was removed"},
		{"innodb_log_file_size", Verified, Contradicted, "Ignored deprecated"},
		{"table_open_cache", Adjusted, Adjusted, "Changed limits"},
		{"innodb_redo_log_capacity", Verified, Verified, ""},
		{"innodb_buffer_pool", Verified, Verified, ""},
		{"no_such", Unverifiable, Contradicted, "unknown variable"},
		{"nothing_like_it", Unverifiable, Contradicted, "unknown variable"},
		{"innodb_log_files_in_group", Verified, Verified, ""},
	}
	for _, tt := range tests {
		v := &InForce{Option: textOption(tt.option, "1"), Verdict: tt.before}
		hearLog([]*InForce{v}, strings.Split(log, "\n"))
		if v.Verdict != tt.want || !strings.Contains(v.Detail, tt.detail) || tt.detail == "" && v.Detail != "" {
			t.Errorf("%s: got %s, %q", tt.option, v.Verdict, v.Detail)
		}
	}
}

func TestFaults(t *testing.T) {
	byDefault := textOption("d", "1")
	byDefault.Origins[0].Kind = matrix.OverlayDefaults
	plugin := textOption("plugin_load_add", "x")
	plugin.Origins[0].Kind = matrix.OverlayServer
	s := &matrix.Settings{Adjusted: []string{"allowed"}, Unverified: []string{"unproven"}}
	tests := []struct {
		name string
		v    InForce
		want string // part of the fault; "": none
	}{
		{"verified", InForce{Option: textOption("x", "1"), Verdict: Verified}, ""},
		{"adjusted", InForce{Option: textOption("x", "1"), Asked: "1", Got: "2", Source: "s", Verdict: Adjusted}, `experiment.hcl:7: x was asked 1, is 2 (adjusted); set a value that the server takes, or say adjusted = ["x"]`},
		{"granule", InForce{Option: textOption("x", "1"), Verdict: Adjusted, Granule: true}, ""},
		{"adjusted and allowed", InForce{Option: textOption("allowed", "1"), Verdict: Adjusted}, ""},
		{"contradicted although adjusting is allowed", InForce{Option: textOption("allowed", "1"), Verdict: Contradicted}, "set the option to null"},
		{"unverifiable", InForce{Option: textOption("x", "1"), Verdict: Unverifiable}, `say unverified = ["x"]`},
		{"unverifiable and allowed", InForce{Option: textOption("unproven", "1"), Verdict: Unverifiable}, ""},
		{"of defaults", InForce{Option: byDefault, Verdict: Contradicted}, ""},
		{"a plugin of the server block", InForce{Option: plugin, Verdict: Contradicted}, "plugin_load_add"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Faults(s, []InForce{tt.v})
			if (len(got) == 1) != (tt.want != "") || len(got) == 1 && !strings.Contains(got[0], tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		text, option string
		want         bool
	}{
		{"unknown variable 'innodb-x=1'", "innodb_x", true},
		{"unknown variable 'innodb_x_y=1'", "innodb_x", false},
		{"unknown option '--nosuch'", "nosuch", true},
		{"the my_innodb_x is wrong", "innodb_x", false},
		{"INNODB_X", "innodb_x", true},
		{"unknown variable 'loose_innodb_x=1'", "innodb_x", true},
		{"unknown variable 'loose-innodb-x=1'", "innodb_x", true},
		{"unknown variable 'my_loose_innodb_x=1'", "innodb_x", false},
		{"", "x", false},
	}
	for _, tt := range tests {
		if got := names(tt.text, tt.option); got != tt.want {
			t.Errorf("%q names %s: got %v", tt.text, tt.option, got)
		}
	}
}
