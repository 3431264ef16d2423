package report

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHTMLEscapes checks that nothing that an experiment's author wrote becomes
// part of the page's own code.
func TestHTMLEscapes(t *testing.T) {
	const evil = `<script>alert(1)</script>"'`
	doc := buildModel(t, madeUp)
	doc.Title, doc.Description = evil, evil
	doc.Blocks = append(doc.Blocks, Block{Text: &Text{Name: evil, Markdown: "**bold** " + evil}})
	table := doc.Table("load")
	table.Title, table.Footnotes[0], table.Rows[0].Label, table.Rows[0].Cells[0].Text = evil, evil, evil, evil
	doc.Charts()[0].Drawing.Series[0], doc.Charts()[0].Drawing.Y.Title = evil, evil
	page := rendered(t, doc, "html")
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("the page has %d scripts, want its own", n)
	}
	if !strings.Contains(page, "<strong>bold</strong>") {
		t.Error("the Markdown of a text block is not converted")
	}
}

// TestHTMLStructure checks that each reference of a page has what it refers to,
// and that rows are as wide as the head.
func TestHTMLStructure(t *testing.T) {
	docs := map[string]*Document{"model": buildModel(t, madeUp)}
	for name := range published {
		docs[name] = buildPublished(t, name)
	}
	for name, doc := range docs {
		t.Run(name, func(t *testing.T) {
			page := rendered(t, doc, "html")
			ids := map[string]int{}
			for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
				if ids[m[1]]++; ids[m[1]] > 1 {
					t.Errorf("two elements are called %s", m[1])
				}
			}
			for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
				if ids[m[1]] == 0 {
					t.Errorf("a link leads to %s, which is not there", m[1])
				}
			}
			for _, external := range []string{`src="`, "url(", "<link rel=\"stylesheet", "@import"} {
				if strings.Contains(page, external) {
					t.Errorf("the page needs something else: it holds %q", external)
				}
			}
			if got := strings.Count(page, "<svg"); got != len(doc.Charts()) {
				t.Errorf("%d charts, want %d", got, len(doc.Charts()))
			}
			for _, table := range regexp.MustCompile(`(?s)<table.*?</table>`).FindAllString(page, -1) {
				checkHTMLTable(t, table)
			}
		})
	}
}

// checkHTMLTable counts the columns of each row.
func checkHTMLTable(t *testing.T, text string) {
	type cell struct {
		Span int `xml:"colspan,attr"`
	}
	type tr struct {
		Heads []cell `xml:"th"`
		Cells []cell `xml:"td"`
	}
	var table struct {
		Head []tr `xml:"thead>tr"`
		Body []tr `xml:"tbody>tr"`
	}
	if err := xml.Unmarshal([]byte(text), &table); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	width := func(r tr) int {
		n := 0
		for _, c := range append(r.Heads, r.Cells...) {
			n += max(c.Span, 1)
		}
		return n
	}
	for _, r := range append(table.Head, table.Body...) {
		if width(r) != width(table.Head[0]) {
			t.Errorf("a row has %d columns, the head has %d", width(r), width(table.Head[0]))
		}
	}
}

// TestHTMLInBrowser loads the page in a browser: its script runs, sorts a table,
// and nothing is written to the console.
func TestHTMLInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("no chromium here, or a short test")
	}
	page := rendered(t, buildModel(t, madeUp), "html")
	click := "<script>const h = document.querySelector('#table-load thead button'); h.click();</script></body>"
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(strings.Replace(page, "</body>", click, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	var console strings.Builder
	c := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--window-size=390,800", "--dump-dom", "file://"+file)
	c.Stderr = &console
	dom, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, console.String())
	}
	if strings.Contains(console.String(), "CONSOLE") {
		t.Errorf("the console is not empty:\n%s", console.String())
	}
	sorted := regexp.MustCompile(`(?s)<table class="sortable sorted">.*?</table>`).FindString(string(dom))
	var values []string
	for _, m := range regexp.MustCompile(`<tr><td class="right" data-value="([0-9.]+)"`).FindAllStringSubmatch(sorted, -1) {
		values = append(values, m[1])
	}
	if got := strings.Join(values, " "); got != "13002 12002 11002 10002" {
		t.Errorf("after a click on the first heading its column reads %q, want it from high to low", got)
	}
}
