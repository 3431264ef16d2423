package server

import (
	"os"
	"path/filepath"

	"dbmatrix/matrix"
)

// What lies where below a basedir: as packages and tarballs have it, and as the
// directory has it in which a server was compiled (sql/ up to MySQL 5.7 and in
// MariaDB, runtime_output_directory/ in MySQL since).
var (
	programDirs = []string{"bin", "sbin", "libexec", "sql", "runtime_output_directory"}
	messageDirs = []string{"share/mariadb", "share/mysql", "share", "sql/share"}
	sqlDirs     = []string{"share/mariadb", "share/mysql", "share", "scripts"}
	pluginDirs  = []string{"lib/mysql/plugin", "lib64/mysql/plugin", "lib/plugin", "lib64/plugin", "plugin_output_directory"}
)

// basedir returns the folder below which the files of a server block's build lie:
// the one that it names, or the one that its program lies in. It is "" where the
// build is that of the system, which knows its own places, and where nothing is
// found: then the server looks where it was compiled for.
func (f *family) basedir(s matrix.Server) string {
	if s.Basedir != "" {
		return s.Basedir
	}
	program, err := firstProgram(f.programs(s))
	if err != nil {
		return ""
	}
	// Of a wrapper script, the program that it starts.
	programs, err := namedPrograms(program)
	if err != nil {
		return ""
	}
	for _, path := range append([]string{program}, programs...) {
		base := filepath.Dir(filepath.Dir(path))
		if base != "/usr" && base != "/" && messages(base) != "" {
			return base
		}
	}
	return ""
}

// messages returns the directory with the error messages of a basedir, or "".
func messages(basedir string) string {
	return firstWith(basedir, messageDirs, filepath.Join("english", "errmsg.sys"))
}

// pluginDir returns the directory with the plugins of a basedir, or "".
func pluginDir(basedir string) string { return firstWith(basedir, pluginDirs, "") }

// firstWith returns the first of several folders below a basedir that holds a
// file, or "".
func firstWith(basedir string, dirs []string, file string) string {
	for _, name := range dirs {
		dir := filepath.Join(basedir, name)
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return dir
		}
	}
	return ""
}
