package server

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"dbmatrix/matrix"
)

// bootstrapFiles are the SQL files that make MariaDB's system tables, in order,
// by the names that one of its versions has for each: the prefix is mysql_ up to
// 10.11. The first name that is there is read. Some are only of versions with a
// feature.
var bootstrapFiles = []struct {
	names []string
	of    feature // "": all versions
}{
	{names: []string{"mariadb_system_tables.sql", "mysql_system_tables.sql"}},
	{names: []string{"mariadb_performance_tables.sql", "mysql_performance_tables.sql"}},
	{names: []string{"mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"}},
	{names: []string{"fill_help_tables.sql"}},
	{names: []string{"maria_add_gis_sp_bootstrap.sql"}},
	{names: []string{"mariadb_sys_schema.sql", "mysql_sys_schema.sql"}, of: sysSchema},
}

// initialise implements Flavour.
func (f *family) initialise(ctx context.Context, n newData) error {
	switch v := n.server.Build.Version; {
	case f.can.has(initByServer, v):
		return n.run(ctx, []string{"--initialize-insecure"}, nil)
	case f.can.has(initByBootstrap, v):
		sql, err := f.bootstrapSQL(n)
		if err != nil {
			return err
		}
		return n.run(ctx, []string{"--bootstrap"}, sql)
	case f.can.has(initByScript, v):
		return f.initByScript(ctx, n)
	default:
		return fmt.Errorf("dbmatrix does not know how %s %s makes a data directory", f.name, v)
	}
}

// bootstrapSQL returns what MariaDB reads at --bootstrap: each statement on a
// line of its own. Root gets an account without a password, not one that only
// the operating system's root can use.
func (f *family) bootstrapSQL(n newData) ([]byte, error) {
	dir, tried := f.sqlDir(n)
	if dir == "" {
		return nil, fmt.Errorf("the SQL files of its system tables are in none of %s; set basedir in the server block", strings.Join(tried, ", "))
	}
	sql := []byte("create database mysql;\nuse mysql;\nset @auth_root_socket=NULL;\n")
	for _, file := range bootstrapFiles {
		if file.of != "" && !f.can.has(file.of, n.server.Build.Version) {
			continue
		}
		text, err := readFirst(dir, file.names)
		if err != nil {
			return nil, err
		}
		sql = append(sql, text...)
	}
	return sql, nil
}

// readFirst returns the content of the first file that is there.
func readFirst(dir string, names []string) ([]byte, error) {
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		return append(b, '\n'), err
	}
	return nil, fmt.Errorf("%s has no %s", dir, strings.Join(names, " or "))
}

// sqlDir returns the folder with the SQL files, or "" and where it was sought.
func (f *family) sqlDir(n newData) (string, []string) {
	bases := []string{f.basedir(*n.server)}
	if bases[0] == "" {
		bases = []string{filepath.Dir(filepath.Dir(n.program))}
		if real, err := filepath.EvalSymlinks(n.program); err == nil {
			bases = append(bases, filepath.Dir(filepath.Dir(real)))
		}
	}
	var tried []string
	for _, base := range bases {
		for _, file := range bootstrapFiles[0].names {
			if dir := firstWith(base, sqlDirs, file); dir != "" {
				return dir, nil
			}
		}
		for _, name := range sqlDirs {
			tried = append(tried, filepath.Join(base, name))
		}
	}
	return "", tried
}

// initByScript runs the Perl script of MySQL 5.6.
func (f *family) initByScript(ctx context.Context, n newData) error {
	base := f.basedir(*n.server)
	script := filepath.Join(base, "scripts", "mysql_install_db")
	if _, err := os.Stat(script); base == "" || err != nil {
		return fmt.Errorf("%s %s is initialised by its script scripts/mysql_install_db below basedir, which is not there", f.name, n.server.Build.Version)
	}
	return n.command(ctx, script, append([]string{
		"--defaults-file=" + n.file, "--basedir=" + base, "--datadir=" + n.layout.Data(), "--force",
	}, n.server.InitArgs...), nil)
}

// A newData is what a flavour needs to make a data directory.
type newData struct {
	guardian *Guardian
	server   *matrix.Server
	program  string
	layout   Layout
	user     *account
	env      []string
	options  []matrix.Option // init-time options

	// file is the option file for the initialisation. It holds the
	// init-time options only, since others may belong to plugins that are
	// not loaded then.
	file string
}

// run runs the server program itself with the option file.
func (n newData) run(ctx context.Context, args []string, stdin []byte) error {
	all := append([]string{"--defaults-file=" + n.file}, args...)
	return n.command(ctx, n.program, append(all, n.server.InitArgs...), stdin)
}

// command runs a program as the server's user, and returns what it printed where
// it fails.
func (n newData) command(ctx context.Context, program string, args []string, stdin []byte) error {
	var out bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = n.layout.Dir, n.env
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &out, &out
	if c := n.user.credential(); c != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c}
	}
	err := n.guardian.Run(ctx, cmd)
	if err == nil {
		return nil
	}
	log := readLog(filepath.Join(n.layout.Logs(), "init.log"))
	text := append(logLines(bytes.TrimSpace(out.Bytes())), log...)
	if first := firstError(text); first != "" {
		return fmt.Errorf("%w: %s\n%s", err, first, strings.Join(tail(text, tailLines), "\n"))
	}
	return fmt.Errorf("%w:\n%s", err, strings.Join(tail(text, tailLines), "\n"))
}

// loopbackAccounts lets the superuser come by the loopback address.
var loopbackAccounts = []string{
	"CREATE USER IF NOT EXISTS 'root'@'127.0.0.1'",
	"GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION",
}

// localAccounts removes the accounts that MariaDB makes for the host's name, of
// which a server that resolves no names complains at each start.
var localAccounts = []string{
	"DELETE FROM mysql.global_priv WHERE host NOT IN ('localhost', '127.0.0.1', '::1')",
	"DELETE FROM mysql.proxies_priv WHERE host NOT IN ('localhost', '127.0.0.1', '::1')",
	"FLUSH PRIVILEGES",
}

// furnish implements Flavour.
func (f *family) furnish(ctx context.Context, db *sql.DB, b matrix.Build) error {
	var statements []string
	if f.can.has(createIfMissing, b.Version) {
		statements = append(statements, loopbackAccounts...)
	}
	if f.can.has(globalPriv, b.Version) {
		statements = append(statements, localAccounts...)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
