package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

// doubtfulRuns returns one run of each cell of the model, of which nearly each has
// something else that makes it doubtful, or no result.
func doubtfulRuns(cells []*matrix.Cell) []Attempt {
	attempts := clean(cells)
	for i := range attempts {
		a := &attempts[i]
		a.Levels, a.Counts = levelsOf(cells[i]), true
		a.Facts["kernel"] = "6.1"
	}
	a := attempts
	a[0].Phases[2].Flags = []matrix.Flag{
		{Name: "foreign_cpu", Detail: "processes that are not of the run took 12.5 % of the CPU time"},
		{Name: "unread", Detail: "the log says: a | b || c_d"},
	}
	a[1].Status, a[1].Phases[2].Status, a[1].Phases[2].Message = matrix.SLAMissed, matrix.SLAMissed, "insert_benchmark query: achieved 9 of 10"
	a[2].Status, a[2].Counts = matrix.Interrupted, false
	a[2].Phases = a[2].Phases[:2]
	a[2].Phases[1].Status, a[2].Phases[1].Message = matrix.Interrupted, "Ctrl-C,\nafter 3 s"
	a[3].Status, a[3].Counts, a[3].Message, a[3].Phases = matrix.Crashed, false, "the server did not start: \"no\" file", nil
	a[4].Facts["kernel"] = "6.2"
	a[4].Phases[2].Flags = []matrix.Flag{{Name: "continued", Detail: "it was interrupted after iteration 1"}}
	a[5].Phases[1].Fingerprint, a[5].Phases[2].Fingerprint = "old", "old"
	a[6].Status, a[6].Counts, a[6].Message = matrix.Failed, false, "the server did not stop"
	a[7].Status, a[7].Counts, a[7].Message, a[7].Phases = matrix.Skipped, false, "another cell could not start", nil
	return attempts
}

// TestDoubtsRoundTrip checks that tables of what was exported and imported again
// are the tables of the original, footnotes and all.
func TestDoubtsRoundTrip(t *testing.T) {
	exp, cells := loadBlocks(t, `
table "query" {
  phase   = "query"
  missing = "-"
  column "qps" { format = "%.1f" }
  column "p99.query" { format = "%.2f" }
}
table "load" {
  missing = "-"
  column "ips" {
    phase  = "load"
    format = "%.0f"
  }
  column "qps" {
    phase  = "query"
    format = "%.0f"
  }
}
`)
	exp.Replicates = 1
	attempts := doubtfulRuns(cells)
	want, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: attempts, Eval: exp.Eval})
	failOn(t, exp.Files, diags)
	var file bytes.Buffer
	if err := NewExport(exp, cells, "host-a", attempts).CSV(&file); err != nil {
		t.Fatal(err)
	}
	read, err := ReadImport(&file, "copy", "copy.csv", []string{"engine", "compression", "clients", "host"})
	if err != nil {
		t.Fatal(err)
	}
	stored := ForStore("copy", "copy.csv", read)
	for name, imported := range map[string][]Attempt{"read": read, "recorded": importedAttempts(&stored)} {
		got, diags := Build(Input{Experiment: exp, Cells: cells, Attempts: imported, Eval: exp.Eval, Show: "copy"})
		failOn(t, exp.Files, diags)
		if diff := cmp.Diff(strings.Split(rendered(t, want, "text"), "\n"), strings.Split(rendered(t, got, "text"), "\n")); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	text := strings.Join(strings.Fields(rendered(t, want, "text")), " ")
	for _, said := range []string{
		"foreign cpu: processes that are not of the run took 12.5 % of the CPU time", "unread: the log says: a | b || c_d",
		"query missed its rate: achieved 9 of 10", "query was interrupted: Ctrl-C, after 3 s",
		`not reached: crashed: the server did not start: "no" file`, "continued: it was interrupted after iteration 1",
		"measured with other inputs than the definition has now (stale)", "skipped: another cell could not start",
		"the rows differ in kernel: 6.1", "load ran once for several cells, which show the one measurement",
	} {
		if !strings.Contains(text, said) {
			t.Errorf("the original does not say %q:\n%s", said, rendered(t, want, "text"))
		}
	}
}

// TestExportsTellDoubts checks that every format of an export says what is doubtful,
// and what has no number.
func TestExportsTellDoubts(t *testing.T) {
	exp, cells := loadBlocks(t, "")
	e := NewExport(exp, cells, "host-a", doubtfulRuns(cells))
	var long, wide, doc, bench bytes.Buffer
	for _, err := range []error{e.LongCSV(&long), e.CSV(&wide), e.JSON(&doc), e.Benchfmt(&bench)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string]string{"long": long.String(), "wide": wide.String()} {
		records, err := csv.NewReader(strings.NewReader(file)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := func(heading string) int { return slices.Index(records[0], heading) }
		said := map[string]bool{}
		for _, r := range records[1:] {
			said[r[column("status")]+" "+r[column("message")]+" "+r[column("doubtful")]] = true
		}
		for _, want := range []string{
			"ok  foreign_cpu: processes that are not of the run took 12.5 % of the CPU time | unread: the log says: a || b |||| c_d",
			"sla_missed insert_benchmark query: achieved 9 of 10 ", "interrupted Ctrl-C, after 3 s ",
			`crashed the server did not start: "no" file `, "ok  stale: measured with other inputs than the definition has now (stale)",
		} {
			if !said[want] {
				t.Errorf("%s: nothing says %q", name, want)
			}
		}
	}
	var parsed exportDocument
	if err := json.Unmarshal(doc.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	if got := parsed.Attempts[0].Phases[2].Doubtful; len(got) != 2 || got[1] != (exportDoubt{"unread", "the log says: a | b || c_d"}) {
		t.Errorf("JSON: %+v", got)
	}
	if !parsed.Attempts[5].Stale || parsed.Attempts[4].Stale {
		t.Error("JSON does not tell which attempt is stale")
	}
	for _, line := range []string{
		"# engine=inno,compression=c0,clients=1,host=only, replicate 1, doubtful: foreign_cpu: processes that are not of the run took 12.5 % of the CPU time\n",
		"# engine=inno,compression=c0,clients=4,host=only, replicate 1, query sla_missed: insert_benchmark query: achieved 9 of 10\n",
		"# engine=inno,compression=c1,clients=4,host=only, replicate 1, has no result: crashed: the server did not start: \"no\" file\n",
	} {
		if !strings.Contains(bench.String(), line) {
			t.Errorf("benchfmt does not say %q:\n%s", line, bench.String())
		}
	}
}

// FuzzDoubts checks that doubts are read back as they were written.
func FuzzDoubts(f *testing.F) {
	f.Add("swap", "12 pages", "steal", "a | b")
	f.Add("unread", "|", "x", " || ")
	f.Fuzz(func(t *testing.T, name, detail, other, more string) {
		want := []matrix.Flag{{Name: name, Detail: detail}, {Name: other, Detail: more}}
		for _, flag := range want {
			marked, oneWord := strings.ContainsAny(flag.Name, ":|"), len(strings.Fields(flag.Name)) == 1 && strings.TrimSpace(flag.Name) == flag.Name
			written := visible(withoutExponents(oneLine(strings.TrimSpace(flag.Detail))))
			if marked || !oneWord || visible(flag.Name) != flag.Name || withoutExponents(flag.Name) != flag.Name || written != flag.Detail {
				t.Skip()
			}
		}
		if diff := cmp.Diff(want, parseDoubts(formatDoubts(want))); diff != "" {
			t.Errorf("%q: -want +got\n%s", formatDoubts(want), diff)
		}
	})
}
