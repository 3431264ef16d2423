package server

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// content returns a hash of what a build is made of: its program, the libraries
// that it resolves to, and the ELF files of a basedir outside /usr. Of a wrapper
// script it takes the programs that the script names. Only names and contents
// count, not paths, so that a build keeps its hash when it is moved.
func (p *Prober) content(s matrix.Server, program string) (string, error) {
	files, err := buildFiles(s, program)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, path := range files {
		sum, err := p.fileHash(path, s.Basedir)
		if err != nil {
			return "", err
		}
		lines = append(lines, filepath.Base(path)+" "+sum)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// Content returns the hash that Probe finds for the build of a server, without
// asking its program anything: the files may have changed since.
func (p *Prober) Content(s matrix.Server) (string, error) {
	defer p.open()()
	_, content, err := p.look(s)
	return content, err
}

// PluginsInput is the name of the input of a phase that is what Plugins returns.
const PluginsInput = "server.plugins"

// Plugins returns a hash of the plugin files that the options of a server load,
// and "" where they load none: a plugin is as much part of what is measured as
// the program.
func (p *Prober) Plugins(s matrix.Server, options []matrix.Option) (string, error) {
	defer p.open()()
	dir := "/usr/lib/mysql/plugin"
	if base := mariadb().(*mariadbFlavour).basedir(s); base != "" { // its programs are those of all the family
		dir = pluginDir(base)
	}
	var names []string
	for _, o := range options {
		switch {
		case o.Name == "plugin_dir":
			dir = o.Value.Text
		case pluginOptions[o.Name] && o.Value.Kind == matrix.OptionList:
			names = append(names, o.Value.Items...)
		case pluginOptions[o.Name]:
			names = append(names, o.Value.Text)
		}
	}
	h := sha256.New()
	for _, name := range names {
		if _, library, ok := strings.Cut(name, "="); ok {
			name = library
		}
		path := filepath.Join(dir, strings.TrimSuffix(name, ".so")+".so")
		sum, err := p.fileHash(path, "")
		if errors.Is(err, fs.ErrNotExist) {
			continue // the start says so, with all that it knows of it
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", filepath.Base(path), sum)
	}
	if names == nil {
		return "", nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fileHash returns the hash of a file's content. A script counts without the
// path of its basedir, which differs from host to host.
func (p *Prober) fileHash(path, basedir string) (string, error) {
	now, err := stamped(path)
	if err != nil {
		return "", err
	}
	if was := p.known[path]; was.SHA256 != "" && was.same(now) {
		return was.SHA256, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if script, err := isScript(f); err != nil {
		return "", err
	} else if script && basedir != "" {
		b, err := io.ReadAll(f)
		if err != nil {
			return "", err
		}
		h.Write(bytes.ReplaceAll(b, []byte(filepath.Dir(basedir)), nil))
	} else if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	now.SHA256 = hex.EncodeToString(h.Sum(nil))
	p.remember(path, now)
	return now.SHA256, nil
}

// isScript reports whether a file begins with #!, and leaves it at its start.
func isScript(f *os.File) (bool, error) {
	head := make([]byte, 2)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false, err
	}
	return string(head[:n]) == "#!", nil
}

// buildFiles returns the files that a build is made of, each once.
func buildFiles(s matrix.Server, program string) ([]string, error) {
	programs, err := namedPrograms(program)
	if err != nil {
		return nil, err
	}
	files := programs
	for _, path := range programs {
		libraries, err := libraries(path)
		if err != nil {
			return nil, err
		}
		files = append(files, libraries...)
	}
	if s.Basedir != "" && !strings.HasPrefix(s.Basedir+"/", "/usr/") {
		more, err := elfFiles(s.Basedir)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// scriptPath matches an absolute path in a script.
var scriptPath = regexp.MustCompile(`/[^\s"'$;|&<>()]+`)

// namedPrograms returns a program, or of a script the script and the programs and
// libraries that it names by absolute paths.
func namedPrograms(program string) ([]string, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	paths := []string{real}
	if script, err := isScript(f); err != nil || !script {
		return paths, err
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue // the interpreter is no part of what is measured
		}
		for _, path := range scriptPath.FindAllString(lines.Text(), -1) {
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || isELF(path)) {
				paths = append(paths, path)
			}
		}
	}
	return paths, lines.Err()
}

// programDir returns the folder of a program, links followed: of a wrapper script
// that of the last program of the same name that it names.
func programDir(program string) (string, error) {
	paths, err := namedPrograms(program)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(paths[0])
	for _, path := range paths[1:] {
		if filepath.Base(path) == filepath.Base(program) {
			dir = filepath.Dir(path)
		}
	}
	return dir, nil
}

// elfFiles returns the programs and libraries below a directory.
func elfFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if isELF(path) {
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// isELF reports whether a file is a program or library.
func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) == elf.ELFMAG
}

// libraries returns the files of the shared libraries that a program is linked
// with, and those that they are linked with, as the loader would find them. A
// file that is no dynamic ELF has none. A library that is not found is left out:
// the version query fails on it, or the wrapper knows another place.
func libraries(program string) ([]string, error) {
	search, err := loaderDirs()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	queue := []string{program}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		needed, own := linkedWith(path)
		for _, name := range needed {
			if _, ok := found[name]; ok {
				continue
			}
			if file := findLibrary(name, append(own, search...)); file != "" {
				found[name] = file
				queue = append(queue, file)
			}
		}
	}
	var files []string
	for _, f := range found {
		files = append(files, f)
	}
	slices.Sort(files)
	return files, nil
}

// linkedWith returns the libraries that an ELF file names, and the directories
// that it says to look in. What is no ELF file names none.
func linkedWith(path string) (needed, dirs []string) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	needed, _ = f.ImportedLibraries() // a static program has none
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		values, _ := f.DynString(tag)
		for _, v := range values {
			for _, dir := range strings.Split(v, ":") {
				dirs = append(dirs, strings.NewReplacer("$ORIGIN", filepath.Dir(path), "${ORIGIN}", filepath.Dir(path)).Replace(dir))
			}
		}
	}
	return needed, dirs
}

// findLibrary returns the file of a library in the first directory that has it.
func findLibrary(name string, dirs []string) string {
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
			return real
		}
	}
	return ""
}

// loaderDirs returns the directories in which the loader looks: those of
// ld.so.conf, then its own.
func loaderDirs() ([]string, error) {
	dirs, err := readLoaderConf("/etc/ld.so.conf")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return append(dirs, "/lib64", "/usr/lib64", "/lib", "/usr/lib"), err
}

// readLoaderConf reads ld.so.conf: a directory on each line, or "include" and a
// pattern of files of the same form.
func readLoaderConf(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "include" && len(fields) > 1:
			files, err := filepath.Glob(fields[1])
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				more, err := readLoaderConf(f)
				if err != nil {
					return nil, err
				}
				dirs = append(dirs, more...)
			}
		default:
			dirs = append(dirs, fields[0])
		}
	}
	return dirs, nil
}
