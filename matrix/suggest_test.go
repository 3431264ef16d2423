package matrix

import "testing"

func TestNearest(t *testing.T) {
	levels := []string{"none", "c0", "c1", "zstd", "innodb_buffer_pool_size", "innodb_log_file_size"}
	tests := []struct {
		name  string
		known []string
		want  string
	}{
		{"innodb_bufer_pool_size", levels, "innodb_buffer_pool_size"},
		{"innodb_buffer_pool_szie", levels, "innodb_buffer_pool_size"}, // two replaced
		{"INNODB_LOG_FILE_SIZE", levels, "innodb_log_file_size"},
		{"zst", levels, "zstd"},
		{"nome", levels, "none"},
		{"c2", levels, "c0"},    // the first of two as near
		{"c1", levels, "c0"},    // never the name itself
		{"p9", levels, ""},      // nothing in common
		{"snappy", levels, ""},  // too far
		{"zstdxyz", levels, ""}, // three inserted
		{"zstdxy", levels, "zstd"},
		{"", levels, ""},
		{"", []string{"a", "ab"}, ""},
		{"a", []string{"ab"}, "ab"},
		{"a", []string{"b"}, ""},
		{"größe", []string{"größen"}, "größen"}, // characters, not bytes
		{"日本", []string{"日木"}, "日木"},
		{"x", nil, ""},
		{"engnie", []string{"engines", "engine"}, "engine"}, // the nearer, not the first
	}
	for _, tt := range tests {
		if got := nearest(tt.name, tt.known); got != tt.want {
			t.Errorf("nearest(%q, %q) = %q, want %q", tt.name, tt.known, got, tt.want)
		}
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("innodb", "innobd", "rocksdb")
	f.Add("", "", "\xff")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		if len(name)+len(a)+len(b) > 1000 {
			return // quadratic
		}
		switch got := nearest(name, []string{a, b}); {
		case got != "" && got != a && got != b:
			t.Errorf("nearest(%q) = %q, which is not known", name, got)
		case got != "" && got == name:
			t.Errorf("nearest(%q) is the name itself", name)
		}
	})
}
