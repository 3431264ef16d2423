package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func metrics(values map[string]float64) Metrics {
	m := Metrics{}
	for name, v := range values {
		m.put(name, v)
	}
	return m
}

// TestColumnFormulas computes columns from metrics that yield numbers which were
// published: the first load of the insert benchmark and its first scan.
func TestColumnFormulas(t *testing.T) {
	const secs, cpus = 1000, 56
	load := metrics(map[string]float64{
		"secs": secs, "rows_inserted": 136752 * secs,
		"cpu_user": 0.15 * secs * cpus, "cpu_system": 0.058 * secs * cpus, "cpu_iowait": 0.1 * secs * cpus, "cpu_idle": 0.692 * secs * cpus, "cpu_steal": 0,
		"disk_reads": 324 * secs, "disk_read_bytes": 40.5 * 1000 * 1024 * secs, "disk_write_bytes": 547.5 * 1000 * 1024 * secs,
		"size_allocated": 226 << 30, "size_apparent": 452 << 30, "server_rss": 4.9 * (1 << 30), "context_switches": 5000 * secs,
		"lat_update_node_p99": 0.0009, "lat_insert_p95": 0.5, "lat_insert_max": 2, "ips_p99": 7905,
	})
	scan := metrics(map[string]float64{
		"secs": 89, "rows_read": 2e9, "disk_reads": 1e3, "disk_read_bytes": 100 * (1 << 30), "context_switches": 2e6,
		"cpu_user": 20 * 89 * cpus / 100.0, "cpu_system": 2.85 * 89 * cpus / 100.0, "cpu_iowait": 6.5 * 89 * cpus / 100.0, "cpu_idle": 70.65 * 89 * cpus / 100.0, "cpu_steal": 0,
	})
	tests := []struct {
		token   string
		metrics Metrics
		divisor int
		want    string
	}{
		{"ips", load, 0, "136752"},
		{"ips.av", load, 0, "136752"},
		{"ips.99", load, 0, "7905"},
		{"r/i", load, 0, "0"}, // 0.0024
		{"rkb/i", load, 0, "0.30"},
		{"wkb/i", load, 0, "4.00"},
		{"Mcpu/i", load, 0, "152"},
		{"size", load, 0, "226.0"},
		{"size", load, 1000, "237.0"},
		{"hole%", load, 0, "50.0"},
		{"hole%", metrics(map[string]float64{"size_allocated": 4096, "size_apparent": 4000}), 0, "0"},
		{"rss", load, 0, "4.9"},
		{"r/s", load, 0, "324"},
		{"rmb/s", load, 0, "40.5"},
		{"rMB/s", load, 0, "39.6"}, // 40500 / 1024
		{"rMB/s", load, 1000, "40.5"},
		{"wmb/s", load, 0, "547.5"},
		{"cpu", load, 0, "20.8"},
		{"cs/s", load, 0, "5000"},
		{"cs/i", load, 0, "0.037"},
		{"un", load, 0, "0.90"},
		{"p95.insert", load, 0, "500.00"},
		{"lat_insert_p95", load, 0, "0.500000"},
		{"maxop", load, 0, "2.000"},
		{"secs", scan, 0, "89"},
		{"rKB/o", scan, 0, "0.052"},
		{"rGB", scan, 0, "100"},
		{"cs/o", scan, 0, "0.001"},
		{"Mcpu/o", scan, 0, "1.017"},
		{"wa.sec", scan, 0, "5.8"},
		{"qps", load, 0, "missing"},
		{"r/q", load, 0, "missing"},
		{"rss.peak", load, 0, "missing"},
		{"ips", metrics(map[string]float64{"secs": 0, "rows_inserted": 5}), 0, "missing"},
	}
	library := NewLibrary()
	for _, tt := range tests {
		spec := library.Lookup(tt.token)
		if spec == nil {
			t.Errorf("%s: no such column", tt.token)
			continue
		}
		got := "missing"
		if v := spec.Value(tt.metrics, tt.divisor); v.Known {
			f, err := parseFormat(spec.Format)
			if err != nil {
				t.Fatal(err)
			}
			got = f.print(v.Number)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.token, got, tt.want)
		}
	}
}

