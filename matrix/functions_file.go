package matrix

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func fileFunctions(dir string) []libraryFunction {
	return []libraryFunction{
		{FunctionDoc{"file", "file(path)",
			"The content of a file in the experiment's directory, which must be UTF-8.",
			`file("hello.txt")`, `"hello\n"`}, fileFunction(dir)},
		{FunctionDoc{"fileexists", "fileexists(path)",
			"Whether there is such a file in the experiment's directory; a directory of that name is an error.",
			`fileexists("hello.txt")`, `true`}, fileExistsFunction(dir)},
	}
}

// maxFile is how long a file may be, in bytes: its content is kept in the plan.
const maxFile = 16 << 20

// fileFunction reads a file below dir.
func fileFunction(dir string) function.Function {
	return function.New(&function.Spec{
		Description:  "The content of a file.",
		Params:       []function.Parameter{{Name: "path", Type: cty.String}},
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			content, err := readWithin(dir, args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(0, "%q %s", args[0].AsString(), fileFault(err))
			}
			return cty.StringVal(content), nil
		},
	})
}

// fileExistsFunction looks for a file below dir.
func fileExistsFunction(dir string) function.Function {
	return function.New(&function.Spec{
		Description:  "Whether there is a file.",
		Params:       []function.Parameter{{Name: "path", Type: cty.String}},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			f, err := openWithin(dir, args[0].AsString())
			if errors.Is(err, fs.ErrNotExist) {
				return cty.False, nil
			}
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(0, "%q %s", args[0].AsString(), fileFault(err))
			}
			return cty.True, f.Close()
		},
	})
}

// A pathFault says why a path is not read, as the end of a sentence that begins
// with the path.
type pathFault string

func (f pathFault) Error() string { return string(f) }

// readWithin returns the text of a file below dir.
func readWithin(dir, path string) (string, error) {
	f, err := openWithin(dir, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(content) > maxFile {
		return "", pathFault(fmt.Sprintf("is longer than %d MiB", maxFile>>20))
	}
	if !utf8.Valid(content) {
		return "", pathFault("is not in UTF-8, so it is no text")
	}
	return string(content), nil
}

// openWithin opens a plain file below dir. A path that leads out of dir, be it
// through a symbolic link, is an error: what an experiment means must not hang
// on the host it is read on.
func openWithin(dir, path string) (*os.File, error) {
	switch {
	case path == "":
		return nil, pathFault("is no path")
	case filepath.IsAbs(path):
		return nil, pathFault("is an absolute path; only files in the experiment's directory are read, by their path from there")
	case slices.Contains(strings.Split(path, "/"), ".."):
		return nil, pathFault("holds \"..\"; only files in the experiment's directory are read")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Not blocking, since opening a pipe would wait for its writer.
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = pathFault("is no plain file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// fileFault returns what is wrong with a path, as the end of a sentence.
func fileFault(err error) string {
	var fault pathFault
	var errno syscall.Errno
	switch {
	case errors.As(err, &fault):
		return fault.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "is no file in the experiment's directory"
	case errors.As(err, &errno):
		return "cannot be read: " + errno.Error()
	}
	// What is left is os.Root's refusal, which has no error value of its own.
	return "leads out of the experiment's directory through a symbolic link"
}
