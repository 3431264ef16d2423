package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
)

// newFmtCommand formats definitions.
func newFmtCommand(s *streams) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "fmt PATH...",
		Short: "Format HCL files",
		Long: `Rewrites HCL files in the canonical layout and prints the names of those that
changed. A directory stands for its *.hcl files; "-" reads standard input and
writes standard output. A file that does not parse is left alone.` +
			exitStatus(exitFailedRuns, exitUsage, exitEnvironment),
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return formatAll(s, args, check)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; end with 1 where a file is not in the canonical layout")
	return c
}

// formatAll formats files, directories and standard input.
func formatAll(s *streams, args []string, check bool) error {
	var paths []string
	for _, a := range args {
		more, err := hclFiles(a)
		if err != nil {
			return exit(exitUsage, err)
		}
		paths = append(paths, more...)
	}
	changed := false
	for _, p := range paths {
		c, err := format(s, p, check)
		if err != nil {
			return err
		}
		changed = changed || c
	}
	if check && changed {
		return silent(exitFailedRuns)
	}
	return nil
}

// hclFiles returns the HCL files that an argument of fmt stands for.
func hclFiles(arg string) ([]string, error) {
	if arg == "-" {
		return []string{"-"}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not there", arg)
	case err != nil:
		return nil, err
	case !info.IsDir() && filepath.Ext(arg) != ".hcl":
		return nil, fmt.Errorf("%s is no HCL file; a directory stands for the *.hcl files in it", arg)
	case !info.IsDir():
		return []string{arg}, nil
	}
	files, err := entries(arg, func(name string) bool { return filepath.Ext(name) == ".hcl" })
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no *.hcl file", arg)
	}
	return files, err
}

// entries returns the paths of what lies in a directory under a name that is
// wanted, sorted. The directory's own path is no pattern, whatever is in it; one
// that is not there is empty.
func entries(dir string, wanted func(name string) bool) ([]string, error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var paths []string
	for _, e := range all {
		if wanted(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// format formats one file and reports whether its layout changes.
func format(s *streams, path string, check bool) (bool, error) {
	var src []byte
	var err error
	name := path
	if path == "-" {
		name = "<stdin>"
		src, err = io.ReadAll(s.in)
	} else {
		src, err = os.ReadFile(path)
	}
	if err != nil {
		return false, exit(exitUsage, err)
	}
	file, diags := matrix.ParseFile(name, src)
	if err := s.diagnose(map[string]*hcl.File{name: file}, diags); err != nil {
		return false, err
	}
	formatted := matrix.Format(src)
	changed := !bytes.Equal(src, formatted)
	switch {
	case path == "-" && !check:
		_, err = s.out.Write(formatted)
	case changed && check:
		_, err = fmt.Fprintln(s.out, name)
	case changed:
		// What a link leads to is formatted, and the link stays.
		if err = replaceFile(resolved(path), formatted); err == nil {
			_, err = fmt.Fprintln(s.out, name)
		}
	}
	if err != nil {
		return changed, exit(exitEnvironment, err)
	}
	return changed, nil
}

// resolved returns the path that symbolic links at a path lead to, and the path
// itself where there is nothing.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// replaceFile replaces the content of a file in one step: a reader sees the old
// content or the new one, also after a power cut.
func replaceFile(path string, content []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}
