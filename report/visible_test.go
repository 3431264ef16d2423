package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// TestVisible checks what is written as its number, and what stays.
func TestVisible(t *testing.T) {
	tests := []struct{ text, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"größer ≥ 5 µs", "größer ≥ 5 µs"},
		{"a\u202eb", `a\u202eb`},
		{"\x00\x1b[31m", `\u0000\u001b[31m`},
		{"\u0085\u009b", `\u0085\u009b`},
		{"\u2066\u2069\u200b\ufeff\u2028", `\u2066\u2069\u200b\ufeff\u2028`},
		{"\U000e0041", `\U000e0041`},
		{"\u200d\u200c", "\u200d\u200c"}, // scripts need them
		{"\xff", "\ufffd"},
	}
	for _, tt := range tests {
		if got := visible(tt.text); got != tt.want {
			t.Errorf("visible(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// acting are characters that act on what shows them.
const acting = "\x00\x07\x1b\x7f\u0085\u009b\u200e\u202e\u2066\ufeff"

// TestNothingInvisible checks that no format writes a character that acts on what
// shows it, wherever it comes from.
func TestNothingInvisible(t *testing.T) {
	exp, cells := loadBlocks(t, `
table "t\u202e" {
  title   = "title \u202e\u001b[2J"
  phase   = "query"
  label {
    heading = "la\u009bbel"
    text    = "\u202e${axis.engine}.${axis.compression}.${axis.clients}\u001b"
  }
  group {
    key     = axis.engine
    heading = "\u2066group"
    style   = "heading"
  }
  column "q\u202eps" {
    of      = "qps"
    heading = ["\u0007", "q\u202e"]
  }
}
text "x" { body = "text\u202e \u001b[0m" }
chart "c" {
  kind  = "bar"
  title = "ch\u202eart"
  phase = "query"
  x     = "engine"
  y     = "qps"
}
`)
	exp.Title, exp.Description, exp.Source = "T\u202e", "D\x1b[0m", "S\u009b"
	attempts := clean(cells)
	for i := range attempts {
		attempts[i].Counts, attempts[i].Levels = true, levelsOf(cells[i])
		attempts[i].Facts["kernel"] = "6.1" + acting
		attempts[i].Phases[2].Flags = []matrix.Flag{{Name: "swap", Detail: "of" + acting}}
	}
	attempts[0].Status, attempts[0].Phases[2].Status, attempts[0].Phases[2].Message = matrix.Failed, matrix.Failed, acting+" server's"
	attempts[0].Levels["engine"] += "\u202e"
	doc, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval, Appendix: 10})
	failOn(t, exp.Files, diags)
	outputs := map[string]string{}
	for format := range Formats() {
		outputs[format] = rendered(t, doc, format)
	}
	e := NewExport(exp, cells, "host-a", attempts)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"export csv":      func(b *bytes.Buffer) error { return e.CSV(b) },
		"export long csv": func(b *bytes.Buffer) error { return e.LongCSV(b) },
		"export json":     func(b *bytes.Buffer) error { return e.JSON(b) },
		"export benchfmt": func(b *bytes.Buffer) error { return e.Benchfmt(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		outputs[name] = b.String()
	}
	for name, text := range outputs {
		if len(text) < 100 {
			t.Errorf("%s: %q is not much", name, text)
		}
		for i, c := range text {
			if acts(c) {
				t.Errorf("%s holds %U: %q", name, c, text[max(0, i-40):i+10])
				break
			}
		}
	}
}

// TestImportInvisible checks that a file with such characters is refused, with the
// place.
func TestImportInvisible(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"NUL in a heading", "engine,phase,ips\x00\ninno,load,1\n", "p.csv:1:14: the heading \"ips\\x00\" holds the character U+0000, which no table can show; take it out"},
		{"a direction in an axis", "engi\u202ene,phase,ips\ninno,load,1\n", "p.csv:1:1: the heading \"engi\\u202ene\" holds the character U+202E, which no table can show; take it out"},
		{"an escape in a level", "engine,phase,ips\ninno,load,1\nin\x1bno,load,1\n", "p.csv:3:1: the value \"in\\x1bno\" holds the character U+001B, which no table can show; take it out"},
		{"a direction in a value", "engine,phase,ips\ninno,load,1\u200f\n", "p.csv:2:11: the value \"1\\u200f\" holds the character U+200F, which no table can show; take it out"},
		{"blanks around a heading", "engine,phase, ips\ninno,load,1\n", "p.csv:1:14: the heading \" ips\" has blanks around it; take them out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadImport(strings.NewReader(tt.text), "published", "p.csv", []string{"engine", "io"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// TestImportNumbers checks that each number is read as it is meant, or refused with
// its place and the way out.
func TestImportNumbers(t *testing.T) {
	const (
		notation = "which is a number in another notation: write it in decimal digits with a point and nothing between thousands, as 1234.5"
		beyond   = "which is beyond the largest number (1.8e308)"
		tiny     = "which is nearer to 0 than a number here can be (5e-324)"
		none     = "which is no number"
	)
	tests := []struct {
		text  string
		want  float64
		fault string
	}{
		{"5", 5, ""}, {"+5", 5, ""}, {"-5", -5, ""}, {".5", 0.5, ""}, {"5.", 5, ""}, {"1e3", 1000, ""}, {"1E+3", 1000, ""}, {"007", 7, ""},
		{" 5", 5, ""}, {"5 ", 5, ""}, {"\t5\u00a0", 5, ""}, {"0", 0, ""}, {"-0.0", 0, ""}, {"0e5", 0, ""}, {"11XX", 1100, ""}, {"5e-324", 5e-324, ""},
		{"1.7976931348623157e308", 1.7976931348623157e308, ""},
		{"nan", 0, none}, {"NaN", 0, none}, {"inf", 0, none}, {"-Inf", 0, none}, {"+infinity", 0, none},
		{"1e400", 0, beyond}, {"-1e309", 0, beyond}, {"1e-400", 0, tiny},
		{"0x10", 0, notation}, {"0b11", 0, notation}, {"0x1p4", 0, notation}, {"1,5", 0, notation}, {"1_000", 0, notation}, {"1,234.5", 0, notation},
		{"1.234,5", 0, notation}, {"1 000", 0, notation}, {"1'000", 0, notation}, {"\u22125", 0, notation}, {"\uff11\uff12", 0, notation}, {"\u0661", 0, notation},
		{"5%", 0, none}, {"5 ms", 0, none}, {"1.2.3", 0, none}, {"--5", 0, none}, {"+-5", 0, none}, {"1e", 0, none}, {"e5", 0, none}, {"1e5.5", 0, none}, {"\u00bd", 0, none},
	}
	for _, tt := range tests {
		for _, column := range []string{"ips", "own"} { // of the library, and one of the file's own
			var file bytes.Buffer
			w := csv.NewWriter(&file)
			lines := [][]string{{"engine", "phase", column}, {"inno", "load", tt.text}, {"rocks", "load", "1"}, {"", "load", "2"}}
			if err := w.WriteAll(lines); err != nil {
				t.Fatal(err)
			}
			attempts, err := ReadImport(&file, "published", "p.csv", []string{"engine", "io"})
			if tt.fault != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "p.csv:2:11: "+column+" is ") || !strings.Contains(err.Error(), tt.fault+"; where there is none, the value is empty or X") {
					t.Errorf("%q in %s: error %v, want %s", tt.text, column, err, tt.fault)
				}
				continue
			}
			if err != nil {
				t.Errorf("%q in %s: %v", tt.text, column, err)
				continue
			}
			if v := attempts[0].Phases[0].Printed[column]; !v.Known || v.Number != tt.want || v.Text != strings.TrimSpace(tt.text) {
				t.Errorf("%q in %s is %+v, want %g", tt.text, column, v, tt.want)
			}
		}
	}
	// A column in another notation throughout is none of words.
	for _, text := range []string{"1,5", "0x10", "nan", "1e400"} {
		file := "engine,phase,own\ninno,load,\"" + text + "\"\nrocks,load,\"" + text + "\"\n"
		if _, err := ReadImport(strings.NewReader(file), "p", "p.csv", []string{"engine"}); err == nil || !strings.Contains(err.Error(), "p.csv:3:12: own is ") {
			t.Errorf("a column of %q: %v", text, err)
		}
	}
	// Versions and names are words.
	file := "engine,phase,own\ninno,load,10.11.19\nrocks,load,9.7.0\n,load,16K\n"
	if _, err := ReadImport(strings.NewReader(file), "p", "p.csv", []string{"engine"}); err != nil {
		t.Errorf("a column of versions: %v", err)
	}
}