// TestLibrary checks that each column can be told from the others and explains
// itself, and that each published token is in it.
func TestLibrary(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Columns() {
		if seen[s.Token] {
			t.Errorf("%s stands twice", s.Token)
		}
		seen[s.Token] = true
		if s.Legend == "" || s.Formula == "" || s.Source == "" || s.value == nil {
			t.Errorf("%s does not say what it is: %+v", s.Token, s)
		}
		if _, err := parseFormat(s.Format); err != nil {
			t.Errorf("%s: %v", s.Token, err)
		}
		if v := s.Value(Metrics{}, 0); v.Known {
			t.Errorf("%s is %v where nothing was recorded", s.Token, v.Number)
		}
	}
	for _, token := range []string{
		"ips", "ips.av", "ips.75", "ips.95", "ips.99", "qps", "qps.av", "qps.99", "tps", "gb", "size", "rss", "secs",
		"r/i", "rkb/i", "wkb/i", "Mcpu/i", "r/q", "rkb/q", "Mcpu/q", "r/t", "rkb/t", "wkb/t", "Mcpu/t",
		"r/s", "rmb/s", "wmb/s", "rMB/s", "wMB/s", "cpu", "r/o", "rKB/o", "wKB/o", "rGB", "cs/o", "Mcpu/o", "wa.sec",
		"un", "gn", "ul", "gl", "wal_gb", "wal_mb",
	} {
		if !seen[token] {
			t.Errorf("%s is in a published table, but not in the library", token)
		}
	}
}

