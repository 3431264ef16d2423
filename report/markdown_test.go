package report

import (
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// TestMarkdownParses reads the Markdown of every report here with a parser of
// GitHub's Markdown: each table is a table, and each of its rows has all columns.
func TestMarkdownParses(t *testing.T) {
	docs := map[string]*Document{"model": buildModel(t, madeUp)}
	for name := range published {
		docs[name] = buildPublished(t, name)
	}
	for name, doc := range docs {
		t.Run(name, func(t *testing.T) { checkMarkdown(t, doc) })
	}
}

func checkMarkdown(t *testing.T, doc *Document) {
	source := []byte(rendered(t, doc, "markdown"))
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	tables := doc.tables()
	found := 0
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		table, ok := n.(*east.Table)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		if found < len(tables) {
			checkMarkdownTable(t, source, table, tables[found])
		}
		found++
		return ast.WalkSkipChildren, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(tables) {
		t.Errorf("%d tables, want %d", found, len(tables))
	}
}

// checkMarkdownTable counts the rows and columns of a parsed table. A cell that
// holds a pipe without an escape would make one column too many, which the parser
// cuts off: the last cell of each row must be the one that was written.
func checkMarkdownTable(t *testing.T, source []byte, table *east.Table, want *Table) {
	l := layOut(want)
	if len(table.Alignments) != len(l.right) {
		t.Errorf("table %s: %d columns, want %d", want.Name, len(table.Alignments), len(l.right))
	}
	if rows := table.ChildCount() - 1; rows != len(l.lines) {
		t.Errorf("table %s: %d rows, want %d", want.Name, rows, len(l.lines))
	}
	i := 0
	for row := table.FirstChild().NextSibling(); row != nil && i < len(l.lines); row = row.NextSibling() {
		if row.ChildCount() != len(l.right) {
			t.Errorf("table %s, row %d: %d cells, want %d", want.Name, i, row.ChildCount(), len(l.right))
		}
		if line := l.lines[i]; line.between == "" {
			last := line.cells[len(line.cells)-1]
			if got := plainText(source, row.LastChild()); len(last.marks) == 0 && got != last.text {
				t.Errorf("table %s, row %d ends with %q, want %q", want.Name, i, got, last.text)
			}
		}
		i++
	}
}

// plainText returns the text of a node as a reader sees it.
func plainText(source []byte, n ast.Node) string {
	s := ""
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			s += string(t.Segment.Value(source))
		}
	}
	return unescape(s)
}

func unescape(s string) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

func TestEscape(t *testing.T) {
	tests := []struct{ text, want string }{
		{"ips.av", "ips.av"},
		{"rss_peak", "rss_peak"},
		{"_start", `\_start`},
		{"a|b", `a\|b`},
		{"a\nb", "a b"},
		{"1.03 ~", `1.03 \~`},
		{"<b>&*`[x]", "&lt;b>&amp;\\*\\`\\[x\\]"},
		{`back\slash`, `back\\slash`},
	}
	for _, tt := range tests {
		if got := escape(tt.text); got != tt.want {
			t.Errorf("escape(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
