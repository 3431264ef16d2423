package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"dbmatrix/matrix"
)

// postgres returns the flavour of PostgreSQL, versions 12 to 18.
func postgres() Flavour {
	return &postgresFlavour{can: capabilityTable{
		{noInstructions, "14.0", "", "release notes of 14"},
		{checksumsUnlessTold, "18.0", "", "release notes of 18"},
	}}
}

// A postgresFlavour is PostgreSQL.
type postgresFlavour struct {
	can capabilityTable // what differs between versions
}

// Features of PostgreSQL that decide what dbmatrix does.
const (
	noInstructions      feature = "initdb --no-instructions"
	checksumsUnlessTold feature = "data checksums unless initdb --no-data-checksums"
)

// postgresPort is the number in the name of the socket of a server that opens no
// port.
const postgresPort = 5432

// Dialect implements Flavour.
func (f *postgresFlavour) Dialect() matrix.Dialect {
	return matrix.Dialect{
		Flavour:   "postgres",
		Attribute: "postgresql_conf",
		Owned: map[string]string{
			"data_directory":          "each run has a data directory of its own",
			"config_file":             "the generated file is the only source of options",
			"hba_file":                "only the private socket is open",
			"ident_file":              "only the private socket is open",
			"external_pid_file":       "the server's own is in its data directory",
			"unix_socket_directories": "each instance has a private socket",
			"listen_addresses":        "only a workload that needs a port opens one, on the loopback address",
			"port":                    "only a workload that needs a port opens one, on the loopback address",
			"log_destination":         "each start has a log of its own",
			"logging_collector":       "each start has a log of its own",
			"log_directory":           "each start has a log of its own",
			"log_filename":            "each start has a log of its own",
			"lc_messages":             "dbmatrix reads the server's messages",
		},
		// Not of the option file: initdb takes them.
		InitTime:  map[string]bool{"data_checksums": true, "wal_segment_size": true},
		Units:     map[string]uint64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40},
		Sizes:     []string{"_buffers", "_mem", "_size"},
		Fractions: true,
		Footprint: f.footprint,
	}
}

// postgresWords matches what the server prints for --version, such as
// "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
var postgresWords = regexp.MustCompile(`\(PostgreSQL\) (\d+)(?:\.(\d+))?(?:\.(\d+))?(\w*)(?: \((.*)\))?`)

// Identify implements Flavour.
func (f *postgresFlavour) Identify(words string) (matrix.Build, bool) {
	m := postgresWords.FindStringSubmatch(words)
	if m == nil {
		return matrix.Build{}, false
	}
	for i := 2; i <= 3; i++ {
		if m[i] == "" {
			m[i] = "0"
		}
	}
	comment := strings.Join(strings.Fields("PostgreSQL "+m[4]+" "+m[5]), " ")
	return matrix.Build{Flavour: "postgres", Version: strings.Join(m[1:4], "."), Comment: comment}, true
}

// pathLimit implements Flavour: the server holds a path in a buffer of 1024 bytes
// (MAXPGPATH), and initdb crashes where one is longer.
func (f *postgresFlavour) pathLimit() int { return 900 }

// accounts implements Flavour. A build that was unpacked brings no user of its
// own; any but root will do.
func (f *postgresFlavour) accounts() []string { return []string{"postgres", "mysql"} }

// programs implements Flavour.
func (f *postgresFlavour) programs(s matrix.Server) []string {
	var paths []string
	for _, dir := range []string{s.Bindir, filepath.Join(s.Basedir, "bin")} {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, "postgres"))
		}
	}
	return paths
}

// optionFile implements Flavour.
func (f *postgresFlavour) optionFile() string { return "postgresql.conf" }

// header implements Flavour.
func (f *postgresFlavour) header() []string { return nil }

// own implements Flavour.
func (f *postgresFlavour) own(p placement) (fixed, defaults []matrix.Option) {
	listen, port := "", postgresPort
	if p.port != 0 {
		listen, port = "127.0.0.1", p.port
	}
	return []matrix.Option{
		toolOption("unix_socket_directories", p.sockets, "a private directory, with a short path"),
		toolOption("listen_addresses", listen, "the private socket, and the loopback address where the workload needs a port"),
		toolOption("port", strconv.Itoa(port), "part of the socket's name"),
		toolOption("log_destination", "stderr", "a new log for each start"),
		toolSwitch("logging_collector", false, "a new log for each start"),
		toolOption("lc_messages", "C", "messages that can be read"),
	}, nil
}

