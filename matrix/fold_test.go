package matrix

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFold(t *testing.T) {
	tests := []struct {
		dialect *Dialect
		name    string
		want    Folded
	}{
		{testMySQL, "innodb_flush_method", Folded{Name: "innodb_flush_method"}},
		{testMySQL, "innodb-flush-method", Folded{Name: "innodb_flush_method"}},
		{testMySQL, "InnoDB-Flush_Method", Folded{Name: "innodb_flush_method"}},
		{testMySQL, "loose_rocksdb", Folded{Name: "rocksdb", Loose: true}},
		{testMySQL, "Loose-rocksdb-max-open-files", Folded{Name: "rocksdb_max_open_files", Loose: true}},
		{testMySQL, "loose_loose_rocksdb", Folded{Name: "rocksdb", Loose: true}},
		{testMySQL, "loose", Folded{Name: "loose"}},
		{testMySQL, "loose_", Folded{Name: "loose_"}},
		{testMySQL, "loosely", Folded{Name: "loosely"}},

		// Aliases, also behind prefixes.
		{testMySQL, "slow-query-log-filename", Folded{Name: "slow_query_log_file"}},
		{testMySQL, "loose_slow_query_log_filename", Folded{Name: "slow_query_log_file", Loose: true}},
		{testMySQL, "skip_slow_query_log_filename", Folded{Name: "slow_query_log_file", Negated: true}},
		{testMySQL, "skip-slave-start", Folded{Name: "skip_replica_start"}},
		{testMySQL, "skip-replica-start", Folded{Name: "skip_replica_start"}},
		{testMySQL, "enable_old_checks", Folded{Name: "old_checks"}},

		// Negations.
		{testMySQL, "skip_log_bin", Folded{Name: "log_bin", Negated: true}},
		{testMySQL, "SKIP-LOG-BIN", Folded{Name: "log_bin", Negated: true}},
		{testMySQL, "disable_log_bin", Folded{Name: "log_bin", Negated: true}},
		{testMySQL, "enable_log_bin", Folded{Name: "log_bin"}},
		{testMySQL, "loose_skip_log_bin", Folded{Name: "log_bin", Negated: true, Loose: true}},
		{testMySQL, "skip_networking", Folded{Name: "skip_networking"}},
		{testMySQL, "loose_skip_networking", Folded{Name: "skip_networking", Loose: true}},
		{testMySQL, "disable_skip_name_resolve", Folded{Name: "skip_name_resolve", Negated: true}},
		{testMySQL, "skip", Folded{Name: "skip"}},
		{testMySQL, "skip_", Folded{Name: "skip_"}},
		{testMySQL, "skipper", Folded{Name: "skipper"}},

		// A prefix on top of another stays.
		{testMySQL, "skip_disable_log_bin", Folded{Name: "skip_disable_log_bin"}},
		{testMySQL, "skip_loose_log_bin", Folded{Name: "skip_loose_log_bin"}},
		{testMySQL, "loose_skip_skip_x", Folded{Name: "skip_skip_x", Loose: true}},

		// A dialect without negations.
		{testPostgres, "enable_seqscan", Folded{Name: "enable_seqscan"}},
		{testPostgres, "Enable-SeqScan", Folded{Name: "enable_seqscan"}},
		{testPostgres, "loose_work_mem", Folded{Name: "loose_work_mem"}},
		{testPostgres, "auto_explain.log_min_duration", Folded{Name: "auto_explain.log_min_duration"}},
		{testPostgres, "sort_mem", Folded{Name: "work_mem"}},

		{testMySQL, "", Folded{}},
		{testMySQL, "\u212aey", Folded{Name: "\u212aey"}}, // the Kelvin sign is no k
		{&Dialect{}, "A-b", Folded{Name: "a_b"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.dialect.Fold(tt.name)); diff != "" {
			t.Errorf("Fold(%q) (-want +got):\n%s", tt.name, diff)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, name := range []string{"", "skip_log_bin", "loose-skip-networking", "skip_slave_start", "sort_mem", "SKIP_SKIP_x", "disable_enable_loose_", "\xff-\u212a"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, d := range []*Dialect{testMySQL, testPostgres, {}} {
			got := d.Fold(name)
			if strings.ContainsAny(got.Name, "-ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				t.Errorf("Fold(%q) = %+v, which is not folded", name, got)
			}
			if (got.Name == "") != (name == "") {
				t.Errorf("Fold(%q) = %+v", name, got)
			}
			// A folded name is an option's own: it folds to itself.
			if again := d.Fold(got.Name); again.Name != got.Name || again.Negated || again.Loose {
				t.Errorf("Fold(%q) = %+v, folded again %+v", name, got, again)
			}
			// Two spellings of one name are one option.
			if other := d.Fold(strings.ReplaceAll(name, "_", "-")); other != got {
				t.Errorf("Fold(%q) = %+v, with dashes %+v", name, got, other)
			}
		}
	})
}
