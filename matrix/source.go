package matrix

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// machineFile is the name of the file that says what a host has. It lies beside
// or above an experiment and is never part of one.
const machineFile = "machine.hcl"

// A source is the files of one experiment.
type source struct {
	dir   string // absolute
	files map[string]*hcl.File
	names []string
}

// readSource parses the experiment at path: a directory, whose *.hcl files are
// read as one body in the order of their names, or a single file.
func readSource(path string, f *faults) (*source, bool) {
	info, err := os.Stat(path)
	if err != nil {
		f.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No such experiment",
			Detail: fmt.Sprintf("Reading %s: %s. Name an experiment's directory, or one of its files.", path, reason(err))})
		return nil, false
	}
	names := []string{path}
	dir := filepath.Dir(path)
	if info.IsDir() {
		dir = path
		if names, err = experimentFiles(path); err != nil {
			f.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable experiment",
				Detail: fmt.Sprintf("Listing %s: %s.", path, reason(err))})
			return nil, false
		}
		if len(names) == 0 {
			f.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No experiment here",
				Detail: fmt.Sprintf("%s holds no file that ends in .hcl. `dbmatrix init %s` writes one that runs on this host.", path, path)})
			return nil, false
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		f.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable experiment", Detail: err.Error()})
		return nil, false
	}
	s := &source{dir: abs, files: map[string]*hcl.File{}}
	ok := true
	for _, name := range names {
		file, good := parseFile(name, f)
		ok = ok && good
		if file != nil {
			s.files[name] = file
			s.names = append(s.names, name)
		}
	}
	return s, ok
}

// experimentFiles lists the files of an experiment directory in name order.
func experimentFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || filepath.Ext(name) != ".hcl" || name == machineFile || strings.HasPrefix(name, ".") {
			continue
		}
		names = append(names, filepath.Join(dir, name))
	}
	sort.Strings(names)
	return names, nil
}

// parseFile reads and parses one file. The faults that a stranger's editor and
// version control leave behind get messages of their own, since the parser's
// words about them mislead.
func parseFile(name string, f *faults) (*hcl.File, bool) {
	src, err := os.ReadFile(name)
	if err != nil {
		f.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable file",
			Detail: fmt.Sprintf("Reading %s: %s.", name, reason(err))})
		return nil, false
	}
	return parse(name, src, f)
}

func parse(name string, src []byte, f *faults) (*hcl.File, bool) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if d := encodingFault(name, src); d != nil {
		f.add(d)
		return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, false
	}
	if ds := conflictMarkers(name, src); len(ds) > 0 {
		f.add(ds...)
		return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, false
	}
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	f.add(withoutFollowers(diags)...)
	return file, !diags.HasErrors()
}

// withoutFollowers drops what the parser says after a quote that is never closed:
// from there on it takes text for code and code for text.
func withoutFollowers(diags hcl.Diagnostics) hcl.Diagnostics {
	for i, d := range diags {
		if d.Summary == "Invalid multi-line string" || d.Summary == "Unterminated template string" {
			return diags[:i+1]
		}
	}
	return diags
}

// encodingFault finds the first byte that is not UTF-8, or is NUL.
func encodingFault(name string, src []byte) *hcl.Diagnostic {
	pos := hcl.InitialPos
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size <= 1 || r == 0 {
			detail := fmt.Sprintf("The byte 0x%02X at this place is not UTF-8 text. Save the file as UTF-8.", src[i])
			if r == 0 {
				detail = "There is a NUL byte at this place, so the file is damaged, or no text at all."
			}
			rng := hcl.Range{Filename: name, Start: pos, End: pos}
			rng.End.Byte++
			rng.End.Column++
			return fault(rng, "Not a text in UTF-8", "%s", detail)
		}
		i += size
		pos.Byte, pos.Column = i, pos.Column+1
		if r == '\n' {
			pos.Line, pos.Column = pos.Line+1, 1
		}
	}
	return nil
}

// conflictMarkers finds the lines that a merge leaves in a file with conflicts.
func conflictMarkers(name string, src []byte) []*hcl.Diagnostic {
	var found []*hcl.Diagnostic
	offset := 0
	for i, line := range bytes.SplitAfter(src, []byte("\n")) {
		text := strings.TrimRight(string(line), "\r\n")
		if strings.HasPrefix(text, "<<<<<<< ") || text == "=======" || strings.HasPrefix(text, ">>>>>>> ") {
			rng := hcl.Range{Filename: name,
				Start: hcl.Pos{Line: i + 1, Column: 1, Byte: offset},
				End:   hcl.Pos{Line: i + 1, Column: len(text) + 1, Byte: offset + len(text)}}
			found = append(found, fault(rng, "Merge conflict in the file",
				"This line is a marker of an unresolved merge. Choose one of the two sides and remove the markers."))
		}
		offset += len(line)
	}
	return found
}

// body returns the files as one body with dynamic blocks expanded; for_each
// sees the names of ctx.
func (s *source) body(ctx *hcl.EvalContext) hcl.Body { return dynblock.Expand(s.raw(), ctx) }

// raw returns the files as one body, dynamic blocks as they are written.
func (s *source) raw() hcl.Body {
	files := make([]*hcl.File, len(s.names))
	for i, name := range s.names {
		files[i] = s.files[name]
	}
	return hcl.MergeFiles(files)
}

// whole is the place for faults that concern the experiment and no line of it.
func (s *source) whole() hcl.Range {
	return hcl.Range{Filename: s.names[0], Start: hcl.InitialPos, End: hcl.InitialPos}
}

// reason strips the operation and path that os errors repeat.
func reason(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