// spell implements Flavour. A repeated option would keep its last value only, so
// a list is one line.
func (f *postgresFlavour) spell(p placement, o matrix.Option) ([]string, error) {
	if f.Dialect().InitTime[o.Name] {
		return []string{"# " + o.Name + " was given to initdb"}, nil
	}
	value := ""
	switch v := o.Value; v.Kind {
	case matrix.OptionBool:
		value = "off"
		if v.Bool {
			value = "on"
		}
	case matrix.OptionNumber:
		value = v.Text
	case matrix.OptionList:
		value = postgresQuote(strings.Join(v.Items, ","))
	case matrix.OptionComposite:
		return nil, errors.New("PostgreSQL has no composite options; give it a text, number, bool or list")
	default:
		value = postgresQuote(v.Text)
	}
	if strings.ContainsRune(value, 0) {
		return nil, errors.New("its value holds a NUL, which an option file cannot carry")
	}
	return []string{o.Name + " = " + value}, nil
}

// postgresQuote quotes a text as the server's configuration file has it.
func postgresQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

// arguments implements Flavour.
func (f *postgresFlavour) arguments(l Layout) []string {
	return []string{"-D", l.Data(), "-c", "config_file=" + filepath.Join(l.Dir, f.optionFile())}
}

// initialise implements Flavour.
func (f *postgresFlavour) initialise(ctx context.Context, n newData) error {
	args := []string{"-D", n.layout.Data(), "-A", "trust", "-U", f.superuser(), "--no-sync", "-E", "UTF8", "--locale=C"}
	if f.can.has(noInstructions, n.server.Build.Version) {
		args = append(args, "--no-instructions")
	}
	for _, o := range n.options {
		more, err := f.initdbArgument(o, n.server.Build.Version)
		if err != nil {
			return fmt.Errorf("%s: option %s: %w", place(o), o.Name, err)
		}
		args = append(args, more...)
	}
	return n.command(ctx, filepath.Join(filepath.Dir(n.program), "initdb"), append(args, n.server.InitArgs...), nil)
}

// initdbArgument returns what tells initdb of a version an init-time option.
func (f *postgresFlavour) initdbArgument(o matrix.Option, version string) ([]string, error) {
	switch o.Name {
	case "data_checksums":
		on := truth(asText(o))
		switch {
		case on == nil:
			return nil, errors.New("it is true or false")
		case *on:
			return []string{"--data-checksums"}, nil
		case f.can.has(checksumsUnlessTold, version):
			return []string{"--no-data-checksums"}, nil
		}
		return nil, nil
	case "wal_segment_size":
		bytes, err := postgresNumber(o.Value.Text, "B")
		if err != nil || bytes < 1<<20 {
			return nil, fmt.Errorf("%q is no size of a megabyte or more", o.Value.Text)
		}
		return []string{fmt.Sprintf("--wal-segsize=%d", int64(bytes)>>20)}, nil
	}
	return nil, fmt.Errorf("initdb knows no such option")
}

// stale implements Flavour.
func (f *postgresFlavour) stale() []string { return []string{"postmaster.pid"} }

// place implements Flavour: the write-ahead log moves to the storage of role
// redo, and the files of large sorts and hashes lie on that of role tmp; links
// lead there. (A tablespace of temporary tables would have to be made anew for
// each copy, and would be part of every snapshot.)
func (f *postgresFlavour) place(l Layout) error {
	if _, ok := l.Roles[roleRedo]; ok {
		if err := placeFolder(filepath.Join(l.Data(), "pg_wal"), filepath.Join(l.Role(roleRedo), "pg_wal")); err != nil {
			return fmt.Errorf("moving the write-ahead log to its storage: %w", err)
		}
	}
	if _, ok := l.Roles[roleTmp]; ok {
		if err := placeTmp(filepath.Join(l.Data(), "base", "pgsql_tmp"), l.Role(roleTmp)); err != nil {
			return fmt.Errorf("leading temporary files to their storage: %w", err)
		}
	}
	return nil
}

// placeFolder moves a folder away and leaves a link to it.
func placeFolder(from, to string) error {
	info, err := os.Lstat(from)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil
	}
	if err == nil {
		err = move(from, to)
	}
	if errors.Is(err, os.ErrNotExist) { // a power cut came between the two steps
		_, err = os.Stat(to)
	}
	if err != nil {
		return err
	}
	return os.Symlink(to, from)
}

// placeTmp makes a link in the place of a folder that the server makes when it
// needs it, and empties at its start.
func placeTmp(from, to string) error {
	if is, err := os.Readlink(from); err == nil && is == to {
		return nil
	}
	if err := os.RemoveAll(from); err != nil {
		return err
	}
	return os.Symlink(to, from)
}

