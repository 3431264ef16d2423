package report

import (
	"fmt"
	"io"
	"sort"
	"strings"
)

// Options say how much of a document is written.
type Options struct {
	// Bare leaves out everything around a table: title, caption, footnotes,
	// legend. What remains is what a blog post prints between its own words.
	Bare bool
}

// A Renderer writes a document in one format.
type Renderer func(w io.Writer, d *Document, o Options) error

// Formats returns the renderers by the name of their format.
func Formats() map[string]Renderer {
	return map[string]Renderer{}
}

// Render writes a document in the named format.
func Render(w io.Writer, d *Document, format string, o Options) error {
	formats := Formats()
	render, ok := formats[format]
	if !ok {
		names := make([]string, 0, len(formats))
		for name := range formats {
			names = append(names, name)
		}
		sort.Strings(names)
		return fmt.Errorf("there is no report format %q; the formats are %s", format, strings.Join(names, ", "))
	}
	return render(w, d, o)
}