// TestLatencyTokens checks what the columns of response times say that they are.
func TestLatencyTokens(t *testing.T) {
	library := NewLibrary()
	for token, want := range map[string]string{
		"p99.query":                 "ms: response time of query that 99% stay below, milliseconds",
		"lat_query_p99":             "s: response time of query that 99% stay below, seconds",
		"lat_transaction_mean":      "s: response time of transaction on average, seconds",
		"lat_get_links_list_max":    "s: response time of get_links_list of the longest one, seconds",
		"lat_new_order_p50":         "s: response time of new_order that 50% stay below, seconds",
		"lat_qurey_p99":             "", // recorded by no workload
		"lat_update_node_p99_upper": "",
		"lat_query":                 "",
	} {
		got := ""
		if s := library.Lookup(token); s != nil {
			got = s.Unit + ": " + s.Legend
		}
		if got != want {
			t.Errorf("%s is %q, want %q", token, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	library := NewLibrary()
	for token, want := range map[string]string{
		"Ips": "ips", "mcpu/i": "Mcpu/i", "RMB/S": "rMB/s", "ips.aw": "ips.av", "rss.peek": "rss.peak", "something else": "",
	} {
		if got := library.Nearest(token); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", token, got, want)
		}
	}
}

func TestParseValue(t *testing.T) {
	tests := []struct {
		text string
		want Value
	}{
		{"487", Value{487, true, "487"}},
		{"11XX", Value{1100, true, "11XX"}},
		{"-0.30", Value{-0.3, true, "-0.30"}},
		{"1e3", Value{1000, true, "1e3"}},
		{"X", Value{0, false, "X"}},
		{"1.1X", Value{0, false, "1.1X"}},
		{"NA", Value{0, false, "NA"}},
		{"0x10", Value{0, false, "0x10"}},
		{"1_000", Value{0, false, "1_000"}},
		{"inf", Value{0, false, "inf"}},
		{"1-2", Value{0, false, "1-2"}},
		{"", Value{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, ParseValue(tt.text)); diff != "" {
			t.Errorf("ParseValue(%q): -want +got\n%s", tt.text, diff)
		}
	}
}

func TestFormat(t *testing.T) {
	tests := []struct {
		format string
		x      float64
		want   string
	}{
		{"%.0f", 2.5, "3"},
		{"%.0f", 0.5, "1"},
		{"%.0f", -2.5, "-3"},
		{"%.2f", 1.005, "1.01"},
		{"%.1f", 0.05, "0.1"},
		{"%.1f", 0.04, "0"},
		{"%.1f", -0.04, "0"},
		{"%.2f", 4, "4.00"},
		{"%d", 1234.5, "1235"},
		{"%.6f", 117.369221, "117.369221"},
		{"%.3g", 123456, "123456"},
		{"%.3g", 0.00123456, "0.00123"},
		{"%g", 0.1, "0.1"},
		{"%.1f%%", 12.34, "12.3%"},
		{"about %d GB", 7.4, "about 7 GB"},
		{"%6.1f", 1, "1.0"},
		{"%.2e", 12345, "1.23e+04"},
		{"%.1f", math.Inf(1), "inf"},
		{"%.2f", 1e21, "1000000000000000000000.00"},
	}
	for _, tt := range tests {
		f, err := parseFormat(tt.format)
		if err != nil {
			t.Errorf("%s: %v", tt.format, err)
			continue
		}
		if got := f.print(tt.x); got != tt.want {
			t.Errorf("%s of %v: %q, want %q", tt.format, tt.x, got, tt.want)
		}
	}
	for _, bad := range []string{"", "text", "%", "%.", "%q", "%d %d", "%.99f"} {
		if _, err := parseFormat(bad); err == nil {
			t.Errorf("format %q is taken", bad)
		}
	}
}

func TestCommonFormat(t *testing.T) {
	tests := []struct {
		values []float64
		want   []string
	}{
		{[]float64{297, 425}, []string{"297", "425"}},
		{[]float64{0.5, 2}, []string{"0.5", "2.0"}},
		{[]float64{1.234, 2}, []string{"1.23", "2.00"}},
		{[]float64{123.456, 0}, []string{"123.5", "0"}},
		{[]float64{5000.7, 1.5}, []string{"5001", "2"}},
	}
	for _, tt := range tests {
		f := common(tt.values)
		for i, x := range tt.values {
			if got := f.print(x); got != tt.want[i] {
				t.Errorf("%v in %v: %s, want %s", x, tt.values, got, tt.want[i])
			}
		}
	}
}

// TestFittedFormat checks that small numbers are told, by decimals that the whole
// column has.
func TestFittedFormat(t *testing.T) {
	tests := []struct {
		format string
		values []float64
		want   []string
	}{
		{"%.0f", []float64{0.3, 0.71}, []string{"0.30", "0.71"}},
		{"%.0f", []float64{0.3, 42}, []string{"0.30", "42.00"}},
		{"%.0f", []float64{0.3, 1200}, []string{"0.3", "1200.0"}},
		{"%.0f", []float64{0.3, 136752}, []string{"0", "136752"}},
		{"%.0f", []float64{3, 4}, []string{"3", "4"}}, // counts
		{"%.0f", []float64{20.4, 310.7}, []string{"20", "311"}},
		{"%.1f", []float64{0.146, 0.15}, []string{"0.15", "0.15"}},
		{"%.1f", []float64{0.1, 0}, []string{"0.1", "0"}},
		{"%.2f", []float64{0.0024}, []string{"0.0024"}},
		{"%.2f", []float64{34.379, 0.0003}, []string{"34.38", "0"}},
		{"%.2f", []float64{-0.0024, math.Inf(1)}, []string{"-0.0024", "inf"}},
		{"%.3g", []float64{0.0001234}, []string{"0.000123"}},
	}
	for _, tt := range tests {
		f, err := parseFormat(tt.format)
		if err != nil {
			t.Fatal(err)
		}
		f = f.fitted(tt.values)
		var got []string
		for _, x := range tt.values {
			got = append(got, f.print(x))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s of %v: -want +got\n%s", tt.format, tt.values, diff)
		}
	}
}

// FuzzFormat checks that every number is printed as a number that differs from
// it by no more than half a unit of its last digit.
func FuzzFormat(f *testing.F) {
	for _, x := range []float64{0, 0.5, 1.005, -2.5, 1e300, 5e-324, 123456.789} {
		f.Add(x, 2)
	}
	f.Fuzz(func(t *testing.T, x float64, n int) {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1e15 || n < 0 || n > 6 {
			return
		}
		text := decimals(n).print(x)
		v := ParseValue(text)
		if !v.Known {
			t.Fatalf("%v is printed as %q, which is no number", x, text)
		}
		// The sum of two roundings to float64 stays below a millionth.
		if d := math.Abs(v.Number - x); d > math.Pow10(-n)/2*(1+1e-6)+math.Abs(x)*1e-15 {
			t.Fatalf("%v is printed as %q, which is %v off", x, text, d)
		}
		if text != "0" && decimalsOf(text) != n {
			t.Fatalf("%v is printed as %q, want %d decimals", x, text, n)
		}
	})
}