// socket implements Flavour.
func (f *postgresFlavour) socket(port int) string {
	if port == 0 {
		port = postgresPort
	}
	return ".s.PGSQL." + strconv.Itoa(port)
}

// superuser implements Flavour.
func (f *postgresFlavour) superuser() string { return "postgres" }

// stopSignal implements Flavour: SIGTERM would wait for clients to leave.
func (f *postgresFlavour) stopSignal() syscall.Signal { return syscall.SIGINT }

// open implements Flavour.
func (f *postgresFlavour) open(a Address) (*sql.DB, error) {
	c, err := pgx.ParseConfig(a.DSN(""))
	if err != nil {
		return nil, err
	}
	c.ConnectTimeout = dialTimeout
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(controlConnections)
	return db, nil
}

// identity implements Flavour.
func (f *postgresFlavour) identity(ctx context.Context, db *sql.DB) (identity, error) {
	var who identity
	err := db.QueryRowContext(ctx, "SELECT current_setting('data_directory'), current_setting('server_version')").Scan(&who.dataDir, &who.version)
	who.pid = filepath.Join(who.dataDir, "postmaster.pid")
	return who, err
}

// facts implements Flavour.
func (f *postgresFlavour) facts(ctx context.Context, db *sql.DB) (Facts, error) {
	var facts Facts
	if err := db.QueryRowContext(ctx, "SELECT current_setting('server_version'), version()").Scan(&facts.Version, &facts.Comment); err != nil {
		return facts, err
	}
	var err error
	if facts.Variables, err = pairs(ctx, db, "SELECT name, current_setting(name) FROM pg_settings ORDER BY name COLLATE \"C\""); err != nil {
		return facts, err
	}
	extensions, err := pairs(ctx, db, "SELECT extname::text, extversion FROM pg_extension ORDER BY extname")
	for _, e := range extensions {
		facts.Plugins = append(facts.Plugins, Plugin{Name: e.Name, Version: e.Value})
	}
	return facts, err
}

// debt implements Flavour.
func (f *postgresFlavour) debt(ctx context.Context, db *sql.DB) (Debt, error) {
	var d Debt
	var age int64
	err := db.QueryRowContext(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::bigint FROM pg_control_checkpoint()").Scan(&age)
	if err != nil {
		return d, err
	}
	d.CheckpointAge = whole(float64(max(0, age)))
	d.Vacuums, err = vacuumsUnderWay(ctx, db)
	return d, err
}

// furnish implements Flavour: initdb has made the superuser, who comes by the
// socket and by the loopback address.
func (f *postgresFlavour) furnish(context.Context, *sql.DB, matrix.Build) error { return nil }

// checkCommand implements Flavour: the server reads its whole file to tell one
// setting.
func (f *postgresFlavour) checkCommand(b matrix.Build, program, file string) []string {
	dir := filepath.Join(filepath.Dir(file), "data")
	return []string{program, "-D", dir, "-c", "config_file=" + file, "-C", "shared_buffers"}
}

// postgresComplaint matches a message of the server.
var postgresComplaint = regexp.MustCompile(`\b(LOG|WARNING|ERROR|FATAL|PANIC): +(.*)`)

// complaints implements Flavour. What is wrong with a line is told as LOG; that
// the file is not taken follows as FATAL.
func (f *postgresFlavour) complaints(o checkOutput) []Complaint {
	var all []Complaint
	for line := range strings.Lines(o.messages) {
		if m := postgresComplaint.FindStringSubmatch(line); m != nil && !strings.Contains(m[2], "contains errors") {
			all = append(all, Complaint{Fatal: o.code != 0 && m[1] != "WARNING", Message: m[2]})
		}
	}
	if o.code != 0 && all == nil {
		all = append(all, Complaint{Fatal: true, Message: fmt.Sprintf("it ended with exit code %d: %s", o.code, strings.TrimSpace(o.messages))})
	}
	return all
}

// drain implements Flavour.
func (f *postgresFlavour) drain(ctx context.Context, db *sql.DB, at Address, s *matrix.Settle) (func(context.Context) error, error) {
	nothing := func(context.Context) error { return nil }
	if s.Vacuum { // first, since it writes redo
		if err := vacuum(ctx, db, at); err != nil {
			return nothing, err
		}
	}
	if s.DirtyPagesPct != nil || s.CheckpointAge != nil {
		if _, err := db.ExecContext(ctx, "CHECKPOINT"); err != nil {
			return nothing, err
		}
	}
	return nothing, nil
}
