package report

import (
	"encoding/xml"
	"fmt"
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
			if got := strings.Count(page, "<svg") - strings.Count(page, "<figure>"); got != len(doc.Charts()) {
				t.Errorf("%d charts, want %d", got, len(doc.Charts()))
			}
			for _, table := range regexp.MustCompile(`(?s)<table.*?</table>`).FindAllString(page, -1) {
				checkHTMLTable(t, table)
			}
		})
	}
}

// checkHTMLTable counts the columns of each row, those included that a cell of an
// earlier row reaches down to.
func checkHTMLTable(t *testing.T, text string) {
	type cell struct {
		Columns int `xml:"colspan,attr"`
		Rows    int `xml:"rowspan,attr"`
	}
	type tr struct {
		Heads []cell `xml:"th"`
		Cells []cell `xml:"td"`
	}
	var table struct {
		Head []tr `xml:"thead>tr"`
		Body []tr `xml:"tbody>tr"`
		Foot []tr `xml:"tfoot>tr"`
	}
	if err := xml.Unmarshal([]byte(text), &table); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	rows := append(append(table.Head, table.Body...), table.Foot...)
	widths := make([]int, len(rows))
	for i, r := range rows {
		for _, c := range append(r.Heads, r.Cells...) {
			for down := range max(c.Rows, 1) {
				widths[i+down] += max(c.Columns, 1)
			}
		}
	}
	for i, width := range widths {
		if width != widths[0] {
			t.Errorf("row %d has %d columns, the first has %d", i, width, widths[0])
		}
	}
}

// needBrowser returns a browser, or skips the test. Where tests may not skip for
// want of a program, it fails.
func needBrowser(t *testing.T) string {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	switch {
	case err == nil && !testing.Short():
		return browser
	case err != nil && os.Getenv("DBMATRIX_REQUIRE_SERVERS") == "1":
		t.Fatal("there is no chromium here; make tools installs it")
	}
	t.Skip("no chromium here, or a short test")
	return ""
}

// TestHTMLInBrowser loads the page in a browser, on a phone and on a desk: its
// script runs and sorts a table, everything that can be opened opens, nothing is
// wider than the window, and nothing is written to the console.
func TestHTMLInBrowser(t *testing.T) {
	browser := needBrowser(t)
	page := rendered(t, buildModel(t, madeUp), "html")
	for _, width := range []int{390, 1280} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			dom := openPage(t, browser, width, page, `
				document.querySelector("#table-load thead button").click();
				for (const d of document.querySelectorAll("details")) d.open = true;
				document.body.dataset.over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
				document.body.dataset.drawn = [...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().width > 100).length;`)
			sorted := regexp.MustCompile(`(?s)<table class="sortable sorted">.*?</table>`).FindString(dom)
			var values []string
			for _, m := range regexp.MustCompile(`<tr><td class="right" data-value="([0-9.]+)"`).FindAllStringSubmatch(sorted, -1) {
				values = append(values, m[1])
			}
			if got := strings.Join(values, " "); got != "13002 12002 11002 10002" {
				t.Errorf("after a click on the first heading its column reads %q, want it from high to low", got)
			}
			if !strings.Contains(dom, ` data-over="0"`) {
				t.Errorf("the page is wider than the window: %s", regexp.MustCompile(`data-over="[^"]*"`).FindString(dom))
			}
			if want := fmt.Sprintf(` data-drawn="%d"`, strings.Count(page, "<figure>")); !strings.Contains(dom, want) || strings.Contains(want, `"0"`) {
				t.Errorf("%s of the readings are drawn, want%s", regexp.MustCompile(`data-drawn="[^"]*"`).FindString(dom), want)
			}
		})
	}
}

// openPage opens a page in a window of a width, runs a script in it and returns
// what it is then.
func openPage(t *testing.T, browser string, width int, page, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(strings.Replace(page, "</body>", "<script>"+script+"</script></body>", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	var console strings.Builder
	c := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", fmt.Sprintf("--window-size=%d,800", width), "--dump-dom", "file://"+file)
	c.Stderr = &console
	dom, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, console.String())
	}
	if strings.Contains(console.String(), "CONSOLE") {
		t.Errorf("the console is not empty:\n%s", console.String())
	}
	return string(dom)
}

// TestHTMLWidth checks that a page is as wide as its tables where the window is, and
// that what lies below a row's name fades away and does not end as a number would.
func TestHTMLWidth(t *testing.T) {
	page := rendered(t, buildModel(t, madeUp), "html")
	for _, want := range []string{
		"main { width: fit-content; min-width: min(100%, 64rem); max-width: 100%;",
		".wide { overflow-x: auto;",
		"th:is([scope=row], .label):not(:first-child)::before { right: 100%; background: linear-gradient(to left,",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page's style lacks %q", want)
		}
	}
}
