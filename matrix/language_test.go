package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

// reference is the documentation of the language.
var reference = filepath.Join("..", "docs", "language.md")

// TestReferenceExamples loads every example of the reference. One without phases
// or defaults gets some.
func TestReferenceExamples(t *testing.T) {
	text, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$").FindAllStringSubmatchIndex(string(text), -1)
	if len(blocks) < 8 {
		t.Errorf("%d examples, want at least 8", len(blocks))
	}
	for _, b := range blocks {
		src := string(text[b[2]:b[3]])
		line := strings.Count(string(text[:b[2]]), "\n") + 1
		t.Run(fmt.Sprintf("line %d", line), func(t *testing.T) {
			if formatted := string(Format([]byte(src))); formatted != src {
				t.Errorf("the example is not as `dbmatrix fmt` writes it:\n%s", cmp.Diff(src, formatted))
			}
			if !strings.Contains(src, "defaults {") {
				src += "defaults { server = server.mariadb }\n"
			}
			if !strings.Contains(src, "phase \"") {
				src += "phase \"load\" {\n  workload \"insert_benchmark\" { step = \"load\" }\n}\n"
			}
			e, diags := loadText(t, src, referenceOptions)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if _, diags := e.Expand(); len(diags) > 0 {
				t.Fatal(diags)
			}
		})
	}
}

// referenceOptions are the servers and workloads that the examples name.
func referenceOptions(o *LoadOptions) {
	o.Found = []*Server{{Name: "mariadb", Mysqld: "/usr/sbin/mariadbd"}}
	number := func(name string) Attribute { return Attribute{Name: name, Type: cty.Number} }
	o.Workloads = []WorkloadType{{
		Name: "insert_benchmark", Version: 1, WarmUp: true,
		Attributes: []Attribute{
			{Name: "step", Type: cty.String, Required: true}, {Name: "engine", Type: cty.String},
			number("tables"), number("rows"), number("clients"), number("insert_rate"), number("seconds"),
		},
	}}
}

// TestReferenceFunctions compares the reference's list of functions with those
// that there are.
func TestReferenceFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString("| function | gives | example |\n|---|---|---|\n")
	for _, f := range FunctionDocs() {
		example := fmt.Sprintf("`%s` is `%s`", f.Example, f.Result)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", pipes(f.Signature), pipes(f.Summary), pipes(example))
	}
	generated(t, "functions", b.String())
}

// TestReferenceReportFunctions compares the reference's list of the functions that
// reports have.
func TestReferenceReportFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString("| function | gives | example |\n|---|---|---|\n")
	for _, f := range ReportFunctionDocs() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", pipes(f.Signature), pipes(f.Summary), pipes(f.Example))
	}
	generated(t, "report functions", b.String())
}

// TestReferenceIdentity compares the reference's table of what runs again with
// the rules that are tested.
func TestReferenceIdentity(t *testing.T) {
	var b strings.Builder
	b.WriteString("| what is edited | runs again | does not |\n|---|---|---|\n")
	for _, r := range identityRules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.rule, dash(r.again.says), dash(r.kept.says))
	}
	generated(t, "identity", b.String())
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// pipes keeps a text in one cell of a Markdown table.
func pipes(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// generated compares a part of the reference, between two comments, with what it
// is made from.
func generated(t *testing.T, name, want string) {
	t.Helper()
	text, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), "<!-- "+name+" -->\n")
	got, tail, ok2 := strings.Cut(rest, "<!-- end "+name+" -->\n")
	if !ok1 || !ok2 {
		t.Fatalf("%s has no part %s", reference, name)
	}
	want = "\n" + want + "\n"
	if *update {
		text := head + "<!-- " + name + " -->\n" + want + "<!-- end " + name + " -->\n" + tail
		if err := os.WriteFile(reference, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, part %s (-want +got); -update writes it:\n%s", reference, name, diff)
	}
}
