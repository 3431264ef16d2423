package server

import (
	"testing"

	"dbmatrix/matrix"
)

// TestFootprint tests what empty data directories are said to take against those
// that were seen (in MiB, a temporary tablespace of 12 with those of InnoDB), and
// what options and data add.
func TestFootprint(t *testing.T) {
	const MiB = 1 << 20
	tests := []struct {
		flavour, version string
		options          map[string]string
		data, want       uint64 // MiB
	}{
		{"mariadb", "10.5.23", nil, 0, 112 + 12},
		{"mariadb", "10.11.19", nil, 0, 114 + 12},
		{"mariadb", "11.8.9", nil, 0, 143 + 12},
		{"mariadb", "10.11.19", map[string]string{"innodb_log_file_size": "1G"}, 0, 114 + 12 + 1024 - 96},
		{"mariadb", "10.11.19", nil, 1000, 114 + 12 + 1000},
		{"mysql", "9.7.4", nil, 0, 188 + 12},
		{"mysql", "9.7.4", map[string]string{"innodb_redo_log_capacity": "4G"}, 0, 188 + 12 + 4096 - 100},
		{"mysql", "9.7.4", map[string]string{"innodb_log_file_size": "512M"}, 0, 188 + 12 + 2*512 - 100},
		{"postgres", "15.18.0", nil, 0, 39},
		{"postgres", "17.12.0", nil, 100, 39 + 100 + 200},
		{"postgres", "17.12.0", nil, 10000, 39 - 16 + 10000 + 1024},
		{"postgres", "17.12.0", map[string]string{"max_wal_size": "4096"}, 10000, 39 - 16 + 10000 + 4096},
	}
	for _, tt := range tests {
		s := &matrix.Settings{Server: &matrix.Server{Build: matrix.Build{Flavour: tt.flavour, Version: tt.version}}}
		for name, text := range tt.options {
			s.Options = append(s.Options, matrix.Option{Name: name, Value: matrix.OptionValue{Text: text}})
		}
		f, err := FlavourOf(tt.flavour)
		if err != nil {
			t.Fatal(err)
		}
		got, want := f.Dialect().Footprint(s, tt.data*MiB), tt.want*MiB
		if off := max(got, want) - min(got, want); off > 4*MiB {
			t.Errorf("%s %s %v with %d MiB of data: %d MiB, want %d", tt.flavour, tt.version, tt.options, tt.data, got/MiB, tt.want)
		}
	}
}
