package matrix

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Dialects of the two families of servers, as far as sizes and names go.
var (
	testMySQL = &Dialect{
		Units:     map[string]uint64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60},
		FoldUnits: true,
		Negations: true,
		Whole:     map[string]bool{"skip_networking": true, "skip_name_resolve": true},
		Aliases: map[string]string{
			"slow_query_log_filename": "slow_query_log_file",
			"skip_slave_start":        "skip_replica_start",
			"enable_old_checks":       "old_checks",
		},
	}
	testPostgres = &Dialect{
		Units:   map[string]uint64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40},
		Aliases: map[string]string{"sort_mem": "work_mem"},
	}
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		text string
		want uint64
	}{
		{"0", 0},
		{"0E", 0},
		{"1", 1},
		{"4096", 4096},
		{"16k", 16384},
		{"128M", 134217728},
		{"128m", 134217728},
		{"0128M", 134217728},
		{"35G", 35 << 30},
		{"1T", 1 << 40},
		{"1P", 1 << 50},
		{"15E", 15 << 60},
		{"16383P", 16383 << 50},
		{"18446744073709551615", math.MaxUint64},
	}
	for _, tt := range tests {
		if got, err := ParseSize(tt.text); err != nil || got != tt.want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func TestSizeFaults(t *testing.T) {
	tests := []struct {
		dialect    *Dialect
		text, want string
	}{
		{testMySQL, "", `an empty text is no size: write a whole number and, if need be, one of K, M, G, T, P, E right after it, such as "128M"`},
		{testMySQL, "-1M", `"-1M" is negative: a size is 0 or more`},
		{testMySQL, "+1M", `"+1M" is no size: write`},
		{testMySQL, "M", `"M" is no size: write`},
		{testMySQL, ".5G", `".5G" is no size: write`},
		{testMySQL, "0.5G", `"0.5G" is no whole number: write it in a smaller unit`},
		{testMySQL, "1.0", `"1.0" is no whole number`},
		{testMySQL, "128MB", `"128MB" has the unknown unit "MB": write a whole number and`},
		{testMySQL, "128 M", `"128 M" has the unknown unit " M"`},
		{testMySQL, "128M ", `"128M " has the unknown unit "M "`},
		{testMySQL, "1_000", `"1_000" has the unknown unit "_000"`},
		{testMySQL, "0x10", `"0x10" has the unknown unit "x10"`},
		{testMySQL, "1\u212a", "\"1\u212a\" has the unknown unit"}, // the Kelvin sign
		{testMySQL, "16E", `"16E" is too large: a size is less than 16 EiB`},
		{testMySQL, "18446744073709551616", `"18446744073709551616" is too large`},
		{testMySQL, "99999999999999999999K", `"99999999999999999999K" is too large`},
		{testPostgres, "128M", `"128M" has the unknown unit "M": write a whole number and, if need be, one of B, kB, MB, GB, TB right after it, such as "128kB"`},
		{testPostgres, "128KB", `"128KB" has the unknown unit "KB"`}, // case matters
		{&Dialect{}, "1K", `"1K" has the unknown unit "K": write a whole number`},
		{&Dialect{Units: map[string]uint64{"K": 0}, FoldUnits: true}, "1K", `"1K" has the unknown unit "K"`},
	}
	for _, tt := range tests {
		got, err := tt.dialect.Size(tt.text)
		if err == nil {
			t.Errorf("Size(%q) = %d, want the error %s", tt.text, got, tt.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Size(%q):\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestNormalise(t *testing.T) {
	tests := []struct {
		dialect    *Dialect
		text, want string
	}{
		{testMySQL, "128M", "134217728"},
		{testMySQL, "131072k", "134217728"},
		{testMySQL, "134217728", "134217728"},
		{testMySQL, "15E", "17293822569102704640"},
		{testMySQL, "16E", "16E"},
		{testMySQL, "0.5G", "0.5G"},
		{testMySQL, "-1M", "-1M"},
		{testMySQL, "007", "007"}, // may be a text
		{testMySQL, "", ""},
		{testMySQL, "M", "M"},
		{testMySQL, "O_DIRECT", "O_DIRECT"},
		{testMySQL, "ibdata1:12M:autoextend", "ibdata1:12M:autoextend"},
		{testPostgres, "128MB", "134217728B"},
		{testPostgres, "131072kB", "134217728B"},
		{testPostgres, "134217728B", "134217728B"},
		{testPostgres, "134217728", "134217728"}, // of blocks, say
		{testPostgres, "128M", "128M"},
		{testPostgres, "5min", "5min"},
		{&Dialect{}, "128M", "128M"},
	}
	for _, tt := range tests {
		if got := tt.dialect.Normalise(tt.text); got != tt.want {
			t.Errorf("Normalise(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, text := range []string{"", "0", "128M", "128MB", "0.5G", "-1", "16E", "18446744073709551616", "1\u212a", "1kB"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*Dialect{testMySQL, testPostgres, {}} {
			size, err := d.Size(text)
			normal := d.Normalise(text)
			if again := d.Normalise(normal); again != normal {
				t.Errorf("Normalise(%q) = %q, normalised again %q", text, normal, again)
			}
			if err != nil {
				if normal != text {
					t.Errorf("Normalise(%q) = %q, though it is no size", text, normal)
				}
				continue
			}
			if got, err := d.Size(normal); err != nil || got != size {
				t.Errorf("Size(%q) = %d, but of its normal form %q %d, %v", text, size, normal, got, err)
			}
		}
	})
}

func TestNumberText(t *testing.T) {
	tests := []struct{ expr, want string }{
		{`0`, "0"},
		{`-0`, "0"},
		{`0 * -1`, "0"},
		{`16`, "16"},
		{`-1`, "-1"},
		{`90.0`, "90"},
		{`0.1`, "0.1"},
		{`0.1 + 0.2`, "0.3"},
		{`0.7 + 0.1`, "0.8"},
		{`0.1 * 3`, "0.3"},
		{`1.1 * 1.1`, "1.21"},
		{`0.1 * 30`, "3"},
		{`1 / 8`, "0.125"},
		{`3 * (1 / 3)`, "1"},
		{`-2.50`, "-2.5"},
		{`1e6`, "1000000"},
		{`1048576`, "1048576"},
		{`1e21`, "1000000000000000000000"},
		{`1e-7`, "0.0000001"},
		{`18446744073709551615`, "18446744073709551615"},
		{`9007199254740993`, "9007199254740993"}, // no float64
		{`35 * 1024 * 1024 * 1024`, "37580963840"},
		{`9e63`, "9" + strings.Repeat("0", 63)},
		{`123456789.123456789`, "123456789.123456789"},
	}
	for _, tt := range tests {
		if got, err := numberText(number(t, tt.expr)); err != nil || got != tt.want {
			t.Errorf("numberText(%s) = %q, %v, want %q", tt.expr, got, err, tt.want)
		}
	}

	// Numbers that Go made have fewer bits than those of expressions.
	for _, tt := range []struct {
		value cty.Value
		want  string
	}{
		{cty.NumberFloatVal(0.1), "0.1"},
		{cty.NumberFloatVal(1 << 70), "1180591620717411303424"},
		{cty.NumberFloatVal(math.Copysign(0, -1)), "0"},
		{cty.NumberUIntVal(math.MaxUint64), "18446744073709551615"},
		{cty.NumberIntVal(math.MinInt64), "-9223372036854775808"},
		{cty.NumberVal(big.NewFloat(2.5)), "2.5"},
	} {
		if got, err := numberText(tt.value); err != nil || got != tt.want {
			t.Errorf("numberText(%#v) = %q, %v, want %q", tt.value, got, err, tt.want)
		}
	}
}

func TestNumberTextFaults(t *testing.T) {
	tests := []struct {
		value cty.Value
		want  string
	}{
		{number(t, `1 / 3`), `the number 0.333333... has no exact decimal form of at most 64 digits: round it, for instance with floor()`},
		{number(t, `-2 / 3`), `the number -0.666667... has no exact decimal form`},
		{number(t, `1e64`), `the number 1e+64 is too large or too close to 0`},
		{number(t, `1e-64`), `the number 1e-64 is too large or too close to 0`},
		{number(t, `1e1000`), `the number 1e+1000 is too large or too close to 0`},
		{number(t, `1e-1000`), `the number 1e-1000 is too large or too close to 0`},
		{cty.PositiveInfinity, `the number is infinite; something is divided by 0`},
		{cty.NegativeInfinity, `the number is infinite`},
		{cty.NullVal(cty.Number), `null is no number`},
		{cty.NullVal(cty.DynamicPseudoType), `null is no number`},
		{cty.UnknownVal(cty.Number), `the number is not known yet`},
		{cty.DynamicVal, `dynamic is no number`},
		{cty.StringVal("1"), `string is no number`},
		{cty.True, `bool is no number`},
	}
	for _, tt := range tests {
		got, err := numberText(tt.value)
		if err == nil {
			t.Errorf("numberText(%#v) = %q, want the error %s", tt.value, got, tt.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("numberText(%#v):\n got %v\nwant %s", tt.value, err, tt.want)
		}
	}
}

// number returns what an expression of numbers gives.
func number(t testing.TB, expr string) cty.Value {
	t.Helper()
	parsed, diags := hclsyntax.ParseExpression([]byte(expr), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := parsed.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return v
}

func FuzzNumberText(f *testing.F) {
	for _, text := range []string{"0", "-0", "0.1", "1e21", "-2.5e-3", "1e64", "18446744073709551615", "0.30000000000000004"} {
		f.Add(text)
	}
	plain := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 100 {
			return // cty's own parser takes long for a million digits
		}
		v, err := cty.ParseNumberVal(text)
		if err != nil {
			return
		}
		got, err := numberText(v)
		if err != nil {
			return
		}
		if !plain.MatchString(got) || got == "-0" {
			t.Fatalf("numberText(%s) = %q, which is no plain decimal", text, got)
		}
		want, ok := new(big.Rat).SetString(text)
		if have, _ := new(big.Rat).SetString(got); !ok || have.Cmp(want) != 0 {
			t.Errorf("numberText(%s) = %q, which is another number", text, got)
		}
	})
}

// TestOptionsOfSizes tests that a unit which the server does not have, and would
// misread, is refused where the option is a size.
func TestOptionsOfSizes(t *testing.T) {
	tests := []struct{ server, options, want string }{
		{"inno", `my_cnf = { innodb_buffer_pool_size = "64M" }`, ""},
		{"inno", `my_cnf = { innodb_buffer_pool_size = "67108864" }`, ""},
		{"inno", `my_cnf = { innodb_buffer_pool_size = "64MM" }`, `"64MM" has the unknown unit "MM"`},
		{"inno", `my_cnf = { innodb_buffer_pool_size = "1.5G" }`, "write it in a smaller unit"},
		{"inno", `my_cnf = { innodb_data_file_path = "12MM" }`, ""},
		{"pg15", `postgresql_conf = { shared_buffers = "64 MB" }`, ""},
		{"pg15", `postgresql_conf = { shared_buffers = "64M" }`, `"64M" has the unknown unit "M"`},
	}
	for _, tt := range tests {
		e, diags := loadText(t, "defaults {\n  server = server."+tt.server+"\n  "+tt.options+"\n}\nphase \"p\" {\n  workload \"bench\" { step = \"load\" }\n}\n")
		if !diags.HasErrors() {
			_, diags = e.Expand()
		}
		if got := diags.Error(); diags.HasErrors() != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.options, got, tt.want)
		}
	}
}
